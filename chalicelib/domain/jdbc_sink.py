"""The lines of a Debezium JDBC sink connector's config that are the same for every kind of database.

Keys and traps: Debezium 3.6 reference, JDBC sink connector; each line was shown to be needed on real servers.
"""

import ipaddress
import re
from collections.abc import Mapping

from chalicelib.domain.connector_config import ERRORS, ConnectorConfig, converters
from chalicelib.domain.database import DatabaseAddress
from chalicelib.domain.delivery import Delivery, DeliveryOptions, NameRule
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.names import OWNER_KEY, ConnectorKind, owner_marker, quote_regex
from chalicelib.errors import Invalid

JDBC_SINK = "io.debezium.connector.jdbc.JdbcSinkConnector"
_ROUTER = "org.apache.kafka.connect.transforms.RegexRouter"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?\.?\Z")
_REPLACEMENT_SPECIAL = re.compile(r"([\\${])")

NO_DOT = NameRule(
    field="table_name",
    type="dot",
    message="The sink turns a dot in a table's name into an underscore. Choose a name without.",
    is_broken=lambda name: "." in name,
)


def jdbc_sink_config(delivery: Delivery, *, connection: ConnectorConfig, collection_name: str) -> ConnectorConfig:
    """The whole config around the provider's `connection.` lines.

    `collection_name` is the target table's full name as the provider quotes it, with `${topic}` for the table.
    """
    return {
        "connector.class": JDBC_SINK,
        "tasks.max": str(delivery.options.tasks_max),
        OWNER_KEY: owner_marker(ConnectorKind.SINK, delivery.id),
        "topics": ",".join(delivery.topics),
        **connection,
        "collection.name.format": collection_name,
        "quote.identifiers": "true",
        **_writing(delivery.options),
        **_routes(delivery.mappings),
        **converters(schemas=True),
        **ERRORS,
    }


def schema_evolution(options: DeliveryOptions) -> str:
    """`basic` creates missing tables and adds missing columns, `none` does neither: the sink has one switch for both.

    Asking for either therefore gets both; the preview warns about the half that was not asked for.
    """
    return "basic" if options.auto_create or options.auto_evolve else "none"


def target_schema(delivery: Delivery) -> str:
    """The schema of all mappings. Raises Invalid when they have several."""
    schemas = {mapping.schema_name for mapping in delivery.mappings}
    if len(schemas) != 1:
        raise Invalid.at(
            "body", "mappings", type_="one_schema", message="All mappings of a delivery share one target schema."
        )
    return schemas.pop()


def url_authority(address: DatabaseAddress) -> str:
    """`host:port` for a JDBC URL, of checked parts. Raises Invalid."""
    if not 0 < address.port < 65536:
        raise Invalid.at("body", "config", "port", type_="port", message="A port is a number from 1 to 65535.")
    return f"{_url_host(address.host)}:{address.port}"


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
