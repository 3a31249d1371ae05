"""Connection tests against real and against scripted servers: each failure has its step and code, in time."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.postgresql.client import PostgreSQL
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import CheckStatus, TestResult
from chalicelib.domain.database import SslMode
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.databases.failed_check import failed_check
from tests.support.databases.postgresql import HOST, RunningPostgreSQL, Shop, client, running_postgresql
from tests.support.databases.scripted_server import message, scripted_server, sign_in
from tests.support.waiting import eventually

PLANTED = "planted-7f3a"


def outcome(result: TestResult) -> tuple[str, str | None]:
    """The step that failed, and its code."""
    failed = failed_check(result)
    return failed.name, failed.code


def endpoint_of(shop: Shop, *, password: str | None = None, **changes: object) -> OpenedEndpoint[DatabaseAddress]:
    secrets = shop.secrets if password is None else {"password": Secret(password)}
    return OpenedEndpoint(replace(shop.address, **changes), secrets)  # type: ignore[arg-type]


def attempt(shop: Shop, **changes: object) -> TestResult:
    return client(endpoint_of(shop, **changes)).test(Deadline.after(10))


def test_good_connection_passes_every_step(shop: Shop) -> None:
    result = client(shop.endpoint).test(Deadline.after(10))
    assert result.success
    assert {check.status for check in result.checks} == {CheckStatus.SUCCESS}
    assert result.server_version is not None
    assert result.server_version.startswith("18.")
    assert result.latency_ms is not None


def test_role_without_any_privilege_passes(shop: Shop) -> None:
    shop.run("CREATE ROLE other_{role} LOGIN PASSWORD 'let-me-in'")
    result = attempt(shop, username=f"other_{shop.role}", password="let-me-in")
    shop.run("DROP ROLE other_{role}")
    assert result.success


WRONG_PASSWORD = ("authenticate", "AUTHENTICATION_FAILED")
NO_DATABASE = ("database", "DATABASE_NOT_FOUND")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"password": "wrong"}, WRONG_PASSWORD, id="wrong password"),
        pytest.param({"password": ""}, WRONG_PASSWORD, id="no password"),
        pytest.param({"password": "'; DROP ROLE x"}, WRONG_PASSWORD, id="SQL as a password"),
        pytest.param({"password": "p\\w 'ä=☃"}, WRONG_PASSWORD, id="odd password"),
        pytest.param({"username": "nobody"}, WRONG_PASSWORD, id="unknown user"),
        pytest.param({"database_name": "nothing"}, NO_DATABASE, id="unknown database"),
        pytest.param({"database_name": "password authentication failed"}, NO_DATABASE, id="name like another failure"),
        pytest.param({"database_name": "x" * 100}, NO_DATABASE, id="name that PostgreSQL cuts"),
        pytest.param({"ssl_mode": SslMode.REQUIRE}, ("connect", "TLS_FAILED"), id="server without encryption"),
    ],
)
def test_each_wrong_setting_has_its_step_and_code(
    shop: Shop, changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert outcome(attempt(shop, **changes)) == expected


@pytest.mark.parametrize(
    ("statement", "expected", "words"),
    [
        ("ALTER ROLE {role} NOLOGIN", ("authenticate", "ACCESS_NOT_ALLOWED"), "ALTER ROLE ... LOGIN"),
        ("ALTER ROLE {role} VALID UNTIL '2001-01-01'", ("authenticate", "AUTHENTICATION_FAILED"), "expired"),
        ("REVOKE CONNECT ON DATABASE {database} FROM PUBLIC", ("database", "PERMISSION_DENIED"), "GRANT CONNECT"),
        ("ALTER ROLE {role} CONNECTION LIMIT 0", ("database", "TOO_MANY_CONNECTIONS"), "no connection left"),
    ],
)
def test_each_missing_right_has_its_step_its_code_and_its_sentence(
    shop: Shop, statement: str, expected: tuple[str, str], words: str
) -> None:
    shop.run(statement)
    result = attempt(shop)
    assert outcome(result) == expected
    assert [words in check.message for check in result.checks if check.status is CheckStatus.FAILED] == [True]


def test_a_server_without_encryption_is_told_apart_from_one_that_does_not_answer(shop: Shop) -> None:
    result = attempt(shop, ssl_mode=SslMode.REQUIRE)
    assert failed_check(result).message.startswith(
        "The server answers, but offers no TLS. Turn TLS on there, or set ssl_mode to disable"
    )


def test_closed_port(shop: Shop) -> None:
    with closing(socket.socket()) as unused:
        unused.bind((HOST, 0))
        assert outcome(attempt(shop, port=unused.getsockname()[1])) == ("connect", "CONNECTION_REFUSED")


def test_address_that_the_policy_refuses_is_never_contacted(shop: Shop) -> None:
    def refuse(host: str) -> tuple[str, ...]:
        raise Invalid("not there", code="URL_NOT_ALLOWED")

    with scripted_server(no_answer) as (port, connections):
        result = PostgreSQL(endpoint=endpoint_of(shop, port=port), check_host=refuse).test(Deadline.after(5))
    assert outcome(result) == ("connect", "URL_NOT_ALLOWED")
    assert connections == []


def test_name_that_does_not_resolve(shop: Shop) -> None:
    def unknown(host: str) -> tuple[str, ...]:
        raise Unavailable("no such name")

    result = PostgreSQL(endpoint=shop.endpoint, check_host=unknown).test(Deadline.after(5))
    assert outcome(result) == ("connect", "HOST_NOT_FOUND")


def test_only_the_checked_address_is_connected_to(shop: Shop) -> None:
    checked = PostgreSQL(endpoint=endpoint_of(shop, host="database.invalid"), check_host=lambda _host: (HOST,))
    assert checked.test(Deadline.after(5)).success


def test_next_address_of_a_name_is_tried_when_one_refuses(shop: Shop) -> None:
    two = PostgreSQL(endpoint=shop.endpoint, check_host=lambda _host: ("127.0.0.2", HOST))
    assert two.test(Deadline.after(5)).success


def no_answer(_connection: socket.socket) -> None:
    """Accepts the connection and sends nothing."""


def scripted(shop: Shop, port: int, **changes: object) -> OpenedEndpoint[DatabaseAddress]:
    return endpoint_of(shop, port=port, database_name="d", username="u", ssl_mode=SslMode.DISABLE, **changes)


def test_silent_host_fails_at_the_deadline(shop: Shop) -> None:
    with scripted_server(no_answer) as (port, _):
        start = time.monotonic()
        result = client(scripted(shop, port)).test(Deadline.after(2))
        seconds = time.monotonic() - start
    assert outcome(result) == ("connect", "TIMEOUT")
    # Not a benchmark: without our limit, the limit of the operating system would be minutes.
    assert seconds < 20


def test_silent_host_fails_at_the_connection_timeout_of_the_address(shop: Shop) -> None:
    with scripted_server(no_answer) as (port, _):
        endpoint = scripted(shop, port, connection_timeout_seconds=1)
        assert outcome(client(endpoint).test(Deadline.after(60))) == ("connect", "TIMEOUT")


def test_host_that_is_silent_after_the_sign_in_fails_at_the_deadline(shop: Shop) -> None:
    with scripted_server(partial(sign_in, server_port=shop.server.port)) as (port, _):
        result = client(endpoint_of(shop, port=port, ssl_mode=SslMode.DISABLE)).test(Deadline.after(2))
    assert outcome(result) == ("read", "TIMEOUT")


def test_failure_shows_no_secret_and_no_text_of_the_server(shop: Shop) -> None:
    with pytest.raises(DatabaseFailure) as caught:
        client(endpoint_of(shop, password=PLANTED)).server_facts((), Deadline.after(5))
    failure = caught.value
    assert failure.failure_code is FailureCode.AUTHENTICATION_FAILED
    assert failure.__cause__ is None
    assert failure.__suppress_context__
    for text in (failure.message, repr(failure), str(failure.details)):
        assert PLANTED not in text
        assert shop.role not in text


@pytest.fixture(scope="module")
def asking() -> Iterator[RunningPostgreSQL]:
    """A server that asks each of its roles for a password in another way, which is the role's name."""
    with running_postgresql({"password_encryption": "md5"}) as server, server.connect() as admin:
        for method in ("md5", "password", "trust"):
            admin.execute(f"CREATE ROLE {method} LOGIN PASSWORD '{PLANTED}'".encode())
        ((hba_file,),) = admin.execute("SHOW hba_file").fetchall()
        hba, lines = Path(hba_file), [f"host all {name} {HOST}/32 {name}" for name in ("md5", "password", "trust")]
        hba.write_text("\n".join([*lines, hba.read_text()]))
        admin.execute("SELECT pg_reload_conf()")
        eventually(
            lambda: admin.execute("SELECT count(*) FROM pg_hba_file_rules WHERE user_name = '{md5}'").fetchone() == (1,)
        )
        yield server


@pytest.mark.parametrize("method", ["md5", "password", "trust"])
@pytest.mark.parametrize("ssl_mode", [SslMode.DISABLE, SslMode.PREFER])
def test_a_server_gets_the_password_by_scram_only(asking: RunningPostgreSQL, method: str, ssl_mode: SslMode) -> None:
    address = replace(asking.address(user=method), ssl_mode=ssl_mode)
    result = client(OpenedEndpoint(address, {"password": Secret(PLANTED)})).test(Deadline.after(10))
    assert outcome(result) == ("authenticate", "AUTHENTICATION_NOT_SAFE")
    failed = failed_check(result)
    assert "scram-sha-256" in failed.message
    assert "pg_hba.conf" in failed.message


def test_a_server_that_asks_for_clear_text_never_sees_the_password(shop: Shop) -> None:
    received: list[bytes] = []

    def ask(connection: socket.socket) -> None:
        connection.recv(1000)
        connection.sendall(message(b"R", struct.pack("!I", 3)))
        received.append(connection.recv(1000))

    with scripted_server(ask) as (port, _):
        client(scripted(shop, port, password=PLANTED)).test(Deadline.after(5))
    assert received
    assert PLANTED.encode() not in b"".join(received)
