"""What the double asks a MySQL server, with the connections and in the order of Debezium 3.6."""

import contextlib
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import SplitResult, parse_qs

import pymysql

from infra.local.doubles.connect_binlog import BinlogConnection
from infra.local.doubles.connect_checks import Config, is_chosen
from infra.local.doubles.connect_source import Offset

Connection = BinlogConnection
Table = tuple[str, str]
"""Database and name."""

TABLES = """
SELECT table_schema, table_name FROM information_schema.tables
WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')
ORDER BY 1, 2 LIMIT 10000
"""
NO_LOCK_TABLES = (
    "User does not have the 'LOCK TABLES' privilege required to obtain a consistent snapshot by preventing concurrent "
    "writes to tables."
)
NO_POSITION = "Cannot read the binlog filename and position via '{}'. Make sure your server is correctly configured"
NOT_PARSED = (
    "Multiple parsing errors\nio.debezium.text.ParsingException: DDL statement couldn't be parsed. Please open a "
    "GitHub issue at https://github.com/debezium/dbz/issues with the statement '{}'"
)
DENIED, TOO_MANY_CONNECTIONS = 1227, 1040


class StatusRefusedError(Exception):
    """Debezium itself refuses a server whose binary log it may not look at, with this sentence."""


class SnapshotRefusedError(Exception):
    """Debezium itself ends the snapshot, with this sentence."""


def connect(config: Config, time_limit: float, *, database: str | None = None, waits: bool = False) -> Connection:
    """A connection as Debezium makes it; `waits`: a read may take for ever.

    Raises pymysql.MySQLError, and ValueError for a password that cannot be sent safely.
    """
    mode = config.get("database.ssl.mode", "preferred")
    may_ask = config.get("database.allowPublicKeyRetrieval", "").lower() == "true"
    seconds = max(2, round(time_limit))
    return BinlogConnection(
        host=config.get("database.hostname"),
        port=int(config.get("database.port", "3306")),
        user=config.get("database.user"),
        password=config.get("database.password", ""),
        database=database,
        connect_timeout=seconds,
        read_timeout=None if waits else seconds,
        autocommit=True,
        ssl_disabled=mode == "disabled",
        ssl_verify_cert=mode.startswith("verify") or None,
        ssl_verify_identity=mode == "verify_identity" or None,
        # Without TLS the password is sent under the server's key, which Connector/J asks for only if it may. A key that
        # is none makes PyMySQL fail where it would ask.
        server_public_key=b"none" if mode == "disabled" and not may_ask else None,
    )


def can_connect(config: Config, url: SplitResult, *, time_limit: float) -> bool:
    """Whether a JDBC sink of this configuration reaches the MySQL of its URL."""
    options = {name: values[0] for name, values in parse_qs(url.query).items()}
    target = {
        "database.hostname": url.hostname or "",
        "database.port": str(url.port or 3306),
        "database.user": config.get("connection.username", ""),
        "database.password": config.get("connection.password", ""),
        "database.ssl.mode": options.get("sslMode", "preferred").lower(),
        "database.allowPublicKeyRetrieval": options.get("allowPublicKeyRetrieval", ""),
    }
    try:
        connect(target, time_limit, database=url.path.lstrip("/") or None).close()
    except (pymysql.MySQLError, ValueError):
        return False
    return True


def server_message(problem: Exception) -> str:
    """The server's message; empty when no server answered, or it had no connection left."""
    number, *message = problem.args or (0,)
    # From 2000 to 2999 are the errors of clients.
    is_server = isinstance(number, int) and (1000 <= number < 2000 or number >= 3000)
    return str(message[0]) if is_server and number != TOO_MANY_CONNECTIONS and message else ""


def rows(connection: Connection, statement: str, values: Sequence[Any] = ()) -> Sequence[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values or None)
        return tuple(cursor.fetchall())


def tables_of(config: Config, connection: Connection) -> list[Table]:
    """The tables of the captured databases that the role can see."""
    found = rows(connection, TABLES)
    return [(database, table) for database, table in found if is_chosen(config, "database", database)]


