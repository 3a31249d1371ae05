"""Events in the store: one call reads the newest behind a place, and says where what it has not read begins."""

from collections.abc import Sequence
from datetime import timedelta

from chalicelib.domain.connectors.transitions import Transition
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.schema.change import Alteration
from chalicelib.domain.table import TableName
from chalicelib.domain.timeline.event import EntryKind, TableChange, TimelineEvent, observed_event
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import id_from
from chalicelib.stores.timeline import Timeline
from tests.support.apps.call_interceptor import CallInterceptor
from tests.support.apps.tables import Tables
from tests.support.entities import NOW, ORDERS

SOURCE = id_from("source")


def seen(count: int) -> Sequence[TimelineEvent]:
    """The oldest first."""
    times = (NOW + timedelta(seconds=number) for number in range(count))
    return [
        observed_event("k", Transition(connector=None, before=None, after=ObservedState.RUNNING, at=at)) for at in times
    ]


def altered(table: TableName, second: int) -> TimelineEvent:
    change = TableChange(
        schema_name=table.schema_name, table_name=table.table_name, version=2, alterations=tuple(Alteration), count=99
    )
    at = NOW + timedelta(seconds=second)
    return TimelineEvent(
        resource_type="source", resource_id=SOURCE, at=at, kind=EntryKind.SCHEMA, id=str(second), change=change
    )


def written(events: Sequence[TimelineEvent]) -> Timeline:
    timeline = Timeline()
    timeline.write(timeline.rows(events), Deadline.after(20))
    return timeline


def test_the_newest_are_read_in_one_call(tables: Tables, interceptor: CallInterceptor) -> None:
    events = seen(10)
    timeline = written(events)
    interceptor.watch()
    read = timeline.read("connect_cluster", "k", NOW, limit=3)
    assert [point.operation for point in interceptor.unwatch()] == ["Query"]
    assert list(read.events) == list(events[:-5:-1])
    assert read.horizon == events[6].key


def test_what_is_behind_a_place_is_read_to_the_end(tables: Tables) -> None:
    events = seen(5)
    read = written(events).read("connect_cluster", "k", NOW, before=events[2].key)
    assert (list(read.events), read.horizon) == ([events[1], events[0]], None)


def test_of_the_schemas_of_a_source_only_those_of_some_tables_are_read(tables: Tables) -> None:
    others = [altered(TableName("shop", f"t{number}"), number) for number in range(5)]
    timeline = written([altered(ORDERS, 9), *others])
    read = timeline.read("source", SOURCE, NOW, tables={ORDERS})
    assert [event.change for event in read.events] == [altered(ORDERS, 9).change]
    assert timeline.read("source", SOURCE, NOW, tables=()).events == ()
