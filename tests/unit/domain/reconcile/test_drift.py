"""Drift of configs: found, confirmed, and no longer reported once the config is right again."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.observation import ConnectorStatus, Observation, TaskStatus, observe
from chalicelib.domain.reconcile.drift import MAX_COMPARED, Drift, compare_due, drifted, suspicious

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FOUND_ONCE, FOUND_TWICE = Drift(expected="a"), Drift(expected="a", confirmed=True)


@dataclass(frozen=True)
class Configured:
    config_hash: str | None


def test_an_equal_hash_is_no_drift() -> None:
    assert drifted({}, {"c": Configured("a")}, {"c": "a"}) == {}


def test_drift_is_confirmed_when_found_twice() -> None:
    once = drifted({}, {"c": Configured("a")}, {"c": "b"})
    assert once == {"c": FOUND_ONCE}
    assert drifted(once, {"c": Configured("a")}, {"c": "b"}) == {"c": FOUND_TWICE}


def test_a_config_that_is_right_again_has_not_drifted() -> None:
    assert drifted({"c": FOUND_TWICE}, {"c": Configured("a")}, {"c": "a"}) == {}


@pytest.mark.parametrize("actual", [None, {}])
def test_confirmed_drift_is_remembered_where_nothing_could_be_compared(actual: dict[str, str] | None) -> None:
    assert drifted({"c": FOUND_TWICE}, {"c": Configured("a")}, actual) == {"c": FOUND_TWICE}


def test_unconfirmed_drift_waits_for_the_next_comparison_and_no_longer() -> None:
    assert drifted({"c": FOUND_ONCE}, {"c": Configured("a")}, None) == {"c": FOUND_ONCE}
    assert drifted({"c": FOUND_ONCE}, {"c": Configured("a")}, {}) == {}


@pytest.mark.parametrize("desired", [{}, {"c": Configured("other")}, {"c": Configured(None)}])
def test_a_connector_that_is_gone_or_was_sent_another_config_has_not_drifted(desired: dict[str, Configured]) -> None:
    assert drifted({"c": FOUND_TWICE}, desired, None) == {}


def test_connectors_that_nobody_desires_are_not_compared() -> None:
    assert drifted({}, {"c": Configured(None)}, {"c": "a", "orphan": "b"}) == {}


@pytest.mark.parametrize(
    ("compared", "due"), [(None, True), (timedelta(minutes=9), False), (timedelta(minutes=10), True)]
)
def test_configs_are_compared_every_ten_minutes(compared: timedelta | None, due: bool) -> None:
    assert compare_due(NOW - compared if compared else None, 5, NOW) is due


def test_the_configs_of_too_many_connectors_are_not_read() -> None:
    assert compare_due(None, MAX_COMPARED, NOW)
    assert not compare_due(None, MAX_COMPARED + 1, NOW)


def observed(state: str, tasks: int, *, worker: str = "w1") -> Observation:
    parts = tuple(TaskStatus(id=n, state="RUNNING", worker_id=worker) for n in range(tasks))
    return observe(ConnectorStatus(name="c", state=state, worker_id=worker, tasks=parts), now=NOW)


@pytest.mark.parametrize("now", [observed("UNASSIGNED", 1), observed("RUNNING", 2), observed("RUNNING", 0)])
def test_a_change_of_state_or_tasks_suggests_a_new_config(now: Observation) -> None:
    assert suspicious({"c": observed("RUNNING", 1)}, {"c": now})


@pytest.mark.parametrize("now", [{}, {"c": observed("RUNNING", 1, worker="w2")}, {"other": observed("RUNNING", 1)}])
def test_a_move_to_another_worker_is_not(now: dict[str, Observation]) -> None:
    assert not suspicious({"c": observed("RUNNING", 1)}, now)
