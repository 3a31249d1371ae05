"""One short, read-only, bounded session of a PostgreSQL server. It imports psycopg: import it lazily."""

import contextlib
import re
import ssl
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import capabilities, errors, generators
from psycopg.abc import RV, PQGen, Query
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from chalicelib.clients.databases.errors import ConnectionStep, DatabaseFailure, FailureCode
from chalicelib.clients.databases.postgresql.errors import failure, failure_of_connecting, failure_of_sqlstate
from chalicelib.clients.databases.postgresql.relay import MAX_BYTES, Relay
from chalicelib.clients.http.addresses import HostCheck
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.providers.postgresql.facts import ServerIdentity
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline

APPLICATION_NAME = "headgate"
STATEMENT_SECONDS = 8.0
LOCK_SECONDS = 1.0
MAX_ADDRESSES = 4
_CHUNK = 500
_SWITCH = re.compile(r"\s*(\d{1,10})\s+([0-9A-F]{1,8})/([0-9A-F]{1,8})\b")
"""A line of a timeline's history: a timeline before it, and where that was left (PostgreSQL, timeline.c)."""

_TRY_NEXT_ADDRESS = frozenset({FailureCode.CONNECTION_REFUSED, FailureCode.HOST_UNREACHABLE, FailureCode.TIMEOUT})
_REQUIRED_AUTHENTICATION = "scram-sha-256"
"""SCRAM does not show the password to the server, and fails with a server that does not know it. libpq then refuses
clear text, MD5 and no authentication (its manual, `require_auth`). In every ssl_mode: a certificate proves no more than
that somebody whom the CA knows has it, and whoever registers the database chooses the CA.
"""

Row = tuple[Any, ...]
Parameters = Sequence[object] | Mapping[str, object]


class BoundedConnection(psycopg.Connection[Row]):
    """A connection whose waits end at the deadline, also with a silent server, and at `MAX_BYTES`."""

    deadline: Deadline | None = None
    relay: Relay | None = None

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        if self.deadline is not None:
            timeout = self.deadline.remaining(float("inf") if timeout is None else timeout)
        if self.relay is None:
            return super().wait(gen, interval, timeout)
        self.relay.expect_answer()
        try:
            return super().wait(gen, interval, timeout)
        except psycopg.Error:
            if self.relay.exceeded:
                raise failure(FailureCode.RESULT_TOO_LARGE) from None
            raise

    def close(self) -> None:
        super().close()
        if self.relay is not None:
            self.relay.close()


@dataclass(frozen=True, slots=True)
class DatabaseSession:
    """Reads in one read-only transaction that is never committed."""

    connection: BoundedConnection
    deadline: Deadline

    def rows(self, sql: LiteralString, parameters: Parameters = (), *, max_rows: int) -> list[Row]:
        """The rows of SQL whose last parameter, or the one of this name, is `max_rows`.

        Raises DatabaseFailure: `RESULT_TOO_LARGE` for more rows, or more than `MAX_BYTES`.
        """
        if isinstance(parameters, Mapping):
            return self._read(sql, {**parameters, "max_rows": max_rows}, max_rows)
        return self._read(sql, [*parameters, max_rows], max_rows)

    def row(self, sql: Query, parameters: Parameters = ()) -> Row:
        rows = self._read(sql, parameters, max_rows=1)
        if not rows:
            raise failure(FailureCode.READ_FAILED)
        return rows[0]

    def _read(self, sql: Query, parameters: Parameters, max_rows: int) -> list[Row]:
        rows: list[Row] = []
        size = 0
        with _translate_errors(self.deadline), self.connection.cursor() as cursor:
            chunk = _CHUNK if capabilities.has_stream_chunked() else 1
            for row in cursor.stream(sql, parameters or None, size=chunk):
                rows.append(row)
                size += sum(len(value) if isinstance(value, str | list) else 8 for value in row)
                if len(rows) > max_rows or size > MAX_BYTES:
                    # Closing now avoids reading the rest and waiting for a cancellation.
                    self.connection.close()
                    raise failure(FailureCode.RESULT_TOO_LARGE)
        return rows

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """A part of the transaction that may fail: the transaction stays usable (savepoint)."""
        with _translate_errors(self.deadline), self.connection.transaction():
            yield


