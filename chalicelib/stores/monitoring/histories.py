"""Samples by series: a row has those of an hour, or of five days of hours, one column for each step.

A writer adds the column of a minute without reading the row. The members of a series are spread over a number of rows
by a hash of their ids; how many that are depends on the number of members at that minute, so that a reader asks for a
member's row of each of these numbers.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from pynamodb.attributes import TTLAttribute, UnicodeAttribute
from pynamodb.exceptions import UpdateError

from chalicelib.domain.monitoring.history import (
    Grain,
    HistoryKind,
    Sample,
    Series,
    Span,
    packed,
    repacked,
    sample_of,
    summary,
    unpacked,
)
from chalicelib.kit.clock import Deadline
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import BytesAttribute, Table, is_condition_failure, meta, store_errors
from chalicelib.stores.unreadable import read_or_none

PARTS: Mapping[HistoryKind, Sequence[int]] = {HistoryKind.METRICS: (1, 8, 64), HistoryKind.LOG: (1,)}
"""Over how many rows the members are spread: the first number with `_MEMBERS` at most in each, else the last one. Of
10,000 connectors 157 are in a row, with at most 18 bytes in each of 120 columns: 340 KB. A row may have 400 KB.
"""
_MEMBERS = 100


class _Columns(Table):
    """`position` is the grain, the number of the row, the number of parts, and the part."""

    series = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute(range_key=True)
    expires_at = TTLAttribute()


def _column(offset: int) -> str:
    return f"s{offset:03}"


HistoryRow: Any = type(
    "HistoryRow",
    (_Columns,),
    {
        "Meta": meta("histories"),
        "__module__": __name__,
        **{_column(offset): BytesAttribute(null=True) for offset in range(max(grain.columns for grain in Grain))},
    },
)


class HistoryStore:
    """Samples of series. A row is removed when it has expired, also when its resource was deleted."""

    def add(self, series: Series, at: datetime, samples: Mapping[str, Sample]) -> None:
        """Store the samples of this minute, by member, unless it has some. One write for each part; raises
        StoreUnavailable.
        """
        numbers = PARTS[series.kind]
        number = next((number for number in numbers if len(samples) <= number * _MEMBERS), numbers[-1])
        parts = dict[int, dict[str, Sample]]()
        for member, sample in samples.items():
            parts.setdefault(_part(member, number), {})[member] = sample
        for part, members in parts.items():
            _write(series, Grain.MINUTE, Grain.MINUTE.number(at), number, part, packed(members))

    def sum_up(self, series: Series, hour: datetime, deadline: Deadline) -> None:
        """Store the samples of an hour, from those of its minutes, unless it has some: one read, and one write for each
        part, as far as the deadline allows. Raises StoreUnavailable.
        """
        row_number = Grain.MINUTE.number(hour) // Grain.MINUTE.columns
        places = [(number, part) for number in PARTS[series.kind] for part in range(number)]
        keys = (_key(series, Grain.MINUTE, row_number, *place) for place in places)
        rows = read_rows(*keys, consistent=False)
        for (number, part), row in zip(places, rows, strict=True):
            if deadline.passed:
                return
            texts = [text for _, text in _texts(row, Grain.MINUTE)] if row else []
            if texts and (known := _summed_up(series, texts)):
                _write(series, Grain.HOUR, Grain.HOUR.number(hour), number, part, known)

    def read(self, series: Series, member: str, span: Span, now: datetime) -> Mapping[int, Sample]:
        """The samples of a member, by the number of their step: one call for each hundred rows, of which there are at
        most three for an hour, or for five days of hours. Raises StoreUnavailable.
        """
        keys = [
            _key(series, span.grain, row_number, number, _part(member, number))
            for row_number in span.rows
            for number in PARTS[series.kind]
        ]
        rows = (row for row in read_rows(*keys, consistent=False) if row and row.expires_at > now)
        samples = dict[int, list[Sample]]()
        for number, sample in _samples(rows, series, member, span.grain):
            samples.setdefault(number, []).append(sample)
        return {number: series.kind.combined(same) for number, same in samples.items()}


def _summed_up(series: Series, texts: Sequence[bytes]) -> bytes | None:
    return read_or_none("history", series.key, lambda: repacked(summary(series.kind, texts)))


def _samples(rows: Iterable[Any], series: Series, member: str, grain: Grain) -> Iterator[tuple[int, Sample]]:
    for row in rows:
        for number, text in _texts(row, grain):
            samples = read_or_none("history", series.key, partial(unpacked, text))
            sample = sample_of(member, samples or {})
            if sample != (None, None):
                yield number, sample


def _texts(row: Any, grain: Grain) -> Iterator[tuple[int, bytes]]:
    """The columns that a row has, by the number of their step."""
    first = int(row.position.split("/")[1]) * grain.columns
    for offset in range(grain.columns):
        if text := getattr(row, _column(offset)):
            yield first + offset, text


def _write(series: Series, grain: Grain, number: int, parts: int, part: int, text: bytes) -> None:
    row_number, offset = divmod(number, grain.columns)
    _, hash_key, range_key = _key(series, grain, row_number, parts, part)
    row, column = HistoryRow(hash_key, range_key), getattr(HistoryRow, _column(offset))
    expires_at = grain.time((row_number + 1) * grain.columns) + grain.kept_for
    with store_errors():
        try:
            actions = [column.set(text), HistoryRow.expires_at.set(expires_at)]
            row.update(actions, condition=column.does_not_exist())
        except UpdateError as error:
            # Another process has measured in this minute, or the reply to a first attempt was lost.
            if not is_condition_failure(error):
                raise


def _key(series: Series, grain: Grain, row_number: int, parts: int, part: int) -> tuple[Any, str, str]:
    return HistoryRow, series.key, f"{grain.word}/{row_number:08}/{parts}/{part}"


def _part(member: str, number: int) -> int:
    return zlib.crc32(member.encode()) % number
