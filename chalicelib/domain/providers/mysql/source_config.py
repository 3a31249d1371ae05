"""The lines of a Debezium source connector's config that belong to MySQL.

Keys and traps: Debezium 3.6 reference, MySQL connector; each line was shown to be needed on real servers.
"""

from collections.abc import Mapping

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.database import SslMode
from chalicelib.domain.debezium import MAX_VALIDATION_SECONDS, debezium_source_config, name_patterns
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.mysql.capture_options import (
    MySQLCaptureOptions,
    server_id,
    snapshot_locking,
    snapshot_mode,
)
from chalicelib.domain.providers.mysql.heartbeat import heartbeat_statement
from chalicelib.domain.providers.mysql.schema_history import history_lines
from chalicelib.domain.source import Source
from chalicelib.errors import Invalid

MYSQL_SOURCE = "io.debezium.connector.mysql.MySqlConnector"

SSL_MODES: Mapping[SslMode, str] = {
    SslMode.DISABLE: "disabled",
    SslMode.PREFER: "preferred",
    SslMode.REQUIRE: "required",
    SslMode.VERIFY_CA: "verify_ca",
    SslMode.VERIFY_FULL: "verify_identity",
}
WITHOUT_TLS = (SslMode.DISABLE, SslMode.PREFER)

_RECORDS: Mapping[str, str] = {
    # Its default makes values from 2^63 on negative.
    "bigint.unsigned.handling.mode": "precise",
    "binary.handling.mode": "bytes",
    "time.precision.mode": "adaptive_time_microseconds",
    # Its default moves the years 0 to 99 to 1970 to 2069.
    "enable.time.adjuster": "false",
    # With the exact types sinks make exact columns.
    "column.propagate.source.type": ".*",
    "inconsistent.schema.handling.mode": "fail",
    "event.processing.failure.handling.mode": "fail",
    # The default parser of 3.6 fails at definitions with two double quotes inside a literal, also of tables that are
    # not captured.
    "ddl.parser.type": "legacy",
    # Otherwise definitions are also written to a topic that is named like the prefix.
    "include.schema.changes": "false",
}
_DEFAULTS: Mapping[str, str] = {
    "connect.keep.alive.interval.ms": "60000",
    "snapshot.lock.timeout.ms": "10000",
    # Without a bound a connector that cannot read the log any more would be RUNNING for ever.
    "errors.max.retries": "10",
}


def build_source_config(pipeline: Pipeline, source: Source, stream_cluster: StreamCluster) -> ConnectorConfig:
    """The whole config; secrets as references. A function of its arguments alone.

    Raises Invalid for a CA certificate of its own: Connector/J takes it from a file on the worker only.
    """
    return debezium_source_config(
        pipeline,
        connector_class=MYSQL_SOURCE,
        connection={
            **_database(pipeline, source),
            **_capture(pipeline, source),
            **history_lines(pipeline, stream_cluster),
        },
        records={**_RECORDS, "snapshot.mode": str(snapshot_mode(pipeline))},
        defaults={**_DEFAULTS, "connect.timeout.ms": _connect_milliseconds(source.address)},
    )


def _database(pipeline: Pipeline, source: Source) -> ConnectorConfig:
    address, zone = source.address, MySQLCaptureOptions.of(pipeline.capture).connection_time_zone
    require_no_certificate(address, source.credentials.fields)
    return {
        "database.hostname": address.host,
        "database.port": str(address.port),
        "database.user": address.username,
        "database.password": source.credentials.reference("password"),
        "database.server.id": str(server_id(pipeline)),
        "database.ssl.mode": SSL_MODES[address.ssl_mode],
        # Without TLS, a login that the server has forgotten needs the server's public key.
        **({"database.allowPublicKeyRetrieval": "true"} if address.ssl_mode in WITHOUT_TLS else {}),
        **({"database.connectionTimeZone": zone} if zone else {}),
    }


def require_no_certificate(address: DatabaseAddress, secrets: Mapping[str, int]) -> None:
    """Raise Invalid where a certificate would have to be verified by a CA that the workers cannot be given."""
    if address.ssl_mode.verifies and "ca_certificate" in secrets:
        raise Invalid.at(
            "body",
            "config",
            "ssl_mode",
            type_="ca_not_deliverable",
            message="MySQL's driver takes a CA certificate from a file on the worker only. Add it to the trust store "
            "of the workers' Java and leave ca_certificate out, or use the mode require.",
        )


def _connect_milliseconds(address: DatabaseAddress) -> str:
    return str(min(address.connection_timeout_seconds, MAX_VALIDATION_SECONDS) * 1000)


def _capture(pipeline: Pipeline, source: Source) -> ConnectorConfig:
    databases = sorted({table.schema_name for table in pipeline.capture.captured_tables})
    heartbeat = pipeline.capture.options.heartbeat_table
    return {
        "database.include.list": name_patterns(databases),
        "snapshot.locking.mode": str(snapshot_locking(pipeline, source)),
        # A change of its own in each heartbeat: nothing else moves the stored position of an idle server.
        **({"heartbeat.action.query": heartbeat_statement(heartbeat)} if heartbeat else {}),
    }
