"""The schemas of discovered MySQL tables, and the order of MySQL's types."""

from collections.abc import Sequence
from itertools import product

from chalicelib.domain.providers.mysql.facts import MySQLRawColumn, MySQLRawTable
from chalicelib.domain.schema.table_schema import (
    ColumnSchema,
    DiscoveredSchema,
    ForeignKeySchema,
    TableSchema,
    UniqueKeySchema,
)
from chalicelib.domain.schema.type_order import TypeOrder

_INTEGERS = ("tinyint", "smallint", "mediumint", "int", "bigint")
_SIGNS = ("", " unsigned", " unsigned zerofill")

TYPE_ORDER = TypeOrder(
    ladders=(
        *(tuple(f"{name}{sign}" for name in _INTEGERS) for sign in _SIGNS),
        ("float", "double"),
        ("char", "varchar"),
        ("tinytext", "text", "mediumtext", "longtext"),
        ("tinyblob", "blob", "mediumblob", "longblob"),
    ),
    display_only=frozenset(map("".join, product((*_INTEGERS, "year"), _SIGNS))),
    unbounded=False,
)
"""MySQL 8.0 reference, chapter 11, as COLUMN_TYPE spells them. The number behind an integer is the width of its
display, which 8.0.19 and later leave out.
"""


def schemas_of(tables: Sequence[MySQLRawTable]) -> tuple[DiscoveredSchema, ...]:
    """The schema of each table; null where the account may not read all of it: the server hides columns then."""
    return tuple(DiscoveredSchema(name=raw.name, schema=_schema(raw) if raw.readable else None) for raw in tables)


def _schema(raw: MySQLRawTable) -> TableSchema:
    return TableSchema(
        columns=tuple(map(_column, raw.raw_columns)),
        primary_key_columns=raw.primary_key_columns,
        unique_keys=tuple(UniqueKeySchema(name=key.name, columns=key.columns) for key in raw.unique_keys),
        foreign_keys=tuple(
            ForeignKeySchema(
                name=key.name,
                referenced=str(key.referenced),
                update_rule=key.update_rule,
                delete_rule=key.delete_rule,
            )
            for key in raw.foreign_keys
        ),
    )


def _column(raw: MySQLRawColumn) -> ColumnSchema:
    return ColumnSchema(
        name=raw.name,
        type=raw.type,
        nullable=raw.nullable,
        has_default=raw.default is not None or raw.auto_increment,
        default=raw.default,
        generated=raw.generated,
        invisible=raw.invisible,
        character_set=raw.character_set,
        collation=raw.collation,
    )