@contextlib.contextmanager
def open_session(
    endpoint: OpenedEndpoint[DatabaseAddress], check_host: HostCheck, trusted_ca_file: str | None, deadline: Deadline
) -> Iterator[DatabaseSession]:
    """A session that is closed at the end. Raises DatabaseFailure."""
    connection = _open_connection(endpoint, check_host, trusted_ca_file, deadline)
    try:
        _prepare(connection, deadline)
        yield DatabaseSession(connection, deadline)
    finally:
        # Closing rolls the transaction back and waits for nothing.
        connection.close()


def read_identity(
    endpoint: OpenedEndpoint[DatabaseAddress], check_host: HostCheck, trusted_ca_file: str | None, deadline: Deadline
) -> ServerIdentity:
    """Opens a replication connection, as a capture does, and asks which server answers. Raises DatabaseFailure."""
    try:
        connection = _open_connection(endpoint, check_host, trusted_ca_file, deadline, replication="database")
        with contextlib.closing(connection):
            answer = [_text(value) for value in _replication_answer(connection, b"IDENTIFY_SYSTEM", deadline)]
    except DatabaseFailure as refusal:
        # A pooler that ignores the type of the connection sends the command to an ordinary session.
        if refusal.failure_code is FailureCode.READ_FAILED:
            raise failure(FailureCode.REPLICATION_NOT_SUPPORTED) from None
        raise
    if len(answer) < 2 or not all(value.isdecimal() for value in answer[:2]):
        raise failure(FailureCode.REPLICATION_NOT_SUPPORTED)
    return ServerIdentity(system_identifier=answer[0][:20], timeline=int(answer[1][:10]))


def read_switches(
    endpoint: OpenedEndpoint[DatabaseAddress],
    check_host: HostCheck,
    trusted_ca_file: str | None,
    timeline: int,
    deadline: Deadline,
) -> Mapping[int, int]:
    """Where the server has left each timeline before this one: its number and a position. Raises DatabaseFailure."""
    connection = _open_connection(endpoint, check_host, trusted_ca_file, deadline, replication="database")
    with contextlib.closing(connection):
        answer = _replication_answer(connection, b"TIMELINE_HISTORY %d" % timeline, deadline)
    if len(answer) != 2:
        raise failure(FailureCode.READ_FAILED)
    lines = map(_SWITCH.match, _text(answer[1]).splitlines())
    switches = {int(line[1]): (int(line[2], 16) << 32) + int(line[3], 16) for line in lines if line}
    if not switches:
        raise failure(FailureCode.READ_FAILED)
    return switches


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


def _replication_answer(connection: BoundedConnection, command: bytes, deadline: Deadline) -> list[bytes]:
    """The first row of the answer to a command of the replication protocol."""
    with _translate_errors(deadline):
        result = connection.wait(_first_result(connection.pgconn, command))
    if result.status != ExecStatus.SINGLE_TUPLE:
        sqlstate = result.error_field(DiagnosticField.SQLSTATE)
        raise failure_of_sqlstate(sqlstate.decode("ascii", "replace") if sqlstate else None)
    return [result.get_value(0, at) or b"" for at in range(result.nfields)]


def _first_result(pgconn: PGconn, command: bytes) -> PQGen[PGresult]:
    # Cursors of psycopg stream by the extended protocol only, and replication connections have only the simple one.
    pgconn.send_query(command)
    pgconn.set_single_row_mode()
    yield from generators.send(pgconn)
    result: PGresult | None = yield from generators.fetch(pgconn)
    if result is None:
        raise failure(FailureCode.CONNECTION_LOST)
    return result


def _prepare(connection: BoundedConnection, deadline: Deadline) -> None:
    with _translate_errors(deadline):
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        milliseconds = int(deadline.remaining(STATEMENT_SECONDS) * 1000) + 1
        # With only the system's schema in the path, no function or operator of another user can be called by mistake,
        # and types of users are always written with their schema.
        connection.execute(
            "SELECT set_config('search_path', 'pg_catalog', true), set_config('statement_timeout', %s, true),"
            " set_config('lock_timeout', %s, true), set_config('idle_in_transaction_session_timeout', %s, true)",
            (str(milliseconds), str(int(LOCK_SECONDS * 1000)), str(milliseconds)),
        )


def _open_connection(
    endpoint: OpenedEndpoint[DatabaseAddress],
    check_host: HostCheck,
    trusted_ca_file: str | None,
    deadline: Deadline,
    *,
    replication: str | None = None,
) -> BoundedConnection:
    """Tries the addresses of the host one after the other, in the shorter of the two time limits."""
    limit = Deadline.after(deadline.remaining(endpoint.address.connection_timeout_seconds))
    addresses = _allowed_addresses(endpoint.address.host, check_host)
    last = failure(FailureCode.TIMEOUT)
    with _ca_file(endpoint, trusted_ca_file) as ca_file:
        for number, ip_address in enumerate(addresses):
            share = limit.remaining() / (len(addresses) - number)
            if limit.passed:
                break
            try:
                connection = _connect(endpoint, ip_address, ca_file, Deadline.after(share), replication)
            except DatabaseFailure as refusal:
                last = refusal
                if refusal.failure_code not in _TRY_NEXT_ADDRESS:
                    break
            else:
                connection.deadline = deadline
                return connection
    raise last


