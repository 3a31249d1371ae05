"""PyMySQL's connection with a total time limit, limits of bytes and packets, and no unsafe way to give a password.

It imports pymysql: import it lazily. Facts about PyMySQL are those of version 1.2.
"""

import ssl
from collections.abc import Sequence
from typing import Any

import pymysql
from pymysql.connections import Connection, MySQLResult
from pymysql.constants import CR
from pymysql.err import OperationalError
from pymysql.protocol import MysqlPacket

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.clients.databases.mysql.errors import failure, require_mysql
from chalicelib.kit.clock import Deadline

MAX_BYTES = 32 * 1024 * 1024
"""The limit of one answer of the server."""
MAX_FIELDS = 200
"""The limit of the columns of one answer; SHOW REPLICA STATUS has some 60."""

_CHUNK_BYTES = 65_536
_PACKETS_BESIDE_ROWS = MAX_FIELDS + 20
_PROTOCOL_VERSION = 10

SAFE_PLUGINS = frozenset({"caching_sha2_password", "sha256_password", "mysql_native_password"})
"""Ways to prove the password that never send it readable: a proof, or the password inside of TLS or encrypted with the
server's key. The others (`mysql_clear_password`, `mysql_old_password`, `dialog`) would.
"""

Row = tuple[Any, ...]


class MySQLConnection(Connection):  # type: ignore[misc] # PyMySQL has no types
    """All waits end at the deadline, also with a server that sends single bytes; an answer ends at its limits.

    After a failure that is no error of the server it is closed, and nothing more is read.
    """

    def __init__(self, deadline: Deadline, **settings: Any) -> None:
        self.deadline = deadline
        self._bytes_left, self._packets_left = MAX_BYTES, _PACKETS_BESIDE_ROWS
        self._switched_plugin: str | None = None
        super().__init__(**settings, defer_connect=True)

    def answer(self, statement: str, parameters: Sequence[object], max_rows: int) -> tuple[list[str], list[Row]]:
        """The names of the columns, and the rows. Raises DatabaseFailure RESULT_TOO_LARGE for more than `max_rows`."""
        self._bytes_left, self._packets_left = MAX_BYTES, _PACKETS_BESIDE_ROWS + max_rows
        try:
            self.query(statement % tuple(map(self._literal, parameters)) if parameters else statement, unbuffered=True)
            return self._names_and_rows(max_rows)
        except pymysql.Error:
            # The server's: the connection can be used again. All others have closed it.
            raise
        except BaseException:
            self.abandon()
            raise

    def _names_and_rows(self, max_rows: int) -> tuple[list[str], list[Row]]:
        result: Any = self._result
        rows = list[Row]()
        while (row := result.next_row()) is not None:
            rows.append(row)
            if len(rows) > max_rows:
                raise failure(FailureCode.RESULT_TOO_LARGE)
        if result.has_next:
            # Nothing was asked for that has a second result.
            raise failure(FailureCode.READ_FAILED)
        return [str(column[0]) for column in result.description or ()], rows

    def use(self, database: str) -> None:
        """Make it the database of the session."""
        self._bytes_left, self._packets_left = MAX_BYTES, _PACKETS_BESIDE_ROWS
        self.select_db(database)

    def _literal(self, value: object) -> str:
        return str(value) if isinstance(value, int) else self.escape(str(value))

    def abandon(self) -> None:
        """Close the socket at once: nothing that is still on its way is read."""
        self._force_close()

    def end(self) -> None:
        """Say goodbye to the server and close, unless that has been done."""
        if self.open:
            self.close()

    @property
    def encrypted(self) -> bool:
        return isinstance(self._sock, ssl.SSLSocket)

    @property
    def plugin(self) -> str:
        """The authentication plug-in of the account: one of `SAFE_PLUGINS`."""
        return self._switched_plugin or str(self._auth_plugin_name) or "mysql_native_password"

    # What PyMySQL calls, with limits.

    def _read_query_result(self, unbuffered: bool = False) -> Any:
        self._result = None
        result = _Answer(self)
        result.init_unbuffered_query()
        self._result = result
        if result.server_status is not None:
            self.server_status = result.server_status
        return result.affected_rows

    def _read_packet(self, packet_type: type[MysqlPacket] = MysqlPacket) -> Any:
        self._packets_left -= 1
        if self._packets_left < 0:
            raise failure(FailureCode.RESULT_TOO_LARGE)
        return super()._read_packet(packet_type)

    def _read_bytes(self, num_bytes: int) -> bytes:
        # PyMySQL's own one waits for all bytes, each time up to the time-out of the socket.
        self._bytes_left -= num_bytes
        if self._bytes_left < 0:
            raise failure(FailureCode.RESULT_TOO_LARGE)
        parts = []
        while num_bytes:
            part = self._read_part(min(num_bytes, _CHUNK_BYTES))
            parts.append(part)
            num_bytes -= len(part)
        return b"".join(parts)

    def _read_part(self, size: int) -> bytes:
        try:
            self._limit_wait()
            part: bytes = self._rfile.read1(size)
        except TimeoutError:
            raise failure(FailureCode.TIMEOUT) from None
        except OSError as error:
            self.abandon()
            raise OperationalError(CR.CR_SERVER_LOST, "") from error
        if not part:
            self.abandon()
            raise OperationalError(CR.CR_SERVER_LOST, "")
        return part

    def _write_bytes(self, data: bytes) -> None:
        self._limit_wait()
        super()._write_bytes(data)

    def _limit_wait(self) -> None:
        if self.deadline.passed:
            raise failure(FailureCode.TIMEOUT)
        self._sock.settimeout(self.deadline.remaining())

    def _request_authentication(self) -> None:
        if self.protocol_version != _PROTOCOL_VERSION:
            raise failure(FailureCode.NOT_A_DATABASE)
        # Before anything is sent, the user name included.
        require_mysql(self.server_version)
        _require_safe(self._auth_plugin_name or "mysql_native_password")
        super()._request_authentication()

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        name = plugin_name.decode("ascii", "replace")
        _require_safe(name)
        self._switched_plugin = name
        return super()._process_auth(plugin_name, auth_packet, handler)


def _require_safe(plugin: str) -> None:
    if plugin not in SAFE_PLUGINS:
        raise failure(FailureCode.AUTHENTICATION_NOT_SAFE)


class _Answer(MySQLResult):  # type: ignore[misc] # PyMySQL has no types
    """An answer whose rows are read one by one, and no further than they are asked for."""

    def next_row(self) -> Row | None:
        return self._read_rowdata_packet_unbuffered()  # type: ignore[no-any-return]

    def _get_descriptions(self) -> None:
        if self.field_count is None or self.field_count > MAX_FIELDS:
            raise failure(FailureCode.RESULT_TOO_LARGE)
        super()._get_descriptions()

    def _read_load_local_packet(self, first_packet: MysqlPacket) -> None:
        """The server asks for a file of this machine."""
        raise failure(FailureCode.NOT_A_DATABASE)

    def __del__(self) -> None:
        """PyMySQL's reads the rest of the answer."""
