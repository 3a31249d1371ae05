"""Follows a MySQL server's binary log for a source that the double runs: how far it is, and what ends it.

No row is read, only the heads of events. Event layouts: MySQL's source documentation, "Binlog Event".
"""

import contextlib
import re
import socket
import struct
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field

import pymysql

HEADER = struct.Struct("<IBIIIH")  # time, type, server id, length, end position, flags
ROTATE, TABLE_MAP, GTID, ANONYMOUS_GTID = 4, 19, 33, 34
ROWS = (30, 31, 32)
COM_BINLOG_DUMP, COM_BINLOG_DUMP_GTID = 0x12, 0x1E
FIRST_POSITION, THROUGH_GTID = 4, 4
RECONNECT_SECONDS = 1.0
FINAL = (1227, 1236)
"""Errors after which Debezium does not connect again: no right to read the log, and a log that cannot be read."""
_INTERVAL = re.compile(r"(\d+)(?:-(\d+))?")


class GtidSet:
    """Transactions by server: `UUID:1-5:7,UUID:1`."""

    def __init__(self, text: str = "") -> None:
        self._servers: dict[str, list[tuple[int, int]]] = {}
        for part in filter(None, re.sub(r"\s", "", text).split(",")):
            server, *intervals = part.split(":")
            for first, last in (_INTERVAL.fullmatch(one).groups() for one in intervals):  # type: ignore[union-attr]
                self._servers.setdefault(server, []).append((int(first), int(last or first)))

    def add(self, server: str, number: int) -> None:
        """One transaction more."""
        merged: list[tuple[int, int]] = []
        for first, last in sorted([*self._servers.get(server, []), (number, number)]):
            if merged and first <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(merged[-1][1], last))
            else:
                merged.append((first, last))
        self._servers[server] = merged

    def __str__(self) -> str:
        return ",".join(
            ":".join([server, *(f"{first}-{last}" if first != last else str(first) for first, last in intervals)])
            for server, intervals in self._servers.items()
        )

    def packed(self) -> bytes:
        """As COM_BINLOG_DUMP_GTID has it; the end of an interval is exclusive."""
        data = struct.pack("<Q", len(self._servers))
        for server, intervals in self._servers.items():
            data += uuid.UUID(server).bytes + struct.pack("<Q", len(intervals))
            data += b"".join(struct.pack("<QQ", first, last + 1) for first, last in intervals)
        return data


@dataclass(kw_only=True)
class Position:
    """How far a reader is, as Debezium stores it: where the transaction begins that it read last.

    So an idle reader is one transaction behind the server. `is_captured` says whether a table (database, name) is.
    """

    is_captured: Callable[[str, str], bool]
    # With heartbeats every transaction moves the stored offset; without, only rows of captured tables do.
    has_heartbeats: bool
    file: str
    pos: int = FIRST_POSITION
    gtids: GtidSet | None = None
    stored: dict[str, object] = field(default_factory=dict)
    _now: int = 0
    _open: tuple[str, int] | None = None
    _events: int = 0
    _tables: dict[bytes, tuple[str, str]] = field(default_factory=dict)

    def read(self, event: bytes) -> None:
        """Moves on by one event."""
        seconds, kind, server_id, _, end, _ = HEADER.unpack_from(event)
        body = event[HEADER.size :]
        if kind == ROTATE:
            name = body[8:].decode()
            if name != self.file:
                self.file, self.pos, self._now = name, FIRST_POSITION, int(time.time())
        elif kind in (GTID, ANONYMOUS_GTID):
            self._begin(kind, body, end)
        elif kind == TABLE_MAP:
            self._tables[body[:6]] = _table_of(body)
        if kind in ROWS and self.is_captured(*self._tables.get(body[:6], ("", ""))):
            self._now = seconds
            # The rows of an event are not counted here: 1 stands for the first.
            self.stored = {**self._offset(server_id), "row": 1, "event": self._events}
        elif self.has_heartbeats and kind in (ROTATE, GTID, ANONYMOUS_GTID):
            self.stored = self._offset(server_id)
        if kind not in (GTID, ANONYMOUS_GTID):
            self._events += 1

    def _begin(self, kind: int, body: bytes, end: int) -> None:
        if self.gtids is not None and self._open:
            self.gtids.add(*self._open)
        self._open = (str(uuid.UUID(bytes=body[1:17])), struct.unpack_from("<q", body, 17)[0]) if kind == GTID else None
        self.pos, self._events = end, 0

    def _offset(self, server_id: int) -> dict[str, object]:
        offset: dict[str, object] = {"ts_sec": self._now or int(time.time()), "file": self.file, "pos": self.pos}
        if self.gtids is not None:
            offset["gtids"] = str(self.gtids)
        return {**offset, "server_id": server_id}


def _table_of(body: bytes) -> tuple[str, str]:
    """Database and table of a table map: id of 6 bytes, flags of 2, and two names with length and final zero."""
    size = body[8]
    database, rest = body[9 : 9 + size], body[10 + size :]
    return database.decode(), rest[1 : 1 + rest[0]].decode()


class BinlogConnection(pymysql.connections.Connection):  # type: ignore[misc] # it has no types
    """A connection that asks for the binary log as a replica does."""

    def dump(self, position: Position, server_id: int) -> None:
        """Begins the stream at a position: by GTIDs if the server has them, else by file."""
        with self.cursor() as cursor:
            cursor.execute("SET @source_binlog_checksum = 'NONE', @master_binlog_checksum = 'NONE'")
        if position.gtids is None:
            place = struct.pack("<IHI", position.pos, 0, server_id) + position.file.encode()
            self._execute_command(COM_BINLOG_DUMP, place)
        else:
            gtids = position.gtids.packed()
            head = struct.pack("<HIIQI", THROUGH_GTID, server_id, 0, FIRST_POSITION, len(gtids))
            self._execute_command(COM_BINLOG_DUMP_GTID, head + gtids)

    def next_event(self) -> bytes:
        """Waits for an event; empty at the end of the stream. Raises pymysql.MySQLError."""
        packet = self._read_packet().get_all_data()
        return packet[1:] if packet[:1] == b"\0" else b""

    def shut(self) -> None:
        """Closes the connection, also while another thread reads from it."""
        with contextlib.suppress(Exception):
            self._sock.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(Exception):
            self._force_close()


class BinlogReader:
    """A thread that reads as the replica `server_id` does. It connects again when the server goes away.

    `refused` is called with number and message when the server ends the stream with an error.
    """

    def __init__(
        self,
        *,
        connect: Callable[[], BinlogConnection],
        server_id: int,
        position: Position,
        refused: Callable[[int, str], None],
    ) -> None:
        self.position = position
        self._connect, self._server_id, self._refused = connect, server_id, refused
        self._ended = threading.Event()
        self._connection = connect()
        threading.Thread(target=self._run, name="connect-double-binlog", daemon=True).start()

    def close(self) -> None:
        """Ends the stream. A second call does nothing."""
        self._ended.set()
        self._connection.shut()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._follow()
            except pymysql.MySQLError as problem:
                if problem.args and problem.args[0] in FINAL and not self._ended.is_set():
                    self._refused(*problem.args)
                    return
            except (OSError, ValueError, AttributeError):  # PyMySQL, when `close` has closed a connection in use
                pass
            self._connection.shut()
            self._ended.wait(RECONNECT_SECONDS)
            with contextlib.suppress(pymysql.MySQLError):
                self._connection = self._connect()
        self._connection.shut()

    def _follow(self) -> None:
        self._connection.dump(self.position, self._server_id)
        while event := self._connection.next_event():
            self.position.read(event)
