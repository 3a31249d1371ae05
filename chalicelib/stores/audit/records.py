"""Audit records: append-only, listed newest first, all of them or those of a resource."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any

from pynamodb.attributes import BooleanAttribute, TTLAttribute, UnicodeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.audit.chain import SHARDS, record_digest, shard_of
from chalicelib.domain.audit.filter import ALL_RECORDS, AuditFilter
from chalicelib.domain.audit.record import AuditRecord
from chalicelib.kit.adapters import adapter
from chalicelib.kit.pages import Page, page_of
from chalicelib.stores.rows import ROWS_PER_CALL, read_rows
from chalicelib.stores.tables import Table, body_size, index_on, meta, position, position_of, store_errors
from chalicelib.stores.transaction import Transaction
from chalicelib.stores.unreadable import raw_fields, read_row, readable, readable_page

_TRAIL = "audit"
_MEANINGFUL = "meaningful"
_FILTERED_ROWS = 3_000
"""Records that one request reads to select some by their values: at most 8 KB each, and 100 in a call."""
_FILTERED_PAGE = 1_000
"""Records that one call reads to select meaningful ones: the reads of secrets by Connect are many."""


class AuditRow(Table):
    """One record. The table has a partition for each shard.

    Each index of all records has one partition, and no other columns than keys: so it takes 1,000 records a second.
    """

    Meta = meta("audit")  # type: ignore[assignment]
    shard = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute(range_key=True)
    trail = UnicodeAttribute()
    meaningful_trail = UnicodeAttribute(null=True)
    resource_id = UnicodeAttribute(null=True)
    parent_id = UnicodeAttribute(null=True)
    meaningful = BooleanAttribute()
    body = UnicodeAttribute()
    write_id = UnicodeAttribute()
    expires_at = TTLAttribute(null=True)
    by_trail = index_on("trail", columns=())
    by_meaningful_trail = index_on("meaningful_trail", columns=())
    by_resource_id = index_on("resource_id")
    by_parent_id = index_on("parent_id")


Rows = Iterator[AuditRow]
_SIGNED = tuple(AuditRow.get_attributes())


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """The values of a record that signer and verification need: its position, the digest of its row, and its end."""

    position: str
    digest: str
    expires_at: datetime | None = None


class Audit:
    """Appends and reads. Records are never changed or deleted, but DynamoDB removes those that have expired."""

    def append(self, transaction: Transaction, record: AuditRecord, *, expires_at: datetime | None = None) -> None:
        """Add the record to the transaction of the change that it describes. Conflict label: `audit.exists`."""
        transaction.is_audited = True
        row = AuditRow(
            shard_of(record.id),
            position(record.at, record.id),
            trail=_TRAIL,
            meaningful_trail=_MEANINGFUL if record.meaningful else None,
            resource_id=record.resource_id,
            parent_id=record.parent_id,
            meaningful=record.meaningful,
            body=adapter(AuditRecord).dump_json(record).decode(),
            write_id=transaction.write_id,
            expires_at=expires_at,
        )
        transaction.put(row, condition=AuditRow.position.does_not_exist(), label="audit.exists")

    def at(self, shard: str, positions: Sequence[str]) -> list[StoredRecord]:
        """The records of a shard at these positions; none for a position without one. Consistent."""
        rows = read_rows(*((AuditRow, shard, position) for position in positions))
        return [_stored_record(row) for row in rows if row]

    def between(self, shard: str, after: str, until: str) -> Iterator[StoredRecord]:
        """The records of a shard after a position, up to and with another one, oldest first. Consistent."""
        if after >= until:
            return
        positions = AuditRow.position.between(after, until) if after else AuditRow.position <= until
        with store_errors():
            for row in AuditRow.query(shard, positions, consistent_read=True):
                if row.position != after:
                    yield _stored_record(row)

    def list(
        self,
        *,
        limit: int,
        after: str | None = None,
        resource_id: str | None = None,
        include_related: bool = False,
        meaningful: bool | None = None,
        now: datetime | None = None,
        shown: AuditFilter = ALL_RECORDS,
    ) -> Page[AuditRecord]:
        """Newest first. A page ends at `limit`, and when its rows reach `PAGE_BYTES`.

        `include_related` adds the records of a destination's deliveries to the destination's own. What has expired
        `now` is left out. With values in `shown` a page may have few records, or none, although the list goes on: what
        one request reads is bounded.
        """
        read, span = _FILTERED_ROWS if shown.selects else limit, _Span.of(shown, after)
        with store_errors():
            if resource_id is not None:
                indexes: list[Any] = [AuditRow.by_resource_id, *([AuditRow.by_parent_id] if include_related else [])]
                rows = [_query(index, resource_id, read, span, only_meaningful=bool(meaningful)) for index in indexes]
                merged = merge(*rows, key=position_of, reverse=True)
                page = _selected_page(merged, limit, now, shown)
            elif shown.selects:
                index, key = _whole_trail(only_meaningful=bool(meaningful))
                page = _selected_page(_whole_rows(_query(index, key, read, span)), limit, now, shown)
            else:
                page = _page_of_all(limit, span, now, meaningful=bool(meaningful))
        return readable_page(page, _record)

    def meaningful_about(
        self, resource_id: str, *, before: str | None, limit: int, now: datetime
    ) -> tuple[Sequence[AuditRecord], str | None]:
        """The newest meaningful records of a resource before a position, out of `limit` records; and the position of
        the last one that was read, None at the end of the trail. One call.
        """
        positions, condition = (AuditRow.position < before if before else None), AuditRow.shard.is_in(*SHARDS)
        with store_errors():
            index: Any = AuditRow.by_resource_id
            found = index.query(resource_id, positions, condition, scan_index_forward=False, page_size=limit)
            call: dict[str, Any] = next(found.page_iter, {})
            rows = [AuditRow.from_raw_data(item) for item in call.get("Items", ())]
            last = found.last_evaluated_key
        kept = (row for row in rows if row.meaningful and _is_kept(row, now))
        return tuple(readable(kept, _record)), last["position"]["S"] if last else None


@dataclass(frozen=True, slots=True)
class _Span:
    """A part of the trail: positions from `first` on, and before `end`; None: without a bound."""

    first: str | None
    end: str | None

    @staticmethod
    def of(shown: AuditFilter, after: str | None) -> "_Span":
        """The part in which the filter's time is, behind `after` in a list that is newest first."""
        until = position(shown.until, "") if shown.until else None
        ends = [end for end in (after, until) if end]
        return _Span(position(shown.since, "") if shown.since else None, min(ends, default=None))

    def behind(self, after: str | None) -> "_Span":
        return replace(self, end=after)

    @property
    def condition(self) -> Condition | None:
        """The condition on the key. It has the row at `end`, too, where both bounds are there: see `_query`."""
        at: Any = AuditRow.position
        condition: Condition | None = None
        if self.first and self.end:
            condition = at.between(self.first, max(self.first, self.end))
        elif self.first:
            condition = at >= self.first
        elif self.end:
            condition = at < self.end
        return condition


