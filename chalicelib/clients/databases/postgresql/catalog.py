"""Converts rows of PostgreSQL's catalogs to facts. The columns are those of `queries`."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from chalicelib.domain.providers.postgresql import facts
from chalicelib.domain.table import TableName, TypeKind

Row = tuple[Any, ...]

_KINDS = {
    "r": facts.RelationKind.TABLE,
    "p": facts.RelationKind.PARTITIONED,
    "v": facts.RelationKind.VIEW,
    "m": facts.RelationKind.MATERIALIZED_VIEW,
    "f": facts.RelationKind.FOREIGN_TABLE,
}
_PERSISTENCE = {"p": facts.Persistence.PERMANENT, "u": facts.Persistence.UNLOGGED, "t": facts.Persistence.TEMPORARY}
_IDENTITIES = {
    "d": facts.ReplicaIdentity.DEFAULT,
    "f": facts.ReplicaIdentity.FULL,
    "n": facts.ReplicaIdentity.NOTHING,
    "i": facts.ReplicaIdentity.INDEX,
}
_TYPE_KINDS = {
    "b": TypeKind.BASE,
    "e": TypeKind.ENUM,
    "c": TypeKind.COMPOSITE,
    "r": TypeKind.RANGE,
    "m": TypeKind.RANGE,
}
_GENERATED = {"s": facts.Generated.STORED, "v": facts.Generated.VIRTUAL}


SIGNS: Mapping[str, facts.Hosting] = {
    "aurora_version": facts.Hosting.AURORA,
    "rds_superuser": facts.Hosting.RDS,
    "rds.extensions": facts.Hosting.RDS,
    "alloydbsuperuser": facts.Hosting.ALLOYDB,
    "cloudsqlsuperuser": facts.Hosting.CLOUD_SQL,
    "azure_pg_admin": facts.Hosting.AZURE,
    "azure.extensions": facts.Hosting.AZURE,
    "neon_superuser": facts.Hosting.NEON,
    "supabase_admin": facts.Hosting.SUPABASE,
}
"""Roles, settings and functions of one hosting provider only. The first one that exists decides."""

SESSION_LIMITS = ("idle_in_transaction_session_timeout", "statement_timeout", "transaction_timeout")
"""Time limits of a session that could end a long snapshot."""


def names_of(tables: Iterable[TableName]) -> tuple[list[str], list[str]]:
    """Schema names and table names, as two lists of equal length for `unnest`."""
    pairs = [(table.schema_name, table.table_name) for table in tables]
    return [schema for schema, _ in pairs], [table for _, table in pairs]


# The columns of the queries of these names, as fields of facts.
SERVER = (
    *("version", "version_number", "database", "wal_level", "in_recovery", "max_slots", "max_senders", "senders_used"),
    "max_slot_wal_keep_megabytes",
)
ROLE = (
    *("name", "superuser", "replication", "connection_limit", "connections_used"),
    *("database_connection_limit", "database_connections_used", "can_create_in_database"),
)
SLOT = ("name", "plugin", "database", "active", "wal_status", "retained_bytes", "safe_bytes")
TRANSACTION = ("seconds", "process_id", "database")
CAPTURE_SLOT = (
    *("name", "start", "position", "reader", "wal_status", "log_end"),
    *("retained_bytes", "safe_bytes", "max_kept_bytes", "idle_seconds_left"),
)
_PUBLICATION = ("name", "all_tables", "inserts", "updates", "deletes", "via_root", "owned", "table_count")
_COLUMN = ("can_select", "writable", "storable_apart", "needs_quotes", "defaults_to_now")
_TABLE = (
    *("schema_usage", "owned", "owner", "row_security_active", "primary_key_columns", "identity_usable"),
    *("identity_index_columns", "stores_apart", "has_unique_id", "can_write_heartbeat"),
    *("estimated_rows", "estimated_size_bytes"),
)
_TARGET = ("owned", "can_select", "can_insert", "can_update", "can_delete")


def fields(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    """The columns of a row by the field names of facts; arrays as tuples."""
    values = (tuple(value) if isinstance(value, list) else value for value in row)
    return dict(zip(names, values, strict=True))


def hosting_parameters() -> list[list[str]]:
    """The parameters of `HOSTING`: signs that may be roles, settings or functions, then the settings to read."""
    settings = [sign for sign in SIGNS if "." in sign]
    names = [sign for sign in SIGNS if "." not in sign]
    return [names, settings, names, list(SESSION_LIMITS), list(SESSION_LIMITS)]


def hosting(signs: Sequence[str]) -> facts.Hosting:
    return next((hosting for sign, hosting in SIGNS.items() if sign in signs), facts.Hosting.SELF_MANAGED)


def publication_facts(publications: Sequence[Row], published: Sequence[Row]) -> tuple[facts.PublicationFacts, ...]:
    """Rows of `PUBLICATIONS` with those of `PUBLISHED_TABLES`."""
    members: dict[str, list[facts.PublishedTable]] = defaultdict(list)
    for publication, schema_name, table_name, row_filter, columns in published:
        name, names = TableName(schema_name, table_name), None if columns is None else tuple(columns)
        members[publication].append(facts.PublishedTable(name=name, row_filter=row_filter, columns=names))
    return tuple(
        facts.PublicationFacts(**fields(_PUBLICATION, row), tables=tuple(members[row[0]])) for row in publications
    )


def columns_by_table(rows: Iterable[Row]) -> dict[int, tuple[facts.PostgreSQLRawColumn, ...]]:
    """Rows of `COLUMNS`, by the oid of their table."""
    columns: dict[int, list[facts.PostgreSQLRawColumn]] = defaultdict(list)
    for row in rows:
        columns[row[0]].append(_column(row))
    return {oid: tuple(of_table) for oid, of_table in columns.items()}


def _column(row: Row) -> facts.PostgreSQLRawColumn:
    _, name, ordinal, declared, base, kind, is_array, dimensions, is_domain, *rest = row
    nullable, has_default, generated, *others = rest
    kind = _TYPE_KINDS.get(kind, TypeKind.OTHER)
    return facts.PostgreSQLRawColumn(
        name=name,
        ordinal=ordinal,
        type=declared,
        base=facts.TypeFacts(name=base, kind=kind, is_array=is_array, dimensions=dimensions, is_domain=is_domain),
        nullable=nullable,
        has_default=has_default,
        generated=_GENERATED.get(generated),
        **fields(_COLUMN, others),
    )


def raw_table(row: Row, columns: tuple[facts.PostgreSQLRawColumn, ...]) -> facts.PostgreSQLRawTable:
    """A row of `DISCOVERED_TABLES` or `NAMED_TABLES`."""
    return facts.PostgreSQLRawTable(
        name=TableName(row[1], row[2]),
        kind=_KINDS.get(row[3], facts.RelationKind.OTHER),
        persistence=_PERSISTENCE.get(row[4], facts.Persistence.PERMANENT),
        replica_identity=_IDENTITIES.get(row[5], facts.ReplicaIdentity.DEFAULT),
        raw_columns=columns,
        **fields(_TABLE, row[6:]),
    )


def with_descendants(table: facts.PostgreSQLRawTable, row: Row) -> facts.PostgreSQLRawTable:
    """The table with its partitions and children: a row of `DESCENDANTS`."""
    _, partitions, stores_apart, *counts_and_names = row
    without_identity, not_full, children = (
        facts.SomeTables(count=count, names=tuple(TableName(*name) for name in names or ()))
        for count, names in zip(counts_and_names[::2], counts_and_names[1::2], strict=True)
    )
    return replace(
        table,
        partitions=partitions,
        stores_apart=table.stores_apart or stores_apart,
        without_identity=without_identity,
        not_full=not_full,
        children=children,
    )


def target_table(
    row: Row, columns: tuple[facts.PostgreSQLRawColumn, ...], keys: Sequence[Sequence[str]], side_effects: Sequence[Row]
) -> facts.TargetTable:
    """A row of `TARGET_TABLES`, and the rows of `SIDE_EFFECTS` for it."""
    by_kind: dict[str, list[Any]] = defaultdict(list)
    for _, kind, name, indexed in side_effects:
        by_kind[kind].append((name, indexed))
    return facts.TargetTable(
        name=TableName(row[1], row[2]),
        kind=_KINDS.get(row[3], facts.RelationKind.OTHER),
        columns=columns,
        unique_keys=tuple(map(tuple, keys)),
        unique_indexes=tuple(
            facts.UniqueIndex(name=name, columns=None if indexed is None else tuple(indexed))
            for name, indexed in by_kind["unique"]
        ),
        foreign_keys=tuple(name for name, _ in by_kind["foreign key"]),
        triggers=tuple(name for name, _ in by_kind["trigger"]),
        row_security_active=bool(by_kind["row security"]),
        **fields(_TARGET, row[4:]),
    )
