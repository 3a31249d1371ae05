"""What Debezium's source and sink do to a PostgreSQL database, done to a real one, so that its errors are real.

A source connects, prepares its publication and slot, and opens the stream; its errors are the server's own, wrapped in
a trace of the shape that Debezium 3.6 leaves behind. No row is read or written.
"""

import contextlib
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qs

from infra.local.doubles.connect_checks import Config, is_chosen
from infra.local.doubles.connect_replication import ReplicationPump
from infra.local.doubles.connect_source import Offset, Running, topic_of
from infra.local.doubles.connect_traces import source_trace

if TYPE_CHECKING:
    import psycopg
    from psycopg import Connection

TABLES = """
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
ORDER BY 1, 2 LIMIT 10000
"""
SLOT_ATTEMPTS = 5
PUBLICATION_STATEMENTS = {
    "filtered": "CREATE PUBLICATION {name} FOR TABLE {tables}",
    "all_tables": "CREATE PUBLICATION {name} FOR ALL TABLES",
    "no_tables": "CREATE PUBLICATION {name}",
    "altered": "ALTER PUBLICATION {name} SET TABLE {tables}",
}
GONE = (
    "The connector is trying to read change stream starting at PostgresOffsetContext [], but this is no longer "
    "available on the server. Reconfigure the connector to use a snapshot mode when needed."
)
SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")


@dataclass(kw_only=True)
class PostgresRunning(Running):
    """A source that runs, with its open stream (None: another has the slot)."""

    stream: Any
    pump: ReplicationPump

    def reached(self) -> list[dict[str, object]]:
        """How far the stream was acknowledged, as Connect stores it before Debezium confirms it."""
        position = self.pump.position(self.stream) if self.stream is not None else 0
        offset = {"lsn_proc": position, "lsn": position}
        return [{**one, "offset": offset} for one in self.offsets] if position else []

    def close(self) -> None:
        """Releases the slot."""
        if self.stream is not None:
            with contextlib.suppress(Exception):
                self.pump.remove(self.stream)


@dataclass(frozen=True)
class PostgresSource:
    """Debezium's source for PostgreSQL."""

    pump: ReplicationPump

    def connection_error(self, config: Config, *, time_limit: float) -> str | None:
        return connection_error(config, time_limit=time_limit)

    def start(self, config: Config, *, time_limit: float, offset: Offset | None) -> Running:
        return start_source(config, self.pump, time_limit=time_limit, offset=offset)


def connection_error(config: Config, *, time_limit: float) -> str | None:
    """Debezium's sentence for a database that it cannot reach with this (resolved) configuration, or None."""
    import psycopg

    try:
        _connect(config, time_limit=time_limit).close()
    except psycopg.Error as problem:
        return _sentence(str(problem), config, time_limit)
    return None


def start_source(config: Config, pump: ReplicationPump, *, time_limit: float, offset: Offset | None = None) -> Running:
    """Start a source as Debezium's task does. A refusal of the database is in `trace`, and is not raised.

    `offset` is the one that Connect has stored.
    """
    import psycopg

    try:
        with _connect(config, time_limit=time_limit) as database:
            database.autocommit = True
            if offset and not _is_available(config, database, offset):
                return Running(trace=source_trace(GONE, ""))
            return _open(config, database, pump, time_limit)
    except psycopg.Error as problem:
        return Running(trace=source_trace("Unable to create replication connection", _words(problem)))


def _is_available(config: Config, database: "Connection[Any]", offset: Offset) -> bool:
    """PostgresConnection.validateLogPosition: the slot exists and begins at or before the streamed position."""
    query = "SELECT (restart_lsn - '0/0'::pg_lsn)::bigint FROM pg_replication_slots WHERE slot_name = %s"
    slot = database.execute(query, [config.get("slot.name", "debezium")]).fetchone()
    streamed = offset.get("lsn_proc")
    return slot is not None and (not isinstance(streamed, int) or slot[0] <= streamed)


def can_connect(config: Config, url: SplitResult, *, time_limit: float) -> bool:
    """Whether a JDBC sink of this configuration reaches the PostgreSQL of its URL."""
    import psycopg

    target = {
        "database.hostname": url.hostname or "",
        "database.port": str(url.port or 5432),
        "database.user": config.get("connection.username", ""),
        "database.password": config.get("connection.password", ""),
        "database.dbname": url.path.lstrip("/"),
        "database.sslmode": parse_qs(url.query).get("sslmode", ["prefer"])[0],
    }
    try:
        _connect(target, time_limit=time_limit).close()
    except psycopg.Error:
        return False
    return True


def _connect(config: Config, *, time_limit: float, **options: str) -> "Connection[Any]":
    import psycopg

    mode = config.get("database.sslmode", "prefer")
    return psycopg.connect(
        host=config.get("database.hostname"),
        port=config.get("database.port", "5432"),
        user=config.get("database.user"),
        password=config.get("database.password"),
        dbname=config.get("database.dbname"),
        sslmode=mode if mode in SSL_MODES else "prefer",
        connect_timeout=max(2, round(time_limit)),
        application_name="Debezium Validation",
        **options,  # type: ignore[arg-type]
    )


