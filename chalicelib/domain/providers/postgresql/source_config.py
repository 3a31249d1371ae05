"""The lines of a Debezium source connector's config that belong to PostgreSQL.

Keys and traps: Debezium 3.6 reference, PostgreSQL connector; each line was shown to be needed on real servers.
"""

from collections.abc import Mapping

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.debezium import MAX_VALIDATION_SECONDS, debezium_source_config, url_database_name
from chalicelib.domain.pipeline import Pipeline, Representation
from chalicelib.domain.providers.postgresql.capture_options import PublicationMode
from chalicelib.domain.providers.postgresql.heartbeat import heartbeat_statement
from chalicelib.domain.providers.postgresql.java_tls import DEFAULT_JAVA_TLS, PINNED_TLS, REQUIRED_AUTHENTICATION
from chalicelib.domain.providers.postgresql.properties import PARTITION_ROOT_PROPERTY
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.source import Source

POSTGRESQL_SOURCE = "io.debezium.connector.postgresql.PostgresConnector"

_AUTOCREATE = {PublicationMode.FILTERED: "filtered", PublicationMode.EXISTING: "disabled"}

_RECORDS: Mapping[str, str] = {
    # An update that leaves a large value untouched does not carry it; without this the sink would write a placeholder.
    "post.processors": "reselector",
    "reselector.type": "io.debezium.processors.reselect.ReselectColumnsPostProcessor",
    "reselector.reselect.unavailable.values": "true",
    "reselector.reselect.null.values": "false",
}
_READABLE: Mapping[str, str] = {"interval.handling.mode": "string"}
_DEFAULTS: Mapping[str, str] = {
    # Changes of a partitioned table are published under its own name, which is the one that is captured.
    PARTITION_ROOT_PROPERTY: "true",
}


def build_source_config(pipeline: Pipeline, source: Source) -> ConnectorConfig:
    """The whole config; secrets as references. A function of its arguments alone."""
    exact = pipeline.capture.options.representation is Representation.EXACT
    return debezium_source_config(
        pipeline,
        connector_class=POSTGRESQL_SOURCE,
        connection={**_database(source), **_replication(pipeline)},
        records=_RECORDS if exact else {**_RECORDS, **_READABLE},
        defaults=_DEFAULTS,
    )


def _database(source: Source) -> ConnectorConfig:
    address = source.address
    return {
        "database.hostname": address.host,
        "database.port": str(address.port),
        "database.user": address.username,
        "database.password": source.credentials.reference("password"),
        "database.dbname": url_database_name(address),
        **_tls(address, source),
        "database.requireAuth": REQUIRED_AUTHENTICATION,
        "connection.validation.timeout.ms": str(min(address.connection_timeout_seconds, MAX_VALIDATION_SECONDS) * 1000),
    }


def _tls(address: DatabaseAddress, source: Source) -> ConnectorConfig:
    # `database.sslrootcert` would name a file on the worker, where Headgate cannot put one. Debezium hands every
    # `database.` key to pgjdbc, whose factories take the certificate as text, or trust what the worker's Java trusts.
    lines = {"database.sslmode": str(address.ssl_mode)}
    if address.ssl_mode.verifies:
        if "ca_certificate" in source.credentials.fields:
            lines["database.sslfactory"] = PINNED_TLS
            lines["database.sslfactoryarg"] = source.credentials.reference("ca_certificate")
        else:
            lines["database.sslfactory"] = DEFAULT_JAVA_TLS
    return lines


def _replication(pipeline: Pipeline) -> ConnectorConfig:
    plan = PostgreSQLCapturePlan.of(pipeline)
    return {
        "plugin.name": "pgoutput",
        "slot.name": plan.slot_name,
        "slot.drop.on.stop": "false",
        "publication.name": plan.publication_name,
        "publication.autocreate.mode": _AUTOCREATE[plan.publication_mode],
        # A change of its own in each heartbeat: nothing else moves the slot while the captured tables do not change.
        **({"heartbeat.action.query": heartbeat_statement(plan.heartbeat_table)} if plan.heartbeat_table else {}),
    }
