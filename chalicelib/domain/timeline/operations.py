"""Operations of a timeline: records of the audit trail, with those of one operation in one entry."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from chalicelib.domain.audit.record import AuditRecord, Outcome
from chalicelib.domain.timeline.entry import EntryStep, TimelineEntry
from chalicelib.domain.timeline.event import EntryActor, EntryKind
from chalicelib.domain.timeline.titles import is_operation, operation_title
from chalicelib.kit.clock import rfc3339

BETWEEN = 20
"""Records of other requests that are expected between the two of one operation: its resource takes no other operation
meanwhile.
"""

_SETTLED = (Outcome.SUCCESS, Outcome.FAILED)


class PlacedOperation(NamedTuple):
    """An entry, and the time of its newest record: it is read again from there on."""

    entry: TimelineEntry
    newest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailPart:
    """The operations of the part of an audit trail that was read.

    `horizon`: entries with larger keys are complete; None: all are.
    `rest` is the time of the newest record that has to be read again, None at the end of the trail.
    """

    entries: tuple[PlacedOperation, ...] = ()
    horizon: str | None = None
    rest: str | None = None


@dataclass(slots=True)
class _Group:
    first: int
    records: list[AuditRecord] = field(default_factory=list)


def operations(records: Sequence[AuditRecord], *, read_to: str | None) -> TrailPart:
    """The operations of the records of a trail that was read up to this position, None: to its end.

    The entry of an operation is at the time of its request. So one that was settled near the end of what was read
    waits until its request is read too.
    """
    # Of the same millisecond a request is the older one, whatever the ids are.
    records = sorted(records, key=lambda record: (record.at, record.outcome is not Outcome.REQUESTED), reverse=True)
    groups, waiting = _grouped(records)
    kept = len(records)
    if read_to is not None:
        near_the_end = [group.first for group in waiting if group.first >= len(records) - BETWEEN]
        # The first record always counts: otherwise a list would not go on.
        kept = max(1, min(near_the_end, default=kept))
    entries = tuple(_operation(group.records) for group in groups if group.first < kept)
    if read_to is None:
        return TrailPart(entries=entries)
    last = rfc3339(records[kept - 1].at) if kept < len(records) else read_to.partition("#")[0]
    # Other records may be of the same millisecond: all of these are read again.
    return TrailPart(entries=entries, horizon=f"{last}~", rest=last)


def _grouped(records: Sequence[AuditRecord]) -> tuple[list[_Group], list[_Group]]:
    """The records by operation, and of these the settled operations whose request is not among them."""
    groups, waiting = list[_Group](), defaultdict[tuple[str, str], list[_Group]](list)
    for index, record in enumerate(records):
        same = waiting[record.correlation_id, record.action]
        if record.outcome is Outcome.REQUESTED and same:
            group = same.pop()
        else:
            group = _Group(index)
            groups.append(group)
        group.records.append(record)
        if record.outcome in _SETTLED and is_operation(_verb(record)):
            same.append(group)
    return groups, [group for same in waiting.values() for group in same]


def _operation(records: Sequence[AuditRecord]) -> PlacedOperation:
    newest, oldest = records[0], records[-1]
    entry = TimelineEntry(
        at=oldest.at,
        kind=EntryKind.OPERATION,
        id=oldest.id,
        title=operation_title(_verb(oldest), oldest.outcome),
        outcome=None if newest.outcome is Outcome.REQUESTED else newest.outcome,
        steps=tuple(EntryStep(at=record.at, outcome=record.outcome) for record in reversed(records)),
        actor=EntryActor.of(oldest.actor),
    )
    return PlacedOperation(entry, rfc3339(newest.at))


def _verb(record: AuditRecord) -> str:
    return record.action.partition(".")[2]
