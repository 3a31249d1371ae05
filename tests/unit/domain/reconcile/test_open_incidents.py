"""What a tick learns from the open incidents."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.monitoring.incident import CHANGES_LOST, CONFIG_DRIFT, STALLED, Condition, Severity, Signal
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.reconcile.digest import TickResult, digest
from chalicelib.domain.reconcile.drift import Drift
from chalicelib.domain.reconcile.open_incidents import with_open_incidents
from chalicelib.domain.reconcile.recreations import CONTESTED, CONTESTED_PAUSES, STEADY_AFTER
from chalicelib.domain.reconcile.restarts import PAUSES
from chalicelib.domain.reconcile.reverts import REVERTED
from chalicelib.domain.reconcile.snapshot import ClusterView, TickInput
from tests.unit.domain.reconcile.test_digest import NOW, RUNNING, TICK, A, B, desired, read, settled, status

LOST = ClusterView(torn=True, observed_at=NOW - TICK)


def wrong(code: str, message: str = "Something is wrong.", *, name: str = A, task_id: int | None = None) -> Condition:
    return Condition(
        code=code, resource_type="pipeline", resource_id="r", message=message, connector_name=name, task_id=task_id
    )


def signals(result: TickResult) -> list[tuple[str, bool]]:
    return [(one.condition.code, one.began) for one in result.view.signals]


def after_loss(*conditions: Condition, seen: TickInput, view: ClusterView = LOST) -> TickResult:
    """What the tick concludes that follows the loss of the snapshot, when incidents about these are open."""
    known = with_open_incidents(view, conditions, desired(A), NOW)
    return digest("k", known, replace(seen, desired=desired(A)), now=NOW)


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        pytest.param(RUNNING, [("CONNECT_TASK_FAILED", False)], id="runs"),
        pytest.param(status(A, "RUNNING", "FAILED"), [], id="has still failed"),
        pytest.param(status(A, "RUNNING", "UNKNOWN"), [], id="cannot be read"),
        pytest.param(None, [], id="is not found"),
    ],
)
def test_a_failure_ends_when_it_is_seen_to_have_ended(seen: object, expected: list[tuple[str, bool]]) -> None:
    result = after_loss(wrong("CONNECT_TASK_FAILED", task_id=0), seen=read(*([seen] if seen else [])))
    assert signals(result) == expected


def test_a_connector_that_is_not_desired_any_more_has_nothing_wrong() -> None:
    assert signals(after_loss(wrong("CONNECT_TASK_FAILED", name=B), seen=read(RUNNING))) == [
        ("CONNECT_TASK_FAILED", False)
    ]


def test_what_a_measurement_found_stays_until_another_one_finds_it_over() -> None:
    unknown = after_loss(wrong(STALLED), wrong(CHANGES_LOST), seen=read(RUNNING))
    assert signals(unknown) == []
    assert [one.code for one in unknown.view.snapshot.progress[A]] == [FindingCode.STALLED, FindingCode.CHANGES_LOST]
    measured = after_loss(wrong(STALLED), seen=replace(read(RUNNING), progress={A: ()}))
    assert signals(measured) == [(STALLED, False)]


def test_a_finding_keeps_its_message_and_severity() -> None:
    condition = replace(wrong("PIPELINE_LAG_HIGH", "It is far behind."), severity=Severity.WARNING)
    found = after_loss(condition, seen=read(RUNNING)).view.snapshot.progress[A]
    assert found == (Finding(code=FindingCode.LAG_HIGH, message="It is far behind.", severity=Severity.WARNING),)


def test_a_config_that_differed_does_so_until_it_is_found_equal() -> None:
    unknown = after_loss(wrong(CONFIG_DRIFT), seen=read(RUNNING))
    assert unknown.view.snapshot.drifted == {A: Drift(expected="right", confirmed=True)}
    for actual, expected in (("other", []), ("right", [(CONFIG_DRIFT, False)])):
        assert signals(after_loss(wrong(CONFIG_DRIFT), seen=read(RUNNING, hashes={A: actual}))) == expected


def test_restarts_that_did_not_help_go_on_with_long_pauses() -> None:
    result = after_loss(wrong("CONNECTOR_RESTART_LOOP"), seen=read(status(A, "RUNNING", "FAILED")))
    restarts = result.view.snapshot.restarts[A]
    assert restarts.next_at == NOW + PAUSES[2]
    assert ("CONNECTOR_RESTART_LOOP", False) not in signals(result)


def test_a_connector_that_something_else_removes_is_not_created_again_at_once() -> None:
    result = after_loss(wrong("CONNECTOR_RESTART_LOOP", CONTESTED), seen=read())
    assert result.view.snapshot.recreations[A].next_at == NOW + CONTESTED_PAUSES[0]
    assert signals(result) == []


def test_a_connector_that_something_else_pauses_is_well_when_it_has_run_for_a_while() -> None:
    view = after_loss(wrong("CONNECTOR_PAUSED", REVERTED), seen=read(RUNNING)).view
    assert view.signals == ()
    assert signals(digest("k", view, read(RUNNING), now=NOW + STEADY_AFTER - TICK)) == []
    assert signals(digest("k", view, read(RUNNING), now=NOW + STEADY_AFTER)) == [("CONNECTOR_PAUSED", False)]


@pytest.mark.parametrize(("began", "expected"), [(True, []), (False, [("CONNECT_TASK_FAILED", True)])])
def test_signals_that_no_incident_knows_yet_count(began: bool, expected: list[tuple[str, bool]]) -> None:
    failed = wrong("CONNECT_TASK_FAILED", task_id=0)
    unpublished = (Signal(condition=failed, began=began, at=NOW - timedelta(seconds=1)),)
    known = [] if began else [failed]
    view = replace(LOST, signals=unpublished)
    result = after_loss(*known, seen=read(status(A, "RUNNING", "FAILED")), view=view)
    assert signals(result)[1:] == expected


def test_configs_are_compared_soon_after_a_loss() -> None:
    assert after_loss(seen=read(RUNNING)).view.compared_at is None


def test_a_tick_whose_snapshot_is_whole_ends_what_nothing_says_and_keeps_what_it_remembers() -> None:
    view = settled(RUNNING)
    known = with_open_incidents(view, [wrong(STALLED), wrong("CONNECTOR_PAUSED", REVERTED)], desired(A), NOW)
    assert replace(known.snapshot, conditions={}) == view.snapshot
    result = digest("k", known, read(RUNNING), now=NOW)
    assert sorted(signals(result)) == [("CONNECTOR_PAUSED", False), (STALLED, False)]
