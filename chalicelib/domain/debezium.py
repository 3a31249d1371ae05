"""What is the same for every database: lines of Debezium's source connectors, and allowed properties.

Keys and traps: Debezium 3.6 reference; each line was shown to be needed on real servers.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import ERRORS, ConnectorConfig, converters
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, owner_marker, quote_regex
from chalicelib.domain.pipeline import (
    TRANSACTIONS_PROPERTY,
    Capture,
    Converter,
    OnConversionError,
    Pipeline,
    Representation,
)
from chalicelib.domain.property_options import option_sentence
from chalicelib.domain.table import ColumnName, TableName
from chalicelib.errors import Invalid, fault
from chalicelib.kit.similar import nearest

DEFAULT_HEARTBEAT_MS = 10_000
_PRODUCER_BUFFER_BYTES = 32 * 1024 * 1024
"""Kafka's default for `buffer.memory`, which no record may exceed."""
MAX_VALIDATION_SECONDS = 5
"""Debezium tries the database on validate and on create; its answer has to come before we stop waiting for Connect."""

_DEFAULTS: Mapping[str, str] = {
    # Lets Connect make the topics where the brokers do not; -1 takes the brokers' defaults.
    "topic.creation.default.partitions": "-1",
    "topic.creation.default.replication.factor": "-1",
    # Rows that are read and not sent yet: one table with wide rows must not take the memory of all connectors.
    "max.queue.size.in.bytes": str(128 * 1024 * 1024),
}
_READABLE: ConnectorConfig = {"decimal.handling.mode": "string", "time.precision.mode": "isostring"}
"""Numbers and times as text. Sinks to databases take neither."""
_CONVERTING_FAILURES: Mapping[OnConversionError, str] = {OnConversionError.FAIL: "fail", OnConversionError.NULL: "warn"}
"""Debezium's own default is `warn`: null, and a line in the worker's log."""


def debezium_source_config(
    pipeline: Pipeline,
    *,
    connector_class: str,
    connection: ConnectorConfig,
    records: Mapping[str, str],
    defaults: Mapping[str, str],
) -> ConnectorConfig:
    """The whole config around a provider's own lines: how it reads the server, and what it does to records."""
    capture, may_be_set = pipeline.capture, {**defaults, **_DEFAULTS}
    return {
        # First, so that the user's properties can never replace a line of ours but the defaults.
        **capture.properties,
        "connector.class": connector_class,
        "tasks.max": "1",
        OWNER_KEY: owner_marker(ConnectorKind.SOURCE, pipeline.id),
        **connection,
        **_capture(capture),
        "decimal.handling.mode": "precise",
        **records,
        **(_READABLE if capture.options.representation is Representation.READABLE else {}),
        **_message_size(capture.options.max_message_bytes),
        **converters(schemas=capture.converter is Converter.JSON_SCHEMA),
        **{key: capture.properties.get(key, value) for key, value in may_be_set.items()},
        **ERRORS,
    }


def _capture(capture: Capture) -> ConnectorConfig:
    options, heartbeat = capture.options, capture.options.heartbeat_interval_ms
    sizes = {
        "max.batch.size": options.max_batch_size,
        "max.queue.size": options.max_queue_size,
        "poll.interval.ms": options.poll_interval_ms,
    }
    return {
        "topic.prefix": capture.topic_prefix,
        "table.include.list": name_patterns(capture.captured_tables),
        **({"column.exclude.list": name_patterns(options.exclude_columns)} if options.exclude_columns else {}),
        "snapshot.mode": str(capture.snapshot_mode),
        "tombstones.on.delete": "true" if options.tombstones_on_delete else "false",
        "event.converting.failure.handling.mode": _CONVERTING_FAILURES[options.on_conversion_error],
        "heartbeat.interval.ms": str(DEFAULT_HEARTBEAT_MS if heartbeat is None else heartbeat),
        **({"topic.heartbeat.name": capture.heartbeat_topic} if capture.heartbeat_topic else {}),
        **{key: str(value) for key, value in sizes.items() if value is not None},
    }


def _message_size(largest: int | None) -> ConnectorConfig:
    """What lets a record of so many bytes through: topics that are made for it, and the worker's producer."""
    if largest is None:
        return {}
    return {
        "topic.creation.default.max.message.bytes": str(largest),
        "producer.override.max.request.size": str(largest),
        **({"producer.override.buffer.memory": str(largest)} if largest > _PRODUCER_BUFFER_BYTES else {}),
    }


def name_patterns(names: Iterable[TableName | ColumnName | str]) -> str:
    """A list of Java regular expressions, each for exactly one full name, which Debezium matches as a whole.

    It ignores case by default, splits the list at commas, and trims each entry.
    """
    return ",".join(f"(?-i:{quote_regex(str(name)).replace(',', chr(92) + 'x2c')})" for name in names)


BOOLEAN = "true|false"
COUNT = "[0-9]{1,9}"
MILLISECONDS = "[0-9]{1,9}"
_RETRIES = "-1|[0-9]{1,9}"
_BYTES = "[0-9]{1,12}"