def is_captured(config: Config, database: str, table: str) -> bool:
    return is_chosen(config, "database", database) and is_chosen(config, "table", f"{database}.{table}")


_ANY_ROW = "SELECT 1 FROM {} LIMIT 1"


def has_rows(connection: Connection, table: Table) -> bool:
    return bool(rows(connection, _ANY_ROW.format(_quoted(table))))


def position_under_lock(config: Config, connection: Connection, tables: Sequence[Table]) -> Offset:
    """Where the binary log is while nobody may write. Raises SnapshotRefusedError or pymysql.MySQLError."""
    if config.get("snapshot.locking.mode", "minimal") == "none":
        return _position(connection)
    with _locked(connection, tables):
        return _position(connection)


@contextlib.contextmanager
def _locked(connection: Connection, tables: Sequence[Table]) -> Iterator[None]:
    """The global lock, or, for a role that may not have it, one of each table."""
    rows(connection, "SET SESSION lock_wait_timeout = 10")
    try:
        rows(connection, "FLUSH TABLES WITH READ LOCK")
    except pymysql.MySQLError as problem:
        if problem.args[0] != DENIED:
            raise
        grants = " ".join(str(row[0]) for row in rows(connection, "SHOW GRANTS FOR CURRENT_USER"))
        if "LOCK TABLES" not in grants and "ALL" not in grants:
            raise SnapshotRefusedError(NO_LOCK_TABLES) from None
        if tables:
            rows(connection, f"FLUSH TABLES {', '.join(map(_quoted, tables))} WITH READ LOCK")
    try:
        yield
    finally:
        rows(connection, "UNLOCK TABLES")


def _status_statement(connection: Connection) -> str:
    version = [int(part) for part in re.findall(r"\d+", connection.get_server_info())[:2]]
    return "SHOW BINARY LOG STATUS" if version >= [8, 4] else "SHOW MASTER STATUS"


def check_status_statement(connection: Connection) -> None:
    """What Debezium does with every new connection. Raises StatusRefusedError: from MySQL 8.4 on."""
    statement = _status_statement(connection)
    if statement == "SHOW MASTER STATUS":
        return
    try:
        rows(connection, statement)
    except pymysql.MySQLError:
        raise StatusRefusedError(
            f"MySQL version {connection.get_server_info()} should support {statement} but it failed. Check database "
            "permissions or connectivity."
        ) from None


def _position(connection: Connection) -> Offset:
    statement = _status_statement(connection)
    found = rows(connection, statement)
    if not found:
        raise SnapshotRefusedError(NO_POSITION.format(statement))
    file, end, *_, gtids = found[0]
    position: dict[str, object] = {"file": file, "pos": end}
    return {**position, "gtids": re.sub(r"\s", "", gtids)} if gtids else position


def has_all_after(connection: Connection, offset: Offset) -> bool:
    """Whether the server still has all that comes after the offset (BinlogConnectorConnection)."""
    gtids = offset.get("gtids")
    if gtids:
        subsets = "GTID_SUBSET(%s, @@global.gtid_executed) AND GTID_SUBSET(@@global.gtid_purged, %s)"
        return bool(rows(connection, f"SELECT {subsets}", (gtids, gtids))[0][0])
    return offset.get("file") in [row[0] for row in rows(connection, "SHOW BINARY LOGS")]


def read_definitions(config: Config, connection: Connection, tables: Sequence[Table]) -> None:
    """Reads all as Debezium's parser would. Raises SnapshotRefusedError or pymysql.MySQLError.

    The default parser of 3.6.0 takes two double quotes inside the literals of columns for a string of its own.
    """
    is_default = config.get("ddl.parser.type", "default") == "default"
    for table in tables:
        definition = str(rows(connection, f"SHOW CREATE TABLE {_quoted(table)}")[0][1])
        columns, _, _options = definition.rpartition(")")
        if is_default and columns.count('"') > 1:
            raise SnapshotRefusedError(NOT_PARSED.format(definition))


def _quoted(table: Table) -> str:
    return ".".join("`" + name.replace("`", "``") + "`" for name in table)
