"""What a tick learns from the open incidents."""

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.connectors.cluster import evaluate_tick
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.drift import Drift
from chalicelib.domain.connectors.memory import ConnectorMemory
from chalicelib.domain.connectors.open_incidents import memory_of, with_open_incidents
from chalicelib.domain.connectors.recreations import CONTESTED_PAUSES, STEADY_AFTER
from chalicelib.domain.connectors.restarts import PAUSES
from chalicelib.domain.connectors.step import Action, ConnectorLook, step
from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity, Variant
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.observation import ConnectorStatus
from tests.unit.domain.connectors.looks import NOW, RUNNING, RUNS, TICK, A, B, look, read, status


def wrong(code: ConditionCode, message: str = "Something is wrong.", **fields: Any) -> Condition:
    fields = {"connector_name": A, **fields}
    return Condition(code=code, resource_type="pipeline", resource_id="r", message=message, **fields)


def codes(known: ConnectorMemory) -> list[str]:
    return [condition.code for condition in known.conditions]


def after_loss(*conditions: Condition, seen: ConnectorLook, passed: timedelta = TICK) -> ConnectorMemory:
    """What is remembered after a look, when the memory was lost and incidents about these are open."""
    return step(memory_of(conditions, RUNS, NOW), seen, NOW + passed).memory


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(RUNNING, [], id="runs"),
        pytest.param(status(A, "RUNNING", "FAILED"), ["CONNECT_TASK_FAILED"], id="has still failed"),
        pytest.param(status(A, "RUNNING", "UNKNOWN"), ["CONNECT_TASK_FAILED"], id="cannot be read"),
        pytest.param(None, ["CONNECT_TASK_FAILED"], id="is not listed"),
    ],
)
def test_a_failure_ends_when_it_is_seen_to_have_ended(seen: ConnectorStatus | None, expected: list[str]) -> None:
    assert codes(after_loss(wrong(ConditionCode.CONNECT_TASK_FAILED, task_id=0), seen=look(seen))) == expected


def test_what_a_measurement_found_stays_until_another_one_finds_it_over() -> None:
    incidents = wrong(ConditionCode.STALLED), wrong(ConditionCode.CHANGES_LOST)
    unknown = after_loss(*incidents, seen=look())
    assert codes(unknown) == ["STALLED", "CHANGES_LOST"]
    assert [finding.code for finding in unknown.findings] == [FindingCode.STALLED, FindingCode.CHANGES_LOST]
    assert codes(after_loss(*incidents, seen=look(findings=()))) == []


def test_a_finding_keeps_its_message_and_severity() -> None:
    condition = wrong(ConditionCode.PIPELINE_LAG_HIGH, "It is far behind.", severity=Severity.WARNING)
    finding = Finding(code=FindingCode.LAG_HIGH, message="It is far behind.", severity=Severity.WARNING)
    assert after_loss(condition, seen=look()).findings == (finding,)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        (look(), ["CONFIG_DRIFT"]),
        (look(compared=True, config_hash="b"), ["CONFIG_DRIFT"]),
        (look(compared=True, config_hash="a"), []),
    ],
)
def test_a_config_that_differed_does_so_until_it_is_found_equal(seen: ConnectorLook, expected: list[str]) -> None:
    assert codes(after_loss(wrong(ConditionCode.CONFIG_DRIFT), seen=seen)) == expected


def test_restarts_that_did_not_help_go_on_with_long_pauses() -> None:
    loop = wrong(ConditionCode.CONNECTOR_RESTART_LOOP, variant=Variant.RESTARTS)
    known = after_loss(loop, seen=look(status(A, "RUNNING", "FAILED")))
    assert known.restarts.next_at == NOW + PAUSES[2]
    assert "CONNECTOR_RESTART_LOOP" in codes(known)


def test_a_connector_that_something_else_removes_is_not_created_again_at_once() -> None:
    known = after_loss(wrong(ConditionCode.CONNECTOR_RESTART_LOOP, variant=Variant.RECREATIONS), seen=look(None))
    assert codes(known) == ["CONNECTOR_RESTART_LOOP"]
    for passed, actions in ((2 * TICK, ()), (CONTESTED_PAUSES[0], (Action.CREATE,))):
        assert step(known, look(None), NOW + passed).actions == actions


def test_a_connector_that_something_else_pauses_is_well_when_it_has_run_for_a_while() -> None:
    paused = wrong(ConditionCode.CONNECTOR_PAUSED, variant=Variant.PAUSED_REPEATEDLY)
    for passed, expected in ((STEADY_AFTER - TICK, ["CONNECTOR_PAUSED"]), (STEADY_AFTER, [])):
        assert codes(after_loss(paused, seen=look(), passed=passed)) == expected


def test_a_tick_that_has_lost_its_memory_begins_with_the_incidents_of_what_is_desired() -> None:
    lost = ClusterView(torn=True, observed_at=NOW - TICK)
    incidents = wrong(ConditionCode.CONFIG_DRIFT), wrong(ConditionCode.CONFIG_DRIFT, connector_name=B)
    view = with_open_incidents(lost, incidents, {A: RUNS}, NOW)
    after = evaluate_tick(view, read(RUNNING, desired={A: RUNS}), now=NOW).view
    assert {name: codes(known) for name, known in after.memory.connectors.items()} == {A: ["CONFIG_DRIFT"]}
    assert after.memory.of(A).drift == Drift(expected="a", confirmed=True)
    assert after.compared_at is None  # so that configs are compared soon