COMMON_PROPERTIES: Mapping[str, str] = {
    # What is written.
    TRANSACTIONS_PROPERTY: BOOLEAN,
    "skip.messages.without.change": BOOLEAN,
    # How the snapshot goes.
    "incremental.snapshot.chunk.size": COUNT,
    "snapshot.delay.ms": MILLISECONDS,
    "snapshot.lock.timeout.ms": MILLISECONDS,
    "snapshot.max.threads": "[1-9]|1[0-6]",
    # How it behaves while it runs.
    "errors.max.retries": _RETRIES,
    "errors.retry.delay.max.ms": MILLISECONDS,
    "errors.retry.timeout": _RETRIES,
    "max.queue.size.in.bytes": _BYTES,
    "retriable.restart.connector.wait.ms": MILLISECONDS,
    "streaming.delay.ms": MILLISECONDS,
    # The topics that Connect makes for it.
    "topic.creation.default.cleanup.policy": "delete|compact|compact,delete",
    "topic.creation.default.compression.type": "producer|uncompressed|gzip|snappy|lz4|zstd",
    "topic.creation.default.delete.retention.ms": "[0-9]{1,15}",
    "topic.creation.default.min.insync.replicas": "[1-9]",
    "topic.creation.default.partitions": "-1|[1-9][0-9]{0,3}",
    "topic.creation.default.replication.factor": "-1|[1-9]",
    "topic.creation.default.retention.bytes": "-1|[0-9]{1,15}",
    "topic.creation.default.retention.ms": "-1|[0-9]{1,15}",
}
"""Key -> the whole value as a regular expression (linear: no nested repetition).

Nothing in such a table leads to another host, file, class, query or credential; what is not in it is refused.
"""

AllowedProperties = Mapping[str, re.Pattern[str]]

MEASURED = "What is known about types was measured with Debezium's default for it, and sinks expect that. Leave it out."
"""Why properties are refused that change how values are written."""

COMMON_REFUSALS: Mapping[str, str] = {
    "binary.handling.mode": MEASURED,
    "column.exclude.list": "Name the columns in options.exclude_columns, where they are checked against discovery.",
    "column.include.list": "Name the columns to leave out in options.exclude_columns.",
    "event.converting.failure.handling.mode": "Set options.on_conversion_error.",
    "heartbeat.action.query": "Set options.heartbeat_table: Headgate writes the statement.",
    "producer.override.max.request.size": "Set options.max_message_bytes.",
    "topic.creation.default.max.message.bytes": "Set options.max_message_bytes: it sets what the connector may send, "
    "too.",
    "topic.heartbeat.name": "It is always headgate-heartbeat below the topic_prefix.",
    "topic.heartbeat.prefix": "The heartbeat topic is always headgate-heartbeat below the topic_prefix.",
}
"""Keys that are known and refused, or refused with some values: why, and what to do instead."""


def allowed_properties(own: Mapping[str, str]) -> AllowedProperties:
    """The common table with a provider's own keys."""
    return {key: re.compile(pattern) for key, pattern in {**COMMON_PROPERTIES, **own}.items()}


def check_properties(properties: Mapping[str, str], allowed: AllowedProperties) -> list[str]:
    """The keys that may not be set, or not to this value, in alphabetical order."""
    return sorted(
        key for key, value in properties.items() if key not in allowed or not allowed[key].fullmatch(str(value))
    )


def properties_error(
    refused: Sequence[str], allowed: AllowedProperties, reasons: Mapping[str, str], options: Mapping[str, str]
) -> Invalid:
    """The error for refused keys. Only keys that one of these tables has are named: the others are a user's text."""
    return Invalid.of([_property_fault(key, allowed, reasons, options) for key in refused])


def _property_fault(
    key: str, allowed: AllowedProperties, reasons: Mapping[str, str], options: Mapping[str, str]
) -> dict[str, Any]:
    more: dict[str, Any] = {"option": options.get(key)}
    if key in reasons:
        message = f"{key}: {reasons[key]}"
    elif key in options:
        message = option_sentence(key, options[key])
    elif key in allowed:
        values = allowed[key].pattern.split("|")
        more["allowed"] = values if all(map(_LITERAL.fullmatch, values)) else ()
        message = f"{key}: it has to be {_in_words(more['allowed'])}."
    elif meant := nearest(key, (*allowed, *options)):
        more["did_you_mean"] = meant
        message = f"A property is not among those that may be set. Did you mean {meant}?"
    else:
        message = "Some properties are not among those that may be set. The documentation lists them."
    return fault("body", "properties", type_="property_not_allowed", message=message, **more)


_LITERAL = re.compile(r"[A-Za-z0-9_,]+")


def _in_words(values: Sequence[str]) -> str:
    return f"one of these: {', '.join(values)}" if values else "a whole number within the bounds of the documentation"


_NOT_IN_URL = re.compile(r"[\x00-\x1f\x7f-\x9f?&%#/\\]")


def url_database_name(address: DatabaseAddress) -> str:
    """The database's name for a program that puts it into a URL as it stands, as Debezium does. Raises Invalid.

    It cannot be encoded for Debezium, which also compares the same text with names in the server's catalog.
    """
    if _NOT_IN_URL.search(address.database_name):
        message = "The name of the database must not hold ? & % # / \\ or a control character: it is part of a URL."
        raise Invalid.at("body", "config", "database_name", type_="database_name", message=message)
    return address.database_name
