from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import (
    OLD_AFTER,
    ConnectorStatus,
    Observation,
    ObservedState,
    newer,
    observe,
    unless_ahead,
    unless_old,
    unreadable,
)
from tests.support.connectors import reported

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TASK_STATES = ("RUNNING", "PAUSED", "FAILED", "UNASSIGNED", "RESTARTING", "UNKNOWN")


def status(state: str, *tasks: str, diagnosis: Diagnosis | None = None) -> ConnectorStatus:
    return reported("c", state, *tasks, diagnosis=diagnosis)


@pytest.mark.parametrize(
    ("state", "tasks", "observed"),
    [
        ("RUNNING", ["RUNNING"], ObservedState.RUNNING),
        ("RUNNING", ["RUNNING", "RUNNING"], ObservedState.RUNNING),
        ("RUNNING", [], ObservedState.UNASSIGNED),
        ("RUNNING", ["UNASSIGNED"], ObservedState.DEGRADED),
        ("RUNNING", ["UNASSIGNED", "UNASSIGNED"], ObservedState.DEGRADED),
        ("RUNNING", ["RESTARTING"], ObservedState.DEGRADED),
        ("RUNNING", ["RESTARTING", "UNASSIGNED"], ObservedState.DEGRADED),
        ("RUNNING", ["RESTARTING", "PAUSED"], ObservedState.DEGRADED),
        ("RUNNING", ["FAILED"], ObservedState.FAILED),
        ("RUNNING", ["FAILED", "RUNNING"], ObservedState.DEGRADED),
        ("RUNNING", ["FAILED", "RESTARTING"], ObservedState.DEGRADED),
        ("RUNNING", ["RUNNING", "UNASSIGNED"], ObservedState.DEGRADED),
        ("RUNNING", ["RUNNING", "RESTARTING"], ObservedState.DEGRADED),
        ("RUNNING", ["RUNNING", "PAUSED"], ObservedState.DEGRADED),
        ("RUNNING", ["PAUSED"], ObservedState.DEGRADED),
        ("RUNNING", ["PAUSED", "UNASSIGNED"], ObservedState.DEGRADED),
        ("RUNNING", ["UNKNOWN"], ObservedState.DEGRADED),
        ("PAUSED", ["PAUSED"], ObservedState.PAUSED),
        ("PAUSED", [], ObservedState.PAUSED),
        ("PAUSED", ["PAUSED", "RUNNING"], ObservedState.DEGRADED),
        ("PAUSED", ["FAILED"], ObservedState.FAILED),
        ("PAUSED", ["FAILED", "PAUSED"], ObservedState.DEGRADED),
        ("STOPPED", ["FAILED"], ObservedState.DEGRADED),
        ("STOPPED", [], ObservedState.STOPPED),
        ("STOPPED", ["RUNNING"], ObservedState.DEGRADED),
        ("STOPPED", ["STOPPED"], ObservedState.DEGRADED),
        ("FAILED", [], ObservedState.FAILED),
        ("FAILED", ["RUNNING"], ObservedState.FAILED),
        ("UNASSIGNED", [], ObservedState.UNASSIGNED),
        ("UNASSIGNED", ["RUNNING"], ObservedState.UNASSIGNED),
        ("RESTARTING", ["RUNNING"], ObservedState.RESTARTING),
        ("UNKNOWN", [], ObservedState.UNKNOWN),
        ("UNKNOWN", ["RUNNING"], ObservedState.UNKNOWN),
    ],
)
def test_the_state_follows_from_connector_and_tasks(state: str, tasks: list[str], observed: ObservedState) -> None:
    assert observe(status(state, *tasks), now=NOW).state is observed


@pytest.mark.parametrize("state", ["RUNNING", "PAUSED", "STOPPED", "FAILED", "UNASSIGNED", "RESTARTING", "UNKNOWN"])
@pytest.mark.parametrize("first", TASK_STATES)
@pytest.mark.parametrize("second", TASK_STATES)
def test_a_state_other_than_degraded_needs_all_tasks_in_it(state: str, first: str, second: str) -> None:
    seen = observe(status(state, first, second), now=NOW)
    if seen.state in (ObservedState.RUNNING, ObservedState.PAUSED, ObservedState.STOPPED):
        assert {state, first, second} == {seen.state.value}
    assert bool(seen.reasons) is (seen.state is not ObservedState.RUNNING)


