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

from chalicelib.clients.databases.errors import CERTIFICATE_REFUSED, ConnectionStep, DatabaseFailure, FailureCode
from chalicelib.clients.databases.mysql.connection import MySQLConnection, Row
from chalicelib.clients.databases.mysql.errors import (
    DENIED,
    UNKNOWN_STATEMENT,
    Refused,
    failure,
    failure_of_connecting,
    failure_of_reading,
    require_mysql,
)
from chalicelib.clients.databases.reaching import first_connection, reaching
from chalicelib.clients.http.addresses import HostCheck
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.database import SslMode
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.mysql.sql import quoted_table
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline

STATEMENT_SECONDS = 8.0
LOCK_SECONDS = 2
PROGRAM_NAME = "headgate"

_GARBAGE = (struct.error, ValueError, LookupError, TypeError, AttributeError, AssertionError, RuntimeError)
"""What PyMySQL raises for answers that are not MySQL's."""

_VERSION = re.compile(r"(\d{1,3})\.(\d{1,2})(?:\.(\d{1,2}))?")
_SHOW_KEYS_VERSION = 80030


@dataclass(frozen=True, slots=True)
class MySQLSession:
    """Reads, each statement in a read-only transaction of its own."""

    connection: MySQLConnection
    version: str
    version_comment: str
    deadline: Deadline

    @property
    def version_number(self) -> int:
        """80015 for 8.0.15; 0 for a version that is no such number."""
        return _number_of(self.version)

    @property
    def proxy_version(self) -> str | None:
        """The version that was sent before signing in, where it is another one: a proxy answers there."""
        sent = str(self.connection.server_version)[:100]
        return None if _number_of(sent) == self.version_number else sent

    def rows(self, sql: LiteralString, parameters: Sequence[object] = (), *, max_rows: int) -> list[Row]:
        """The rows of SQL. Raises DatabaseFailure: `RESULT_TOO_LARGE` for more rows, or more bytes than allowed.

        `Refused` where the account may not execute it, or the server does not know it.
        """
        with _reading(self.deadline):
            return self.connection.answer(sql, parameters, max_rows)[1]

    def row(self, sql: LiteralString, parameters: Sequence[object] = ()) -> Row:
        rows = self.rows(sql, parameters, max_rows=1)
        if not rows:
            raise failure(FailureCode.READ_FAILED)
        return rows[0]

    def rows_of(
        self, sql: LiteralString, tables: Sequence[TableName], *, max_rows: int, order: LiteralString = ""
    ) -> list[Row]:
        """The rows of SQL that ends before a list of tables; `order` comes behind that. Raises as `rows` does."""
        if not tables:
            return []
        places: LiteralString = ", ".join(["(%s, %s)"] * len(tables))
        parameters = [part for table in tables for part in (table.schema_name, table.table_name)]
        return self.rows(f"{sql}({places}){order}", parameters, max_rows=max_rows)

    def records(self, *statements: LiteralString, max_rows: int) -> list[dict[str, Any]] | None:
        """The rows of the first statement that the server knows, by the names of their columns; None where it knows
        none of them. Versions of MySQL spell statements, and their columns, differently.
        """
        for sql in statements:
            try:
                with _reading(self.deadline):
                    names, rows = self.connection.answer(sql, (), max_rows)
            except Refused as refused:
                if refused.is_denied:
                    raise
            else:
                # A replica without a uuid makes a row without its last column.
                return [dict(zip(names, row, strict=False)) for row in rows]
        return None

    def attempt(self, *statements: LiteralString, max_rows: int) -> list[dict[str, Any]] | None:
        """The same as `records`; None also where the account may not execute the statement."""
        try:
            return self.records(*statements, max_rows=max_rows)
        except Refused:
            return None

    def denies(self, sql: LiteralString, table: TableName) -> bool:
        """Whether the account may not execute the statement, which reads `{table}`; false where it fails otherwise.

        Raises DatabaseFailure where nothing more can be read, or the table is locked.
        """
        try:
            with _reading(self.deadline):
                self.connection.answer(sql.format(table=quoted_table(table)), (), max_rows=1)
        except Refused as refused:
            return refused.is_denied
        except DatabaseFailure as refusal:
            if refusal.failure_code is FailureCode.TIMEOUT or not self.connection.open:
                raise
        return False


@contextlib.contextmanager
def open_session(
    endpoint: OpenedEndpoint[DatabaseAddress],
    check_host: HostCheck,
    trusted_ca_file: str | None,
    deadline: Deadline,
    *,
    without_right: bool = False,
) -> Iterator[MySQLSession]:
    """A session that is closed at the end. Raises DatabaseFailure, also for servers of another kind.

    `without_right`: it is opened as well where the account may not use the database of the address.
    """
    connection = _open_connection(endpoint, check_host, trusted_ca_file, deadline)
    try:
        session = _prepared(connection, deadline)
        _use(session, endpoint.address.database_name, without_right=without_right)
        yield session
    except _GARBAGE:
        # Rows that are not those that were asked for.
        raise failure(FailureCode.READ_FAILED) from None
    finally:
        connection.end()


def _use(session: MySQLSession, database: str, *, without_right: bool) -> None:
    try:
        with _reading(session.deadline):
            session.connection.use(database)
    except Refused:
        if not without_right:
            raise failure(FailureCode.PERMISSION_DENIED) from None
    except DatabaseFailure as refusal:
        # The usual step of the code: that of the database, where there is none of that name.
        raise failure(refusal.failure_code) from None


