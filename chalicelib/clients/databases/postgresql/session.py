"""One short, read-only, bounded session of a PostgreSQL server. It imports psycopg: import it lazily."""

import contextlib
import ssl
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import capabilities, errors, generators
from psycopg.abc import RV, PQGen
from psycopg.pq import DiagnosticField, ExecStatus
from psycopg.pq.abc import PGconn, PGresult

from chalicelib.clients.addresses import HostCheck
from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode, Step
from chalicelib.clients.databases.postgresql.errors import failure, failure_of_connecting, failure_of_sqlstate
from chalicelib.clients.databases.postgresql.relay import MOST_BYTES, Relay
from chalicelib.domain.database import DatabaseAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline

APPLICATION_NAME = "headgate"
STATEMENT_SECONDS = 8.0
LOCK_SECONDS = 1.0
MOST_ADDRESSES = 4
_CHUNK = 500
_TRY_NEXT_ADDRESS = frozenset({FailureCode.CONNECTION_REFUSED, FailureCode.HOST_UNREACHABLE, FailureCode.TIMEOUT})
_SAFE_WITHOUT_TLS = "scram-sha-256"
"""The authentication that neither shows the password to a server nobody has verified nor believes one that does not
know it. libpq refuses clear text, MD5 and none (its manual, `require_auth`).
"""

Row = tuple[Any, ...]
Parameters = Sequence[object] | Mapping[str, object]


class BoundedConnection(psycopg.Connection[Row]):
    """A connection whose every wait ends at the deadline, also when the server is silent, and at `MOST_BYTES`."""

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
class Session:
    """Reads inside one read-only transaction that is never committed."""

    connection: BoundedConnection
    deadline: Deadline

    def rows(self, sql: LiteralString, parameters: Parameters = (), *, most: int) -> list[Row]:
        """Up to `most` rows. Raises DatabaseFailure: `RESULT_TOO_LARGE` beyond that or beyond `MOST_BYTES`."""
        read: list[Row] = []
        size = 0
        with _translated(self.deadline), self.connection.cursor() as cursor:
            chunk = _CHUNK if capabilities.has_stream_chunked() else 1
            for row in cursor.stream(sql, parameters or None, size=chunk):
                read.append(row)
                size += sum(len(value) if isinstance(value, str | list) else 8 for value in row)
                if len(read) > most or size > MOST_BYTES:
                    # Closed first: what else the server would send is not read, and no cancelling is waited for.
                    self.connection.close()
                    raise failure(FailureCode.RESULT_TOO_LARGE)
        return read

    def row(self, sql: LiteralString, parameters: Parameters = ()) -> Row:
        found = self.rows(sql, parameters, most=1)
        if not found:
            raise failure(FailureCode.READ_FAILED)
        return found[0]

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """A part whose failure leaves the rest of the transaction usable."""
        with _translated(self.deadline), self.connection.transaction():
            yield


@contextlib.contextmanager
def reading(
    endpoint: OpenedEndpoint[DatabaseAddress], check_host: HostCheck, trusted_ca_file: str | None, deadline: Deadline
) -> Iterator[Session]:
    """Connects, opens the transaction, and closes everything at the end. Raises DatabaseFailure."""
    connection = _connected(endpoint, check_host, trusted_ca_file, deadline)
    try:
        _prepare(connection, deadline)
        yield Session(connection, deadline)
    finally:
        # Closing rolls the transaction back and waits for nothing.
        connection.close()


def replication_answer(
    endpoint: OpenedEndpoint[DatabaseAddress],
    check_host: HostCheck,
    trusted_ca_file: str | None,
    deadline: Deadline,
    command: LiteralString,
) -> tuple[str, ...]:
    """The first row that a replication command answers with, on a connection of its own. Raises DatabaseFailure."""
    connection = _connected(endpoint, check_host, trusted_ca_file, deadline, replication="database")
    try:
        with _translated(deadline):
            result = connection.wait(_first_result(connection.pgconn, command.encode()))
        if result.status != ExecStatus.SINGLE_TUPLE:
            sqlstate = result.error_field(DiagnosticField.SQLSTATE)
            raise failure_of_sqlstate(sqlstate.decode("ascii", "replace") if sqlstate else None)
        return tuple((result.get_value(0, at) or b"").decode("utf-8", "replace") for at in range(result.nfields))
    finally:
        connection.close()


