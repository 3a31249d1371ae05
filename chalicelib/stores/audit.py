"""Audit records: append only, listed newest first, all of them or those of a resource."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import merge
from typing import Any

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.domain.audit import AuditRecord
from chalicelib.kit.adapters import adapter
from chalicelib.kit.pages import Page, page_of
from chalicelib.stores.audit_chain import Appended, AuditChain
from chalicelib.stores.documents import store_errors
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import Table, body_size, index_on, meta, position, position_of
from chalicelib.stores.transaction import Transaction

_TRAIL = "audit"
_MEANINGFUL = "meaningful"
_FILTERED = 1_000
"""Records that one call reads to find meaningful ones: Connect reads the secrets of a source again and again."""


class AuditRow(Table):
    """One record. All are in one partition: its 1,000 writes a second are far more than a control plane makes."""

    Meta = meta("audit")  # type: ignore[assignment]
    trail = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute(range_key=True)
    resource_id = UnicodeAttribute(null=True)
    parent_id = UnicodeAttribute(null=True)
    meaningful_trail = UnicodeAttribute(null=True)
    meaningful = BooleanAttribute()
    body = UnicodeAttribute()
    write_id = UnicodeAttribute()
    link = UnicodeAttribute(null=True)
    by_meaningful_trail = index_on("meaningful_trail")
    by_resource_id = index_on("resource_id")
    by_parent_id = index_on("parent_id")


Rows = Iterator[AuditRow]
_SIGNED = ("trail", "position", "resource_id", "parent_id", "meaningful", "meaningful_trail", "body", "write_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecord:
    """A record's row: what its link signs, and the name of that link, which records of older releases do not have."""

    columns: Mapping[str, Any]
    link: str | None

    @property
    def position(self) -> str:
        """Its time and id."""
        return str(self.columns["position"])


class Audit:
    """Appends and reads. Records are never changed or deleted, and each is a link of a chain."""

    def __init__(self, chain: AuditChain) -> None:
        self.chain = chain

    def append(self, transaction: Transaction, record: AuditRecord) -> None:
        """Write the record in the transaction of the change that it describes. Conflict label: `audit.exists`."""
        if not isinstance(transaction.late, Appended):
            transaction.late = Appended(chain=self.chain, make_row=_row)
        transaction.late.rows.append(
            {
                "trail": _TRAIL,
                "position": position(record.at, record.id),
                "resource_id": record.resource_id,
                "parent_id": record.parent_id,
                "meaningful": record.meaningful,
                "meaningful_trail": _MEANINGFUL if record.meaningful else None,
                "body": adapter(AuditRecord).dump_json(record).decode(),
                "write_id": transaction.write_id,
            }
        )

    def is_empty(self) -> bool:
        """Whether there are no records yet. Consistent."""
        with store_errors():
            return not any(AuditRow.query(_TRAIL, limit=1, consistent_read=True))

    def rows_at(self, positions: Sequence[str]) -> Sequence[StoredRecord | None]:
        """The records at these positions, None for each that does not exist. Consistent."""
        with store_errors():
            rows = read_rows(*((AuditRow, _TRAIL, one) for one in positions))
        return [_stored(row) if row else None for row in rows]

    def rows_behind(self, position: str | None, limit: int) -> Sequence[StoredRecord]:
        """At most so many records behind a position, oldest first. Consistent."""
        condition = AuditRow.position > position if position else None
        with store_errors():
            return [_stored(row) for row in AuditRow.query(_TRAIL, condition, limit=limit, consistent_read=True)]

    def list(
        self, *, limit: int, after: str | None, resource_id: str | None, include_related: bool, meaningful: bool | None
    ) -> Page[AuditRecord]:
        """Newest first; a page also ends when its rows reach `PAGE_BYTES`.

        `include_related` adds the records of a destination's deliveries to the destination's own.
        """
        with store_errors():
            sources = _sources(resource_id, include_related, meaningful)
            filtered = bool(meaningful and resource_id)
            rows = [self._query(source, key, limit, after, filtered=filtered) for source, key in sources]
            merged = merge(*rows, key=position_of, reverse=True)
            page = page_of(merged, key=position_of, limit=limit, size=body_size)
        return page.map(lambda row: adapter(AuditRecord).validate_json(row.body))

    def _query(self, source: Any, key: str, limit: int, after: str | None, *, filtered: bool) -> Rows:
        """At most one more than `limit`; `filtered`: only the meaningful ones of an index that has all."""
        condition = AuditRow.position < after if after else None
        only = (AuditRow.meaningful == True) if filtered else None  # noqa: E712 - a condition, not a comparison
        size = _FILTERED if filtered else limit + 1
        found: Rows = source.query(key, condition, only, scan_index_forward=False, limit=limit + 1, page_size=size)
        return found


def _row(columns: Mapping[str, Any], link: str) -> AuditRow:
    return AuditRow(**columns, link=link)


def _stored(row: AuditRow) -> StoredRecord:
    return StoredRecord(columns={name: getattr(row, name) for name in _SIGNED}, link=row.link)


def _sources(resource_id: str | None, include_related: bool, meaningful: bool | None) -> list[tuple[Any, str]]:
    if resource_id is None:
        return [(AuditRow.by_meaningful_trail, _MEANINGFUL)] if meaningful else [(AuditRow, _TRAIL)]
    related = [(AuditRow.by_parent_id, resource_id)] if include_related else []
    return [(AuditRow.by_resource_id, resource_id), *related]
