"""Transitions in the store of observations: kept until they were published, and written with what changed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView
from chalicelib.domain.reconcile.transitions import MAX_TRANSITIONS, Transition
from chalicelib.kit.ids import id_from
from chalicelib.stores.observations import ObservationRow, Observations
from tests.support.call_interceptor import CallInterceptor, Crash, Point
from tests.support.tables import Tables
from tests.unit.stores.cluster_views import NOW, after_a_read, view, view_for_tick


def transition(name: str = "c0", *, at: datetime = NOW) -> Transition:
    return Transition(
        connector=name, before=ObservedState.RUNNING, after=ObservedState.FAILED, kinds=("CDC_WAL_ERROR",),
        reasons=("The connector has failed.",), at=at,
    )  # fmt: skip


def write_change(observations: Observations, *transitions: Transition, connectors: int = 2) -> ClusterView:
    """Writes a change with these transitions, as a tick that crashes before it publishes them."""
    seen = replace(after_a_read(observations, view(connectors)), transitions=transitions)
    result = observations.write("k", seen, changed=True)
    assert result
    return result


def test_transitions_stay_stored_until_they_are_removed(tables: Tables) -> None:
    first = write_change(Observations(), transition(), transition("c1"))
    assert first.transitions == (transition(), transition("c1"))
    again = view_for_tick(Observations())
    assert again.transitions == first.transitions
    assert len(again.snapshot.desired) == 2
    Observations().remove_published("k", first)
    assert view_for_tick(Observations()).transitions == ()


def test_a_change_and_its_transition_are_one_write_and_the_removal_is_another(
    tables: Tables, interceptor: CallInterceptor
) -> None:
    observations = Observations()
    write_change(observations, connectors=5_000)
    failed = view(5_000, c7=ObservedState.FAILED)
    later = replace(after_a_read(observations, failed), transitions=(transition("c7"),))
    interceptor.watch()
    result = observations.write("k", later, changed=True)
    assert result
    observations.remove_published("k", result)
    assert [point.operation for point in interceptor.unwatch()] == ["TransactWriteItems", "UpdateItem"]


def test_transitions_may_be_stored_without_another_body(tables: Tables) -> None:
    """Connect has become unreadable: the stored body stays."""
    observations = Observations()
    write_change(observations)
    seen = replace(view_for_tick(observations), unreadable="Out of reach.", transitions=(transition(),))
    assert observations.write("k", seen, changed=False)
    after = view_for_tick(Observations())
    assert (after.unreadable, after.transitions, len(after.snapshot.desired)) == ("Out of reach.", (transition(),), 2)


@pytest.mark.parametrize("unreadable", [None, "Out of reach."])
def test_of_two_ticks_with_transitions_only_the_first_write_succeeds(tables: Tables, unreadable: str | None) -> None:
    first, second = Observations(), Observations()
    write_change(first)
    views = [replace(view_for_tick(one), unreadable=unreadable) for one in (first, second)]
    assert first.write("k", replace(views[0], transitions=(transition("c0"),)), changed=False)
    assert second.write("k", replace(views[1], transitions=(transition("c1"),)), changed=False) is None
    assert view_for_tick(second).transitions == (transition("c0"),)


def test_a_tick_that_read_transitions_before_they_were_removed_cannot_write(tables: Tables) -> None:
    first, second = Observations(), Observations()
    published = write_change(first, transition())
    late = view_for_tick(second)
    first.remove_published("k", published)
    assert second.write("k", late, changed=False) is None
    assert view_for_tick(second).transitions == ()


def test_transitions_that_another_tick_has_taken_over_are_not_removed(tables: Tables) -> None:
    first, second = Observations(), Observations()
    slow = write_change(first, transition())
    taken = replace(view_for_tick(second), transitions=(transition(), transition("c1")))
    assert second.write("k", taken, changed=False)
    first.remove_published("k", slow)
    assert view_for_tick(first).transitions == (transition(), transition("c1"))


def test_ten_thousand_transitions_fit_next_to_ten_thousand_connectors(tables: Tables) -> None:
    names = [connector_name(ConnectorKind.SOURCE, id_from(str(number))) for number in range(MAX_TRANSITIONS)]
    many = [transition(name) for name in names]
    write_change(Observations(), *many, connectors=10_000)
    assert list(view_for_tick(Observations()).transitions) == many
    rows = [row for row in ObservationRow.query("k") if row.body]
    assert max(len(row.body) for row in rows) < 100_000


def test_transitions_survive_a_crash_while_the_body_is_written(tables: Tables, interceptor: CallInterceptor) -> None:
    """Parts that do not fit into the transaction are written after it."""

    def crash_at_the_first_part(point: Point, call: Callable[[], object]) -> object:
        if point.operation == "PutItem":
            raise Crash
        return call()

    interceptor.watch(crash_at_the_first_part)
    with pytest.raises(Crash):
        write_change(Observations(), transition(), connectors=10_000)
    interceptor.unwatch()
    after = view_for_tick(Observations())
    assert after.transitions == (transition(),)
    assert after.snapshot == ClusterSnapshot()
