"""The audit trail: append only, newest first, whole or by resource."""

from itertools import chain

from pydantic import TypeAdapter
from pynamodb.attributes import BooleanAttribute, UnicodeAttribute
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model

from chalicelib.domain.audit import AuditRecord
from chalicelib.kit.pages import Page
from chalicelib.stores.documents import store_errors
from chalicelib.stores.tables import meta, position
from chalicelib.stores.transaction import Transaction

_TRAIL = "audit"
_MEANINGFUL = "meaningful"
_ADAPTER = TypeAdapter(AuditRecord)


class ByTrail(GlobalSecondaryIndex["AuditRow"]):
    """All, or only the meaningful ones: the trail's name is the key."""

    class Meta:
        index_name = "by_meaningful"
        projection = AllProjection()

    meaningful_trail = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute(range_key=True)


class ByResource(GlobalSecondaryIndex["AuditRow"]):
    """What happened to one thing."""

    class Meta:
        index_name = "by_resource"
        projection = AllProjection()

    resource_id = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute(range_key=True)


class ByParent(GlobalSecondaryIndex["AuditRow"]):
    """What happened to the deliveries of one destination."""

    class Meta:
        index_name = "by_parent"
        projection = AllProjection()

    parent_id = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute(range_key=True)


class AuditRow(Model):
    """One record. The whole trail is one partition: 1,000 writes a second are far more than a control plane makes."""

    Meta = meta("audit")  # type: ignore[assignment]
    trail = UnicodeAttribute(hash_key=True)
    position = UnicodeAttribute(range_key=True)
    resource_id = UnicodeAttribute(null=True)
    parent_id = UnicodeAttribute(null=True)
    meaningful_trail = UnicodeAttribute(null=True)
    meaningful = BooleanAttribute()
    body = UnicodeAttribute()
    write_id = UnicodeAttribute()
    by_meaningful = ByTrail()
    by_resource = ByResource()
    by_parent = ByParent()


Rows = list[AuditRow]


class Audit:
    """Appends and reads; there is no way to change or delete a record."""

    def append(self, transaction: Transaction, record: AuditRecord) -> None:
        """Write the record with the change that it tells of."""
        row = AuditRow(
            _TRAIL,
            position(record.at, record.id),
            resource_id=record.resource_id,
            parent_id=record.parent_id,
            meaningful=record.meaningful,
            meaningful_trail=_MEANINGFUL if record.meaningful else None,
            body=_ADAPTER.dump_json(record).decode(),
            write_id=transaction.write_id,
        )
        transaction.put(row, condition=AuditRow.position.does_not_exist(), label="audit.exists")

    def list(
        self, *, limit: int, after: str | None, resource_id: str | None, include_related: bool, meaningful: bool | None
    ) -> Page[AuditRecord]:
        """Newest first. `include_related` adds the records of a destination's deliveries to the destination's own."""
        with store_errors():
            rows = sorted(
                chain(*(self._query(source, key, limit, after, meaningful) for source, key in _sources(resource_id, include_related, meaningful))),
                key=lambda row: row.position,
                reverse=True,
            )
        more = rows[limit - 1].position if len(rows) > limit else None
        return Page(items=tuple(_ADAPTER.validate_json(row.body) for row in rows[:limit]), next_key=more)

    def _query(self, source: object, key: str, limit: int, after: str | None, meaningful: bool | None) -> Rows:
        condition = AuditRow.position < after if after else None
        only = AuditRow.meaningful == True if meaningful and source is not AuditRow.by_meaningful else None  # noqa: E712
        return list(source.query(key, condition, only, scan_index_forward=False, limit=limit + 1))  # type: ignore[attr-defined]


def _sources(resource_id: str | None, include_related: bool, meaningful: bool | None) -> list[tuple[object, str]]:
    if resource_id is None:
        return [(AuditRow.by_meaningful, _MEANINGFUL)] if meaningful else [(AuditRow, _TRAIL)]
    related = [(AuditRow.by_parent, resource_id)] if include_related else []
    return [(AuditRow.by_resource, resource_id), *related]