def test_a_connector_that_is_known_to_be_absent_is_not_deployed() -> None:
    seen = observe(None, now=NOW)
    assert (seen.state, seen.connector, seen.observed_at) == (ObservedState.NOT_DEPLOYED, None, NOW)
    assert seen.reasons


def test_a_connect_that_cannot_be_read_makes_it_unknown() -> None:
    seen = unreadable("Kafka Connect cannot be reached.", NOW)
    assert (seen.state, seen.reasons) == (ObservedState.UNKNOWN, ("Kafka Connect cannot be reached.",))


def test_the_hint_of_a_failed_task_is_a_reason() -> None:
    seen = observe(status("RUNNING", "FAILED", diagnosis=Diagnosis.WAL_GONE), now=NOW)
    hint = hint_of(Diagnosis.WAL_GONE, ConnectorKind.SOURCE)
    assert seen.reasons == (f"Task 0 has failed. {hint.message}",)


def test_the_hint_of_a_failed_connector_is_a_reason() -> None:
    hint = hint_of(Diagnosis.MEMORY, ConnectorKind.SOURCE)
    assert hint.message in observe(status("FAILED", diagnosis=Diagnosis.MEMORY), now=NOW).reasons


def test_a_task_that_still_runs_under_a_paused_connector_is_named() -> None:
    seen = observe(status("PAUSED", "PAUSED", "RUNNING"), now=NOW)
    assert any("Task 1 is running" in reason for reason in seen.reasons)
    assert not any("Task 0" in reason for reason in seen.reasons)


def test_reasons_stay_few_however_many_tasks_fail() -> None:
    assert len(observe(status("RUNNING", *["FAILED"] * 900), now=NOW).reasons) <= 12


def test_the_later_observation_wins() -> None:
    early = Observation(state=ObservedState.RUNNING, observed_at=NOW)
    late = Observation(state=ObservedState.FAILED, observed_at=NOW + timedelta(milliseconds=1))
    assert newer(early, late) is late
    assert newer(late, early) is late


def test_of_two_observations_of_the_same_time_the_first_stays() -> None:
    first, other = (
        Observation(state=state, observed_at=NOW) for state in (ObservedState.RUNNING, ObservedState.FAILED)
    )
    assert newer(first, other) is first


def test_an_observation_from_the_future_does_not_count_but_clocks_may_differ_a_little() -> None:
    seen = Observation(state=ObservedState.RUNNING, observed_at=NOW)
    assert unless_ahead(seen, NOW - timedelta(seconds=5)) == seen
    assert unless_ahead(seen, NOW - timedelta(seconds=6)) is None
    assert unless_ahead(None, NOW) is None


def test_any_observation_is_newer_than_none() -> None:
    observation = Observation(state=ObservedState.RUNNING, observed_at=NOW)
    assert newer(None, observation) is observation
    assert newer(observation, None) is observation
    assert newer(None, None) is None


@pytest.mark.parametrize(
    "seen", [None, Observation(state=ObservedState.PAUSED, observed_at=NOW - OLD_AFTER + timedelta(seconds=1))]
)
def test_an_observation_counts_for_a_while(seen: Observation | None) -> None:
    assert unless_old(seen, NOW) is seen


def test_an_old_observation_says_its_age_and_what_it_was() -> None:
    at = NOW - timedelta(minutes=7)
    shown = unless_old(Observation(state=ObservedState.PAUSED, observed_at=at, reasons=("It is paused.",)), NOW)
    assert shown
    assert (shown.state, shown.observed_at, shown.connector) == (ObservedState.UNKNOWN, at, None)
    assert "7 minutes ago" in shown.reasons[0]
    assert shown.reasons[1:] == ("It was PAUSED then.",)


def test_an_old_unknown_state_keeps_its_reasons() -> None:
    shown = unless_old(unreadable("Kafka Connect cannot be reached.", NOW - OLD_AFTER), NOW)
    assert shown
    assert shown.reasons[1:] == ("Kafka Connect cannot be reached.",)


@pytest.mark.parametrize(("tasks", "state"), [(1, "RUNNING"), (2, "RUNNING"), (3, "DEGRADED")])
def test_a_connector_that_lacks_tasks_is_degraded(tasks: int, state: str) -> None:
    seen = observe(status("RUNNING", "RUNNING", "RUNNING"), now=NOW, tasks=tasks)
    assert seen.state.value == state
    assert seen.reasons == (("It has 2 of its 3 tasks.",) if state == "DEGRADED" else ())
