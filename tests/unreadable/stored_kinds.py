"""Every kind of row with a document: where it is stored, what reads it, and how its text is packed."""

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pynamodb.models import Model

from chalicelib.domain.alerts.maintenance import MaintenanceWindow
from chalicelib.domain.audit.chain import Anchor, Block
from chalicelib.domain.audit.record import AuditRecord
from chalicelib.domain.cluster import PendingChanges
from chalicelib.domain.connectors.confirmations import Confirmation
from chalicelib.domain.connectors.memory import ClusterMemory
from chalicelib.domain.connectors.workers import WorkersFault
from chalicelib.domain.counts import RegisteredCounts
from chalicelib.domain.monitoring.progress import Progress
from chalicelib.domain.schema.version import SchemaVersion
from chalicelib.domain.table import SourceTable
from chalicelib.domain.timeline.event import CHANGES, EntryKind
from chalicelib.kit.adapters import adapter
from chalicelib.stores.accounts.claims import AccountClaimRow
from chalicelib.stores.accounts.login_tries import LoginTryRow
from chalicelib.stores.accounts.sessions import SessionRow
from chalicelib.stores.alerts.maintenance import MaintenanceRows
from chalicelib.stores.all_tables import ALL_TABLES
from chalicelib.stores.audit.chain import ChainRow
from chalicelib.stores.audit.records import AuditRow
from chalicelib.stores.claims import ClaimRow
from chalicelib.stores.connectors.observations import ObservationRow
from chalicelib.stores.counts import CountRow
from chalicelib.stores.groups import Stores
from chalicelib.stores.idempotency import IdempotencyRow
from chalicelib.stores.live_reads import LiveReadRow
from chalicelib.stores.monitoring.histories import HistoryRow
from chalicelib.stores.monitoring.progress import ProgressRow
from chalicelib.stores.schema_versions import SchemaVersionRow
from chalicelib.stores.source_tables import SourceTableRow
from chalicelib.stores.tables import compress_body, decompress_body
from chalicelib.stores.timeline import TimelineRow
from tests.unreadable.enum_fields import EnumField, NotInThisRow, Schema

Item = dict[str, Any]
"""An item as the service stores it: a column is `{"S": ...}`, `{"B": ...}`."""

UNKNOWN = "of-a-newer-release"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKind:
    """Rows of one kind. The document is in the column `body`, and `columns` have fields of it beside it. Such a row
    gets an incident, unless Headgate writes it anew by itself, or nothing reads it yet (not `reported`). `lasting`: the
    schedule may not read it, so that its incident ends after a day.
    """

    name: str
    table: str
    entity: Any
    body: str = "body"
    columns: tuple[str, ...] = ()
    holds: Callable[[Item], bool] = lambda item: "body" in item
    unpack: Callable[[Any], bytes] = lambda column: str(column["S"]).encode()
    pack: Callable[[bytes], Any] = lambda text: {"S": text.decode()}
    reported: bool = True
    lasting: bool = False

    def document(self, item: Item) -> Any:
        """The document in this item; None where it may have one and has none."""
        return adapter(Any).validate_json(self.unpack(item[self.body])) if self.body in item else None

    def reads(self, document: Any) -> bool:
        try:
            adapter(self.entity).validate_python(document)
        except ValueError:
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where an unknown value is planted: a field of the body, or a column (`field` is None)."""

    kind: StoredKind
    field: EnumField | None = None
    column: str = ""

    def __str__(self) -> str:
        return f"{self.kind.name}: {f'column {self.column}' if self.column else self.field}"

    def planted(self, item: Item) -> Item:
        """The item with the unknown value. Raises NotInThisRow; AssertionError when the place would not be read, or the
        value is known.
        """
        schema = Schema.of(self.kind.entity)
        if self.field is None:
            if item.get(self.column, {}).get("S") not in schema.words:
                raise NotInThisRow(self.column)
            return {**item, self.column: {"S": UNKNOWN}}
        document = self.kind.document(item)
        known = schema.with_value(document, self.field.path, self.field.word)
        assert self.kind.reads(known), f"what was made up for {self} is no document of this release"
        unknown = schema.with_value(document, self.field.path, UNKNOWN)
        assert not self.kind.reads(unknown), f"this release reads any value at {self}"
        return {**item, self.kind.body: self.kind.pack(adapter(Any).dump_json(unknown))}


WITHOUT_ENUMS: Mapping[type[Model], tuple[Any, ...]] = {
    AccountClaimRow: (),
    ChainRow: (Anchor, Block),
    ClaimRow: (),
    CountRow: (RegisteredCounts,),
    HistoryRow: (),
    IdempotencyRow: (),
    MaintenanceRows: (MaintenanceWindow,),
    LoginTryRow: (),
    SessionRow: (),
}
"""Tables without an enum, with the documents in them."""

HEAD_DOCUMENTS = (PendingChanges, Confirmation)
"""Documents in columns of a cluster's observations. They have no enum either."""

