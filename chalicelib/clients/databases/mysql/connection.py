"""PyMySQL's connection with a total time limit, a limit of bytes, and no unsafe way to give a password.

It imports pymysql: import it lazily. Facts about PyMySQL are those of version 1.2.
"""

import ssl
from typing import Any

from pymysql.connections import Connection
from pymysql.constants import CR
from pymysql.err import OperationalError

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.clients.databases.mysql.errors import failure
from chalicelib.kit.clock import Deadline

MAX_BYTES = 32 * 1024 * 1024
"""The limit of one answer of the server."""

_CHUNK_BYTES = 65_536

SAFE_PLUGINS = frozenset({b"caching_sha2_password", b"sha256_password", b"mysql_native_password"})
"""Ways to prove the password that never send it readable: a proof, or the password inside of TLS or encrypted with the
server's key. The others (`mysql_clear_password`, `mysql_old_password`, `dialog`) would.
"""


class BoundedConnection(Connection):
    """All waits end at the deadline, also with a server that sends single bytes; an answer ends at `MAX_BYTES`."""

    def __init__(self, deadline: Deadline, **settings: Any) -> None:
        self.deadline = deadline
        self._received = 0
        self._switched_plugin: bytes | None = None
        super().__init__(**settings, defer_connect=True)

    def expect_answer(self) -> None:
        """Start to count again."""
        self._received = 0

    def abandon(self) -> None:
        """Close the socket at once: nothing that is still on its way is read."""
        if self._result is not None:
            self._result.unbuffered_active = False
        self._force_close()

    def end(self) -> None:
        """Say goodbye to the server and close, unless that has been done."""
        if self.open:
            self.close()

    def _read_bytes(self, num_bytes: int) -> bytes:
        # PyMySQL's own one waits for all bytes, each time up to the time-out of the socket.
        self._received += num_bytes
        if self._received > MAX_BYTES:
            self.abandon()
            raise failure(FailureCode.RESULT_TOO_LARGE)
        parts = []
        while num_bytes:
            part = self._read_part(min(num_bytes, _CHUNK_BYTES))
            parts.append(part)
            num_bytes -= len(part)
        return b"".join(parts)

    def _read_part(self, size: int) -> bytes:
        try:
            self._sock.settimeout(max(0.001, self.deadline.remaining()))
            part: bytes = self._rfile.read1(size)
        except TimeoutError:
            self.abandon()
            raise failure(FailureCode.TIMEOUT) from None
        except OSError as error:
            self.abandon()
            raise OperationalError(CR.CR_SERVER_LOST, "") from error
        if not part:
            self.abandon()
            raise OperationalError(CR.CR_SERVER_LOST, "")
        if self.deadline.passed:
            self.abandon()
            raise failure(FailureCode.TIMEOUT)
        return part

    def _process_auth(self, plugin_name: bytes, auth_packet: Any, handler: Any = None) -> Any:
        if plugin_name not in SAFE_PLUGINS:
            raise failure(FailureCode.AUTHENTICATION_NOT_SAFE)
        self._switched_plugin = plugin_name
        return super()._process_auth(plugin_name, auth_packet, handler)

    @property
    def encrypted(self) -> bool:
        return isinstance(self._sock, ssl.SSLSocket)

    @property
    def plugin(self) -> str:
        """The authentication plug-in of the account."""
        switched = self._switched_plugin
        return switched.decode("ascii", "replace") if switched else str(self._auth_plugin_name)[:64]
