"""What is the same for every Debezium source connector: lines of its config, and the `properties` that people may set.

Keys and traps: Debezium 3.6 reference; each line was shown to be needed on real servers.
"""

import re
from collections.abc import Mapping

from chalicelib.domain.connector_config import ERRORS, ConnectorConfig, converters
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, owner_marker, quote_regex
from chalicelib.domain.pipeline import Capture, CaptureOptions, Converter, Pipeline
from chalicelib.domain.table import TableName

DEFAULT_HEARTBEAT_MS = 10_000
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""The largest record that the connector may send, and that topics made for it take. Kafka's own limit is 1 MiB."""
MAX_VALIDATION_SECONDS = 5
"""Debezium tries the database on validate and on create; its answer has to come before we stop waiting for Connect."""

_TOPIC_DEFAULTS: Mapping[str, str] = {
    # Lets Connect make the topics where the brokers do not; -1 takes the brokers' defaults.
    "topic.creation.default.partitions": "-1",
    "topic.creation.default.replication.factor": "-1",
    "topic.creation.default.max.message.bytes": str(MAX_MESSAGE_BYTES),
}


def debezium_source_config(
    pipeline: Pipeline,
    *,
    connector_class: str,
    connection: ConnectorConfig,
    records: Mapping[str, str],
    defaults: Mapping[str, str],
) -> ConnectorConfig:
    """The whole config around a provider's own lines: how it reads the server, and what it does to records.

    The user's `properties` come first, so that they can never replace a line of ours but the `defaults`.
    """
    capture = pipeline.capture
    return {
        **capture.properties,
        "connector.class": connector_class,
        "tasks.max": "1",
        OWNER_KEY: owner_marker(ConnectorKind.SOURCE, pipeline.id),
        **connection,
        **_capture(capture),
        **_tuning(capture.options),
        "decimal.handling.mode": "precise",
        **records,
        "producer.override.max.request.size": str(MAX_MESSAGE_BYTES),
        **converters(schemas=capture.converter is Converter.JSON_SCHEMA),
        **{key: capture.properties.get(key, value) for key, value in {**defaults, **_TOPIC_DEFAULTS}.items()},
        **ERRORS,
    }


def _capture(capture: Capture) -> ConnectorConfig:
    heartbeat = capture.options.heartbeat_interval_ms
    return {
        "topic.prefix": capture.topic_prefix,
        "table.include.list": ",".join(_pattern(table) for table in capture.tables),
        "snapshot.mode": str(capture.snapshot_mode),
        "tombstones.on.delete": "true" if capture.options.tombstones_on_delete else "false",
        # The connector's place in the log has to move on when the captured tables are idle and others are not.
        "heartbeat.interval.ms": str(DEFAULT_HEARTBEAT_MS if heartbeat is None else heartbeat),
    }


def _tuning(options: CaptureOptions) -> ConnectorConfig:
    chosen = {
        "max.batch.size": options.max_batch_size,
        "max.queue.size": options.max_queue_size,
        "poll.interval.ms": options.poll_interval_ms,
    }
    return {key: str(value) for key, value in chosen.items() if value is not None}


def _pattern(table: TableName) -> str:
    """A Java regular expression for exactly this table. Debezium ignores case unless told otherwise, splits the list at
    commas, and trims each entry.
    """
    quoted = f"{quote_regex(table.schema_name)}\\.{quote_regex(table.table_name)}"
    return f"(?-i:{quoted.replace(',', chr(92) + 'x2c')})"


BOOLEAN = "true|false"
COUNT = "[0-9]{1,9}"
MILLISECONDS = "[0-9]{1,9}"
_RETRIES = "-1|[0-9]{1,9}"
_BYTES = "[0-9]{1,12}"
_COLUMNS = r"[A-Za-z0-9_$.,*\\-]{1,4000}"

COMMON_PROPERTIES: Mapping[str, str] = {
    # How values are written.
    "binary.handling.mode": "bytes|base64|base64-url-safe|hex",
    # What is written.
    "column.exclude.list": _COLUMNS,
    "column.include.list": _COLUMNS,
    "provide.transaction.metadata": BOOLEAN,
    "skip.messages.without.change": BOOLEAN,
    "skipped.operations": "none|[cudt](,[cudt]){0,3}",
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
    "topic.creation.default.max.message.bytes": _BYTES,
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


def allowed_properties(own: Mapping[str, str]) -> AllowedProperties:
    """The common table with a provider's own keys."""
    return {key: re.compile(pattern) for key, pattern in {**COMMON_PROPERTIES, **own}.items()}


def check_properties(properties: Mapping[str, str], allowed: AllowedProperties) -> list[str]:
    """The keys that may not be set, or not to this value, in alphabetical order."""
    return sorted(
        key for key, value in properties.items() if key not in allowed or not allowed[key].fullmatch(str(value))
    )
