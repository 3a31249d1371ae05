"""Versions of the schema of a table: a discovery makes one when the schema is another than before."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.schema.change import Alteration, SchemaChange, SchemaImpact
from chalicelib.domain.schema.difference import changes
from chalicelib.domain.schema.table_schema import FORMAT, DiscoveredSchema, TableSchema, canonical, schema_hash
from chalicelib.domain.schema.type_order import TypeOrder
from chalicelib.domain.table import TableName
from chalicelib.kit.ids import id_from

MAX_VERSIONS = 100
"""Versions of one table that are kept: the newest."""

MAX_DROPPED = 500
"""Tables of a source that are no more, and whose versions are kept: those that were dropped last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Affected:
    """A deployed pipeline or delivery, and what the changes mean for it, in sentences."""

    type: str
    id: str
    name: str
    consequence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaVersion:
    """One version. `schema` and `schema_hash` are null when the table was dropped. `schema_format` is that of the hash.

    `affects` are what was deployed when it was discovered, at most `MAX_AFFECTED`.
    """

    id: str
    source_id: str
    schema_name: str
    table_name: str
    version: int
    schema_format: int = FORMAT
    schema_hash: str | None
    schema: TableSchema | None
    diff: tuple[SchemaChange, ...]
    affects: tuple[Affected, ...] = ()
    discovered_at: datetime

    @property
    def name(self) -> TableName:
        return TableName(self.schema_name, self.table_name)

    @property
    def impact(self) -> SchemaImpact:
        """The worst of its changes."""
        return max(
            (change.impact for change in self.diff), key=tuple(SchemaImpact).index, default=SchemaImpact.NON_BREAKING
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestVersion:
    """What is read of the newest version of each table, to see whether the schema is another one now."""

    version: int
    schema_format: int
    schema_hash: str | None
    discovered_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionFilter:
    """Which versions to list; None means any. Names are exact."""

    schema: str | None = None
    table: str | None = None
    version: int | None = None


Newest = Mapping[TableName, NewestVersion]


def may_have_changed(newest: Newest, found: Iterable[DiscoveredSchema], *, complete: bool) -> Iterator[TableName]:
    """The tables that have no version, or whose newest one seems to be another: by their hashes, where the format is
    the same. `complete`: discovery has listed all tables, so that others do not exist any more.
    """
    listed = set()
    for one in found:
        listed.add(one.name)
        known = newest.get(one.name)
        if one.schema is None:
            continue
        if known is None or known.schema_hash != schema_hash(one.schema, known.schema_format):
            yield one.name
    if complete:
        yield from sorted(name for name, known in newest.items() if known.schema_hash and name not in listed)


def next_version(
    source_id: str,
    name: TableName,
    before: SchemaVersion | None,
    schema: TableSchema | None,
    order: TypeOrder,
    now: datetime,
) -> SchemaVersion | None:
    """The version that a discovery adds; None where nothing has changed as far as both formats tell. `schema` is null
    when the table was dropped.
    """
    if before and before.schema and schema:
        shared = min(before.schema_format, FORMAT)
        if canonical(before.schema, shared) == canonical(schema, shared):
            return None
    version = before.version + 1 if before else 1
    return SchemaVersion(
        id=id_from("schema_version", source_id, name.schema_name, name.table_name, str(version)),
        source_id=source_id,
        schema_name=name.schema_name,
        table_name=name.table_name,
        version=version,
        schema_hash=schema_hash(schema) if schema else None,
        schema=schema,
        diff=_diff(before, schema, order),
        discovered_at=now,
    )


def forgotten(newest: Newest, found: Iterable[DiscoveredSchema]) -> tuple[TableName, ...]:
    """The dropped tables beyond `MAX_DROPPED`, whose versions are removed."""
    listed = {one.name for one in found}
    dropped = [(known.discovered_at, name) for name, known in newest.items() if known.schema_hash is None]
    return tuple(name for _, name in sorted(dropped, reverse=True)[MAX_DROPPED:] if name not in listed)


def _diff(before: SchemaVersion | None, schema: TableSchema | None, order: TypeOrder) -> tuple[SchemaChange, ...]:
    if schema is None:
        return (SchemaChange(change=Alteration.TABLE_DROPPED),)
    if before is None:
        return (SchemaChange(change=Alteration.TABLE_ADDED),)
    if before.schema is None:
        return (SchemaChange(change=Alteration.TABLE_ADDED_AGAIN),)
    return changes(before.schema, schema, order)
