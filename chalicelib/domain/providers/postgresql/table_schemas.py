"""The schemas of discovered PostgreSQL tables, and the order of PostgreSQL's types."""

from collections.abc import Sequence

from chalicelib.domain.providers.postgresql.facts import PostgreSQLRawColumn, PostgreSQLRawTable
from chalicelib.domain.schema.table_schema import ColumnSchema, DiscoveredSchema, TableSchema
from chalicelib.domain.schema.type_order import TypeOrder

TYPE_ORDER = TypeOrder(
    ladders=(
        ("smallint", "integer", "bigint"),
        ("real", "double precision"),
        ("character varying", "text"),
    )
)
"""PostgreSQL documentation, chapter 8, as `format_type` spells them."""


def schemas_of(tables: Sequence[PostgreSQLRawTable]) -> tuple[DiscoveredSchema, ...]:
    """The schema of each table. Names and types are readable for everybody (chapter 53), so that none is read in part.

    The text of a default is not read: to print an expression, the server may wait for a table that is being altered.
    """
    return tuple(DiscoveredSchema(name=raw.name, schema=_schema(raw)) for raw in tables)


def _schema(raw: PostgreSQLRawTable) -> TableSchema:
    return TableSchema(
        columns=tuple(map(_column, raw.raw_columns)),
        primary_key_columns=raw.primary_key_columns,
        replica_identity=raw.replica_identity,
        replica_identity_columns=raw.identity_index_columns,
    )


def _column(raw: PostgreSQLRawColumn) -> ColumnSchema:
    # A generated column has its expression where others have a default.
    return ColumnSchema(
        name=raw.name,
        type=raw.type,
        nullable=raw.nullable,
        has_default=raw.has_default and raw.generated is None,
        generated=raw.generated,
    )
