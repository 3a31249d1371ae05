"""What Debezium's source does to a MySQL server, done to a real one, so that its errors are real.

A source connects, checks the server's settings and its own stored offset; then, while its task is RUNNING already, it
locks, reads definitions, and follows the binary log. No row is read or written. Errors are wrapped in traces of the
shape that Debezium 3.6 leaves behind.
"""

import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pymysql

from infra.local.doubles.connect_binlog import BinlogReader, GtidSet, Position
from infra.local.doubles.connect_checks import Config
from infra.local.doubles.connect_mysql_server import (
    Connection,
    SnapshotRefusedError,
    StatusRefusedError,
    Table,
    check_status_statement,
    connect,
    has_all_after,
    has_rows,
    is_captured,
    position_under_lock,
    read_definitions,
    rows,
    server_message,
    tables_of,
)
from infra.local.doubles.connect_source import Offset, Running, topic_of
from infra.local.doubles.connect_traces import mysql_start_trace, producer_trace
from infra.local.doubles.kafka_state import TOPIC_NAME, BrokerState

HISTORY = "schema.history.internal.kafka"
HISTORY_SETTINGS = {"cleanup.policy": "delete", "retention.bytes": "-1", "retention.ms": "9223372036854775807"}
REQUIRED = {"binlog_format": "ROW", "binlog_row_image": "FULL"}
NOT_SET = (
    "The database server is not configured to use a {value} {name}, which is required for this connector to work "
    "properly. Change the database configuration to use a {name}={value} and restart the connector."
)
UNREACHABLE = "Failed to establish connection with the database: "
NO_SERVER = "com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure"
NOT_CONFIGURED = "Error configuring an instance of KafkaSchemaHistory; check the logs for details"
NO_TOPIC = "Creation of database schema history topic failed, please create the topic manually"
NO_HISTORY = (
    "The db history topic is missing. You may attempt to recover it by reconfiguring the connector to recovery."
)
GONE = (
    "The connector is trying to read change stream starting at BinlogOffsetContext{}, but this is no longer "
    "available on the server. Reconfigure the connector to use a snapshot mode when needed."
)
SQL_STATES = {1227: "42000", 1236: "HY000"}


@dataclass(frozen=True)
class MySQLSource:
    """Debezium's source for MySQL. `broker` has the topics of its schema histories."""

    broker: BrokerState

    def connection_error(self, config: Config, *, time_limit: float) -> str | None:
        try:
            with contextlib.closing(connect(config, time_limit)) as connection:
                check_status_statement(connection)
        except StatusRefusedError as refused:
            return f"Error during connection validation: io.debezium.DebeziumException: {refused}"
        except (pymysql.MySQLError, ValueError) as problem:
            if "timed out" in str(problem):
                return f"Connection validation timed out after {round(time_limit * 1000)} ms"
            message = server_message(problem)
            unreachable = f"Error during connection validation: io.debezium.DebeziumException: {UNREACHABLE}"
            return f"Unable to connect: {message}" if message else unreachable
        return None

    def start(self, config: Config, *, time_limit: float, offset: Offset | None) -> Running:
        if config.get("tasks.max", "1") != "1":
            return Running(has_task=False)
        try:
            with contextlib.closing(connect(config, time_limit)) as connection:
                check_status_statement(connection)
                trace = self._refusal(config, connection, offset)
        except StatusRefusedError as refused:
            trace = mysql_start_trace(str(refused))
        except (pymysql.MySQLError, ValueError) as problem:
            message = server_message(problem)
            sentence = f"Error reading MySQL variables: {message}" if message else UNREACHABLE
            trace = mysql_start_trace(sentence, f"java.sql.SQLException: {message}" if message else NO_SERVER)
        if trace:
            return Running(trace=trace)
        return MySQLRunning(config=config, broker=self.broker, time_limit=time_limit, offset=offset, begins_later=True)

    def _refusal(self, config: Config, connection: Connection, offset: Offset | None) -> str:
        """The trace of a start that the plug-in refuses; empty when the task runs."""
        topic, mode = config.get(f"{HISTORY}.topic", ""), config.get("snapshot.mode", "initial")
        if not topic or not config.get(f"{HISTORY}.bootstrap.servers"):
            return mysql_start_trace(NOT_CONFIGURED, connect_says=True)
        for name, value in REQUIRED.items():
            if rows(connection, f"SELECT @@global.{name}")[0][0] != value:
                return mysql_start_trace(NOT_SET.format(name=name, value=value))
        if not TOPIC_NAME.fullmatch(topic):
            return mysql_start_trace(NO_TOPIC, connect_says=True)
        if offset and mode != "recovery" and not self.broker.has_records(topic):
            return mysql_start_trace(NO_HISTORY)
        if offset and mode != "when_needed" and not has_all_after(connection, offset):
            return mysql_start_trace(GONE)
        self.broker.create_topic(topic, settings=HISTORY_SETTINGS)
        return ""


