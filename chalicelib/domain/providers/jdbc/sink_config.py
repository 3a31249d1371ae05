"""The lines of Debezium's JDBC sink that are the same for every database.

Keys and traps: Debezium 3.6 reference; each line was shown to be needed on real servers.
"""

import re

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import ERRORS, ConnectorConfig, converters
from chalicelib.domain.delivery import Delivery, TableMapping, TableWriting
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, owner_marker, quote_regex
from chalicelib.errors import Invalid
from chalicelib.kit.hosts import in_url, ip_address

JDBC_SINK = "io.debezium.connector.jdbc.JdbcSinkConnector"
_ROUTER = "org.apache.kafka.connect.transforms.RegexRouter"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?\.?\Z")
_REPLACEMENT_SPECIAL = re.compile(r"([\\${])")

SINK_CONNECTIONS = 2
"""Connections of one sink task: one writes, and one more is opened while the first is replaced."""
_POOL: ConnectorConfig = {
    "connection.pool.min_size": "1",
    "connection.pool.max_size": str(SINK_CONNECTIONS),
    # Read by releases before 3.6 only, whose default of 32 would take the whole pool at once.
    "connection.pool.acquire_increment": "1",
}


def jdbc_sink_config(
    delivery: Delivery, writing: TableWriting, *, connection: ConnectorConfig, collection_name: str
) -> ConnectorConfig:
    """The whole config around the provider's `connection.` lines.

    `collection_name` is the target table's full name as the provider quotes it, with `${topic}` for the table.
    """
    return {
        "connector.class": JDBC_SINK,
        "tasks.max": str(delivery.tasks_max),
        OWNER_KEY: owner_marker(ConnectorKind.SINK, delivery.id),
        "topics": ",".join(delivery.topics),
        **connection,
        "collection.name.format": collection_name,
        "quote.identifiers": "true",
        **_writing_lines(writing),
        **_routes(writing.mappings),
        **converters(schemas=True),
        **ERRORS,
    }


def target_schema(writing: TableWriting) -> str:
    """The schema of all mappings. Raises Invalid when they have several."""
    schemas = {mapping.schema_name for mapping in writing.mappings}
    if len(schemas) != 1:
        raise Invalid.at(
            "body",
            "mappings",
            type_="one_schema",
            message="All mappings of a delivery share one target schema. Make one delivery for each schema.",
        )
    return schemas.pop()


def url_authority(address: DatabaseAddress) -> str:
    """`host:port` for a JDBC URL, of checked parts. Raises Invalid."""
    if not 0 < address.port < 65536:
        raise Invalid.at("body", "config", "port", type_="port", message="A port is a number from 1 to 65535.")
    return f"{_url_host(address.host)}:{address.port}"


def _url_host(host: str) -> str:
    if _HOST.match(host) or ip_address(host):
        return in_url(host)
    raise Invalid.at(
        "body",
        "config",
        "host",
        type_="host",
        message="host has to be a host name or an IP address, such as db.example.com.",
    )


def _writing_lines(writing: TableWriting) -> ConnectorConfig:
    return {
        "insert.mode": str(writing.write_mode),
        "primary.key.mode": "record_key" if writing.upserts else "none",
        "delete.enabled": "true" if writing.deletes else "false",
        # One switch for missing tables and missing columns: the preview warns of the half that was not asked for.
        "schema.evolution": "basic" if writing.evolves else "none",
        "batch.size": str(writing.batch_size),
        # A target that restarts or fails over is waited for inside the task, for two minutes when it refuses
        # connections. With ten seconds for each try this stays under the consumer's longest poll interval of five.
        "connection.restart.on.errors": "true",
        "flush.max.retries": "12",
        "flush.retry.delay.ms": "10000",
        **_POOL,
    }


def _routes(mappings: tuple[TableMapping, ...]) -> ConnectorConfig:
    """One RegexRouter per mapping. Its result has no dot and every topic has, so no later router takes it up again."""
    lines = {"transforms": ",".join(f"route{number}" for number in range(len(mappings)))}
    for number, mapping in enumerate(mappings):
        key = f"transforms.route{number}"
        lines[f"{key}.type"] = _ROUTER
        lines[f"{key}.regex"] = quote_regex(mapping.topic)
        # Java reads $ and \ in a replacement; the brace is quoted so that Connect never sees a secret reference.
        lines[f"{key}.replacement"] = _REPLACEMENT_SPECIAL.sub(r"\\\1", mapping.table_name)
    return lines
