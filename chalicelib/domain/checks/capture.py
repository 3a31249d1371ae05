"""Whether a capture's options fit together, and fit the tables that discovery found."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from chalicelib.domain.names import name_list
from chalicelib.domain.pipeline import Capture
from chalicelib.domain.table import ColumnName, SourceTable, TableName
from chalicelib.errors import Invalid

_COLUMN_FAULTS: Mapping[str, str] = {
    "not_captured": "exclude_columns names a table that the pipeline does not capture.",
    "not_discovered": "exclude_columns names a column that discovery did not find. Correct its name, or run discovery.",
    "key_column": "exclude_columns names a column of a primary key, which has to arrive. Take it out of the list.",
    "table_without_key": "exclude_columns names a table without a primary key. Debezium takes a unique index as its "
    "key, and sends the values of that, excluded or not. Give the table a primary key first.",
    "ambiguous": "exclude_columns names a column that Debezium cannot tell from another one: written with dots, "
    "schema, table and column are the same. Capture the two tables in different pipelines.",
}
"""The `type` of the detail and its sentence."""


def check_options(capture: Capture, tables: Mapping[TableName, SourceTable]) -> None:
    """Raise Invalid for options that do not fit. `tables` are all of `capture.captured_tables`."""
    _check_heartbeat(capture)
    _check_compaction(capture, tables)
    full_names = Counter(f"{table.name}.{column.name}" for table in tables.values() for column in table.columns)
    details: list[dict[str, Any]] = [
        {"location": ["body", "options", "exclude_columns", position], "type": fault}
        for position, column in enumerate(capture.options.exclude_columns)
        if (fault := _column_fault(column, tables.get(column.table), full_names))
    ]
    if details:
        raise Invalid(_COLUMN_FAULTS[details[0]["type"]], details=details)


def _check_compaction(capture: Capture, tables: Mapping[TableName, SourceTable]) -> None:
    """A topic that is compacted takes no record without a key: the brokers refuse it, and the connector fails."""
    policy = capture.properties.get("topic.creation.default.cleanup.policy", "")
    keyless = sorted(str(name) for name, table in tables.items() if not table.primary_key_columns)
    if "compact" in policy and keyless:
        message = f"A compacted topic takes no records without a key, and {name_list(keyless)} have no primary key."
        raise Invalid.at("body", "properties", type_="compact_without_key", message=message)


def _column_fault(column: ColumnName, table: SourceTable | None, full_names: Mapping[str, int]) -> str | None:
    if table is None:
        return "not_captured"
    if all(column.column_name != found.name for found in table.columns):
        return "not_discovered"
    if column.column_name in table.primary_key_columns:
        return "key_column"
    if not table.primary_key_columns:
        return "table_without_key"
    return "ambiguous" if full_names[str(column)] > 1 else None


def _check_heartbeat(capture: Capture) -> None:
    table = capture.options.heartbeat_table
    if table is None:
        return
    if capture.options.heartbeat_interval_ms == 0:
        message = "Without heartbeats nothing is written to heartbeat_table. Set heartbeat_interval_ms above 0."
        raise Invalid.at("body", "options", "heartbeat_interval_ms", type_="heartbeats_off", message=message)
    if table not in capture.tables and capture.topic(table) in capture.topics:
        message = "The heartbeat table has the same topic name as a captured table. Give it another name."
        raise Invalid.at("body", "options", "heartbeat_table", type_="topic_collision", message=message)
