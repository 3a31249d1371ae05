"""One short, read-only, bounded session of a MySQL server. It imports pymysql: import it lazily."""

import contextlib
import re
import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import pymysql
from pymysql.cursors import SSCursor

from chalicelib.clients.databases.errors import ConnectionStep, DatabaseFailure, FailureCode
from chalicelib.clients.databases.mysql.connection import BoundedConnection
from chalicelib.clients.databases.mysql.errors import DENIED, failure, failure_of_connecting, failure_of_reading
from chalicelib.clients.http.addresses import HostCheck
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.database import SslMode
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline

STATEMENT_SECONDS = 8.0
LOCK_SECONDS = 2
MAX_ADDRESSES = 4
PROGRAM_NAME = "headgate"

_TRY_NEXT_ADDRESS = frozenset({FailureCode.CONNECTION_REFUSED, FailureCode.HOST_UNREACHABLE, FailureCode.TIMEOUT})

_GARBAGE = (struct.error, ValueError, LookupError, TypeError, AttributeError, AssertionError, RuntimeError)
"""What PyMySQL raises for answers that are not MySQL's."""

_OTHER_KINDS = (
    ("mariadb", "MariaDB"),
    ("tidb", "TiDB"),
    ("vitess", "Vitess"),
    ("singlestore", "SingleStore"),
    ("memsql", "SingleStore"),
)
"""Words in the version of servers that speak MySQL's protocol and have another binary log, or none."""

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,2})(?:\.(\d{1,2}))?")

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class DatabaseSession:
    """Reads, each statement in a read-only transaction of its own."""

    connection: BoundedConnection
    version: str
    version_comment: str
    deadline: Deadline

    @property
    def version_number(self) -> int:
        """80015 for 8.0.15; 0 for a version that is no such number."""
        match = _VERSION.match(self.version)
        if match is None:
            return 0
        major, minor, patch = (int(part or 0) for part in match.groups())
        return major * 10_000 + minor * 100 + patch

    def rows(self, sql: LiteralString, parameters: Sequence[object] = (), *, max_rows: int) -> list[Row]:
        """The rows of SQL. Raises DatabaseFailure: `RESULT_TOO_LARGE` for more rows, or more bytes than allowed."""
        return self._read(sql, parameters, max_rows)[1]

    def records(self, sql: LiteralString, *, max_rows: int) -> list[dict[str, Any]]:
        """The rows by the names of their columns, for statements whose columns differ between versions."""
        names, rows = self._read(sql, (), max_rows)
        return [dict(zip(names, row, strict=True)) for row in rows]

    def row(self, sql: LiteralString, parameters: Sequence[object] = ()) -> Row:
        rows = self.rows(sql, parameters, max_rows=1)
        if not rows:
            raise failure(FailureCode.READ_FAILED)
        return rows[0]

    def _read(self, sql: str, parameters: Sequence[object], max_rows: int) -> tuple[list[str], list[Row]]:
        self.connection.expect_answer()
        with _reading(self.deadline):
            cursor = self.connection.cursor(SSCursor)
            cursor.execute(sql, tuple(parameters) or None)
            names = [str(column[0]) for column in cursor.description or ()]
            rows: list[Row] = []
            while (row := cursor.fetchone()) is not None:
                rows.append(row)
                if len(rows) > max_rows:
                    # Closing now avoids reading the rest.
                    self.connection.abandon()
                    raise failure(FailureCode.RESULT_TOO_LARGE)
        return names, rows

    def attempt(self, sql: LiteralString, *, max_rows: int) -> list[dict[str, Any]] | None:
        """The same as `records`; None where the account may not execute the statement, or the server does not know it.

        Raises DatabaseFailure for everything else.
        """
        try:
            return self.records(sql, max_rows=max_rows)
        except Refused:
            return None


class Refused(DatabaseFailure):
    """The account may not execute the statement (`is_denied`), or the server does not know it."""

    def __init__(self, number: int) -> None:
        super().__init__(FailureCode.PERMISSION_DENIED, ConnectionStep.READ)
        self.is_denied = number in DENIED


_REFUSED = DENIED | {1064, 1193, 1235, 1289, 1109, 1146, 1305, 1381}
"""Besides denied ones: statements, variables, tables and functions that the server does not have; 1381: it writes no
binary log.
"""


@contextlib.contextmanager
def open_session(
    endpoint: OpenedEndpoint[DatabaseAddress], check_host: HostCheck, trusted_ca_file: str | None, deadline: Deadline
) -> Iterator[DatabaseSession]:
    """A session that is closed at the end. Raises DatabaseFailure, also for servers of another kind."""
    connection = _open_connection(endpoint, check_host, trusted_ca_file, deadline)
    try:
        yield _prepared(connection, deadline)
    finally:
        connection.end()


def _prepared(connection: BoundedConnection, deadline: Deadline) -> DatabaseSession:
    session = DatabaseSession(connection, "", "", deadline)
    version, comment = (str(value)[:100] for value in session.row("SELECT VERSION(), @@version_comment"))
    named = f"{version} {comment}".lower()
    for word, title in _OTHER_KINDS:
        if word in named:
            message = f"The server is {title}, and not MySQL: Headgate does not support it."
            raise DatabaseFailure(FailureCode.SERVER_NOT_SUPPORTED, message=message)
    milliseconds = int(deadline.remaining(STATEMENT_SECONDS) * 1000) + 1
    session.rows("SET SESSION TRANSACTION READ ONLY", max_rows=0)
    session.rows(
        "SET SESSION lock_wait_timeout = %s, max_execution_time = %s, sql_mode = '', time_zone = '+00:00'",
        [LOCK_SECONDS, milliseconds],
        max_rows=0,
    )
    return DatabaseSession(connection, version, comment, deadline)


