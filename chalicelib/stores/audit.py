"""Audit records: append only, listed newest first, all of them or those of a resource."""

from itertools import chain
from typing import Any

from pynamodb.attributes import BooleanAttribute, UnicodeAttribute

from chalicelib.domain.audit import AuditRecord
from chalicelib.kit.adapters import adapter
from chalicelib.kit.pages import Page
from chalicelib.stores.documents import store_errors
from chalicelib.stores.tables import Table, index_on, meta, position
from chalicelib.stores.transaction import Transaction

_TRAIL = "audit"
_MEANINGFUL = "meaningful"


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
    by_meaningful_trail = index_on("meaningful_trail")
    by_resource_id = index_on("resource_id")
    by_parent_id = index_on("parent_id")


Rows = list[AuditRow]


class Audit:
    """Appends and reads. Records are never changed or deleted."""

    def append(self, transaction: Transaction, record: AuditRecord) -> None:
        """Write the record in the transaction of the change that it describes."""
        row = AuditRow(
            _TRAIL,
            position(record.at, record.id),
            resource_id=record.resource_id,
            parent_id=record.parent_id,
            meaningful=record.meaningful,
            meaningful_trail=_MEANINGFUL if record.meaningful else None,
            body=adapter(AuditRecord).dump_json(record).decode(),
            write_id=transaction.write_id,
        )
        transaction.put(row, condition=AuditRow.position.does_not_exist(), label="audit.exists")

    def list(
        self, *, limit: int, after: str | None, resource_id: str | None, include_related: bool, meaningful: bool | None
    ) -> Page[AuditRecord]:
        """Newest first. `include_related` adds the records of a destination's deliveries to the destination's own."""
        with store_errors():
            sources = _sources(resource_id, include_related, meaningful)
            pages = [self._query(source, key, limit, after, meaningful) for source, key in sources]
        rows = sorted(chain(*pages), key=lambda row: row.position, reverse=True)
        more = rows[limit - 1].position if len(rows) > limit else None
        return Page(items=tuple(adapter(AuditRecord).validate_json(row.body) for row in rows[:limit]), next_key=more)

    def _query(self, source: Any, key: str, limit: int, after: str | None, meaningful: bool | None) -> Rows:
        condition = AuditRow.position < after if after else None
        only = (AuditRow.meaningful == True) if meaningful else None  # noqa: E712 - a condition, not a comparison
        return list(source.query(key, condition, only, scan_index_forward=False, limit=limit + 1))


def _sources(resource_id: str | None, include_related: bool, meaningful: bool | None) -> list[tuple[Any, str]]:
    if resource_id is None:
        return [(AuditRow.by_meaningful_trail, _MEANINGFUL)] if meaningful else [(AuditRow, _TRAIL)]
    related = [(AuditRow.by_parent_id, resource_id)] if include_related else []
    return [(AuditRow.by_resource_id, resource_id), *related]
