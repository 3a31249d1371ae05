"""What counts as wrong with a connector, and from when on."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.conditions import UNASSIGNED_FOR, UNREADABLE_FOR, WRONG_STATE_FOR, cluster_conditions
from chalicelib.domain.connectors.drift import Drift
from chalicelib.domain.connectors.memory import NOTHING, ConnectorMemory
from chalicelib.domain.connectors.recreations import Recreations
from chalicelib.domain.connectors.restarts import MAX_RESTARTS, RestartCause, Restarts
from chalicelib.domain.connectors.step import ConnectorLook, step
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.monitoring.condition import Variant
from chalicelib.domain.observation import ConnectorStatus
from tests.unit.domain.connectors.looks import NOW, PAUSED, RUNNING, RUNS, TICK, A, desired, look, memory, status

AUTH, GENERAL = Diagnosis.AUTH, Diagnosis.GENERAL
Timed = tuple[timedelta, ConnectorLook]
NOT_NOW = timedelta(0)


def after(*looks: Timed, before: ConnectorMemory | None = None) -> ConnectorMemory:
    """The memory after these looks, each so long after NOW."""
    known = before or memory()
    for passed, seen in looks:
        known = step(known, seen, NOW + passed).memory
    return known


def codes(known: ConnectorMemory) -> list[str]:
    return [condition.code for condition in known.conditions]


def codes_after(seen: ConnectorLook, passed: timedelta, *, before: ConnectorMemory | None = None) -> list[str]:
    """The codes of what is wrong when this is seen now, and again after a while."""
    return codes(after((NOT_NOW, seen), (passed, seen), before=before))


@pytest.mark.parametrize(
    ("seen", "passed", "expected"),
    [
        (RUNNING, TICK, []),
        (status(A, "FAILED", diagnosis=AUTH), TICK, ["SOURCE_AUTH_FAILED"]),
        (status(A, "FAILED", diagnosis=GENERAL), TICK, ["CONNECTOR_FAILED"]),
        (status(A, "FAILED"), TICK, ["CONNECTOR_FAILED"]),
        (status(A, "RUNNING", "FAILED", diagnosis=GENERAL), TICK, ["CONNECT_TASK_FAILED"]),
        (status(A, "RUNNING", "RUNNING", "FAILED", "FAILED", diagnosis=AUTH), TICK, ["SOURCE_AUTH_FAILED"] * 2),
        (status(A, "UNASSIGNED"), UNASSIGNED_FOR - TICK, []),
        (status(A, "UNASSIGNED"), UNASSIGNED_FOR, ["CONNECTOR_UNASSIGNED"]),
        (status(A, "RUNNING", "UNASSIGNED", "RUNNING"), UNASSIGNED_FOR, ["CONNECTOR_UNASSIGNED"]),
        (replace(RUNNING, tasks=()), UNASSIGNED_FOR - TICK, []),
        (replace(RUNNING, tasks=()), UNASSIGNED_FOR, ["CONNECTOR_UNASSIGNED"]),
        (status(A, "PAUSED"), TICK, []),
        (status(A, "PAUSED"), WRONG_STATE_FOR, ["CONNECTOR_PAUSED"]),
        (status(A, "STOPPED"), WRONG_STATE_FOR, ["CONNECTOR_PAUSED"]),
        (status(A, "RESTARTING"), WRONG_STATE_FOR, []),
        (None, WRONG_STATE_FOR - TICK, []),
        (None, WRONG_STATE_FOR, ["CONNECTOR_FAILED"]),
    ],
)
def test_a_state_is_wrong_once_it_does_not_pass_by_itself(
    seen: ConnectorStatus | None, passed: timedelta, expected: list[str]
) -> None:
    assert codes_after(look(seen), passed) == expected


def test_a_connector_that_runs_although_it_should_be_paused_is_wrong_after_a_minute() -> None:
    assert codes_after(look(wanted=PAUSED), WRONG_STATE_FOR) == ["PIPELINE_DEGRADED"]


def test_a_connector_that_is_not_started_within_a_minute_is_wrong_and_nobody_is_said_to_have_stopped_it() -> None:
    seen = look(status(A, "STOPPED"))
    assert after((NOT_NOW, seen), (WRONG_STATE_FOR - TICK, seen), before=NOTHING).conditions == ()
    (condition,) = after((NOT_NOW, seen), (WRONG_STATE_FOR, seen), before=NOTHING).conditions
    assert (condition.code, condition.variant) == ("PIPELINE_DEGRADED", Variant.NOT_STARTED)
    assert "Somebody" not in condition.message


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED"])
def test_what_was_paused_by_hand_is_said_also_when_a_task_has_failed(state: str) -> None:
    seen = look(status(A, state, "FAILED", diagnosis=AUTH))
    known = after((NOT_NOW, seen), (WRONG_STATE_FOR, seen))
    (message,) = [condition.message for condition in known.conditions if condition.code == "CONNECTOR_PAUSED"]
    assert f"It should be running and is {state.lower()} in Kafka Connect." in message


def test_tasks_that_do_not_exist_are_missed_once_a_rebalance_would_be_over() -> None:
    one_of_two = look(wanted=desired(tasks=2))
    assert codes_after(one_of_two, UNASSIGNED_FOR - TICK) == []
    assert codes_after(one_of_two, UNASSIGNED_FOR) == ["CONNECTOR_UNASSIGNED"]


LOOP = ["CONNECTOR_RESTART_LOOP"]


@pytest.mark.parametrize(("count", "loop"), [(2, []), (3, LOOP), (MAX_RESTARTS, LOOP)])
def test_restarts_that_do_not_help_are_a_loop(count: int, loop: list[str]) -> None:
    restarts = Restarts(count=count, tried_at=NOW, cause=RestartCause.FAILED, since=NOW)
    failed = look(status(A, "FAILED", diagnosis=GENERAL))
    assert codes_after(failed, TICK, before=memory(restarts=restarts)) == ["CONNECTOR_FAILED", *loop]


@pytest.mark.parametrize(
    ("fields", "code", "severity"),
    [
        ({"recreations": Recreations(count=3, tried_at=NOW, contested=True)}, "CONNECTOR_RESTART_LOOP", "ERROR"),
        ({"drift": Drift(expected="a", confirmed=True)}, "CONFIG_DRIFT", "WARNING"),
        ({"reverted_at": (NOW - TICK,) * 3}, "CONNECTOR_PAUSED", "ERROR"),
    ],
)
def test_what_is_remembered_is_wrong_also_while_it_runs(fields: dict[str, Any], code: str, severity: str) -> None:
    (condition,) = after((NOT_NOW, look()), before=memory(**fields)).conditions
    assert (condition.code, condition.severity) == (code, severity)


UNREADABLE_ENTRY = status(A, "UNKNOWN")
FAILED_TASK = status(A, "RUNNING", "RUNNING", "FAILED")
TWO = desired(tasks=2)
WELL = memory(status(A, "RUNNING", "RUNNING", "RUNNING"), TWO)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(FAILED_TASK, None, id="not in the list"),
        pytest.param(FAILED_TASK, UNREADABLE_ENTRY, id="unreadable"),
        pytest.param(FAILED_TASK, status(A, "RUNNING", "RUNNING", "UNKNOWN"), id="unreadable task"),
        pytest.param(FAILED_TASK, status(A, "RUNNING", "RUNNING", "UNASSIGNED"), id="unassigned task"),
        pytest.param(FAILED_TASK, status(A, "RUNNING", "RUNNING", "RESTARTING"), id="restarting task"),
        pytest.param(FAILED_TASK, status(A, "RUNNING", "RUNNING"), id="task not in the list"),
        pytest.param(FAILED_TASK, status(A, "UNASSIGNED"), id="connector of the task unassigned"),
        pytest.param(FAILED_TASK, status(A, "PAUSED", "PAUSED", "PAUSED"), id="paused by somebody"),
        pytest.param(status(A, "FAILED"), None, id="connector not in the list"),
        pytest.param(status(A, "FAILED"), status(A, "UNASSIGNED"), id="connector unassigned"),
        pytest.param(status(A, "FAILED"), status(A, "RESTARTING"), id="connector restarting"),
    ],
)
def test_a_failure_lasts_until_the_connector_or_task_is_seen_well(
    first: ConnectorStatus, then: ConnectorStatus | None
) -> None:
    failed = after((NOT_NOW, look(first, TWO)), before=WELL)
    later = after((TICK, look(then, TWO)), before=failed)
    assert later.conditions == failed.conditions != ()
    well = look(status(A, "RUNNING", "RUNNING", "RUNNING"), TWO)
    assert after((2 * TICK, well), before=later).conditions == ()


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(FAILED_TASK, look(status(A, "PAUSED", "PAUSED", "PAUSED"), PAUSED), id="paused as wished"),
        pytest.param(FAILED_TASK, look(status(A, "STOPPED"), PAUSED), id="stopped as wished"),
        pytest.param(FAILED_TASK, look(status(A, "RUNNING", "RUNNING"), RUNS), id="one task less wished"),
        pytest.param(status(A, "FAILED"), look(RUNNING, RUNS), id="runs"),
        pytest.param(status(A, "FAILED"), look(status(A, "FAILED"), None), id="not deployed any more"),
    ],
)
def test_a_failure_is_over_when_what_is_wished_is_seen(first: ConnectorStatus, then: ConnectorLook) -> None:
    failed = after((NOT_NOW, look(first, TWO)), before=WELL)
    assert after((TICK, then), before=failed).conditions == ()


def test_a_failure_is_over_when_its_connector_is_gone_for_a_minute_and_what_is_wrong_is_that() -> None:
    failed = look(status(A, "RUNNING", "FAILED", diagnosis=AUTH))
    gone = after((NOT_NOW, failed), (TICK, look(None)), (TICK + WRONG_STATE_FOR, look(None)))
    assert codes(gone) == ["CONNECTOR_FAILED"]
    back = look(status(A, "UNASSIGNED"))
    assert codes(after((2 * TICK + WRONG_STATE_FOR, back), before=gone)) == []


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (status(A, "PAUSED", "PAUSED"), "CONNECTOR_PAUSED"),
        (status(A, "UNASSIGNED"), "CONNECTOR_UNASSIGNED"),
        (status(A, "RUNNING", "UNASSIGNED"), "CONNECTOR_UNASSIGNED"),
    ],
)
@pytest.mark.parametrize("gap", [None, UNREADABLE_ENTRY], ids=["not in the list", "unreadable"])
def test_a_look_that_misses_a_connector_once_neither_ends_nor_begins_anything(
    gap: ConnectorStatus | None, wrong: ConnectorStatus, code: str
) -> None:
    known, wrong_then = memory(), []
    times = (NOT_NOW, *(UNASSIGNED_FOR + number * TICK for number in range(4)))
    for passed, seen in zip(times, (wrong, wrong, gap, wrong, RUNNING), strict=True):
        known = after((passed, look(seen)), before=known)
        wrong_then.append(codes(known))
    assert wrong_then == [[], [code], [code], [code], []]


def test_another_cause_is_another_condition() -> None:
    first, second = (look(status(A, "FAILED", diagnosis=diagnosis)) for diagnosis in (AUTH, GENERAL))
    assert codes(after((NOT_NOW, first), (TICK, second))) == ["CONNECTOR_FAILED"]


@pytest.mark.parametrize(("seconds", "wrong"), [(0, False), (-1, True)])
def test_a_connect_that_cannot_be_read_for_half_a_minute_is_a_condition(seconds: int, wrong: bool) -> None:
    since = NOW - UNREADABLE_FOR + timedelta(seconds=1 + seconds)
    view = ClusterView(unreadable="It does not answer.", unreadable_since=since, observed_at=NOW)
    assert bool(cluster_conditions("k", view)) is wrong