def _allowed_addresses(host: str, check_host: HostCheck) -> Sequence[str]:
    """The checked addresses. libpq connects to them and resolves no names itself."""
    try:
        return tuple(check_host(host))[:MAX_ADDRESSES]
    except Invalid:
        raise failure(FailureCode.URL_NOT_ALLOWED) from None
    except Unavailable:
        raise failure(FailureCode.HOST_NOT_FOUND) from None


def _connect(
    endpoint: OpenedEndpoint[DatabaseAddress],
    ip_address: str,
    ca_file: str | None,
    deadline: Deadline,
    replication: str | None,
) -> BoundedConnection:
    try:
        relay = Relay(ip_address, endpoint.address.port, deadline.remaining())
    except ConnectionRefusedError:
        raise failure(FailureCode.CONNECTION_REFUSED) from None
    except TimeoutError:
        raise failure(FailureCode.TIMEOUT) from None
    except ConnectionResetError:
        raise failure(FailureCode.CONNECTION_LOST) from None
    except OSError:
        raise failure(FailureCode.HOST_UNREACHABLE) from None
    try:
        connection = _sign_in(endpoint, relay, ca_file, deadline.remaining(), replication)
    except DatabaseFailure:
        relay.close()
        raise
    connection.relay = relay
    return connection


def _sign_in(
    endpoint: OpenedEndpoint[DatabaseAddress],
    relay: Relay,
    ca_file: str | None,
    seconds: float,
    replication: str | None,
) -> BoundedConnection:
    address, password = endpoint.address, endpoint.password
    local_address, local_port = relay.address
    try:
        return BoundedConnection.connect(
            host=address.host,
            hostaddr=local_address,
            port=local_port,
            dbname=address.database_name,
            user=address.username,
            password=password.reveal() if password else "",
            sslmode=address.ssl_mode.value,
            require_auth=_REQUIRED_AUTHENTICATION,
            sslrootcert=ca_file,
            application_name=APPLICATION_NAME,
            client_encoding="UTF8",
            prepare_threshold=None,
            # psycopg takes whole seconds, at least two.
            connect_timeout=max(1, int(seconds)),
            # Files and variables of this machine are not used.
            passfile="",
            service=None,
            sslcert="",
            sslkey="",
            sslcrl="",
            gssencmode="disable",
            options="",
            target_session_attrs="any",
            replication=replication,
        )
    except errors.ConnectionTimeout:
        raise failure(FailureCode.TIMEOUT) from None
    except psycopg.Error as refusal:
        if relay.exceeded:
            raise failure(FailureCode.NOT_A_DATABASE) from None
        # The text may repeat data of a hostile server: it is matched here and not passed on.
        raise failure_of_connecting(str(refusal), address.database_name) from None
    except (UnicodeError, ValueError):
        raise failure(FailureCode.NOT_A_DATABASE) from None


@contextlib.contextmanager
def _ca_file(endpoint: OpenedEndpoint[DatabaseAddress], trusted_ca_file: str | None) -> Iterator[str | None]:
    """The file of CA certificates to verify the server with: libpq takes no text. It is deleted after connecting."""
    certificate = endpoint.secrets.get("ca_certificate")
    if not endpoint.address.ssl_mode.verifies:
        # Without a value libpq would verify by a certificate in the home directory.
        yield ""
    elif certificate:
        with tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="utf-8") as file:
            file.write(certificate.reveal())
            file.flush()
            yield file.name
    else:
        yield trusted_ca_file or ssl.get_default_verify_paths().cafile or "system"


@contextlib.contextmanager
def _translate_errors(deadline: Deadline) -> Iterator[None]:
    """Converts errors of psycopg to ours, without their text."""
    try:
        yield
    except psycopg.Error as error:
        if deadline.passed:
            raise failure(FailureCode.TIMEOUT, ConnectionStep.READ) from None
        raise failure_of_sqlstate(error.sqlstate) from None
    except (UnicodeError, OverflowError):
        raise failure(FailureCode.READ_FAILED) from None