def _first_result(pgconn: PGconn, command: bytes) -> PQGen[PGresult]:
    # psycopg's cursors stream by the extended protocol only, and replication connections take only the simple one.
    pgconn.send_query(command)
    pgconn.set_single_row_mode()
    yield from generators.send(pgconn)
    result: PGresult | None = yield from generators.fetch(pgconn)
    if result is None:
        raise failure(FailureCode.CONNECTION_LOST)
    return result


def _prepare(connection: BoundedConnection, deadline: Deadline) -> None:
    with _translated(deadline):
        connection.read_only = True
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        milliseconds = int(deadline.remaining(STATEMENT_SECONDS) * 1000) + 1
        # With only the system's schema in the path no function or operator of another user can be called by mistake,
        # and types of users are always spelled with their schema.
        connection.execute(
            "SELECT set_config('search_path', 'pg_catalog', true), set_config('statement_timeout', %s, true),"
            " set_config('lock_timeout', %s, true), set_config('idle_in_transaction_session_timeout', %s, true)",
            (str(milliseconds), str(int(LOCK_SECONDS * 1000)), str(milliseconds)),
        )


def _connected(
    endpoint: OpenedEndpoint[DatabaseAddress],
    check_host: HostCheck,
    trusted_ca_file: str | None,
    deadline: Deadline,
    *,
    replication: str | None = None,
) -> BoundedConnection:
    """Tries the addresses of the host, one after the other, inside the smaller of the two time limits."""
    limit = Deadline.after(deadline.remaining(endpoint.address.connection_timeout_seconds))
    addresses = _allowed_addresses(endpoint.address.host, check_host)
    last = failure(FailureCode.TIMEOUT)
    with _trust(endpoint, trusted_ca_file) as ca_file:
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
    """The addresses that were checked are those that libpq connects to: it resolves no names itself."""
    try:
        return tuple(check_host(host))[:MOST_ADDRESSES]
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
            require_auth=None if address.ssl_mode.verifies else _SAFE_WITHOUT_TLS,
            sslrootcert=ca_file,
            application_name=APPLICATION_NAME,
            client_encoding="UTF8",
            prepare_threshold=None,
            # psycopg counts whole seconds and never less than two.
            connect_timeout=max(1, int(seconds)),
            # Nothing is taken from the files and variables of this machine.
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
        # The text may repeat what a hostile server sent: it is matched here and goes no further.
        raise failure_of_connecting(str(refusal), address.database_name) from None
    except (UnicodeError, ValueError):
        raise failure(FailureCode.NOT_A_DATABASE) from None


@contextlib.contextmanager
def _trust(endpoint: OpenedEndpoint[DatabaseAddress], trusted_ca_file: str | None) -> Iterator[str | None]:
    """The file of certificates to verify the server with; libpq takes no text. It is deleted once connected."""
    certificate = endpoint.secrets.get("ca_certificate")
    if not endpoint.address.ssl_mode.verifies:
        # libpq would verify against a certificate that it happens to find in the home directory.
        yield ""
    elif certificate:
        with tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="utf-8") as file:
            file.write(certificate.reveal())
            file.flush()
            yield file.name
    else:
        yield trusted_ca_file or ssl.get_default_verify_paths().cafile or "system"


@contextlib.contextmanager
def _translated(deadline: Deadline) -> Iterator[None]:
    """Turns psycopg's errors into ours, without their text."""
    try:
        yield
    except psycopg.Error as error:
        if deadline.passed:
            raise failure(FailureCode.TIMEOUT, Step.READ) from None
        raise failure_of_sqlstate(error.sqlstate) from None
    except (UnicodeError, OverflowError):
        raise failure(FailureCode.READ_FAILED) from None
