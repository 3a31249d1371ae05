"""How long ago the record was written that a delivery has to deliver next.

Kafka tells offsets without times, and to read that record would be another call. So measurements remember where the
partitions ended: the record was written between two of them, and its offset says where between.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

MAX_PARTITIONS = 4
"""So many partitions of a delivery are followed, those with the most waiting records first."""

MAX_ENDS = 8
"""So many ends of a partition are kept. Then every second one goes: the longer it waits, the coarser the result."""


class MeasuredEnd(NamedTuple):
    """Where a partition ended at a measurement."""

    at: datetime
    offset: int


class PartitionBacklog(NamedTuple):
    """The offsets of the next record to deliver of a partition, and of its end."""

    next_offset: int
    end: int

    @property
    def records(self) -> int:
        return self.end - self.next_offset


PartitionBacklogs = Mapping[tuple[str, int], PartitionBacklog]
"""By topic and partition; only those where something waits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingPartition:
    """A partition of which records wait, the next one at `next_offset`.

    `ends` are those of measurements, oldest first. The first one is at or before the next record, unless that was
    written before anything was measured; the second one is behind it.
    """

    topic: str
    partition: int
    next_offset: int
    ends: tuple[MeasuredEnd, ...]

    @property
    def written_at(self) -> datetime | None:
        """When the next record was written; None when that was before the first measurement."""
        first = self.ends[0]
        if first.offset > self.next_offset:
            return None
        second = self.ends[1]
        share = (self.next_offset - first.offset) / (second.offset - first.offset)
        return first.at + (second.at - first.at) * share


def waiting_partitions(
    before: Sequence[WaitingPartition] | None, backlogs: PartitionBacklogs, last_at: datetime, now: datetime
) -> tuple[WaitingPartition, ...]:
    """The partitions of which records wait after a measurement. `before` are those of the last one, made at `last_at`;
    None when nothing was measured then.
    """
    former = {(waiting.topic, waiting.partition): waiting for waiting in before or ()}
    followed = [key for key in former if key in backlogs]
    others = sorted((key for key in backlogs if key not in former), key=lambda key: (-backlogs[key].records, key))
    followed += others[: MAX_PARTITIONS - len(followed)]
    return tuple(
        WaitingPartition(
            topic=key[0],
            partition=key[1],
            next_offset=backlogs[key].next_offset,
            ends=_ends(former.get(key), backlogs[key], last_at, now, measured=before is not None),
        )
        for key in sorted(followed)
    )


def seconds_behind(waiting: Sequence[WaitingPartition] | None, measured_at: datetime) -> int | None:
    """As of the measurement, of the partition that is furthest behind: 0 when nothing waits, None when not known."""
    if waiting is None:
        return None
    written = [partition.written_at for partition in waiting]
    known = [at for at in written if at]
    if len(known) < len(written):
        return None
    return round((measured_at - min(known)).total_seconds()) if known else 0


def _ends(
    former: WaitingPartition | None, backlog: PartitionBacklog, last_at: datetime, now: datetime, *, measured: bool
) -> tuple[MeasuredEnd, ...]:
    latest = MeasuredEnd(now, backlog.end)
    if former is None and measured:
        # Nothing waited at the last measurement: what waits now was written since.
        return MeasuredEnd(last_at, backlog.next_offset), latest
    if former is None or backlog.end < former.ends[-1].offset:  # the first measurement, or another topic of that name
        return (latest,)
    ends = list(former.ends)
    if backlog.end > ends[-1].offset:
        # It ended there until the last measurement, however long ago it was seen first.
        ends += [MeasuredEnd(last_at, ends[-1].offset)] if last_at > ends[-1].at else []
        ends.append(latest)
    passed = max((number for number, end in enumerate(ends) if end.offset <= backlog.next_offset), default=0)
    return _thinned(ends[passed:])


def _thinned(ends: Sequence[MeasuredEnd]) -> tuple[MeasuredEnd, ...]:
    """The first two and the last one say when the next record was written; of those between every second one may go."""
    if len(ends) <= MAX_ENDS:
        return tuple(ends)
    return (*ends[:2], *ends[3:-1:2], ends[-1])
