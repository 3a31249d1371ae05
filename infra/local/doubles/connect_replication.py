"""Keeps PostgreSQL's replication streams flowing for the sources that the double runs, and discards the changes.

A slot that is open here is active in `pg_replication_slots` and moves on, as with a connector that delivers its rows.
Message layouts: PostgreSQL documentation, "Streaming Replication Protocol".
"""

import contextlib
import selectors
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from psycopg import Connection

XLOG_DATA, KEEPALIVE = ord("w"), ord("k")
# PostgreSQL counts microseconds from the year 2000.
EPOCH_2000 = 946_684_800


def acknowledgement(position: int, now: float) -> bytes:
    """The standby status update that says everything up to `position` has been written, flushed and applied."""
    return struct.pack("!cQQQqB", b"r", position, position, position, int((now - EPOCH_2000) * 1e6), 0)


def position_of(message: bytes) -> int:
    """The end of the WAL that a message of the stream has reached; 0 when it carries none."""
    if message[:1] == b"w" and len(message) >= 25:
        start, end = struct.unpack_from("!QQ", message, 1)
        return int(max(start, end))
    if message[:1] == b"k" and len(message) >= 18:
        (end,) = struct.unpack_from("!Q", message, 1)
        return int(end)
    return 0


class ReplicationPump:
    """One thread that reads and acknowledges all open streams."""

    def __init__(self) -> None:
        self._streams = selectors.DefaultSelector()
        self._lock = threading.Lock()
        self._wake, self._woken = socket.socketpair()
        self._streams.register(self._woken, selectors.EVENT_READ, None)
        self._closing = False
        self._positions: dict[int, int] = {}
        self._thread = threading.Thread(target=self._run, name="connect-double-replication", daemon=True)
        self._thread.start()

    def add(self, connection: "Connection[object]") -> None:
        """Take over a connection that is in the copy-both state of START_REPLICATION."""
        connection.pgconn.nonblocking = 1
        with self._lock:
            self._streams.register(connection.pgconn.socket, selectors.EVENT_READ, connection)
        self._wake.send(b".")
        self._read(connection)

    def position(self, connection: "Connection[object]") -> int:
        """Up to where a stream has been acknowledged; 0 when nothing was."""
        return self._positions.get(id(connection), 0)

    def remove(self, connection: "Connection[object]") -> None:
        """End one stream, and with it the slot's activity; a stream that has ended already is fine."""
        with self._lock:
            with contextlib.suppress(Exception):
                self._streams.unregister(connection.pgconn.socket)
            connection.close()
            self._positions.pop(id(connection), None)

    def close(self) -> None:
        """End all streams and the thread."""
        self._closing = True
        self._wake.send(b".")
        self._thread.join()
        for key in list(self._streams.get_map().values()):
            if key.data is not None:
                self.remove(key.data)
        self._streams.close()
        self._wake.close()
        self._woken.close()

    def _run(self) -> None:
        while not self._closing:
            for key, _ in self._streams.select(timeout=5):
                if key.data is None:
                    self._woken.recv(64)
                else:
                    self._read(key.data)

    def _read(self, connection: "Connection[object]") -> None:
        import psycopg

        with self._lock:
            if connection.closed:
                return
            try:
                self._drain(connection)
            except psycopg.Error:  # the server ended it: Debezium would go on trying, with its task RUNNING
                with contextlib.suppress(Exception):
                    self._streams.unregister(connection.pgconn.socket)
                connection.close()

    def _drain(self, connection: "Connection[object]") -> None:
        stream, reached = connection.pgconn, 0
        stream.consume_input()
        while True:
            size, message = stream.get_copy_data(1)
            if size == 0:
                break
            if size < 0:
                raise _ended()
            reached = max(reached, position_of(bytes(message)))
        if reached:
            self._positions[id(connection)] = reached
            stream.put_copy_data(acknowledgement(reached, time.time()))
            stream.flush()


def _ended() -> Exception:
    import psycopg

    return psycopg.OperationalError("the stream has ended")
