"""Whether target tables still have the rows that a delivery has written.

A sink makes a table that was dropped again, with only the changes that come after it, and Kafka Connect says RUNNING
all the time. So each look compares the tables with the look before. Two signs raise a suspicion: a table is another one
or has other files, or its statistics say that it has fewer rows. Whether rows are missing is then counted: statistics
may be wrong, and a table is also rewritten without any loss. What was measured is in
`infra/decisions/028-looks-at-target-tables.md`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.domain.table import TableName

MAX_TABLES = 5_000
"""Target tables of one destination that a look reads. More of them are not looked at."""

MAX_COUNTED = 100_000
"""Rows of a table that are counted at most. Whether a larger one has fewer rows than before is estimated."""

LOOKS_APART = timedelta(seconds=30)
"""Looks that a person has asked for come sooner. Their numbers of records are not remembered: a session may report what
it has deleted ten seconds later, and that must not be compared with a time after it.
"""

_EXACT, _ESTIMATED = 99, 90
"""Percent of the rows before that are enough, where rows were counted and where they were estimated."""


class LossKind(StrEnum):
    """What has happened to a target table. `SWAPPED`: another one with as many rows has its name, so nothing is lost as
    far as can be seen.
    """

    DROPPED = "DROPPED"
    RECREATED = "RECREATED"
    TRUNCATED = "TRUNCATED"
    ROWS_DELETED = "ROWS_DELETED"
    PARTITIONS_REMOVED = "PARTITIONS_REMOVED"
    SWAPPED = "SWAPPED"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedTable:
    """A target table with all of its partitions, as the catalogue of its server shows it.

    `identity` is another one once the table is another one, `storage` also once it or a partition has other files.
    `rows` is an estimate that is rather too low, `live` the number in the server's statistics, which may be wrong;
    `deleted` counts rows that were deleted, also in transactions that were rolled back, and is null where the server
    does not count them. `countable`: the role sees all of its rows.
    """

    name: TableName
    identity: str
    storage: str
    partitions: int
    rows: int
    live: int
    deleted: int | None
    countable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetMemory:
    """The target tables of a delivery (`id`) as the last look has found them, without those that did not exist.

    `delivered` are the numbers of records that were delivered before the last two looks, the older one first; `basis`
    says of which topics.
    """

    id: str
    tables: tuple[WatchedTable, ...]
    delivered: tuple[int, ...] = ()
    basis: int = 0
    checked_at: datetime
    revision: int = 1
    created_at: datetime

    def says_the_same(self, other: "TargetMemory") -> bool:
        return (self.tables, self.delivered, self.basis) == (other.tables, other.delivered, other.basis)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLoss:
    """`rows_after` is null where the table is gone."""

    table: TableName
    kind: LossKind
    rows_before: int
    rows_after: int | None
    at: datetime

    @property
    def is_harmless(self) -> bool:
        return self.kind is LossKind.SWAPPED


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletes:
    """What the delivery itself may have deleted since the look before the last one. `records` were delivered at most,
    null where that is not known: then all that was deleted may be its work.
    """

    enabled: bool
    records: int | None = None

    def explain(self, before: WatchedTable, after: WatchedTable, kind: LossKind) -> int:
        """How many of the missing rows the delivery may have deleted."""
        if not self.enabled:
            return 0
        deleted = _deleted(before, after)
        # VACUUM may show that rows are gone before the session has reported that it deleted them.
        if kind is LossKind.ROWS_DELETED or deleted is None:
            return max(before.rows, before.live) if self.records is None else self.records
        return deleted if self.records is None else min(deleted, self.records)


Suspicions = Mapping[TableName, LossKind]
Tables = Mapping[TableName, WatchedTable]


def suspicions(before: Tables, seen: Tables, deletes: Deletes) -> Suspicions:
    """What may have happened to the tables since the last look, as far as the catalogue shows it."""
    kinds = {name: _suspicion(table, seen.get(name), deletes) for name, table in before.items()}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def judged_by_records(before: Tables, suspected: Suspicions) -> frozenset[TableName]:
    """The tables of which only the number of delivered records says how many rows the delivery may have deleted."""
    return frozenset(
        name
        for name, kind in suspected.items()
        if kind is LossKind.ROWS_DELETED or (kind is not LossKind.DROPPED and before[name].deleted is None)
    )


def rows_to_count(before: Tables, seen: Tables, suspected: Suspicions) -> Mapping[TableName, int]:
    """The tables whose rows decide, each with how many rows are counted at most."""
    return {
        name: min(before[name].rows, MAX_COUNTED)
        for name in suspected
        if name in seen and seen[name].countable and before[name].rows
    }


def undecided(
    before: Tables, seen: Tables, suspected: Suspicions, counted: Mapping[TableName, int]
) -> frozenset[TableName]:
    """The tables that should have been counted, and were not: they are compared again by the next look."""
    return frozenset(rows_to_count(before, seen, suspected).keys() - counted.keys())


def losses(
    before: Tables,
    seen: Tables,
    suspected: Suspicions,
    counted: Mapping[TableName, int],
    deletes: Deletes,
    now: datetime,
) -> tuple[TableLoss, ...]:
    """Which suspicions are true, of the tables that were decided about. `counted` are numbers of rows."""
    open_questions = undecided(before, seen, suspected, counted)
    found = (
        _loss(before[name], seen.get(name), kind, counted.get(name), deletes, now)
        for name, kind in suspected.items()
        if name not in open_questions
    )
    return tuple(loss for loss in found if loss is not None)


def after_look(
    memory: TargetMemory | None,
    delivery_id: str,
    seen: Iterable[WatchedTable],
    kept: frozenset[TableName],
    delivered: int | None,
    now: datetime,
    *,
    basis: int,
) -> TargetMemory:
    """What is remembered after a look. The tables in `kept` stay as they were remembered.

    `delivered` is the number of records that were delivered before the look; None: not known.
    """
    before = memory or TargetMemory(id=delivery_id, tables=(), checked_at=now, created_at=now)
    known = [table for table in before.tables if table.name in kept]
    tables = sorted((*known, *(table for table in seen if table.name not in kept)), key=lambda table: table.name)
    former = before.delivered if before.basis == basis else ()
    records = () if delivered is None else (*former, delivered)[-2:]
    if former and delivered is not None and now - before.checked_at < LOOKS_APART:
        records = former
    return replace(before, tables=tuple(tables), delivered=records, basis=basis, checked_at=now)


def by_name(tables: Iterable[WatchedTable]) -> Tables:
    return {table.name: table for table in tables}


def _suspicion(before: WatchedTable, after: WatchedTable | None, deletes: Deletes) -> LossKind | None:
    if after is None:
        return LossKind.DROPPED
    if after.identity != before.identity:
        return LossKind.RECREATED
    if after.partitions < before.partitions:
        return LossKind.PARTITIONS_REMOVED
    if after.storage != before.storage:
        return LossKind.TRUNCATED
    explained = deletes.explain(before, after, LossKind.ROWS_DELETED)
    return LossKind.ROWS_DELETED if _is_fewer(after.live + explained, before.live, _ESTIMATED) else None


def _loss(
    before: WatchedTable,
    after: WatchedTable | None,
    kind: LossKind,
    counted: int | None,
    deletes: Deletes,
    now: datetime,
) -> TableLoss | None:
    rows, is_missing = (None, True) if after is None else _rows_missing(before, after, kind, counted, deletes)
    if not is_missing:
        if kind is not LossKind.RECREATED:
            return None  # rewritten, or the statistics were wrong
        kind = LossKind.SWAPPED
    return TableLoss(table=before.name, kind=kind, rows_before=before.rows, rows_after=rows, at=now)


def _rows_missing(
    before: WatchedTable, after: WatchedTable, kind: LossKind, counted: int | None, deletes: Deletes
) -> tuple[int, bool]:
    """The rows of a table now, at least, and whether rows are missing that the delivery did not delete."""
    is_exact = counted is not None and counted < MAX_COUNTED
    rows = counted if counted is not None and is_exact else max(counted or 0, after.rows)
    percent = _EXACT if is_exact and kind is not LossKind.ROWS_DELETED else _ESTIMATED
    return rows, _is_fewer(rows + deletes.explain(before, after, kind), before.rows, percent)


def _is_fewer(rows: int, before: int, percent: int) -> bool:
    """Whether it is less than so many percent. Without a rounding that forgives: one of a hundred rows may be missing,
    none of fewer.
    """
    return rows < before - before * (100 - percent) // 100


def _deleted(before: WatchedTable, after: WatchedTable) -> int | None:
    """Rows that were deleted since; the count begins anew with another table, and when statistics are reset."""
    if before.deleted is None or after.deleted is None:
        return None
    same = after.identity == before.identity and after.deleted >= before.deleted
    return after.deleted - before.deleted if same else after.deleted