def _record(row: AuditRow) -> AuditRecord:
    record: AuditRecord = read_row(
        "audit_record", f"{row.shard}:{row.position}", lambda: adapter(AuditRecord).validate_json(row.body)
    )
    return record


def _is_kept(row: AuditRow, now: datetime | None) -> bool:
    """Whether it has not expired: DynamoDB removes what has some days later."""
    expires_at: datetime | None = row.expires_at
    return now is None or expires_at is None or expires_at > now


def _whole_trail(*, only_meaningful: bool) -> tuple[Any, str]:
    """The index of all records, or of all meaningful ones, and its one key. It has only keys."""
    return (AuditRow.by_meaningful_trail, _MEANINGFUL) if only_meaningful else (AuditRow.by_trail, _TRAIL)


def _selected_page(rows: Rows, limit: int, now: datetime | None, shown: AuditFilter) -> Page[AuditRow]:
    """A page of the rows that are shown, out of a bounded number of rows that are read."""
    last_read = ""

    def selected() -> Rows:
        nonlocal last_read
        for row in islice(rows, _FILTERED_ROWS):
            last_read = row.position
            # Of what this release cannot read, the raw fields can be compared all the same.
            if _is_kept(row, now) and (not shown.selects or shown.accepts(raw_fields(row.body))):
                yield row

    page = page_of(selected(), key=position_of, limit=limit, size=body_size)
    if page.more or next(rows, None) is None:
        return page
    return replace(page, more=True, last_key=last_read)


def _page_of_all(limit: int, span: _Span, now: datetime | None, *, meaningful: bool) -> Page[AuditRow]:
    """A page of all records, or of all meaningful ones. Each row is read by its key."""
    index, key = _whole_trail(only_meaningful=meaningful)
    while True:
        keys = page_of(_query(index, key, limit, span), key=position_of, limit=limit)
        kept = (row for row in _whole_rows(keys.items) if _is_kept(row, now))
        page = page_of(kept, key=position_of, limit=limit, size=body_size)
        if page.items or not keys.more:
            return replace(page, more=page.more or keys.more)
        span = span.behind(keys.next_key)  # all of these have expired


def _whole_rows(keys: Iterable[AuditRow]) -> Rows:
    """The rows with these keys: one call for each hundred, and only when a caller needs them."""
    rest = iter(keys)
    while batch := tuple(islice(rest, ROWS_PER_CALL)):
        yield from filter(None, read_rows(*((AuditRow, row.shard, row.position) for row in batch)))


def _query(index: Any, key: str, limit: int, span: _Span, *, only_meaningful: bool = False) -> Rows:
    """At most one more than `limit`. `only_meaningful` filters the rows of an index that has all."""
    condition = AuditRow.shard.is_in(*SHARDS)  # a row in another shard is no record: the verification never reads it
    if only_meaningful:
        condition &= AuditRow.meaningful == True  # noqa: E712 - a condition, not a comparison
    size = _FILTERED_PAGE if only_meaningful else limit + 1
    rows = index.query(key, span.condition, condition, scan_index_forward=False, limit=limit + 2, page_size=size)
    return islice((row for row in rows if row.position != span.end), limit + 1)


def _stored_record(row: AuditRow) -> StoredRecord:
    columns: dict[str, Any] = {name: getattr(row, name) for name in _SIGNED}
    expires_at: datetime | None = row.expires_at
    columns["expires_at"] = int(expires_at.timestamp()) if expires_at else None
    return StoredRecord(position=row.position, digest=record_digest(columns), expires_at=expires_at)
