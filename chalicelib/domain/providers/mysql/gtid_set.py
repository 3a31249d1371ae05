"""Sets of global transaction identifiers, as MySQL writes them: which transactions a server has, or has purged.

Form: `UUID[:TAG]:N[-M][:N[-M]...][:TAG:N...]`, several with commas between them. Tags since MySQL 8.3 (manual, "GTID
Format and Storage"). Debezium 3.6 writes `1-1` where the server writes `1`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

MAX_CHARACTERS = 65_536
"""Of the text of a set. A longer one is not read: it would be compared in each look."""

_UUID = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_TAG = re.compile(r"[a-z_][a-z0-9_]{0,31}")
_INTERVAL = re.compile(r"([0-9]{1,19})(?:-([0-9]{1,19}))?")
_BLANKS = re.compile(r"\s+")

Source = tuple[str, str]
"""The uuid of the server where transactions began, in lower case without hyphens, and their tag, which may be empty."""

Interval = tuple[int, int]
"""The first and the last number."""


@dataclass(frozen=True, slots=True)
class GtidSet:
    """The intervals of each source: sorted, none of them empty, with gaps between them."""

    intervals: Mapping[Source, tuple[Interval, ...]] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The set that this text means; None for one that is too long, or is no such text."""
        if len(text) > MAX_CHARACTERS:
            return None
        found: dict[Source, list[Interval]] = {}
        try:
            for part in filter(None, _BLANKS.sub("", text).lower().split(",")):
                for source, interval in _intervals(part):
                    found.setdefault(source, []).append(interval)
        except ValueError:
            return None
        return cls({source: tuple(_merged(intervals)) for source, intervals in found.items()})

    def __bool__(self) -> bool:
        return bool(self.intervals)

    def contains(self, other: Self) -> bool:
        return not other.without(self)

    def without(self, other: Self) -> Self:
        """The transactions of this set that the other one has not."""
        kept = {
            source: tuple(_subtracted(intervals, other.intervals.get(source, ())))
            for source, intervals in self.intervals.items()
        }
        return type(self)({source: intervals for source, intervals in kept.items() if intervals})

    def has_origin_of(self, other: Self) -> bool:
        """Whether both have transactions that began on the same server, be they the same ones or not."""
        servers = {server for server, _ in self.intervals}
        return any(server in servers for server, _ in other.intervals)


def _intervals(part: str) -> Iterator[tuple[Source, Interval]]:
    """Those of the text behind one uuid. Raises ValueError."""
    uuid, *words = part.split(":")
    if not _UUID.fullmatch(uuid) or not words:
        raise ValueError
    uuid, tag = uuid.replace("-", ""), ""
    for word in words:
        if _TAG.fullmatch(word):
            tag = word
            continue
        match = _INTERVAL.fullmatch(word)
        if match is None:
            raise ValueError
        first = int(match[1])
        last = int(match[2] or first)
        # An empty interval means nothing, and MySQL accepts it.
        if 0 < first <= last:
            yield (uuid, tag), (first, last)


def _merged(intervals: Iterable[Interval]) -> Iterator[Interval]:
    ordered = sorted(intervals)
    first, last = ordered[0]
    for (_, _), (start, end) in pairwise(ordered):
        if start > last + 1:
            yield first, last
            first = start
        last = max(last, end)
    yield first, last


def _subtracted(intervals: tuple[Interval, ...], removed: tuple[Interval, ...]) -> Iterator[Interval]:
    """What is left of sorted intervals without other sorted ones. Linear in both."""
    at = 0
    for begin, last in intervals:
        first = begin
        while at < len(removed) and removed[at][1] < first:
            at += 1
        while at < len(removed) and removed[at][0] <= last:
            start, end = removed[at]
            if start > first:
                yield first, start - 1
            first = end + 1
            if end > last:
                break  # it may reach into the next interval
            at += 1
        if first <= last:
            yield first, last
