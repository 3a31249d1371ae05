"""Configs that somebody else has changed: found, confirmed, and forgotten again."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.observation import ConnectorStatus, Observation, TaskStatus, observe
from chalicelib.domain.reconcile.drift import COMPARED_AT_MOST, Drift, compare_due, drifted, suspicious

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SEEN_ONCE, SEEN_TWICE = Drift(given="a"), Drift(given="a", confirmed=True)


@dataclass(frozen=True)
class Given:
    config_hash: str | None


def test_what_is_equal_has_not_drifted() -> None:
    assert drifted({}, {"c": Given("a")}, {"c": "a"}) == {}


def test_drift_is_confirmed_by_a_second_look() -> None:
    once = drifted({}, {"c": Given("a")}, {"c": "b"})
    assert once == {"c": SEEN_ONCE}
    assert drifted(once, {"c": Given("a")}, {"c": "b"}) == {"c": SEEN_TWICE}


def test_what_was_put_right_is_forgotten() -> None:
    assert drifted({"c": SEEN_TWICE}, {"c": Given("a")}, {"c": "a"}) == {}


@pytest.mark.parametrize("held", [None, {}])
def test_confirmed_drift_is_remembered_where_nothing_could_be_compared(held: dict[str, str] | None) -> None:
    assert drifted({"c": SEEN_TWICE}, {"c": Given("a")}, held) == {"c": SEEN_TWICE}


def test_unconfirmed_drift_waits_for_the_next_comparison_and_no_longer() -> None:
    assert drifted({"c": SEEN_ONCE}, {"c": Given("a")}, None) == {"c": SEEN_ONCE}
    assert drifted({"c": SEEN_ONCE}, {"c": Given("a")}, {}) == {}


@pytest.mark.parametrize("given", [{}, {"c": Given("other")}, {"c": Given(None)}])
def test_a_connector_that_is_gone_or_was_given_another_config_begins_anew(given: dict[str, Given]) -> None:
    assert drifted({"c": SEEN_TWICE}, given, None) == {}


def test_connectors_that_nobody_wants_are_not_compared() -> None:
    assert drifted({}, {"c": Given(None)}, {"c": "a", "stranger": "b"}) == {}


@pytest.mark.parametrize(
    ("compared", "due"), [(None, True), (timedelta(minutes=9), False), (timedelta(minutes=10), True)]
)
def test_configs_are_compared_every_ten_minutes(compared: timedelta | None, due: bool) -> None:
    assert compare_due(NOW - compared if compared else None, 5, NOW) is due


def test_the_configs_of_too_many_connectors_are_not_asked_for() -> None:
    assert compare_due(None, COMPARED_AT_MOST, NOW)
    assert not compare_due(None, COMPARED_AT_MOST + 1, NOW)


def look(state: str, tasks: int, *, worker: str = "w1") -> Observation:
    parts = tuple(TaskStatus(id=n, state="RUNNING", worker_id=worker) for n in range(tasks))
    return observe(ConnectorStatus(name="c", state=state, worker_id=worker, tasks=parts), now=NOW)


@pytest.mark.parametrize("now", [look("UNASSIGNED", 1), look("RUNNING", 2), look("RUNNING", 0)])
def test_another_state_or_other_tasks_are_what_a_new_config_brings_about(now: Observation) -> None:
    assert suspicious({"c": look("RUNNING", 1)}, {"c": now})


@pytest.mark.parametrize("now", [{}, {"c": look("RUNNING", 1, worker="w2")}, {"other": look("RUNNING", 1)}])
def test_a_move_to_another_worker_is_not(now: dict[str, Observation]) -> None:
    assert not suspicious({"c": look("RUNNING", 1)}, now)
