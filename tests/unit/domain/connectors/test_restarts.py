"""What is restarted automatically, when, and how often."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from chalicelib.domain.connectors.restarts import (
    MAX_RESTARTS,
    PAUSES,
    RESTARTED_PER_TICK,
    STEADY_AFTER,
    RestartCause,
    Restarts,
    after_observation,
    choose,
    is_due,
    restart_cause,
    tried_restarts,
    with_attempt,
)
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.observation import Observation, observe
from tests.support.connectors import reported

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def observed(connector: str, *tasks: str, of: Diagnosis | None = None) -> Observation:
    """A connector in this state, with tasks in these states; each failure has this diagnosis."""
    return observe(reported("c", connector, *tasks, diagnosis=of), now=NOW)


def replayed(*observations: tuple[timedelta, Observation]) -> tuple[Restarts | None, list[timedelta]]:
    """The restarts that are stored after these timed observations, and the times of the attempts."""
    found, attempts = None, []
    for at, seen in observations:
        before, found = found, after_observation(found, seen, NOW + at)
        if found and is_due(before, found, NOW + at):
            found = with_attempt(found, NOW + at)
            attempts.append(at)
    return found, attempts


FAILED = observed("RUNNING", "FAILED", of=Diagnosis.CONNECTION)
RUNNING = observed("RUNNING", "RUNNING")


HELPED = [
    *(Diagnosis.SECRET, Diagnosis.CONNECTION, Diagnosis.GOING_DOWN, Diagnosis.BROKER, Diagnosis.MEMORY),
    *(Diagnosis.GENERAL, Diagnosis.BINLOG_EVENT, Diagnosis.LOCKED, Diagnosis.WRITE_CANCELLED, Diagnosis.TABLE_EXISTS),
    *(Diagnosis.STORE_FAULT, Diagnosis.UPLOAD_LOST, Diagnosis.TARGET_MISSING, Diagnosis.NO_TARGET_TYPE),
]
LEFT_TO_PEOPLE = [
    *(Diagnosis.AUTH, Diagnosis.AUTH_HOST, Diagnosis.PERMISSION, Diagnosis.REPLICATION_RIGHT, Diagnosis.SLOT_LOST),
    *(Diagnosis.SLOT_GONE, Diagnosis.WAL_GONE, Diagnosis.BINLOG_GONE, Diagnosis.PUBLICATION, Diagnosis.TABLE_GONE),
    *(Diagnosis.NO_DATABASE, Diagnosis.TLS, Diagnosis.NO_EVOLUTION, Diagnosis.CONSTRAINT),
    *(Diagnosis.ROW_TOO_LARGE, Diagnosis.ACCESS_KEY, Diagnosis.AUTH_LOCKED, Diagnosis.BINLOG_REFUSED),
    *(Diagnosis.READ_CANCELLED, Diagnosis.DEFINITION, Diagnosis.GENERATED, Diagnosis.REGION, Diagnosis.STORE_DENIED),
    Diagnosis.TIME_ZONE,
]


@pytest.mark.parametrize("diagnosis", HELPED)
def test_a_failure_that_may_go_away_is_worth_a_restart(diagnosis: Diagnosis) -> None:
    assert restart_cause(observed("RUNNING", "FAILED", of=diagnosis)) is RestartCause.FAILED
    assert restart_cause(observed("FAILED", "FAILED", of=diagnosis)) is RestartCause.FAILED


@pytest.mark.parametrize("diagnosis", LEFT_TO_PEOPLE)
def test_a_failure_that_people_have_to_repair_is_left_alone(diagnosis: Diagnosis) -> None:
    assert restart_cause(observed("RUNNING", "FAILED", of=diagnosis)) is None


def test_one_task_that_a_restart_cannot_repair_prevents_the_restart() -> None:
    status = reported("c", "RUNNING", "FAILED", "FAILED", diagnosis=Diagnosis.CONNECTION)
    refused = replace(status.tasks[1], diagnosis=Diagnosis.AUTH)
    mixed = observe(replace(status, tasks=(status.tasks[0], refused)), now=NOW)
    assert restart_cause(mixed) is None


def test_a_failure_without_a_trace_is_unknown() -> None:
    assert restart_cause(observed("FAILED")) is RestartCause.FAILED


@pytest.mark.parametrize(
    "seen", [RUNNING, observed("PAUSED", "PAUSED"), observed("STOPPED"), observed("UNASSIGNED"), observed("RUNNING")]
)
def test_a_connector_that_has_not_failed_is_not_restarted_or_remembered(seen: Observation) -> None:
    assert restart_cause(seen) is None
    assert after_observation(None, seen, NOW) is None


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param({0: FAILED}, [], id="seen once"),
        pytest.param({0: FAILED, 1: FAILED}, [1], id="seen twice"),
        pytest.param({0: FAILED, 1: RUNNING, 2: FAILED}, [], id="seen twice, and well in between"),
        pytest.param(
            {0: FAILED, 1: FAILED, 2: RUNNING, 9: FAILED, 10: FAILED}, [1, 10], id="anew after the pause was over"
        ),
    ],
)
def test_a_failure_is_restarted_when_it_is_seen_twice(seen: dict[int, Observation], expected: list[int]) -> None:
    _, attempts = replayed(*((minute * MINUTE, observation) for minute, observation in seen.items()))
    assert attempts == [minute * MINUTE for minute in expected]


def test_restart_pauses_grow_and_attempts_end_after_several_hours() -> None:
    found, attempts = replayed(*((timedelta(seconds=10 * n), FAILED) for n in range(6 * 60 * 24)))
    pauses = [later - earlier for earlier, later in pairwise(attempts)]
    assert attempts[0] == timedelta(seconds=10)
    assert pauses[: len(PAUSES)] == list(PAUSES)
    assert set(pauses[len(PAUSES) :]) == {PAUSES[-1]}
    assert len(attempts) == MAX_RESTARTS
    assert attempts[-1] > timedelta(hours=7)
    assert found.next_at is None


def test_attempts_are_forgotten_after_running_for_a_while_and_not_before() -> None:
    once = Restarts(count=3, tried_at=NOW)
    running = after_observation(once, RUNNING, NOW + MINUTE)
    assert running
    assert after_observation(running, RUNNING, NOW + MINUTE + STEADY_AFTER) is None
    again = after_observation(running, FAILED, NOW + STEADY_AFTER)
    assert (again.count, again.running_since) == (3, None)


def test_a_restart_that_hangs_is_given_a_minute() -> None:
    hangs = observed("RESTARTING", "RESTARTING")
    _, attempts = replayed(*((timedelta(seconds=10 * n), hangs) for n in range(8)))
    assert attempts == [timedelta(seconds=60)]


def test_a_restart_by_somebody_else_is_not_stuck_because_of_an_earlier_failure() -> None:
    of_auth = observed("RUNNING", "FAILED", of=Diagnosis.AUTH)
    hangs = observed("RESTARTING", "RESTARTING")
    observations = [(timedelta(seconds=10 * n), of_auth if n < 60 else hangs) for n in range(65)]
    assert replayed(*observations)[1] == []


def test_connectors_with_fewest_attempts_and_longest_wait_are_restarted_first() -> None:
    failing = {
        f"c{n}": Restarts(
            cause=RestartCause.FAILED,
            since=NOW - n * MINUTE,
            count=n % 2,
            tried_at=NOW - 200 * MINUTE if n % 2 else None,
        )
        for n in range(100)
    }
    turn = choose(failing, NOW)
    assert turn == tuple(f"c{n}" for n in range(98, 98 - 2 * RESTARTED_PER_TICK, -2))


def test_the_reason_says_how_often_it_was_tried_and_when_the_next_attempt_is() -> None:
    once = Restarts(count=1, tried_at=NOW, cause=RestartCause.FAILED)
    assert tried_restarts(once) == "Headgate has tried to restart it once; next try at 2026-01-01T00:01:00.000Z."
    twice = Restarts(count=2, tried_at=NOW, cause=RestartCause.FAILED)
    assert tried_restarts(twice) == "Headgate has tried to restart it 2 times; next try at 2026-01-01T00:02:00.000Z."
    spent = Restarts(count=MAX_RESTARTS, tried_at=NOW, cause=RestartCause.FAILED)
    assert tried_restarts(spent) == (
        "Headgate has tried to restart it 20 times and does not try again. Mend the cause, then restart it."
    )


@pytest.mark.parametrize(
    "one", [Restarts(cause=RestartCause.FAILED), Restarts(count=2, tried_at=NOW, running_since=NOW)]
)
def test_there_is_no_reason_before_the_first_attempt_or_while_it_runs(one: Restarts) -> None:
    assert tried_restarts(one) is None