@dataclass(kw_only=True)
class MySQLRunning(Running):
    """A source whose task runs. As Debezium's it has two connections to the server, and one that streams."""

    config: Config = field(repr=False)
    broker: BrokerState
    time_limit: float
    offset: Offset | None
    _connections: list[Connection] = field(default_factory=list)
    _reader: BinlogReader | None = None
    _closed: bool = False

    def begin(self) -> None:
        try:
            self._connections += [connect(self.config, self.time_limit)]
            self._read_schema()
            if self.config.get("snapshot.mode") != "initial_only":
                self._stream()
        except SnapshotRefusedError as refused:
            word = f"io.debezium.DebeziumException: {refused}"
            self.trace = producer_trace(f"io.debezium.DebeziumException: {word}", word)
        except pymysql.MySQLError as problem:
            word = f"java.sql.SQLSyntaxErrorException: {server_message(problem)}"
            self.trace = producer_trace(f"io.debezium.DebeziumException: {word}", word)
        except (OSError, ValueError, AttributeError):  # PyMySQL, when `close` has closed a connection in use
            if not self._closed:
                raise

    def reached(self) -> list[dict[str, object]]:
        offset = self._reader.position.stored if self._reader else self.offset if self.topics else None
        return [{"partition": {"server": self.config["topic.prefix"]}, "offset": offset}] if offset else []

    def close(self) -> None:
        self._closed = True
        if self._reader:
            self._reader.close()
        for connection in self._connections:
            with contextlib.suppress(Exception):
                connection.close()

    def _read_schema(self) -> None:
        """A snapshot without its rows, unless there is an offset to go on from."""
        (connection,) = self._connections
        topic, tables = self.config[f"{HISTORY}.topic"], tables_of(self.config, connection)
        if self.offset and has_all_after(connection, self.offset):
            if not self.broker.has_records(topic):
                self.broker.advance(topic, _history_records(tables))
            return
        self.offset = {"ts_sec": int(time.time()), **position_under_lock(self.config, connection, tables)}
        read_definitions(self.config, connection, tables)
        self.broker.advance(topic, _history_records(tables))
        if self.config.get("snapshot.mode") != "no_data":
            for table in tables:
                if is_captured(self.config, *table) and has_rows(connection, table):
                    self._captures(*table)

    def _captures(self, database: str, table: str) -> bool:
        """Whether a table with rows is captured; its topic then gets a record."""
        captured = is_captured(self.config, database, table)
        topic = topic_of(self.config["topic.prefix"], database, table)
        if captured and topic not in self.topics:
            self.topics = (*self.topics, topic)
            self.on_topic(topic)
        return captured

    def _stream(self) -> None:
        try:
            self._connections += [connect(self.config, self.time_limit)]
            self._reader = BinlogReader(
                connect=lambda: connect(self.config, self.time_limit, waits=True),
                server_id=int(self.config["database.server.id"]),
                position=self._first_position(self.offset or {}),
                refused=self._refuse,
            )
        except pymysql.MySQLError as problem:
            address = f"{self.config['database.hostname']}:{self.config.get('database.port', '3306')}"
            word = f"Failed to authenticate to the database at {address} with user '{self.config['database.user']}'"
            cause = "com.github.shyiko.mysql.binlog.network.AuthenticationException"
            self.trace = producer_trace(f"io.debezium.DebeziumException: {word}", f"{cause}: {server_message(problem)}")

    def _first_position(self, offset: Offset) -> Position:
        pos, gtids = offset.get("pos"), offset.get("gtids")
        has_heartbeats = self.config.get("heartbeat.interval.ms", "0") != "0"
        return Position(
            is_captured=self._captures,
            has_heartbeats=has_heartbeats,
            file=str(offset.get("file", "")),
            pos=pos if isinstance(pos, int) else 4,
            gtids=GtidSet(gtids) if isinstance(gtids, str) else None,
            # Connect stores an offset with a record only.
            stored=dict(offset) if self.topics or has_heartbeats else {},
        )

    def _refuse(self, number: int, message: str) -> None:
        """The server has ended the stream with an error."""
        word = f"{message} Error code: {number}; SQLSTATE: {SQL_STATES.get(number, 'HY000')}."
        cause = f"com.github.shyiko.mysql.binlog.network.ServerException: {message}"
        self.on_failure(producer_trace(f"io.debezium.DebeziumException: {word}", cause))


def _history_records(tables: Sequence[Table]) -> int:
    """A snapshot's statements: one of the server, three of each database, two of each table."""
    return 1 + 3 * len({database for database, _ in tables}) + 2 * len(tables)
