"""What a tick concludes: the view to store, the transitions to publish, the plan."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.classify import diagnoses
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import ConnectorStatus, DesiredState, Hint, ObservedState, TaskStatus
from chalicelib.domain.operation import Operation, OperationKind, OperationStep
from chalicelib.domain.reconcile.digest import MAX_TAKEOVERS, TickResult, digest
from chalicelib.domain.reconcile.drift import Drift
from chalicelib.domain.reconcile.plan import Plan
from chalicelib.domain.reconcile.snapshot import ClusterView, ConnectSnapshot, DesiredConnector, TickInput
from chalicelib.domain.reconcile.transitions import MAX_TRANSITIONS, ConnectState, Transition
from chalicelib.kit.ids import id_from

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(seconds=10)
IDS = [id_from("digest", str(number)) for number in range(3)]
A, B, ORPHAN = (connector_name(ConnectorKind.SOURCE, one) for one in IDS)
WAL = Hint(event_type="CDC_WAL_ERROR", message="The log is gone.")
AUTH = Hint(event_type="SOURCE_AUTH_FAILED", message="The source refuses the password.")
DOWN = "Kafka Connect cannot be reached."


def status(name: str, state: str = "RUNNING", *tasks: str, hint: Hint | None = None) -> ConnectorStatus:
    """A connector with tasks in these states; by default one task, which runs."""
    states = tasks or (("RUNNING",) if state == "RUNNING" else ())
    return ConnectorStatus(
        name=name,
        state=state,
        worker_id="w",
        tasks=tuple(
            TaskStatus(id=n, state=one, worker_id="w", hint=hint if one == "FAILED" else None)
            for n, one in enumerate(states)
        ),
        hint=hint if state == "FAILED" else None,
    )


def desired(*names: str, state: DesiredState = DesiredState.RUNNING, tasks: int = 1) -> dict[str, DesiredConnector]:
    return {
        name: DesiredConnector(
            resource_type="pipeline", resource_id="r", desired_state=state, config_hash="right", tasks=tasks
        )
        for name in names
    }


def read(*statuses: ConnectorStatus, hashes: Mapping[str, str] | None = None, **more: Any) -> TickInput:
    """The input of a tick with these statuses and configs that have just been compared."""
    connect = ConnectSnapshot(
        statuses={one.name: one for one in statuses}, config_hashes=hashes, compared_at=more.pop("compared_at", NOW)
    )
    return TickInput(connect=connect, **more)


def unreadable() -> TickInput:
    return TickInput(connect=ConnectSnapshot(unreadable=DOWN))


def published(result: TickResult) -> ClusterView:
    """The view that the next tick reads after its transitions and signals were published."""
    return replace(result.view, transitions=(), signals=())


def settled(*statuses: ConnectorStatus, names: tuple[str, ...] = (A,), **more: Any) -> ClusterView:
    """The view after two ticks that saw these connectors."""
    view = ClusterView(compared_at=NOW)
    for number in (2, 1):
        view = published(digest("k", view, read(*statuses, desired=desired(*names, **more)), now=NOW - number * TICK))
    return view


def changes(result: TickResult) -> list[tuple[Any, ...]]:
    return [(one.connector, one.before, one.after, one.kinds) for one in result.view.transitions]


RUNNING = status(A)
FAILED = status(A, "RUNNING", "FAILED", hint=WAL)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        pytest.param((RUNNING,), (RUNNING,), [], id="quiet"),
        pytest.param((), (RUNNING,), [(A, ObservedState.NOT_DEPLOYED, ObservedState.RUNNING, ())], id="appears"),
        pytest.param((RUNNING,), (), [(A, ObservedState.RUNNING, ObservedState.NOT_DEPLOYED, ())], id="disappears"),
        pytest.param((), (), [], id="stays away"),
        pytest.param(
            (RUNNING,), (status(A, "PAUSED"),), [(A, ObservedState.RUNNING, ObservedState.PAUSED, ())], id="state"
        ),
        pytest.param(
            (RUNNING,),
            (FAILED,),
            [(A, ObservedState.RUNNING, ObservedState.DEGRADED, ("CDC_WAL_ERROR",))],
            id="task fails",
        ),
        pytest.param((FAILED,), (FAILED,), [], id="task stays failed"),
        pytest.param(
            (FAILED,),
            (status(A, "RUNNING", "FAILED", hint=AUTH),),
            [(A, ObservedState.DEGRADED, ObservedState.DEGRADED, ("SOURCE_AUTH_FAILED",))],
            id="fails of something else",
        ),
        pytest.param((FAILED,), (RUNNING,), [(A, ObservedState.DEGRADED, ObservedState.RUNNING, ())], id="recovers"),
        pytest.param((RUNNING,), (replace(RUNNING, worker_id="other"),), [], id="another worker"),
        pytest.param(
            (RUNNING,),
            (RUNNING, status(ORPHAN, "STOPPED")),
            [(ORPHAN, None, ObservedState.STOPPED, ())],
            id="orphan appears",
        ),
        pytest.param(
            (RUNNING, status(ORPHAN, "STOPPED")),
            (RUNNING,),
            [(ORPHAN, ObservedState.STOPPED, ObservedState.NOT_DEPLOYED, ())],
            id="orphan disappears",
        ),
    ],
)
def test_a_transition_is_a_change_of_state_or_of_the_kind_of_failure(
    before: tuple[ConnectorStatus, ...], now: tuple[ConnectorStatus, ...], expected: list[Any]
) -> None:
    result = digest("k", settled(*before), read(*now), now=NOW)
    assert changes(result) == expected
    assert all(one.at == NOW for one in result.view.transitions)


@pytest.mark.parametrize(("statuses", "after"), [((RUNNING,), ObservedState.RUNNING), ((), ObservedState.NOT_DEPLOYED)])
def test_the_first_observation_is_a_transition_from_nothing(
    statuses: tuple[ConnectorStatus, ...], after: ObservedState
) -> None:
    result = digest("k", ClusterView(), read(*statuses, desired=desired(A)), now=NOW)
    assert changes(result) == [(A, None, after, ())]


def test_a_transition_names_the_resource_and_the_reasons() -> None:
    (one,) = digest("k", settled(RUNNING), read(FAILED), now=NOW).view.transitions
    assert one.resource == ("pipeline", IDS[0])
    assert one.reasons == ("Task 0 has failed. The log is gone.",)


def test_the_reasons_of_a_transition_are_few() -> None:
    many = status(A, "RUNNING", *["FAILED"] * 900, hint=WAL)
    (one,) = digest("k", settled(RUNNING), read(many), now=NOW).view.transitions
    assert len(one.reasons) == 3


def test_a_quiet_tick_changes_only_when_it_was_seen() -> None:
    view = settled(RUNNING)
    result = digest("k", view, read(RUNNING), now=NOW)
    assert not result.changed
    assert result.plan.idle
    assert result.view == replace(view, observed_at=NOW)


def test_digesting_the_same_twice_gives_the_same() -> None:
    arguments = settled(RUNNING), read(FAILED, status(ORPHAN), status(B))
    assert digest("k", *arguments, now=NOW) == digest("k", *arguments, now=NOW)


# Connect unreadable


def test_an_unreadable_connect_is_the_only_transition() -> None:
    view = settled(RUNNING)
    result = digest("k", view, unreadable(), now=NOW)
    (one,) = result.view.transitions
    assert (one.connector, one.resource, one.reasons) == (None, None, (DOWN,))
    assert (one.before, one.after) == (ConnectState.READABLE, ConnectState.UNREADABLE)
    assert result.view == replace(view, unreadable=DOWN, unreadable_since=NOW, observed_at=NOW, transitions=(one,))
    assert (result.plan, result.changed, result.overdue) == (Plan(), False, ())


def test_a_connect_that_stays_unreadable_is_no_further_transition() -> None:
    first = published(digest("k", settled(RUNNING), unreadable(), now=NOW))
    assert digest("k", first, unreadable(), now=NOW + TICK).view == replace(first, observed_at=NOW + TICK)


@pytest.mark.parametrize(("statuses", "connectors"), [((RUNNING,), 0), ((FAILED,), 1)])
def test_a_readable_connect_is_a_transition_and_so_is_each_change_since(
    statuses: tuple[ConnectorStatus, ...], connectors: int
) -> None:
    away = published(digest("k", settled(RUNNING), unreadable(), now=NOW))
    result = digest("k", away, read(*statuses), now=NOW + TICK)
    first, *others = result.view.transitions
    assert (first.connector, first.before, first.after) == (None, ConnectState.UNREADABLE, ConnectState.READABLE)
    assert len(others) == connectors
    assert result.view.unreadable is None


# transitions that were not published


def test_transitions_that_were_not_published_come_first() -> None:
    crashed = digest("k", settled(RUNNING), read(FAILED), now=NOW).view
    result = digest("k", crashed, read(RUNNING), now=NOW + TICK)
    assert [(one.after, one.at) for one in result.view.transitions] == [
        (ObservedState.DEGRADED, NOW),
        (ObservedState.RUNNING, NOW + TICK),
    ]


@pytest.mark.parametrize("again", [read(FAILED), unreadable()])
def test_transitions_that_were_not_published_stay_in_any_case(again: TickInput) -> None:
    crashed = digest("k", settled(RUNNING), read(FAILED), now=NOW).view
    assert digest("k", crashed, again, now=NOW + TICK).view.transitions[0] == crashed.transitions[0]


@pytest.mark.parametrize("waiting", [MAX_TRANSITIONS, MAX_TRANSITIONS - 1])
def test_transitions_over_the_bound_are_found_by_a_later_tick(waiting: int) -> None:
    old = Transition(connector=A, before=None, after=ObservedState.RUNNING, at=NOW)
    view = settled(status(A), status(B), names=(A, B))
    full = replace(view, transitions=(old,) * waiting)
    result = digest("k", full, read(status(A, "PAUSED"), status(ORPHAN)), now=NOW)  # B no longer exists
    assert len(result.view.transitions) == MAX_TRANSITIONS
    first = [one.connector for one in result.view.transitions[waiting:]]
    later = digest("k", published(result), read(status(A, "PAUSED"), status(ORPHAN)), now=NOW + TICK)
    assert first + [one.connector for one in later.view.transitions] == [B, A, ORPHAN]


def test_transitions_of_the_cluster_have_a_bound_of_their_own() -> None:
    old = Transition(connector=A, before=None, after=ObservedState.RUNNING, at=NOW)
    view = replace(settled(RUNNING), transitions=(old,) * (2 * MAX_TRANSITIONS - 1))
    for _ in range(2):
        view = digest("k", digest("k", view, unreadable(), now=NOW).view, read(RUNNING), now=NOW).view
        assert len(view.transitions) == 2 * MAX_TRANSITIONS


# the plan


def test_a_wrong_state_is_repaired_when_it_was_seen_twice() -> None:
    view, hangs = settled(RUNNING, status(B), names=(A, B)), read(status(A, "STOPPED"))
    first = digest("k", view, hangs, now=NOW)
    assert first.plan.idle
    second = digest("k", published(first), hangs, now=NOW + TICK)
    assert (second.plan.create, second.plan.resume) == ((B,), (A,))


@pytest.mark.parametrize("state", ["PAUSED", "STOPPED"])
def test_what_was_paused_by_hand_is_resumed_also_when_a_task_has_failed(state: str) -> None:
    paused = read(status(A, state, "FAILED", hint=AUTH))
    view = published(digest("k", settled(RUNNING), paused, now=NOW))
    result = digest("k", view, paused, now=NOW + TICK)
    assert (result.plan.resume, result.plan.restart) == ((A,), ())
    later = digest("k", published(result), paused, now=NOW + 7 * TICK)
    messages = [one.message for one in later.view.snapshot.conditions[A] if one.code == "CONNECTOR_PAUSED"]
    assert len(messages) == 1
    assert f"It should be running and is {state.lower()} in Kafka Connect." in messages[0]


def test_connectors_of_open_operations_are_left_alone() -> None:
    busy = operation(lease_until=NOW + TICK)
    view = settled(names=(A,))
    result = digest("k", view, read(desired=desired(A), open_operations=(busy,)), now=NOW)
    assert result.plan.idle
    assert result.overdue == ()
    assert result.view.snapshot.unsettled


def test_operations_whose_lease_has_ended_are_taken_over_a_bounded_number_of_them() -> None:
    overdue = [operation(lease_until=NOW)] * (MAX_TAKEOVERS + 1)
    result = digest("k", settled(), read(desired={}, open_operations=tuple(overdue)), now=NOW)
    assert len(result.overdue) == MAX_TAKEOVERS


def test_an_orphan_is_stopped_and_later_deleted() -> None:
    view, plans = settled(RUNNING), {}
    for seconds, state in ((0, "RUNNING"), (89, "RUNNING"), (90, "RUNNING"), (599, "STOPPED"), (600, "STOPPED")):
        result = digest("k", view, read(RUNNING, status(ORPHAN, state)), now=NOW + timedelta(seconds=seconds))
        plans[seconds], view = (result.plan.stop, result.plan.delete), published(result)
    nothing: tuple[str, ...] = ()
    assert plans == {
        0: (nothing, nothing),
        89: (nothing, nothing),
        90: ((ORPHAN,), nothing),
        599: (nothing, nothing),
        600: (nothing, (ORPHAN,)),
    }


# what is desired, and drift


def test_after_a_change_what_is_desired_is_read_once_more() -> None:
    changed = replace(settled(RUNNING), epoch=1)
    assert not changed.settled
    first = digest("k", changed, read(RUNNING, desired=desired(A)), now=NOW)
    assert not published(first).settled
    second = digest("k", published(first), read(RUNNING, desired=desired(A)), now=NOW + TICK)
    assert published(second).settled


def test_what_is_desired_is_read_until_two_reads_agree() -> None:
    lagging = digest("k", settled(RUNNING), read(RUNNING, desired={}), now=NOW)
    assert lagging.view.snapshot.unsettled
    caught_up = digest("k", published(lagging), read(RUNNING, desired=desired(A)), now=NOW + TICK)
    assert caught_up.view.snapshot.unsettled
    same = digest("k", published(caught_up), read(RUNNING, desired=desired(A)), now=NOW + 2 * TICK)
    assert not same.view.snapshot.unsettled


def test_a_config_that_differs_twice_is_reported_and_is_no_transition() -> None:
    differs = read(RUNNING, hashes={A: "other"})
    first = digest("k", settled(RUNNING), differs, now=NOW)
    assert first.view.compared_at is None  # so that the next tick compares again
    assert first.view.snapshot.drifted == {A: Drift(expected="right")}
    second = digest("k", published(first), differs, now=NOW + TICK)
    assert second.view.compared_at == NOW
    assert second.view.snapshot.drifted == {A: Drift(expected="right", confirmed=True)}
    assert len(second.view.snapshot.observed[A].reasons) == 1
    assert second.view.transitions == ()


@pytest.mark.parametrize(("minutes", "soon"), [(0, False), (1, True)])
def test_configs_are_compared_soon_after_an_unexpected_change(minutes: int, soon: bool) -> None:
    compared_at = NOW - timedelta(minutes=minutes)
    result = digest("k", settled(RUNNING), read(status(A, "UNASSIGNED"), compared_at=compared_at), now=NOW)
    assert result.view.compared_at == (None if soon else compared_at)


def operation(*, lease_until: datetime) -> Operation:
    return Operation(
        id="o",
        kind=OperationKind.DEPLOY,
        resource_type="pipeline",
        resource_id="r",
        connect_cluster_id="k",
        connector_name=A,
        config_hash=None,
        actor_id=None,
        actor_email=None,
        actor_via="session",
        correlation_id="c",
        step=OperationStep.REQUESTED,
        lease_until=lease_until,
        created_at=NOW,
    )


def test_a_connector_that_would_read_its_whole_source_again_is_not_restarted_and_the_reason_says_so() -> None:
    failed = status(A, "RUNNING", "FAILED", hint=diagnoses.CONNECTION[ConnectorKind.SOURCE])
    those = {A: replace(desired(A)[A], restartable=False)}
    view = ClusterView(compared_at=NOW)
    for number in range(60):
        result = digest("k", view, read(failed, desired=those), now=NOW + number * TICK)
        assert result.plan.restart == ()
        view = published(result)
    assert "does not restart it automatically" in " ".join(view.snapshot.observed[A].reasons)
    recovered = digest("k", view, read(RUNNING, desired=those), now=NOW + 60 * TICK)
    assert recovered.view.snapshot.observed[A].reasons == ()


def test_a_connector_that_goes_on_where_it_was_is_restarted() -> None:
    failed = status(A, "RUNNING", "FAILED", hint=diagnoses.CONNECTION[ConnectorKind.SOURCE])
    view, restarted = ClusterView(compared_at=NOW), 0
    for number in range(10):
        result = digest("k", view, read(failed, desired=desired(A)), now=NOW + number * TICK)
        restarted += len(result.plan.restart)
        view = published(result)
    assert restarted > 0
