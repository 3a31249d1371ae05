"""The config of a Debezium JDBC sink connector for PostgreSQL, from a delivery and its destination.

Keys and traps: Debezium 3.6 reference, JDBC sink connector; each line was shown to be needed on real servers.
"""

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from chalicelib.domain.connector_config import DEFAULT_JAVA_TLS, ERRORS, ConnectorConfig, converters
from chalicelib.domain.database import DatabaseAddress, SslMode
from chalicelib.domain.delivery import Delivery, DeliveryOptions
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.destination import Destination
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, owner_marker, quote_regex
from chalicelib.errors import Invalid

JDBC_SINK = "io.debezium.connector.jdbc.JdbcSinkConnector"
_ROUTER = "org.apache.kafka.connect.transforms.RegexRouter"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?\.?\Z")
_VERIFIED = (SslMode.VERIFY_CA, SslMode.VERIFY_FULL)
_REPLACEMENT_SPECIAL = re.compile(r"([\\${])")


def build_sink_config(delivery: Delivery, destination: Destination) -> ConnectorConfig:
    """Everything that Connect is told about the delivery; secrets as references. A function of its arguments alone.

    Raises:
        Invalid: no safe JDBC URL can be made of the address; or the address wants its own CA verified, which the sink
            cannot be given without a file on the worker: its URL must not contain a reference, and its pool hands no
            other property on to the driver (tried with Debezium 3.6).
    """
    return {
        "connector.class": JDBC_SINK,
        "tasks.max": str(delivery.options.tasks_max),
        OWNER_KEY: owner_marker(ConnectorKind.SINK, delivery.id),
        "topics": ",".join(delivery.topics),
        **_database(destination),
        **_target(delivery),
        **_writing(delivery.options),
        **_routes(delivery.mappings),
        **converters(schemas=True),
        **ERRORS,
    }


def schema_evolution(options: DeliveryOptions) -> str:
    """`basic` makes missing tables and adds missing columns, `none` does neither: the sink has one switch for both.

    Asking for either therefore gets both; the preview warns about the half that was not asked for.
    """
    return "basic" if options.auto_create or options.auto_evolve else "none"


def jdbc_url(address: DatabaseAddress) -> str:
    """A PostgreSQL JDBC URL of checked parts. `stringtype=unspecified` lets the server cast text to json, uuid, ..."""
    if not 0 < address.port < 65536:
        raise Invalid.at("body", "config", "port", type_="port", message="A port is a number from 1 to 65535.")
    parameters = {
        "stringtype": "unspecified",
        "sslmode": str(address.ssl_mode),
        "connectTimeout": str(address.connection_timeout_seconds),
        "ApplicationName": "headgate",
    }
    if address.ssl_mode in _VERIFIED:
        parameters["sslfactory"] = DEFAULT_JAVA_TLS
    database = quote(address.database_name, safe="")
    return f"jdbc:postgresql://{_url_host(address.host)}:{address.port}/{database}?{urlencode(parameters)}"


def _url_host(host: str) -> str:
    try:
        bare = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        if _HOST.match(host):
            return host
        raise Invalid.at(
            "body", "config", "host", type_="host", message="This is not a host name or address."
        ) from None
    return f"[{bare}]" if bare.version == 6 else str(bare)


def _database(destination: Destination) -> ConnectorConfig:
    address = destination.address
    if address.ssl_mode in _VERIFIED and "ca_certificate" in destination.credentials.fields:
        raise Invalid.at(
            "body",
            "config",
            "ssl_mode",
            type_="ca_not_deliverable",
            message="The JDBC sink cannot be handed a CA certificate. Add it to the trust store of the workers' "
            "Java and leave ca_certificate out, or use the mode require.",
        )
    return {
        "connection.url": jdbc_url(address),
        "connection.username": address.username,
        "connection.password": destination.credentials.reference("password"),
    }


def _target(delivery: Delivery) -> ConnectorConfig:
    schemas = {mapping.schema_name for mapping in delivery.mappings}
    if len(schemas) != 1:
        raise Invalid.at(
            "body", "mappings", type_="one_schema", message="All mappings of a delivery share one target schema."
        )
    # The sink turns dots of a topic into underscores, so the schema has to stand in the format, quoted for odd names.
    return {"collection.name.format": f'"{schemas.pop()}"."${{topic}}"', "quote.identifiers": "true"}


def _writing(options: DeliveryOptions) -> ConnectorConfig:
    return {
        "insert.mode": str(options.write_mode),
        "primary.key.mode": "record_key" if options.upserts else "none",
        "delete.enabled": "true" if options.deletes else "false",
        "schema.evolution": schema_evolution(options),
        "batch.size": str(options.batch_size),
        # Together well under the consumer's longest poll interval of five minutes.
        "flush.max.retries": "5",
        "flush.retry.delay.ms": "1000",
    }


def _routes(mappings: tuple[TopicMapping, ...]) -> ConnectorConfig:
    """One RegexRouter per mapping. Its result has no dot and every topic has, so no later router takes it up again."""
    names = [f"route{number}" for number in range(len(mappings))]
    lines = {"transforms": ",".join(names)}
    for name, mapping in zip(names, mappings, strict=True):
        lines |= _route(f"transforms.{name}", mapping)
    return lines


def _route(key: str, mapping: TopicMapping) -> Mapping[str, str]:
    return {
        f"{key}.type": _ROUTER,
        f"{key}.regex": quote_regex(mapping.topic),
        # Java reads $ and \ in a replacement; the brace is quoted so that Connect never sees a secret reference.
        f"{key}.replacement": _REPLACEMENT_SPECIAL.sub(r"\\\1", mapping.table_name),
    }
