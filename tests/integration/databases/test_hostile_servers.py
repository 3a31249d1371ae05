"""Whatever answers at the address of a database: test, readiness and discovery end in time, with a code of ours.

Nothing that it says is shown or logged. Health of a source is its test.
"""

import resource
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from chalicelib.clients.databases.contract import Database
from chalicelib.clients.databases.errors import DatabaseFailure
from chalicelib.clients.databases.mysql.client import MySQL
from chalicelib.clients.databases.postgresql.client import PostgreSQL
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import CheckStatus
from chalicelib.domain.database import DatabaseProvider, SslMode
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.databases.failed_check import failed_check
from tests.support.databases.hostile_servers import (
    GARBAGE,
    MYSQL_ANSWERS,
    MYSQL_GREETINGS,
    PLANTED,
    POSTGRESQL_ANSWERS,
    POSTGRESQL_GREETINGS,
    Hostile,
    Serve,
    after,
    closes,
    endless_row,
    says,
    silent,
    trickles,
)
from tests.support.databases.mysql import MySQLServer
from tests.support.databases.mysql_protocol import greeting, packet
from tests.support.databases.postgresql import RunningPostgreSQL
from tests.support.databases.scripted_server import HOST, scripted_server

SECONDS = 1.0
SOON = SECONDS + 8
"""Not a benchmark: without limits of ours it would be minutes, or for ever."""
SECRET = "sent-to-nobody-42"
DATABASES = {"postgresql": "postgres", "mysql": "mysql"}
CLIENTS: Mapping[str, Callable[..., Database]] = {"postgresql": PostgreSQL, "mysql": MySQL}


def client(
    kind: str, port: int, username: str = "u", password: str = SECRET, mode: SslMode = SslMode.DISABLE
) -> Database:
    address = DatabaseAddress(
        provider=DatabaseProvider(kind), host=HOST, port=port, database_name=DATABASES[kind],
        username=username, ssl_mode=mode,
    )  # fmt: skip
    endpoint = OpenedEndpoint(address, {"password": Secret(password)})
    return CLIENTS[kind](endpoint=endpoint, check_host=lambda host: (host,))


def outcome_of_test(database: Database) -> str:
    result = database.test(Deadline.after(SECONDS))
    assert PLANTED not in repr(result)
    assert not result.success
    return next(str(check.code) for check in result.checks if check.status is CheckStatus.FAILED)


def failed(read: Callable[[], object]) -> str:
    with pytest.raises(DatabaseFailure) as caught:
        read()
    for text in (caught.value.message, repr(caught.value), str(caught.value.details)):
        assert PLANTED not in text
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return caught.value.failure_code.value


OPERATIONS: Mapping[str, Callable[[Database], str]] = {
    "test": outcome_of_test,
    "readiness": lambda database: failed(lambda: database.server_facts((), Deadline.after(SECONDS))),
    "discovery": lambda database: failed(lambda: database.list_tables(Deadline.after(SECONDS))),
}


def assert_ends_in_time(
    database: Callable[[int], Database], serve: Serve, codes: frozenset[str], capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture, operations: Mapping[str, Callable[[Database], str]] = OPERATIONS,
) -> None:  # fmt: skip
    with scripted_server(serve) as (port, _):
        for name, operation in operations.items():
            start = time.monotonic()
            assert operation(database(port)) in codes, name
            assert time.monotonic() - start < SOON, name
    output = capfd.readouterr()
    for text in (output.out, output.err, caplog.text):
        assert PLANTED not in text
        assert SECRET not in text


GREETINGS: Mapping[str, tuple[str, Hostile]] = {
    **{f"mysql: {name}": ("mysql", one) for name, one in MYSQL_GREETINGS.items()},
    **{f"postgresql: {name}": ("postgresql", one) for name, one in POSTGRESQL_GREETINGS.items()},
}