def _words(problem: "psycopg.Error") -> str:
    """The server's message, severity first; or libpq's when no server answered."""
    diagnosis = problem.diag
    if not diagnosis.message_primary:
        return str(problem)
    detail = f"\nDETAIL: {diagnosis.message_detail}" if diagnosis.message_detail else ""
    return f"{diagnosis.severity_nonlocalized or 'ERROR'}: {diagnosis.message_primary}{detail}"


def _sentence(problem: str, config: Config, time_limit: float) -> str:
    address = f"{config.get('database.hostname')}:{config.get('database.port', '5432')}"
    fatal = re.search(r"FATAL:\s+(.*)", problem)
    if fatal:
        return f"Error while validating connector config: FATAL: {fatal.group(1).strip()}"
    if "refused" in problem:
        check = "Check that the hostname and port are correct and that the postmaster is accepting TCP/IP connections."
        return f"Error while validating connector config: Connection to {address} refused. {check}"
    if "timeout" in problem or "timed out" in problem:
        return f"Connection validation timed out after {round(time_limit * 1000)} ms"
    return "Error while validating connector config: The connection attempt failed."


def _open(config: Config, database: "Connection[Any]", pump: ReplicationPump, time_limit: float) -> Running:
    import psycopg

    tables = captured(config, database)
    try:
        replication = _connect(config, time_limit=time_limit, replication="database")
    except psycopg.Error as problem:
        return Running(trace=source_trace("Creation of replication slot failed", _words(problem)))
    stream = None
    try:
        trace = _prepare_publication(config, database, tables) or _prepare_slot(config, database, replication)
        if not trace and _stream(config, replication):
            stream = replication
            pump.add(stream)
    finally:
        if stream is None:
            replication.close()
    if trace:
        return Running(trace=trace)
    return PostgresRunning(stream=stream, pump=pump, **_snapshot(config, database, tables))


def captured(config: Config, database: "Connection[Any]") -> list[tuple[str, str]]:
    """The (schema, table) pairs that the include and exclude lists of the configuration choose."""
    tables = database.execute(TABLES).fetchall()
    in_schema = [(schema, table) for schema, table in tables if is_chosen(config, "schema", schema)]
    return [(schema, table) for schema, table in in_schema if is_chosen(config, "table", f"{schema}.{table}")]


def _prepare_publication(config: Config, database: "Connection[Any]", tables: list[tuple[str, str]]) -> str:
    import psycopg
    from psycopg import sql

    name, mode = (
        config.get("publication.name", "dbz_publication"),
        config.get("publication.autocreate.mode", "all_tables"),
    )
    exists = database.execute("SELECT 1 FROM pg_publication WHERE pubname = %s", [name]).fetchone()
    if mode == "disabled":
        word = "Publication autocreation is disabled, please create one and restart the connector."
        return "" if exists else source_trace(word, "")
    if exists and mode != "filtered":
        return ""
    listed = sql.SQL(", ").join(sql.Identifier(*pair) for pair in tables)
    failed = f"Unable to create {mode} publication {name} for {listed.as_string()}"
    if mode == "filtered" and not tables:
        return source_trace(failed, f"No table filters found for filtered publication {name}")
    statement = sql.SQL(PUBLICATION_STATEMENTS["altered" if exists else mode])
    try:
        database.execute(statement.format(name=sql.Identifier(name), tables=listed))
    except psycopg.Error as problem:
        return source_trace(failed, _words(problem))
    return ""


def _prepare_slot(config: Config, database: "Connection[Any]", replication: "Connection[Any]") -> str:
    name = config.get("slot.name", "debezium")
    if database.execute("SELECT 1 FROM pg_replication_slots WHERE slot_name = %s", [name]).fetchone():
        return ""
    result = replication.pgconn.exec_(f'CREATE_REPLICATION_SLOT "{name}" LOGICAL pgoutput'.encode())
    if result.error_message:
        return source_trace("Creation of replication slot failed", result.error_message.decode(errors="replace"))
    return ""


def _stream(config: Config, replication: "Connection[Any]") -> bool:
    from psycopg.pq import ExecStatus

    name, publication = config.get("slot.name", "debezium"), config.get("publication.name", "dbz_publication")
    quoted = '"' + publication.replace('"', '""') + '"'
    listed = quoted.replace("'", "''")
    command = f"START_REPLICATION SLOT \"{name}\" LOGICAL 0/0 (proto_version '1', publication_names '{listed}')"
    for _ in range(SLOT_ATTEMPTS):  # PostgreSQL notices late that an earlier client has gone
        if replication.pgconn.exec_(command.encode()).status == ExecStatus.COPY_BOTH:
            return True
        time.sleep(0.1)
    return False


def _snapshot(config: Config, database: "Connection[Any]", tables: list[tuple[str, str]]) -> dict[str, Any]:
    """The topics and the offset that a snapshot leaves."""
    prefix = config["topic.prefix"]
    (position,) = database.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn").fetchone() or (0,)
    offset = {"snapshot": "INITIAL", "snapshot_completed": True, "lsn": int(position), "last_snapshot_record": True}
    topics = tuple(sorted({topic_of(prefix, schema, table) for schema, table in tables}))
    return {"topics": topics, "offsets": [{"partition": {"server": prefix}, "offset": offset}] if topics else []}
