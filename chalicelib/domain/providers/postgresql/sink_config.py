"""The parts of a JDBC sink's config, and the rules for names, that belong to PostgreSQL.

Each line was shown to be needed on real servers.
"""

from urllib.parse import quote, urlencode

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.delivery import Delivery, TableWriting
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.providers.jdbc.checks import NO_DOT, NameRule
from chalicelib.domain.providers.jdbc.sink_config import jdbc_sink_config, target_schema, url_authority
from chalicelib.domain.providers.postgresql.java_tls import DEFAULT_JAVA_TLS, REQUIRED_AUTHENTICATION
from chalicelib.errors import Invalid

MAX_NAME_BYTES = 63
"""PostgreSQL cuts longer identifiers silently (its manual, "Identifiers and Key Words")."""


def build_sink_config(
    delivery: Delivery, writing: TableWriting, endpoint: Endpoint[DatabaseAddress]
) -> ConnectorConfig:
    """The whole config; secrets as references. A function of its arguments alone.

    Raises:
        Invalid: no safe JDBC URL can be made of the address; or the destination has a CA certificate of its own, which
            the sink takes from a file on the worker only: its URL must not contain a reference, and its connection
            pool passes no other property to the driver (tried with Debezium 3.6).
    """
    # The sink turns dots of a topic into underscores, so the schema is part of the format, quoted for unusual names.
    collection_name = f'"{target_schema(writing)}"."${{topic}}"'
    return jdbc_sink_config(delivery, writing, connection=_connection(endpoint), collection_name=collection_name)


def jdbc_url(address: DatabaseAddress) -> str:
    """A PostgreSQL JDBC URL of checked parts. `stringtype=unspecified` lets the server cast text to json, uuid, ..."""
    authority = url_authority(address)
    parameters = {
        "stringtype": "unspecified",
        "sslmode": str(address.ssl_mode),
        "requireAuth": REQUIRED_AUTHENTICATION,
        "connectTimeout": str(address.connection_timeout_seconds),
        "ApplicationName": "headgate",
    }
    if address.ssl_mode.verifies:
        parameters["sslfactory"] = DEFAULT_JAVA_TLS
    return f"jdbc:postgresql://{authority}/{quote(address.database_name, safe='')}?{urlencode(parameters)}"


def _connection(endpoint: Endpoint[DatabaseAddress]) -> ConnectorConfig:
    address = endpoint.address
    if address.ssl_mode.verifies and "ca_certificate" in endpoint.credentials.fields:
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
        "connection.password": endpoint.credentials.reference("password"),
    }


def _has_bad_length(name: str) -> bool:
    return not name.strip() or len(name.encode()) > MAX_NAME_BYTES


def _has_unquotable(name: str) -> bool:
    # A backslash is an escape where the JDBC driver looks tables up: the sink creates such a table and never finds it.
    # Names are trimmed, and two apostrophes become one: the rows would go to another table.
    return _has_blank_end(name) or any(part in name for part in ('"', "\\", "${", "''")) or not name.isprintable()


def _has_blank_end(name: str) -> bool:
    return name.strip() not in ("", name)


def is_carried_column(name: str) -> bool:
    """Whether the sink can write a column of this name (tried with Debezium 3.6)."""
    return name == name.strip() and '"' not in name and not _has_bad_length(name)


_FIELDS = ("schema_name", "table_name")
_LENGTH = f"A name has 1 to {MAX_NAME_BYTES} bytes: PostgreSQL cuts a longer one silently."
_CHARACTERS = (
    "This name holds what the sink cannot carry: a quotation mark, a backslash, ${, two apostrophes, a control "
    "character, or a blank at an end."
)
NAME_RULES = (
    *(NameRule(field=field, type="length", message=_LENGTH, is_broken=_has_bad_length) for field in _FIELDS),
    NO_DOT,
    *(NameRule(field=field, type="characters", message=_CHARACTERS, is_broken=_has_unquotable) for field in _FIELDS),
)
