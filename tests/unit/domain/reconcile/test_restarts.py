"""What is restarted automatically, when, and how often."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from chalicelib.domain.classify import diagnoses
from chalicelib.domain.classify.diagnoses import Diagnosis
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import ConnectorStatus, Hint, Observation, TaskStatus, observe
from chalicelib.domain.reconcile.restarts import (
    MAX_RESTARTS,
    PAUSES,
    RESTARTED_PER_TICK,
    STEADY_AFTER,
    RestartCause,
    Restarts,
    after_observation,
    choose,
    due,
    notice,
    restart_cause,
    with_attempt,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def hint(diagnosis: Diagnosis, role: ConnectorKind = ConnectorKind.SOURCE) -> Hint:
    return diagnosis[role]


def observed(connector: str, *tasks: str, of: Hint | None = None) -> Observation:
    """A connector in this state, with tasks in these states; each failure has this hint."""
    return observe(
        ConnectorStatus(
            name="c",
            state=connector,
            worker_id=None,
            tasks=tuple(
                TaskStatus(id=n, state=state, worker_id=None, hint=of if state == "FAILED" else None)
                for n, state in enumerate(tasks)
            ),
            hint=of if connector == "FAILED" else None,
        ),
        now=NOW,
    )


def replayed(*observations: tuple[timedelta, Observation]) -> tuple[Restarts | None, list[timedelta]]:
    """The restarts that are stored after these timed observations, and the times of the attempts."""
    found, attempts = None, []
    for at, seen in observations:
        before, found = found, after_observation(found, seen, NOW + at)
        if found and due(before, found, NOW + at):
            found = with_attempt(found, NOW + at)
            attempts.append(at)
    return found, attempts


FAILED = observed("RUNNING", "FAILED", of=hint(diagnoses.CONNECTION))
RUNNING = observed("RUNNING", "RUNNING")


@pytest.mark.parametrize(
    "diagnosis",
    [
        diagnoses.SECRET,
        diagnoses.CONNECTION,
        diagnoses.GOING_DOWN,
        diagnoses.BROKER,
        diagnoses.MEMORY,
        diagnoses.GENERAL,
    ],
)
@pytest.mark.parametrize("role", list(ConnectorKind))
def test_a_failure_that_may_go_away_is_worth_a_restart(diagnosis: Diagnosis, role: ConnectorKind) -> None:
    assert restart_cause(observed("RUNNING", "FAILED", of=hint(diagnosis, role))) is RestartCause.FAILED
    assert restart_cause(observed("FAILED", "FAILED", of=hint(diagnosis, role))) is RestartCause.FAILED


@pytest.mark.parametrize(
    ("diagnosis", "role"),
    [
        (diagnoses.BINLOG_EVENT, ConnectorKind.SOURCE),
        (diagnoses.LOCKED, ConnectorKind.SOURCE),
        (diagnoses.LOCKED, ConnectorKind.SINK),
        (diagnoses.CANCELLED, ConnectorKind.SINK),
        (diagnoses.TABLE_EXISTS, ConnectorKind.SINK),
        (diagnoses.STORE_FAULT, ConnectorKind.SINK),
        (diagnoses.UPLOAD_LOST, ConnectorKind.SINK),
    ],
)
def test_a_failure_of_one_side_that_may_go_away_is_worth_a_restart(diagnosis: Diagnosis, role: ConnectorKind) -> None:
    assert restart_cause(observed("RUNNING", "FAILED", of=hint(diagnosis, role))) is RestartCause.FAILED


@pytest.mark.parametrize(
    ("diagnosis", "role"),
    [
        (diagnoses.AUTH, ConnectorKind.SOURCE),
        (diagnoses.AUTH, ConnectorKind.SINK),
        (diagnoses.AUTH_HOST, ConnectorKind.SOURCE),
        (diagnoses.PERMISSION, ConnectorKind.SOURCE),
        (diagnoses.REPLICATION_RIGHT, ConnectorKind.SOURCE),
        (diagnoses.SLOT_LOST, ConnectorKind.SOURCE),
        (diagnoses.SLOT_GONE, ConnectorKind.SOURCE),
        (diagnoses.WAL_GONE, ConnectorKind.SOURCE),
        (diagnoses.BINLOG_GONE, ConnectorKind.SOURCE),
        (diagnoses.PUBLICATION, ConnectorKind.SOURCE),
        (diagnoses.TABLE_GONE, ConnectorKind.SOURCE),
        (diagnoses.TABLE_GONE, ConnectorKind.SINK),
        (diagnoses.NO_DATABASE, ConnectorKind.SOURCE),
        (diagnoses.TLS, ConnectorKind.SOURCE),
        (diagnoses.NO_TARGET_TYPE, ConnectorKind.SINK),
        (diagnoses.NO_EVOLUTION, ConnectorKind.SINK),
        (diagnoses.CONSTRAINT, ConnectorKind.SINK),
        (diagnoses.ROW_TOO_LARGE, ConnectorKind.SOURCE),
        (diagnoses.ACCESS_KEY, ConnectorKind.SINK),
        (diagnoses.AUTH_LOCKED, ConnectorKind.SOURCE),
        (diagnoses.BINLOG_REFUSED, ConnectorKind.SOURCE),
        (diagnoses.CANCELLED, ConnectorKind.SOURCE),
        (diagnoses.DEFINITION, ConnectorKind.SOURCE),
        (diagnoses.GENERATED, ConnectorKind.SINK),
        (diagnoses.REGION, ConnectorKind.SINK),
        (diagnoses.STORE_DENIED, ConnectorKind.SINK),
        (diagnoses.TIME_ZONE, ConnectorKind.SOURCE),
    ],
)
def test_a_failure_that_people_have_to_repair_is_left_alone(diagnosis: Diagnosis, role: ConnectorKind) -> None:
    assert restart_cause(observed("RUNNING", "FAILED", of=hint(diagnosis, role))) is None


def test_one_task_that_a_restart_cannot_repair_prevents_the_restart() -> None:
    mixed = observe(
        ConnectorStatus(
            name="c",
            state="RUNNING",
            worker_id=None,
            tasks=(
                TaskStatus(id=0, state="FAILED", worker_id=None, hint=hint(diagnoses.CONNECTION)),
                TaskStatus(id=1, state="FAILED", worker_id=None, hint=hint(diagnoses.AUTH)),
            ),
        ),
        now=NOW,
    )
    assert restart_cause(mixed) is None


def test_a_failure_without_a_trace_is_unknown() -> None:
    assert restart_cause(observed("FAILED")) is RestartCause.FAILED


@pytest.mark.parametrize(
    "seen", [RUNNING, observed("PAUSED", "PAUSED"), observed("STOPPED"), observed("UNASSIGNED"), observed("RUNNING")]
)
def test_a_connector_that_has_not_failed_is_not_restarted_or_remembered(seen: Observation) -> None:
    assert restart_cause(seen) is None
    assert after_observation(None, seen, NOW) is None


def test_nothing_is_done_about_a_failure_seen_once() -> None:
    assert replayed((0 * MINUTE, FAILED))[1] == []
    assert replayed((0 * MINUTE, FAILED), (1 * MINUTE, FAILED))[1] == [1 * MINUTE]


def test_two_failures_with_a_good_observation_between_them_count_once_each() -> None:
    assert replayed((0 * MINUTE, FAILED), (1 * MINUTE, RUNNING), (2 * MINUTE, FAILED))[1] == []


def test_a_new_failure_is_seen_twice_even_when_the_pause_after_the_last_attempt_is_over() -> None:
    _, attempts = replayed(
        (0 * MINUTE, FAILED), (1 * MINUTE, FAILED), (2 * MINUTE, RUNNING), (9 * MINUTE, FAILED), (10 * MINUTE, FAILED)
    )
    assert attempts == [1 * MINUTE, 10 * MINUTE]


def test_restart_pauses_grow_and_attempts_end() -> None:
    found, attempts = replayed(*((timedelta(seconds=10 * n), FAILED) for n in range(6 * 60 * 24)))
    pauses = [later - earlier for earlier, later in pairwise(attempts)]
    assert attempts[0] == timedelta(seconds=10)
    assert pauses[: len(PAUSES)] == list(PAUSES)
    assert set(pauses[len(PAUSES) :]) == {PAUSES[-1]}
    assert len(attempts) == MAX_RESTARTS
    assert found
    assert found.next_at is None


def test_restart_attempts_last_for_several_hours() -> None:
    _, attempts = replayed(*((timedelta(seconds=10 * n), FAILED) for n in range(6 * 60 * 24)))
    assert attempts[-1] > timedelta(hours=7)


def test_attempts_are_forgotten_after_running_for_a_while_and_not_before() -> None:
    once = Restarts(count=3, tried_at=NOW)
    running = after_observation(once, RUNNING, NOW + MINUTE)
    assert running
    assert after_observation(running, RUNNING, NOW + MINUTE + STEADY_AFTER) is None
    again = after_observation(running, FAILED, NOW + STEADY_AFTER)
    assert again
    assert (again.count, again.running_since) == (3, None)


def test_a_restart_that_hangs_is_given_a_minute() -> None:
    hangs = observed("RESTARTING", "RESTARTING")
    _, attempts = replayed(*((timedelta(seconds=10 * n), hangs) for n in range(8)))
    assert attempts == [timedelta(seconds=60)]


def test_a_restart_by_somebody_else_is_not_stuck_because_of_an_earlier_failure() -> None:
    of_auth = observed("RUNNING", "FAILED", of=hint(diagnoses.AUTH))
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
    turn = choose(failing, failing, NOW)
    assert turn == tuple(f"c{n}" for n in range(98, 98 - 2 * RESTARTED_PER_TICK, -2))


def test_the_notice_says_how_often_it_was_tried_and_when_the_next_attempt_is() -> None:
    once = Restarts(count=1, tried_at=NOW, cause=RestartCause.FAILED)
    assert notice(once) == "Headgate has tried to restart it once; next try at 2026-01-01T00:01:00.000Z."
    twice = Restarts(count=2, tried_at=NOW, cause=RestartCause.FAILED)
    assert notice(twice) == "Headgate has tried to restart it 2 times; next try at 2026-01-01T00:02:00.000Z."
    spent = Restarts(count=MAX_RESTARTS, tried_at=NOW, cause=RestartCause.FAILED)
    assert notice(spent) == (
        "Headgate has tried to restart it 20 times and does not try again. Mend the cause, then restart it."
    )


@pytest.mark.parametrize(
    "one", [Restarts(cause=RestartCause.FAILED), Restarts(count=2, tried_at=NOW, running_since=NOW)]
)
def test_there_is_no_notice_before_the_first_attempt_or_while_it_runs(one: Restarts) -> None:
    assert notice(one) is None
