"""The parts of a JDBC sink's config, and the rules for names, that belong to MySQL.

Each line and each rule was shown to be needed on real servers (Debezium 3.6, Connector/J 9.1).
"""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connector_config import ConnectorConfig
from chalicelib.domain.delivery import Delivery, TableWriting
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.providers.jdbc.checks import NO_DOT, NameRule
from chalicelib.domain.providers.jdbc.sink_config import jdbc_sink_config, target_schema, url_authority
from chalicelib.domain.providers.mysql.source_config import SSL_MODES, WITHOUT_TLS, require_no_certificate
from chalicelib.errors import Invalid

MAX_NAME_LENGTH = 64
"""Characters of a table's or column's name (MySQL's manual, "Identifier Length Limits")."""

SOCKET_SECONDS = 300
"""How long one statement may take: as long as a task may be away from Kafka."""

SQL_MODE = "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,NO_AUTO_VALUE_ON_ZERO"
"""Values that do not fit are errors, also in tables without transactions; a key 0 is not replaced by a number of the
server. All other modes of the server are off: what the sink writes as text must mean the same everywhere.
"""

_SESSION: Mapping[str, str] = {
    "sql_mode": SQL_MODE,
    # Under REPEATABLE READ upserts lock gaps between keys: tasks, and other writers, deadlock more often.
    "transaction_isolation": "READ-COMMITTED",
}
_PARAMETERS: Mapping[str, str] = {
    # Times are written in UTC, whatever the zones of the server and of the worker are.
    "connectionTimeZone": "UTC",
    "forceConnectionTimeZoneToSession": "true",
    "characterEncoding": "UTF-8",
    "connectionCollation": "utf8mb4_bin",
    # Otherwise a table of the same name in another database is taken for the target.
    "nullDatabaseMeansCurrent": "true",
    # One statement for many rows: with one for each row the sink took 3.6 times as long, on the same machine.
    "rewriteBatchedStatements": "true",
    # It would send the password as it is.
    "disabledAuthenticationPlugins": "mysql_clear_password",
    "tcpKeepAlive": "true",
    "socketTimeout": str(SOCKET_SECONDS * 1000),
}


def build_sink_config(
    delivery: Delivery, writing: TableWriting, endpoint: Endpoint[DatabaseAddress]
) -> ConnectorConfig:
    """The whole config; secrets as references. A function of its arguments alone.

    Raises Invalid: no safe JDBC URL can be made of the address; the mappings are for another database than that of the
    address; or the destination has a CA certificate of its own, which Connector/J takes from a file on the worker only.
    """
    address = endpoint.address
    require_no_certificate(address, endpoint.credentials.fields)
    if target_schema(writing) != address.database_name:
        raise Invalid.at("body", "mappings", type_="other_database", message=ONE_DATABASE)
    connection = {
        "connection.url": jdbc_url(address),
        "connection.username": address.username,
        "connection.password": endpoint.credentials.reference("password"),
    }
    # With the name of a database here as well, the sink makes tables that it does not find again.
    return jdbc_sink_config(delivery, writing, connection=connection, collection_name="`${topic}`")


ONE_DATABASE = (
    "A delivery writes to the database of the destination's address only, which is what schema_name means for MySQL. "
    "Leave schema_name out, or register a destination for the other database."
)


def jdbc_url(address: DatabaseAddress) -> str:
    """A MySQL JDBC URL of checked parts."""
    parameters = {
        **_PARAMETERS,
        "sslMode": SSL_MODES[address.ssl_mode].upper(),
        "connectTimeout": str(address.connection_timeout_seconds * 1000),
        "sessionVariables": ",".join(f"{name}='{value}'" for name, value in _SESSION.items()),
        # Without TLS, a login that the server has forgotten needs the server's public key.
        **({"allowPublicKeyRetrieval": "true"} if address.ssl_mode in WITHOUT_TLS else {}),
    }
    return f"jdbc:mysql://{url_authority(address)}/{quote(address.database_name, safe='')}?{urlencode(parameters)}"


_ASTRAL = re.compile("[^\u0000-\uffff]")
_UNSPEAKABLE = re.compile(r"[`\\:?]")


def is_carried(name: str) -> bool:
    """Whether the sink can write a table or column of this name.

    It trims names, and takes a colon or a question mark for a parameter and a backslash for an escape. The server has
    no characters beyond the Basic Multilingual Plane in names.
    """
    return name == name.strip() and name.isprintable() and not _UNSPEAKABLE.search(name) and not _ASTRAL.search(name)


def is_too_long(name: str) -> bool:
    return not 0 < len(name) <= MAX_NAME_LENGTH


NAME_RULES = (
    NameRule(
        field="table_name",
        type="length",
        message=f"A name has 1 to {MAX_NAME_LENGTH} characters.",
        is_broken=is_too_long,
    ),
    NO_DOT,
    NameRule(
        field="table_name",
        type="characters",
        message="This name holds what the sink cannot carry to MySQL: a backtick, a backslash, a colon, a question "
        "mark, two apostrophes, ${, a control character, a blank at an end, or a character such as an emoji.",
        # A pair of apostrophes becomes one: another table.
        is_broken=lambda name: not is_carried(name) or "''" in name or "${" in name,
    ),
)