@pytest.mark.parametrize("name", GREETINGS)
def test_what_is_no_database_is_told_before_it_lets_anybody_in(
    name: str, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    kind, one = GREETINGS[name]
    assert_ends_in_time(lambda port: client(kind, port), one.serve, one.codes, capfd, caplog)


@dataclass(frozen=True)
class Real:
    """A real server that lets the client in, and the messages of the client until it begins to ask."""

    kind: str
    port: int
    username: str
    password: str
    database: str
    signed_in: int

    def client(self, port: int) -> Database:
        return client(self.kind, port, self.username, self.password)


@pytest.fixture
def real(request: pytest.FixtureRequest) -> Iterator[Real]:
    if request.param == "mysql":
        server: MySQLServer = request.getfixturevalue("mysql_server")
        # The server remembers who has signed in once, and then needs no further messages.
        server.connect().close()
        yield Real("mysql", server.port, "root", server.superuser_password, "mysql", 1)
    else:
        postgresql: RunningPostgreSQL = request.getfixturevalue("postgresql")
        yield Real("postgresql", postgresql.port, "postgres", postgresql.superuser_password, "postgres", 3)


ANSWERS = [
    *(pytest.param("mysql", one, id=f"mysql: {name}") for name, one in MYSQL_ANSWERS.items()),
    *(pytest.param("postgresql", one, id=f"postgresql: {name}") for name, one in POSTGRESQL_ANSWERS.items()),
]


@pytest.mark.parametrize(("real", "one"), ANSWERS, indirect=["real"])
@pytest.mark.parametrize("later", [0, 3], ids=["first answer", "later answer"])
def test_what_stops_to_be_a_database_is_told_in_the_middle_of_reading(
    real: Real, one: Hostile, later: int, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    before = peak_memory()
    serve = after(real.port, real.signed_in + later, one.serve)
    assert_ends_in_time(real.client, serve, one.codes, capfd, caplog)
    # The scripted server sends from this process, but keeps nothing.
    assert peak_memory() - before < 150


def peak_memory() -> int:
    """The most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


TLS_RECORD = b"\x16\x03\x03\x40\x00"
"""The beginning of a handshake message of 16 KiB (RFC 8446, section 5.1)."""
BROKEN_TLS: Mapping[str, tuple[Serve, set[str]]] = {
    "silent": (silent, {"TIMEOUT"}),
    "closes": (closes, {"TLS_FAILED", "CONNECTION_LOST"}),
    "garbage": (says(GARBAGE), {"TLS_FAILED"}),
    "trickling": (trickles(TLS_RECORD), {"TIMEOUT", "TLS_FAILED"}),
    "plain answer": (says(greeting()), {"TLS_FAILED"}),
}


def in_the_middle_of_tls(kind: str, serve: Serve) -> Serve:
    """The server agrees to TLS, and then answers so."""
    first, agreed = {"mysql": (greeting(tls=True), b""), "postgresql": (b"", b"S")}[kind]

    def begin(connection: socket.socket) -> None:
        connection.sendall(first)
        connection.recv(10_000)
        connection.sendall(agreed)
        serve(connection)

    return begin


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("name", BROKEN_TLS)
@pytest.mark.parametrize("mode", [SslMode.REQUIRE, SslMode.VERIFY_FULL, SslMode.PREFER])
def test_tls_that_does_not_come_about_is_told_in_time(
    kind: str, name: str, mode: SslMode, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    serve, codes = BROKEN_TLS[name]
    # Without TLS libpq tries again where it only prefers it, and that server answers in the same way.
    more = {"CONNECTION_LOST", "NOT_A_DATABASE", "TIMEOUT"} if mode is SslMode.PREFER else set()
    assert_ends_in_time(
        lambda port: client(kind, port, mode=mode), in_the_middle_of_tls(kind, serve), frozenset(codes | more),
        capfd, caplog, {"test": outcome_of_test},
    )  # fmt: skip


@pytest.mark.parametrize(
    "name", [name for name in MYSQL_GREETINGS if "clear" in name or "old" in name or "dialog" in name]
)
def test_a_server_that_asks_in_an_unsafe_way_never_sees_the_password(name: str) -> None:
    received: list[bytes] = []

    class Recorded(socket.socket):
        """A connection that keeps what it gets."""

        def recv(self, size: int, flags: int = 0) -> bytes:
            received.append(super().recv(size, flags))
            return received[-1]

    def serve(connection: socket.socket) -> None:
        with Recorded(fileno=connection.detach()) as recorded:
            MYSQL_GREETINGS[name].serve(recorded)

    with scripted_server(serve) as (port, _):
        assert outcome_of_test(client("mysql", port)) in MYSQL_GREETINGS[name].codes
    assert SECRET.encode() not in b"".join(received)
    # Where the first message of the server asks so, not even the name of the user is sent.
    assert ("greeting" in name) is not any(received)


@pytest.mark.parametrize("real", ["mysql"], indirect=True)
def test_a_row_of_mysql_that_does_not_end_is_read_up_to_the_limit(real: Real) -> None:
    # The first answers are those of settings, of which nothing is read.
    with scripted_server(after(real.port, real.signed_in + 3, endless_row)) as (port, _):
        assert outcome_of_test(real.client(port)) == "RESULT_TOO_LARGE"


@pytest.mark.parametrize("real", ["mysql"], indirect=True)
def test_a_server_that_asks_for_a_file_gets_nothing_of_it(real: Real, tmp_path: Path) -> None:
    file, received = tmp_path / "file", list[bytes]()
    file.write_text(PLANTED)

    def asks(connection: socket.socket) -> None:
        connection.settimeout(5)
        connection.sendall(packet(b"\xfb" + str(file).encode(), 1))
        while data := connection.recv(10_000):
            received.append(data)

    # The first answers are those of settings, of which nothing is read.
    with scripted_server(after(real.port, real.signed_in + 3, asks)) as (port, _):
        assert outcome_of_test(real.client(port)) == "NOT_A_DATABASE"
    assert PLANTED.encode() not in b"".join(received)


def test_a_server_without_tls_gets_nothing_where_tls_is_required() -> None:
    received: list[bytes] = []

    def serve(connection: socket.socket) -> None:
        connection.sendall(greeting())
        received.append(connection.recv(10_000))

    with scripted_server(serve) as (port, _):
        result = client("mysql", port, mode=SslMode.REQUIRE).test(Deadline.after(SECONDS))
    told = failed_check(result)
    assert (told.code, "offers no TLS" in told.message) == ("TLS_FAILED", True)
    assert received in ([], [b""])