def _prepared(connection: MySQLConnection, deadline: Deadline) -> MySQLSession:
    session = MySQLSession(connection, "", "", deadline)
    version, comment = (str(value)[:100] for value in session.row("SELECT VERSION(), @@version_comment"))
    require_mysql(f"{version} {comment}")
    session = MySQLSession(connection, version, comment, deadline)
    milliseconds = int(deadline.remaining(STATEMENT_SECONDS) * 1000) + 1
    session.rows("SET SESSION TRANSACTION READ ONLY", max_rows=0)
    session.rows(
        "SET SESSION lock_wait_timeout = %s, sql_mode = '', time_zone = '+00:00', sql_quote_show_create = ON",
        [LOCK_SECONDS],
        max_rows=0,
    )
    session.attempt(f"SET SESSION max_execution_time = {milliseconds}", max_rows=0)
    if session.version_number >= _SHOW_KEYS_VERSION:
        # Else primary keys that the server has made are hidden, in the catalogue too.
        session.attempt("SET SESSION show_gipk_in_create_table_and_information_schema = ON", max_rows=0)
    return session


def _number_of(version: str) -> int:
    match = _VERSION.match(version)
    if match is None:
        return 0
    major, minor, patch = (int(part or 0) for part in match.groups())
    return major * 10_000 + minor * 100 + patch


def _open_connection(
    endpoint: OpenedEndpoint[DatabaseAddress], check_host: HostCheck, trusted_ca_file: str | None, deadline: Deadline
) -> MySQLConnection:
    def connect(ip_address: str, share: Deadline) -> MySQLConnection:
        with reaching():
            connected = socket.create_connection((ip_address, endpoint.address.port), max(0.001, share.remaining()))
        try:
            return _sign_in(endpoint, connected, trusted_ca_file, share)
        except BaseException:
            connected.close()
            raise

    connection = first_connection(endpoint.address, check_host, deadline, connect)
    connection.deadline = deadline
    return connection


def _sign_in(
    endpoint: OpenedEndpoint[DatabaseAddress],
    connected: socket.socket,
    trusted_ca_file: str | None,
    deadline: Deadline,
) -> MySQLConnection:
    address, password = endpoint.address, endpoint.password
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = MySQLConnection(
            deadline,
            host=address.host,
            port=address.port,
            user=address.username,
            # As bytes: PyMySQL encodes a text as Latin-1.
            password=password.reveal().encode() if password else b"",
            charset="utf8mb4",
            autocommit=True,
            program_name=PROGRAM_NAME,
            local_infile=False,
            **_tls(endpoint, trusted_ca_file),
        )
        connection.connect(connected)
    except DatabaseFailure:
        raise
    except pymysql.Error as error:
        raise _connection_failure(error, deadline) from None
    except ssl.SSLError as error:
        raise _tls_failure(error) from None
    except OSError:
        raise failure(FailureCode.TIMEOUT if deadline.passed else FailureCode.CONNECTION_LOST) from None
    except _GARBAGE:
        raise failure(FailureCode.NOT_A_DATABASE) from None
    return connection


def _connection_failure(error: pymysql.Error, deadline: Deadline) -> DatabaseFailure:
    cause = getattr(error, "original_exception", None) or error.__cause__
    number = error.args[0] if error.args else None
    if deadline.passed or isinstance(cause, TimeoutError):
        return failure(FailureCode.TIMEOUT)
    if isinstance(cause, ssl.SSLError):
        return _tls_failure(cause)
    # Packets in an order that MySQL never has, and what PyMySQL says without a number.
    if isinstance(error, pymysql.InternalError) or not isinstance(number, int):
        return failure(FailureCode.NOT_A_DATABASE)
    return failure_of_connecting(number)


def _tls_failure(error: ssl.SSLError) -> DatabaseFailure:
    is_refused = isinstance(error, ssl.SSLCertVerificationError)
    return DatabaseFailure(FailureCode.TLS_FAILED, message=CERTIFICATE_REFUSED if is_refused else None)


def _tls(endpoint: OpenedEndpoint[DatabaseAddress], trusted_ca_file: str | None) -> dict[str, Any]:
    """PyMySQL's settings: without `ssl` it uses TLS where the server has it, as `prefer` says."""
    mode, certificate = endpoint.address.ssl_mode, endpoint.secrets.get("ca_certificate")
    if mode is SslMode.DISABLE:
        return {"ssl_disabled": True}
    if mode is SslMode.PREFER:
        return {}
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.check_hostname = mode is SslMode.VERIFY_FULL
    context.verify_mode = ssl.CERT_REQUIRED if mode.verifies else ssl.CERT_NONE
    if mode.verifies:
        # The one certificate that a person has given may be that of an intermediate CA, or of the server itself.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        try:
            _trust(context, certificate.reveal() if certificate else None, trusted_ca_file)
        except (OSError, ValueError):
            raise failure(FailureCode.TLS_FAILED) from None
    return {"ssl": context}


def _trust(context: ssl.SSLContext, certificate: str | None, trusted_ca_file: str | None) -> None:
    if certificate is None and trusted_ca_file is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cafile=None if certificate else trusted_ca_file, cadata=certificate)


@contextlib.contextmanager
def _reading(deadline: Deadline) -> Iterator[None]:
    """Converts errors of PyMySQL to ours, without their text."""
    try:
        yield
    except DatabaseFailure as error:
        raise failure(error.failure_code, ConnectionStep.READ) from None
    except pymysql.Error as error:
        number = error.args[0] if error.args else None
        if deadline.passed:
            raise failure(FailureCode.TIMEOUT, ConnectionStep.READ) from None
        if isinstance(number, int) and number in DENIED | UNKNOWN_STATEMENT:
            raise Refused(number) from None
        raise failure_of_reading(number) from None
    except (OSError, *_GARBAGE):
        raise failure(FailureCode.READ_FAILED) from None
