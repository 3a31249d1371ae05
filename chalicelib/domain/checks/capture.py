"""Whether a capture's options fit each other and the discovered tables, and what is worth a warning about them."""

from collections import Counter
from collections.abc import Iterator, Mapping

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.names import name_list
from chalicelib.domain.pipeline import Capture, OnConversionError
from chalicelib.domain.table import ColumnName, SourceTable, TableName
from chalicelib.errors import Invalid, fault

KAFKA_MESSAGE_BYTES = 1024 * 1024
"""Kafka's own limit for a record, about: what brokers, producers and consumers take when nothing is configured."""

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
    faults = [
        fault("body", "options", "exclude_columns", position, type_=kind, message=_COLUMN_FAULTS[kind])
        for position, column in enumerate(capture.options.exclude_columns)
        if (kind := _column_fault(column, tables.get(column.table), full_names))
    ]
    if faults:
        raise Invalid.of(faults)


def _check_compaction(capture: Capture, tables: Mapping[TableName, SourceTable]) -> None:
    # Brokers refuse a record without a key for a compacted topic, and the connector fails.
    policy = capture.properties.get("topic.creation.default.cleanup.policy", "")
    keyless = sorted(str(name) for name, table in tables.items() if not table.primary_key_columns)
    if "compact" in policy and keyless:
        message = f"A compacted topic takes no records without a key, and {name_list(keyless)} have no primary key."
        raise Invalid.at("body", "properties", type_="compact_without_key", message=message)


def _column_fault(column: ColumnName, table: SourceTable | None, full_names: Mapping[str, int]) -> str | None:
    if table is None:
        return "not_captured"
    if all(column.column_name != discovered.name for discovered in table.columns):
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


def option_warnings(capture: Capture) -> Iterator[ConfigWarning]:
    """The warnings that follow from the options alone, before a capture is created."""
    yield ConfigWarning(
        code="TRUNCATE_NOT_DELIVERED",
        message="A TRUNCATE of a captured table does not reach its topic: the rows stay in every target. Use DELETE.",
    )
    largest = capture.options.max_message_bytes
    if largest and largest > KAFKA_MESSAGE_BYTES:
        yield ConfigWarning(
            code="LARGE_MESSAGES",
            message="With large rows workers and consumers need more memory: several such records are kept at a time, "
            "and a row grows when it is written as JSON. The brokers have to allow the size, and topics that exist "
            "already keep their own max.message.bytes. A delivery stops at a single value of more than 20,000,000 "
            "characters.",
        )
    if capture.options.on_conversion_error is OnConversionError.NULL:
        yield ConfigWarning(
            code="VALUES_MAY_BE_NULL",
            message="A value that Debezium cannot convert arrives as NULL, and only the worker's log says so.",
        )