KEPT_FOR_SECONDS = (LiveReadRow,)
"""Tables of answers that are asked for again, as those of another release are (`tests/service/test_live_reads.py`)."""


def stored_kinds(stores: Stores) -> list[StoredKind]:
    documents = [
        StoredKind(
            name=store.noun,
            table=_name(store.table),
            entity=store.entity,
            columns=tuple(store.table.COPIED),
            unpack=lambda column: decompress_body(column["S"]),
            lasting=store not in stores.read_by_the_schedule,
        )
        for store in stores.documents
    ]
    compressed: dict[str, Any] = {"unpack": lambda column: zlib.decompress(column["B"]), "reported": False}
    compressed["pack"] = lambda text: {"B": zlib.compress(text)}
    return [
        *documents,
        StoredKind(name="audit_record", table=_name(AuditRow), entity=AuditRecord, lasting=True),
        *(_event_kind(kind) for kind in CHANGES),
        StoredKind(
            name="source_table",
            table=_name(SourceTableRow),
            entity=SourceTable,
            unpack=lambda column: decompress_body(column["S"]),
            pack=lambda text: {"S": compress_body(text)},
            lasting=True,
        ),
        StoredKind(
            name="schema_version",
            table=_name(SchemaVersionRow),
            entity=SchemaVersion,
            unpack=lambda column: decompress_body(column["S"]),
            pack=lambda text: {"S": compress_body(text)},
            lasting=True,
        ),
        StoredKind(name="observation", table=_name(ObservationRow), entity=ClusterMemory, **compressed),
        StoredKind(
            name="workers_fault",
            table=_name(ObservationRow),
            entity=WorkersFault,
            body="fault",
            holds=lambda item: item["part"]["S"] == "head",
            reported=False,
        ),
        StoredKind(name="progress", table=_name(ProgressRow), entity=dict[str, Progress], **compressed),
    ]


def _event_kind(kind: EntryKind) -> StoredKind:
    """The rows of timelines with the changes of one kind."""
    return StoredKind(
        name=f"timeline_{kind}",
        table=_name(TimelineRow),
        entity=CHANGES[kind],
        holds=lambda item: item["kind"]["S"] == kind,
        reported=False,
    )


def places(stores: Stores) -> Iterator[Place]:
    """Every field with an enum of every kind, and every column that may repeat one."""
    for kind in stored_kinds(stores):
        yield from (Place(kind=kind, field=field) for field in Schema.of(kind.entity).enum_fields())
        yield from (Place(kind=kind, column=column) for column in kind.columns)


def untested_tables(stores: Stores) -> set[str]:
    """Tables of which neither a kind of row is known, nor that it has no enum or keeps nothing."""
    known = {kind.table for kind in stored_kinds(stores)} | {*map(_name, WITHOUT_ENUMS), *map(_name, KEPT_FOR_SECONDS)}
    return {_name(table) for table in ALL_TABLES} - known


def _name(table: type[Model]) -> str:
    return str(table.Meta.table_name)
