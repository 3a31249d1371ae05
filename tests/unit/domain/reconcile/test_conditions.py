"""What counts as wrong with a connector, and from when on."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.classify import diagnoses
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import ConnectorStatus, DesiredState
from chalicelib.domain.reconcile.conditions import UNASSIGNED_FOR, UNREADABLE_FOR, WRONG_STATE_FOR
from chalicelib.domain.reconcile.digest import digest
from chalicelib.domain.reconcile.drift import Drift
from chalicelib.domain.reconcile.recreations import Recreations
from chalicelib.domain.reconcile.restarts import MAX_RESTARTS, RestartCause, Restarts
from chalicelib.domain.reconcile.snapshot import ClusterView, TickInput
from tests.unit.domain.reconcile.test_digest import (
    AUTH,
    NOW,
    RUNNING,
    TICK,
    A,
    desired,
    published,
    read,
    settled,
    status,
    unreadable,
)

GENERAL = diagnoses.GENERAL[ConnectorKind.SOURCE]


def codes_after(view: ClusterView, seen: TickInput, *, after: timedelta) -> list[str]:
    """The codes of what is wrong when this is seen now, and again `after` a while."""
    view = published(digest("k", view, seen, now=NOW))
    later = digest("k", view, seen, now=NOW + after).view
    return [one.code for found in later.snapshot.conditions.values() for one in found]


@pytest.mark.parametrize(
    ("seen", "after", "codes"),
    [
        (RUNNING, TICK, []),
        (status(A, "FAILED", hint=AUTH), TICK, ["SOURCE_AUTH_FAILED"]),
        (status(A, "FAILED", hint=GENERAL), TICK, ["CONNECTOR_FAILED"]),
        (status(A, "FAILED"), TICK, ["CONNECTOR_FAILED"]),
        (status(A, "RUNNING", "FAILED", hint=GENERAL), TICK, ["CONNECT_TASK_FAILED"]),
        (status(A, "RUNNING", "RUNNING", "FAILED", "FAILED", hint=AUTH), TICK, ["SOURCE_AUTH_FAILED"] * 2),
        (status(A, "UNASSIGNED"), UNASSIGNED_FOR - TICK, []),
        (status(A, "UNASSIGNED"), UNASSIGNED_FOR, ["CONNECTOR_UNASSIGNED"]),
        (status(A, "RUNNING", "UNASSIGNED", "RUNNING"), UNASSIGNED_FOR, ["CONNECTOR_UNASSIGNED"]),
        (replace(RUNNING, tasks=()), UNASSIGNED_FOR - TICK, []),
        (replace(RUNNING, tasks=()), UNASSIGNED_FOR, ["CONNECTOR_UNASSIGNED"]),
        (status(A, "PAUSED"), TICK, []),
        (status(A, "PAUSED"), WRONG_STATE_FOR, ["CONNECTOR_PAUSED"]),
        (status(A, "STOPPED"), WRONG_STATE_FOR, ["CONNECTOR_PAUSED"]),
        (status(A, "RESTARTING"), WRONG_STATE_FOR, []),
    ],
)
def test_a_state_is_wrong_once_it_does_not_pass_by_itself(seen: Any, after: timedelta, codes: list[str]) -> None:
    assert codes_after(settled(RUNNING), read(seen), after=after) == codes


def test_a_connector_that_is_missing_is_wrong_when_it_was_not_created_again_within_a_minute() -> None:
    assert codes_after(settled(RUNNING), read(), after=WRONG_STATE_FOR - TICK) == []
    assert codes_after(settled(RUNNING), read(), after=WRONG_STATE_FOR) == ["CONNECTOR_FAILED"]


def test_a_connector_that_runs_although_it_should_be_paused_is_wrong_after_a_minute() -> None:
    view = settled(RUNNING)
    paused = read(RUNNING, desired=desired(A, state=DesiredState.PAUSED))
    assert codes_after(replace(view, epoch=1), paused, after=WRONG_STATE_FOR) == ["PIPELINE_DEGRADED"]


@pytest.mark.parametrize(("count", "codes"), [(2, []), (3, ["CONNECTOR_RESTART_LOOP"]), (MAX_RESTARTS, None)])
def test_restarts_that_do_not_help_are_a_loop(count: int, codes: list[str] | None) -> None:
    restarts = Restarts(count=count, tried_at=NOW, cause=RestartCause.FAILED, since=NOW)
    view = settled(RUNNING)
    view = replace(view, snapshot=replace(view.snapshot, restarts={A: restarts}))
    found = codes_after(view, read(status(A, "FAILED", hint=GENERAL)), after=TICK)
    assert found == ["CONNECTOR_FAILED", *(["CONNECTOR_RESTART_LOOP"] if codes is None else codes)]


def test_a_connector_that_vanishes_again_and_again_is_a_loop() -> None:
    view = settled(RUNNING)
    contested = Recreations(count=3, tried_at=NOW, contested=True)
    view = replace(view, snapshot=replace(view.snapshot, recreations={A: contested}))
    assert codes_after(view, read(RUNNING), after=TICK) == ["CONNECTOR_RESTART_LOOP"]


def test_a_config_that_somebody_has_changed_is_a_warning() -> None:
    view = settled(RUNNING)
    view = replace(view, snapshot=replace(view.snapshot, drifted={A: Drift(expected="right", confirmed=True)}))
    result = digest("k", view, read(RUNNING), now=NOW)
    ((condition,),) = result.view.snapshot.conditions.values()
    assert (condition.code, condition.severity) == ("CONFIG_DRIFT", "WARNING")


UNREADABLE_ENTRY = ConnectorStatus(name=A, state="UNKNOWN", worker_id=None, tasks=())
FAILED_TASK = status(A, "RUNNING", "RUNNING", "FAILED")
PAUSED = desired(A, state=DesiredState.PAUSED)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(FAILED_TASK, read(), id="not in the list"),
        pytest.param(FAILED_TASK, read(UNREADABLE_ENTRY), id="unreadable"),
        pytest.param(FAILED_TASK, read(status(A, "RUNNING", "RUNNING", "UNKNOWN")), id="unreadable task"),
        pytest.param(FAILED_TASK, read(status(A, "RUNNING", "RUNNING", "UNASSIGNED")), id="unassigned task"),
        pytest.param(FAILED_TASK, read(status(A, "RUNNING", "RUNNING", "RESTARTING")), id="restarting task"),
        pytest.param(FAILED_TASK, read(status(A, "RUNNING", "RUNNING")), id="task not in the list"),
        pytest.param(FAILED_TASK, read(status(A, "UNASSIGNED")), id="connector of the task unassigned"),
        pytest.param(FAILED_TASK, read(status(A, "PAUSED", "PAUSED", "PAUSED")), id="paused by somebody"),
        pytest.param(status(A, "FAILED"), read(), id="connector not in the list"),
        pytest.param(status(A, "FAILED"), read(status(A, "UNASSIGNED")), id="connector unassigned"),
        pytest.param(status(A, "FAILED"), read(status(A, "RESTARTING")), id="connector restarting"),
    ],
)
def test_a_failure_lasts_until_the_connector_or_task_is_seen_well(first: ConnectorStatus, then: TickInput) -> None:
    view = replace(settled(status(A, "RUNNING", "RUNNING", "RUNNING"), tasks=2), epoch=0)
    view = published(digest("k", view, read(first), now=NOW))
    result = digest("k", view, then, now=NOW + TICK)
    assert result.view.signals == ()
    assert result.view.snapshot.conditions == view.snapshot.conditions
    well = digest("k", published(result), read(status(A, "RUNNING", "RUNNING", "RUNNING")), now=NOW + 2 * TICK)
    assert [one.began for one in well.view.signals] == [False]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param(FAILED_TASK, read(status(A, "PAUSED", "PAUSED", "PAUSED"), desired=PAUSED), id="paused as wished"),
        pytest.param(FAILED_TASK, read(status(A, "STOPPED"), desired=PAUSED), id="stopped as wished"),
        pytest.param(FAILED_TASK, read(status(A, "RUNNING", "RUNNING"), desired=desired(A)), id="one task less wished"),
        pytest.param(status(A, "FAILED"), read(RUNNING, desired=desired(A)), id="runs"),
    ],
)
def test_a_failure_is_over_when_what_is_wished_is_seen(first: ConnectorStatus, then: TickInput) -> None:
    view = replace(settled(status(A, "RUNNING", "RUNNING", "RUNNING"), tasks=2), epoch=0)
    view = published(digest("k", view, read(first), now=NOW))
    result = digest("k", replace(view, epoch=1), then, now=NOW + TICK)
    assert [one.began for one in result.view.signals] == [False]


def test_a_failure_is_over_when_its_connector_is_gone_for_a_minute_and_what_is_wrong_is_that() -> None:
    view = published(digest("k", settled(RUNNING), read(status(A, "RUNNING", "FAILED", hint=AUTH)), now=NOW))
    view = published(digest("k", view, read(), now=NOW + TICK))
    result = digest("k", view, read(), now=NOW + TICK + WRONG_STATE_FOR)
    assert [(one.condition.code, one.began) for one in result.view.signals] == [
        ("SOURCE_AUTH_FAILED", False),
        ("CONNECTOR_FAILED", True),
    ]
    back = digest("k", published(result), read(status(A, "UNASSIGNED")), now=NOW + 2 * TICK + WRONG_STATE_FOR)
    assert [(one.condition.code, one.began) for one in back.view.signals] == [("CONNECTOR_FAILED", False)]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (status(A, "PAUSED", "PAUSED"), "CONNECTOR_PAUSED"),
        (status(A, "UNASSIGNED"), "CONNECTOR_UNASSIGNED"),
        (status(A, "RUNNING", "UNASSIGNED"), "CONNECTOR_UNASSIGNED"),
    ],
)
@pytest.mark.parametrize("gap", [read(), read(UNREADABLE_ENTRY)], ids=["not in the list", "unreadable"])
def test_a_look_that_misses_a_connector_once_neither_ends_nor_begins_anything(
    gap: TickInput, wrong: ConnectorStatus, code: str
) -> None:
    view, seen = settled(RUNNING), []
    times = (timedelta(0), UNASSIGNED_FOR, UNASSIGNED_FOR + TICK, UNASSIGNED_FOR + 2 * TICK, UNASSIGNED_FOR + 3 * TICK)
    for after, found in zip(times, (read(wrong), read(wrong), gap, read(wrong), read(RUNNING)), strict=True):
        result = digest("k", view, found, now=NOW + after)
        seen.append([(one.condition.code, one.began) for one in result.view.signals])
        view = published(result)
    assert seen == [[], [(code, True)], [], [], [(code, False)]]


def test_what_begins_and_what_ends_is_signalled_once() -> None:
    failed = read(status(A, "FAILED", hint=AUTH))
    first = digest("k", settled(RUNNING), failed, now=NOW)
    assert [(one.condition.code, one.began) for one in first.view.signals] == [("SOURCE_AUTH_FAILED", True)]
    second = digest("k", published(first), failed, now=NOW + TICK)
    assert second.view.signals == ()
    third = digest("k", published(second), read(RUNNING), now=NOW + 2 * TICK)
    assert [(one.condition.code, one.began) for one in third.view.signals] == [("SOURCE_AUTH_FAILED", False)]


def test_another_cause_ends_the_condition_and_begins_another() -> None:
    first = digest("k", settled(RUNNING), read(status(A, "FAILED", hint=AUTH)), now=NOW)
    second = digest("k", published(first), read(status(A, "FAILED", hint=GENERAL)), now=NOW + TICK)
    assert [(one.condition.code, one.began) for one in second.view.signals] == [
        ("SOURCE_AUTH_FAILED", False),
        ("CONNECTOR_FAILED", True),
    ]


def test_a_connect_that_cannot_be_read_changes_no_condition_of_its_connectors() -> None:
    first = digest("k", settled(RUNNING), read(status(A, "FAILED", hint=AUTH)), now=NOW)
    later = NOW + UNREADABLE_FOR
    second = digest("k", published(first), unreadable(), now=later)
    assert second.view.signals == ()
    assert second.view.snapshot.conditions.keys() == {A}


def test_a_connect_that_cannot_be_read_for_a_while_is_one_condition_of_the_cluster() -> None:
    view, signals = settled(RUNNING), []
    for seconds in (0, 10, 20, 30, 40):
        view = published(result := digest("k", view, unreadable(), now=NOW + timedelta(seconds=seconds)))
        signals += [(seconds, one.condition.code, one.began) for one in result.view.signals]
    result = digest("k", view, read(RUNNING), now=NOW + timedelta(seconds=50))
    signals += [(50, one.condition.code, one.began) for one in result.view.signals]
    assert signals == [(30, "STREAM_CONNECT_UNAVAILABLE", True), (50, "STREAM_CONNECT_UNAVAILABLE", False)]


def test_a_resource_that_is_not_deployed_any_more_has_no_condition() -> None:
    first = published(digest("k", settled(RUNNING), read(status(A, "FAILED", hint=AUTH)), now=NOW))
    gone = digest("k", replace(first, epoch=1), read(desired={}), now=NOW + TICK)
    assert [(one.condition.code, one.began) for one in gone.view.signals] == [("SOURCE_AUTH_FAILED", False)]
    assert gone.view.snapshot.conditions == {}


def test_tasks_that_do_not_exist_are_missed_once_a_rebalance_would_be_over() -> None:
    new, one_of_two = ClusterView(compared_at=NOW), read(RUNNING, desired={A: replace(desired(A)[A], tasks=2)})
    assert codes_after(new, one_of_two, after=UNASSIGNED_FOR - TICK) == []
    assert codes_after(new, one_of_two, after=UNASSIGNED_FOR) == ["CONNECTOR_UNASSIGNED"]


def test_lost_changes_end_with_the_connector_alone_and_a_second_gap_begins_again() -> None:
    gap = read(RUNNING, progress={A: (Finding(code=FindingCode.CHANGES_LOST, message="Lost.", certain=True),)})
    none, deleted = read(RUNNING, progress={}), read(desired={})
    view, seen = settled(RUNNING), []
    for number, found in enumerate((gap, gap, none, none, gap, deleted)):
        result = digest("k", view, found, now=NOW + number * TICK)
        seen.append([(one.condition.code, one.began) for one in result.view.signals])
        view = published(result)
    began, ended = [("CHANGES_LOST", True)], [("CHANGES_LOST", False)]
    assert seen == [began, [], [], [], began, ended]


def test_signals_keep_their_order_when_the_clock_is_set_back() -> None:
    failed, hour = read(status(A, "FAILED", hint=AUTH)), timedelta(hours=1)
    view, times = settled(RUNNING), []
    for now, seen in (
        (NOW, failed),
        (NOW - hour, read(RUNNING)),
        (NOW - hour + TICK, failed),
        (NOW + hour, read(RUNNING)),
    ):
        result = digest("k", view, seen, now=now)
        times += [one.at for one in result.view.signals]
        view = published(result)
    assert times == sorted(set(times))
    assert (len(times), times[-1]) == (4, NOW + hour)
