"""The table that is written to at each heartbeat, so that the slot of a database without changes moves on."""

from collections.abc import Mapping

from chalicelib.domain.providers.measured_types.names import type_of, without_modifiers
from chalicelib.domain.providers.postgresql.sql import quoted_table
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import Invalid

_COLUMN_TYPES: Mapping[str, frozenset[str]] = {
    "id": frozenset({"smallint", "integer", "bigint"}),
    "ts": frozenset({"timestamp with time zone", "timestamp without time zone"}),
}


def heartbeat_statement(table: TableName) -> str:
    """Writes the table's one row."""
    row = "(id, ts) VALUES (1, now()) ON CONFLICT (id) DO UPDATE SET ts = now()"
    return f"INSERT INTO {quoted_table(table)} {row}"


def check_heartbeat_table(table: SourceTable) -> None:
    """Raise Invalid when the statement would not work on the discovered table.

    Its privileges and the columns' defaults are looked at by readiness.
    """
    # Kafka Connect would read it as a reference to a secret.
    if "${" in str(table.name):
        raise _invalid("name", "The name of a heartbeat table may not contain ${. Choose another table.")
    types = {column.name: type_of(column) for column in table.columns}
    fitting = all(
        name in types and not types[name].dimensions and without_modifiers(types[name].name) in allowed
        for name, allowed in _COLUMN_TYPES.items()
    )
    if not fitting or table.primary_key_columns != ("id",):
        raise _invalid(
            "not_a_heartbeat_table",
            "A heartbeat table has the primary key id, an integer, and the column ts, a timestamp. "
            "CREATE TABLE headgate_heartbeat (id integer PRIMARY KEY, ts timestamptz); makes one. Then run discovery.",
        )


def _invalid(type_: str, message: str) -> Invalid:
    return Invalid.at("body", "options", "heartbeat_table", type_=type_, message=message)
