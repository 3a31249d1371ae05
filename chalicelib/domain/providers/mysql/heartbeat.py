"""The table that is written to at each heartbeat, so that the stored position of an idle server moves on."""

from collections.abc import Mapping

from chalicelib.domain.providers.measured_types.names import type_of
from chalicelib.domain.providers.mysql.sql import quoted_table
from chalicelib.domain.providers.mysql.types import base_type
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import Invalid

_COLUMN_TYPES: Mapping[str, frozenset[str]] = {
    "id": frozenset({"tinyint", "smallint", "mediumint", "int", "bigint"}),
    "ts": frozenset({"timestamp", "datetime"}),
}


def heartbeat_statement(table: TableName) -> str:
    """Writes the table's one row."""
    row = "(id, ts) VALUES (1, now()) ON DUPLICATE KEY UPDATE ts = now()"
    return f"INSERT INTO {quoted_table(table)} {row}"


def check_heartbeat_table(table: SourceTable) -> None:
    """Raise Invalid when the statement would not work on the discovered table.

    Its privileges and the columns' defaults are looked at by readiness.
    """
    # Kafka Connect would read it as a reference to a secret.
    if "${" in str(table.name):
        raise _invalid("name", "The name of a heartbeat table may not contain ${. Choose another table.")
    types = {column.name: base_type(type_of(column).name) for column in table.columns}
    fitting = all(types.get(name) in allowed for name, allowed in _COLUMN_TYPES.items())
    if not fitting or table.primary_key_columns != ("id",):
        raise _invalid(
            "not_a_heartbeat_table",
            "A heartbeat table has the primary key id, an integer, and the column ts, a timestamp. "
            "CREATE TABLE headgate_heartbeat (id int PRIMARY KEY, ts timestamp NULL); makes one. Then run discovery.",
        )


def _invalid(type_: str, message: str) -> Invalid:
    return Invalid.at("body", "options", "heartbeat_table", type_=type_, message=message)
