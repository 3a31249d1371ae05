"""Transitions in the stores: written with what has changed, and the newest of each resource are kept."""

from collections.abc import Iterable
from datetime import datetime, timedelta

import pytest

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.memory import ClusterMemory
from chalicelib.domain.connectors.transitions import Transition
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.timeline.event import Change, observed_event
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import id_from
from chalicelib.stores.connectors.observations import TRANSITIONS_WITH_HEAD, Observations
from chalicelib.stores.timeline import KEPT_FOR, MAX_KEPT, Timeline, TimelineRow
from tests.service.stores.cluster_views import NOW, after_a_read, view, view_for_tick
from tests.support.apps.call_interceptor import CallInterceptor, Crash, InterceptedCall, Point
from tests.support.apps.tables import Tables

PIPELINE = id_from("pipeline")
NAME = connector_name(ConnectorKind.SOURCE, PIPELINE)


def transition(name: str | None = NAME, *, at: datetime = NOW) -> Transition:
    return Transition(
        connector=name, before=ObservedState.RUNNING, after=ObservedState.FAILED, kinds=("CDC_WAL_ERROR",),
        reasons=("The connector has failed.",), at=at,
    )  # fmt: skip


def write_change(observations: Observations, *transitions: Transition, connectors: int = 2) -> ClusterView | None:
    rows = event_rows(transitions)
    return observations.write("k", after_a_read(observations, view(connectors)), changed=True, transitions=rows)


def event_rows(transitions: Iterable[Transition]) -> list[TimelineRow]:
    return Timeline.rows(observed_event("k", one) for one in transitions)


def stored(resource_type: str = "pipeline", resource_id: str = PIPELINE, now: datetime = NOW) -> list[Change]:
    return [event.change for event in Timeline().read(resource_type, resource_id, now).events]


def test_a_transition_is_found_at_its_resource_and_that_of_a_cluster_at_the_cluster(tables: Tables) -> None:
    assert write_change(Observations(), transition(), transition(None))
    assert stored() == [transition()]
    assert stored("connect_cluster", "k") == [transition(None)]
    assert stored("delivery") == []


def test_a_change_and_its_transitions_are_one_write(tables: Tables, interceptor: CallInterceptor) -> None:
    observations = Observations()
    interceptor.watch()
    assert write_change(observations, *(transition(f"c{number}") for number in range(TRANSITIONS_WITH_HEAD)))
    assert [point.operation for point in interceptor.unwatch()][-1] == "TransactWriteItems"
    assert len(list(TimelineRow.scan())) == TRANSITIONS_WITH_HEAD


@pytest.mark.parametrize("unreadable", [None, "Out of reach."])
def test_of_two_ticks_with_transitions_only_the_first_is_stored(tables: Tables, unreadable: str | None) -> None:
    """The stored body stays: Connect has become unreadable, or nothing else has changed."""
    first, second = Observations(), Observations()
    write_change(first)
    written = []
    for observations, name in ((first, NAME), (second, None)):
        seen = view_for_tick(observations)
        written.append((observations, seen, event_rows([transition(name)])))
    results = [one.write("k", seen, changed=False, transitions=rows) for one, seen, rows in written]
    assert [result is not None for result in results] == [True, False]
    assert (len(stored()), len(stored("connect_cluster", "k"))) == (1, 0)
    assert len(view_for_tick(Observations()).memory.desired) == 2


def test_transitions_survive_a_crash_while_the_body_is_written(tables: Tables, interceptor: CallInterceptor) -> None:
    """Parts that do not fit into the transaction are written after it."""

    def crash_at_the_first_part(point: Point, call: InterceptedCall) -> object:
        if point.operation == "PutItem":
            raise Crash
        return call()

    interceptor.watch(crash_at_the_first_part)
    with pytest.raises(Crash):
        write_change(Observations(), transition(), connectors=10_000)
    interceptor.unwatch()
    assert stored() == [transition()]
    assert view_for_tick(Observations()).memory == ClusterMemory()


def test_the_newest_five_hundred_of_a_resource_are_kept_for_thirty_days(tables: Tables) -> None:
    many = [transition(at=NOW + timedelta(seconds=number)) for number in range(MAX_KEPT + 9)]
    timeline, rows = Timeline(), event_rows(many)
    timeline.write(rows, Deadline.after(20))
    timeline.trim(rows[0], Deadline.after(20))
    assert len(list(TimelineRow.query(f"pipeline/{PIPELINE}"))) == MAX_KEPT
    assert stored() == many[:8:-1]
    assert stored(now=NOW + KEPT_FOR + timedelta(hours=1)) == []
