"""The config of a Debezium PostgreSQL source connector, from a pipeline and its source.

Keys and traps: Debezium 3.6 reference, PostgreSQL connector; each line was shown to be needed on real servers.
"""

from collections.abc import Mapping

from chalicelib.domain.connector_config import DEFAULT_JAVA_TLS, ERRORS, ConnectorConfig, converters
from chalicelib.domain.database import DatabaseAddress, SslMode
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, owner_marker, quote_regex
from chalicelib.domain.pipeline import Capture, CaptureOptions, Converter, Pipeline, PublicationMode
from chalicelib.domain.providers.postgresql.properties import (
    PARTITION_ROOT_PROPERTY,
    PROPERTY_ALLOW_LIST,
    check_properties,
)
from chalicelib.domain.source import Source
from chalicelib.domain.table import TableName

__all__ = ["MAX_MESSAGE_BYTES", "POSTGRESQL_SOURCE", "PROPERTY_ALLOW_LIST", "build_source_config", "check_properties"]

POSTGRESQL_SOURCE = "io.debezium.connector.postgresql.PostgresConnector"
DEFAULT_HEARTBEAT_MS = 10_000
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""The largest record that the connector may send, and that topics made for it take. Kafka's own limit is 1 MiB."""
MAX_VALIDATION_SECONDS = 5
"""Debezium tries the database on validate and on create; its answer has to come before we stop waiting for Connect."""

_AUTOCREATE = {PublicationMode.FILTERED: "filtered", PublicationMode.EXISTING: "disabled"}
_VERIFIED = (SslMode.VERIFY_CA, SslMode.VERIFY_FULL)
_PINNED_TLS = "org.postgresql.ssl.SingleCertValidatingFactory"


def build_source_config(pipeline: Pipeline, source: Source) -> ConnectorConfig:
    """Everything that Connect is told about the pipeline; secrets as references. A function of its arguments alone.

    The user's `properties` come first, so that they can never replace a line of ours.
    """
    capture = pipeline.capture
    return {
        **capture.properties,
        "connector.class": POSTGRESQL_SOURCE,
        "tasks.max": "1",
        OWNER_KEY: owner_marker(ConnectorKind.SOURCE, pipeline.id),
        **_database(source),
        **_replication(pipeline),
        **_capture(capture),
        **_tuning(capture.options),
        **_RECORDS,
        **converters(schemas=capture.converter is Converter.JSON_SCHEMA),
        **{key: capture.properties.get(key, value) for key, value in _DEFAULTS.items()},
        **ERRORS,
    }


_RECORDS: Mapping[str, str] = {
    "decimal.handling.mode": "precise",
    # An update that leaves a large value untouched does not carry it; without this the sink would write a placeholder.
    "post.processors": "reselector",
    "reselector.type": "io.debezium.processors.reselect.ReselectColumnsPostProcessor",
    "reselector.reselect.unavailable.values": "true",
    "reselector.reselect.null.values": "false",
    "producer.override.max.request.size": str(MAX_MESSAGE_BYTES),
}
_DEFAULTS: Mapping[str, str] = {
    # Changes of a partitioned table travel under its own name, which is the one that is captured.
    PARTITION_ROOT_PROPERTY: "true",
    # Lets Connect make the topics where the brokers do not; -1 takes the brokers' defaults.
    "topic.creation.default.partitions": "-1",
    "topic.creation.default.replication.factor": "-1",
    "topic.creation.default.max.message.bytes": str(MAX_MESSAGE_BYTES),
}
"""What a pipeline's `properties` may say otherwise."""


def _database(source: Source) -> ConnectorConfig:
    address = source.address
    return {
        "database.hostname": address.host,
        "database.port": str(address.port),
        "database.user": address.username,
        "database.password": source.credentials.reference("password"),
        "database.dbname": address.database_name,
        **_tls(address, source),
        "connection.validation.timeout.ms": str(min(address.connection_timeout_seconds, MAX_VALIDATION_SECONDS) * 1000),
    }


def _tls(address: DatabaseAddress, source: Source) -> ConnectorConfig:
    """Transport encryption without a file on the worker.

    `database.sslrootcert` would name a file that Headgate cannot put there. Debezium hands every `database.` key to
    pgjdbc, whose factories take the certificate as text, or trust what the worker's Java trusts.
    """
    lines = {"database.sslmode": str(address.ssl_mode)}
    if address.ssl_mode in _VERIFIED:
        if "ca_certificate" in source.credentials.fields:
            lines["database.sslfactory"] = _PINNED_TLS
            lines["database.sslfactoryarg"] = source.credentials.reference("ca_certificate")
        else:
            lines["database.sslfactory"] = DEFAULT_JAVA_TLS
    return lines


def _replication(pipeline: Pipeline) -> ConnectorConfig:
    return {
        "plugin.name": "pgoutput",
        "slot.name": pipeline.slot_name,
        "slot.drop.on.stop": "false",
        "publication.name": pipeline.publication_name,
        "publication.autocreate.mode": _AUTOCREATE[pipeline.capture.options.publication_mode],
    }


def _capture(capture: Capture) -> ConnectorConfig:
    heartbeat = capture.options.heartbeat_interval_ms
    return {
        "topic.prefix": capture.topic_prefix,
        "table.include.list": ",".join(_pattern(table) for table in capture.tables),
        "snapshot.mode": str(capture.snapshot_mode),
        "tombstones.on.delete": "true" if capture.options.tombstones_on_delete else "false",
        # An idle database on a busy server keeps WAL for ever unless the slot moves on.
        "heartbeat.interval.ms": str(DEFAULT_HEARTBEAT_MS if heartbeat is None else heartbeat),
    }


def _tuning(options: CaptureOptions) -> ConnectorConfig:
    given = {
        "max.batch.size": options.max_batch_size,
        "max.queue.size": options.max_queue_size,
        "poll.interval.ms": options.poll_interval_ms,
    }
    return {key: str(value) for key, value in given.items() if value is not None}


def _pattern(table: TableName) -> str:
    """A Java regular expression for exactly this table. Debezium ignores case unless told otherwise, splits the list at
    commas, and trims each entry.
    """
    quoted = f"{quote_regex(table.schema_name)}\\.{quote_regex(table.table_name)}"
    return f"(?-i:{quoted.replace(',', chr(92) + 'x2c')})"