def _open_connection(
    endpoint: OpenedEndpoint[DatabaseAddress], check_host: HostCheck, trusted_ca_file: str | None, deadline: Deadline
) -> BoundedConnection:
    """Tries the addresses of the host one after the other, in the shorter of the two time limits."""
    limit = Deadline.after(deadline.remaining(endpoint.address.connection_timeout_seconds))
    addresses = _allowed_addresses(endpoint.address.host, check_host)
    last = failure(FailureCode.TIMEOUT)
    for number, ip_address in enumerate(addresses):
        if limit.passed:
            break
        share = Deadline.after(limit.remaining() / (len(addresses) - number))
        try:
            connection = _connect(endpoint, ip_address, trusted_ca_file, share)
        except DatabaseFailure as refusal:
            last = refusal
            if refusal.failure_code not in _TRY_NEXT_ADDRESS:
                break
        else:
            connection.deadline = deadline
            return connection
    raise last


def _allowed_addresses(host: str, check_host: HostCheck) -> Sequence[str]:
    """The checked addresses: no name is resolved after the check."""
    try:
        return tuple(check_host(host))[:MAX_ADDRESSES]
    except Invalid:
        raise failure(FailureCode.URL_NOT_ALLOWED) from None
    except Unavailable:
        raise failure(FailureCode.HOST_NOT_FOUND) from None


def _connect(
    endpoint: OpenedEndpoint[DatabaseAddress], ip_address: str, trusted_ca_file: str | None, deadline: Deadline
) -> BoundedConnection:
    address = endpoint.address
    try:
        connected = socket.create_connection((ip_address, address.port), max(0.001, deadline.remaining()))
    except ConnectionRefusedError:
        raise failure(FailureCode.CONNECTION_REFUSED) from None
    except TimeoutError:
        raise failure(FailureCode.TIMEOUT) from None
    except OSError:
        raise failure(FailureCode.HOST_UNREACHABLE) from None
    try:
        return _sign_in(endpoint, connected, trusted_ca_file, deadline)
    except BaseException:
        connected.close()
        raise


def _sign_in(
    endpoint: OpenedEndpoint[DatabaseAddress],
    connected: socket.socket,
    trusted_ca_file: str | None,
    deadline: Deadline,
) -> BoundedConnection:
    address, password = endpoint.address, endpoint.password
    seconds = max(0.001, deadline.remaining())
    connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        connection = BoundedConnection(
            deadline,
            host=address.host,
            port=address.port,
            user=address.username,
            # As bytes: PyMySQL encodes a text as Latin-1.
            password=password.reveal().encode() if password else b"",
            database=address.database_name,
            charset="utf8mb4",
            autocommit=True,
            read_timeout=seconds,
            write_timeout=seconds,
            program_name=PROGRAM_NAME,
            local_infile=False,
            **_tls(endpoint, trusted_ca_file),
        )
        connection.connect(connected)
    except DatabaseFailure:
        raise
    except pymysql.Error as error:
        raise _connection_failure(error, deadline) from None
    except (ssl.SSLError, ssl.CertificateError):
        raise failure(FailureCode.TLS_FAILED) from None
    except OSError:
        raise failure(FailureCode.TIMEOUT if deadline.passed else FailureCode.CONNECTION_LOST) from None
    except _GARBAGE:
        raise failure(FailureCode.NOT_A_DATABASE) from None
    return connection


def _connection_failure(error: pymysql.Error, deadline: Deadline) -> DatabaseFailure:
    cause = getattr(error, "original_exception", None) or error.__cause__
    if isinstance(cause, ssl.SSLError | ssl.CertificateError):
        return failure(FailureCode.TLS_FAILED)
    if deadline.passed or isinstance(cause, TimeoutError):
        return failure(FailureCode.TIMEOUT)
    if isinstance(error, pymysql.InternalError):  # packets in an order that MySQL never has
        return failure(FailureCode.NOT_A_DATABASE)
    return failure_of_connecting(error.args[0] if error.args else None)


def _tls(endpoint: OpenedEndpoint[DatabaseAddress], trusted_ca_file: str | None) -> dict[str, Any]:
    """PyMySQL's settings: without `ssl` it uses TLS where the server has it, as `prefer` says."""
    mode, certificate = endpoint.address.ssl_mode, endpoint.secrets.get("ca_certificate")
    if mode is SslMode.DISABLE:
        return {"ssl_disabled": True}
    if mode is SslMode.PREFER:
        return {}
    if mode.verifies:
        try:
            context = ssl.create_default_context(
                cafile=None if certificate else trusted_ca_file, cadata=certificate.reveal() if certificate else None
            )
        except ssl.SSLError:
            raise failure(FailureCode.TLS_FAILED) from None
        # The certificates that MySQL makes for itself lack extensions that Python 3.13 asks for.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        context.check_hostname = mode is SslMode.VERIFY_FULL
    else:
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return {"ssl": context}


@contextlib.contextmanager
def _reading(deadline: Deadline) -> Iterator[None]:
    """Converts errors of PyMySQL to ours, without their text."""
    try:
        yield
    except DatabaseFailure as error:
        if error.failure_code is FailureCode.TIMEOUT:
            raise failure(FailureCode.TIMEOUT, ConnectionStep.READ) from None
        raise
    except pymysql.Error as error:
        number = error.args[0] if error.args else None
        if deadline.passed:
            raise failure(FailureCode.TIMEOUT, ConnectionStep.READ) from None
        if number in _REFUSED:
            raise Refused(number) from None
        raise failure_of_reading(number) from None
    except (OSError, *_GARBAGE):
        raise failure(FailureCode.READ_FAILED) from None
