"""Pages of a timeline show every entry once and in order, wherever they and the reads behind them end."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from chalicelib.domain.audit.record import AuditRecord, Outcome
from chalicelib.domain.connectors.transitions import Transition
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.timeline.entry import TimelineEntry
from chalicelib.domain.timeline.event import EntryKind, TimelineEvent, observed_event
from chalicelib.domain.timeline.merge import EventsRead, Place, merged_page
from chalicelib.domain.timeline.operations import BETWEEN, operations
from chalicelib.kit.clock import rfc3339
from tests.support.entities import NOW
from tests.unit.domain.timeline.test_operations import placed


def seen(second: float, name: str = "headgate-source-0a1b2c3d00004000800000000000ffff") -> TimelineEvent:
    at = NOW + timedelta(seconds=second)
    return observed_event("k", Transition(connector=name, before=None, after=ObservedState.RUNNING, at=at))


def events_behind(events: Sequence[TimelineEvent], before: str | None, size: int) -> EventsRead:
    """What a call reads: so many, newest first."""
    rest = sorted((event for event in events if before is None or event.key < before), key=lambda event: event.key)
    read = rest[::-1][:size]
    return EventsRead(read, read[-1].key if len(rest) > size else None)


def pages(
    sources: Sequence[Sequence[TimelineEvent]], records: Sequence[AuditRecord], *, limit: int, extra: int = 1
) -> Iterator[Sequence[TimelineEntry]]:
    after: Place | None = None
    for _ in range(1_000):
        newest_first = sorted(records, key=lambda record: record.at, reverse=True)
        trail = [record for record in newest_first if after is None or rfc3339(record.at) + "#" < after.trail]
        size = 2 * limit + BETWEEN + 1
        read_to = f"{rfc3339(trail[size - 1].at)}#id" if len(trail) > size else None
        found = operations(trail[:size], read_to=read_to)
        read = [events_behind(source, after.key if after else None, limit + extra) for source in sources]
        page = merged_page(read, found, limit=limit, after=after)
        yield page.items
        if page.next_key is None:
            return
        after = Place.of(page.next_key)
    raise AssertionError("the list does not end")


def entries(
    sources: Sequence[Sequence[TimelineEvent]], records: Sequence[AuditRecord], **how: Any
) -> list[TimelineEntry]:
    return [entry for page in pages(sources, records, **how) for entry in page]


def test_entries_of_the_same_time_are_in_the_order_of_cause_and_effect() -> None:
    ranks = tuple(EntryKind)
    assert ranks == tuple(EntryKind(kind) for kind in ("schema", "operation", "observed", "incident", "alert"))
    (page,) = pages([[seen(0)]], [placed("pause", Outcome.REQUESTED, 0)], limit=9)
    assert [entry.kind for entry in page] == [EntryKind.OBSERVED, EntryKind.OPERATION]


def test_what_was_seen_during_an_operation_is_above_its_request() -> None:
    records = [placed("pause", Outcome.REQUESTED, 0), placed("pause", Outcome.SUCCESS, 9)]
    for limit in (1, 2, 3):
        shown = entries([[seen(5)]], records, limit=limit)
        assert [(entry.kind, len(entry.steps)) for entry in shown] == [
            (EntryKind.OBSERVED, 0),
            (EntryKind.OPERATION, 2),
        ]


def test_an_entry_is_held_back_until_no_unread_one_can_precede_it() -> None:
    page = merged_page([EventsRead([seen(9)], seen(9).key), EventsRead([seen(3)])], operations([], read_to=None),
                       limit=9, after=None)  # fmt: skip
    assert [entry.at for entry in page.items] == [seen(9).at]
    assert page.more
    assert Place.of(page.next_key or "").key == seen(9).key


def test_a_source_whose_read_shows_nothing_lets_the_list_go_on() -> None:
    page = merged_page([EventsRead((), seen(4).key)], operations([], read_to=None), limit=9, after=None)
    assert (page.items, page.more) == ((), True)
    assert Place.of(page.next_key or "").key == seen(4).key


@settings(max_examples=150, deadline=None, phases=(Phase.explicit, Phase.generate))
@given(
    observed=st.sets(st.integers(0, 99), max_size=25),
    schemas=st.sets(st.integers(0, 99), max_size=10),
    spans=st.lists(st.tuples(st.integers(1, 5), st.integers(1, 30)), max_size=20),
    singles=st.sets(st.integers(0, 99), max_size=BETWEEN - 2),
    limit=st.integers(1, 12),
)
def test_pages_of_any_size_show_what_one_large_page_shows(
    observed: set[int], schemas: set[int], spans: list[tuple[int, int]], singles: set[int], limit: int
) -> None:
    """A resource takes one operation at a time."""
    records, at = [placed("update", Outcome.SUCCESS, second + 0.5, f"u{second}") for second in singles], 0
    for gap, length in spans:
        records.append(placed("pause", Outcome.REQUESTED, at + gap, "the same for all"))
        at += gap + length
        records.append(placed("pause", Outcome.SUCCESS, at, "the same for all"))
    sources = [[seen(second) for second in observed], [seen(second, "other") for second in schemas]]
    (whole,) = pages(sources, records, limit=500)
    assert [entry.key for entry in whole] == sorted((entry.key for entry in whole), reverse=True)
    assert len(whole) == len(observed) + len(schemas) + len(singles) + len(spans)
    assert entries(sources, records, limit=limit) == list(whole)
