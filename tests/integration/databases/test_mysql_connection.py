"""Connection tests against a real MySQL server: each failure has its step and code; every kind of password works."""

import contextlib
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.mysql.client import MySQL
from chalicelib.domain.connection_checks import CheckStatus, TestResult
from chalicelib.domain.database import SslMode
from chalicelib.errors import Invalid, Unavailable
from chalicelib.kit.clock import Deadline
from tests.support.databases.failed_check import failed_check
from tests.support.databases.mysql import HOST, MySQLServer, MySQLShop
from tests.support.databases.mysql_capture import client_of, endpoint_of, version_number
from tests.support.databases.scripted_server import scripted_server

PLANTED = "planted-7f3a"


def outcome(result: TestResult) -> tuple[str, str | None]:
    """The step that failed, and its code."""
    return failed_check(result).name, failed_check(result).code


def attempt(shop: MySQLShop, *, password: str | None = None, **changes: Any) -> TestResult:
    secrets = {} if password is None else {"password": password}
    return client_of(endpoint_of(shop, secrets=secrets, **changes)).test(Deadline.after(10))


def test_good_connection_passes_every_step(mysql_shop: MySQLShop) -> None:
    result = attempt(mysql_shop)
    assert result.success
    assert {check.status for check in result.checks} == {CheckStatus.SUCCESS}
    assert (result.server_version or "").startswith(str(mysql_shop.server.value("VERSION()")))
    assert result.latency_ms is not None


WRONG_PASSWORD = ("authenticate", "AUTHENTICATION_FAILED")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"password": "wrong"}, WRONG_PASSWORD, id="wrong password"),
        pytest.param({"password": ""}, WRONG_PASSWORD, id="no password"),
        pytest.param({"password": "'; DROP USER x"}, WRONG_PASSWORD, id="SQL as a password"),
        pytest.param({"username": "nobody"}, WRONG_PASSWORD, id="unknown user"),
        pytest.param({"database_name": "nothing"}, ("database", "DATABASE_NOT_FOUND"), id="unknown database"),
        pytest.param({"database_name": "x" * 64}, ("database", "DATABASE_NOT_FOUND"), id="long name"),
        pytest.param({"ssl_mode": SslMode.VERIFY_FULL}, ("connect", "TLS_FAILED"), id="certificate of nobody"),
    ],
)
def test_each_wrong_setting_has_its_step_and_code(
    mysql_shop: MySQLShop, changes: dict[str, Any], expected: tuple[str, str]
) -> None:
    assert outcome(attempt(mysql_shop, **changes)) == expected


@pytest.mark.parametrize(
    ("statement", "expected", "words"),
    [
        ("ALTER USER {role} ACCOUNT LOCK", ("authenticate", "ACCESS_NOT_ALLOWED"), "ACCOUNT UNLOCK"),
        ("ALTER USER {role} PASSWORD EXPIRE", ("authenticate", "AUTHENTICATION_FAILED"), "expired"),
        ("ALTER USER {role} REQUIRE X509", ("authenticate", "AUTHENTICATION_FAILED"), "REQUIRE X509"),
        ("RENAME USER {role} TO {role}@'192.0.2.1'", ("authenticate", "AUTHENTICATION_FAILED"), "host"),
        ("REVOKE ALL PRIVILEGES, GRANT OPTION FROM {role}", ("database", "PERMISSION_DENIED"), "right"),
    ],
)
def test_each_missing_right_has_its_step_and_code(
    mysql_shop: MySQLShop, statement: str, expected: tuple[str, str], words: str
) -> None:
    mysql_shop.run(statement)
    result = attempt(mysql_shop)
    mysql_shop.run("DROP USER IF EXISTS {role}@'192.0.2.1'")
    assert outcome(result) == expected
    assert words in failed_check(result).message


def test_an_account_without_a_connection_left(mysql_shop: MySQLShop) -> None:
    mysql_shop.run("ALTER USER {role} WITH MAX_USER_CONNECTIONS 1")
    with mysql_shop.as_role():
        assert outcome(attempt(mysql_shop)) == ("database", "TOO_MANY_CONNECTIONS")


def test_an_account_that_needs_tls_is_told_so_where_it_has_none(mysql_shop: MySQLShop) -> None:
    mysql_shop.run("ALTER USER {role} REQUIRE SSL")
    assert attempt(mysql_shop, ssl_mode=SslMode.REQUIRE).success
    assert attempt(mysql_shop, ssl_mode=SslMode.PREFER).success
    refused = attempt(mysql_shop, ssl_mode=SslMode.DISABLE)
    assert outcome(refused) == ("authenticate", "AUTHENTICATION_FAILED")
    assert "REQUIRE SSL" in failed_check(refused).message


@contextlib.contextmanager
def requiring_tls(server: MySQLServer) -> Iterator[None]:
    server.run("SET GLOBAL require_secure_transport = ON")
    try:
        yield
    finally:
        server.run("SET GLOBAL require_secure_transport = OFF")


def test_a_server_that_takes_encrypted_connections_only(mysql_shop: MySQLShop) -> None:
    with requiring_tls(mysql_shop.server):
        assert attempt(mysql_shop, ssl_mode=SslMode.PREFER).success
        refused = attempt(mysql_shop, ssl_mode=SslMode.DISABLE)
    assert outcome(refused) == ("connect", "TLS_FAILED")
    assert "ssl_mode" in failed_check(refused).message


PASSWORDS = ["p\\w 'ä=", "пароль ☃ 😀", "%s %% ${x}", "x" * 200]
PLUGINS = {"caching_sha2_password": None, "sha256_password": None, "mysql_native_password": 90_000}
"""Each with the version from which on servers do not have it."""


@pytest.mark.parametrize("plugin", PLUGINS)
@pytest.mark.parametrize("password", PASSWORDS)
@pytest.mark.parametrize("mode", [SslMode.DISABLE, SslMode.REQUIRE])
def test_every_password_signs_in_the_first_time_and_again(
    mysql_shop: MySQLShop, plugin: str, password: str, mode: SslMode
) -> None:
    gone_from = PLUGINS[plugin]
    if gone_from and version_number(mysql_shop.server) >= gone_from:
        pytest.skip(f"MySQL 9 does not have {plugin}")
    written = mysql_shop.server.connect().escape(password)
    mysql_shop.run(f"ALTER USER {{role}} IDENTIFIED WITH {plugin} BY {written}")
    for _ in range(2):
        result = attempt(mysql_shop, password=password, ssl_mode=mode)
        assert result.success, outcome(result)
    assert outcome(attempt(mysql_shop, password=password + "x", ssl_mode=mode)) == WRONG_PASSWORD


def test_closed_port(mysql_shop: MySQLShop) -> None:
    with closing(socket.socket()) as unused:
        unused.bind((HOST, 0))
        assert outcome(attempt(mysql_shop, port=unused.getsockname()[1])) == ("connect", "CONNECTION_REFUSED")


def test_address_that_the_policy_refuses_is_never_contacted(mysql_shop: MySQLShop) -> None:
    def refuse(host: str) -> tuple[str, ...]:
        raise Invalid("not there", code="URL_NOT_ALLOWED")

    with scripted_server(lambda _connection: None) as (port, connections):
        result = MySQL(endpoint=endpoint_of(mysql_shop, port=port), check_host=refuse).test(Deadline.after(5))
    assert outcome(result) == ("connect", "URL_NOT_ALLOWED")
    assert connections == []


def test_name_that_does_not_resolve(mysql_shop: MySQLShop) -> None:
    def unknown(host: str) -> tuple[str, ...]:
        raise Unavailable("no such name")

    result = MySQL(endpoint=endpoint_of(mysql_shop), check_host=unknown).test(Deadline.after(5))
    assert outcome(result) == ("connect", "HOST_NOT_FOUND")


def test_only_the_checked_address_is_connected_to_and_the_next_one_where_it_refuses(mysql_shop: MySQLShop) -> None:
    endpoint = endpoint_of(mysql_shop, host="database.invalid")
    assert MySQL(endpoint=endpoint, check_host=lambda _host: (HOST,)).test(Deadline.after(5)).success
    two = MySQL(endpoint=endpoint, check_host=lambda _host: ("127.0.0.2", HOST))
    assert two.test(Deadline.after(5)).success


def test_silent_host_fails_at_the_connection_timeout_of_the_address(mysql_shop: MySQLShop) -> None:
    with scripted_server(lambda _connection: None) as (port, _):
        endpoint = endpoint_of(mysql_shop, port=port, connection_timeout_seconds=1)
        assert outcome(client_of(endpoint).test(Deadline.after(60))) == ("connect", "TIMEOUT")


def test_failure_shows_no_secret_and_no_text_of_the_server(mysql_shop: MySQLShop) -> None:
    endpoint = endpoint_of(mysql_shop, secrets={"password": PLANTED})
    with pytest.raises(DatabaseFailure) as caught:
        client_of(endpoint).server_facts((), Deadline.after(5))
    failure = caught.value
    assert failure.failure_code is FailureCode.AUTHENTICATION_FAILED
    assert failure.__cause__ is None
    for text in (failure.message, repr(failure), str(failure.details)):
        assert PLANTED not in text
        assert mysql_shop.role not in text


def test_a_role_without_the_database_gets_its_readiness_all_the_same(mysql_shop: MySQLShop) -> None:
    """The verdict names the rights that are missing."""
    mysql_shop.run("REVOKE ALL PRIVILEGES, GRANT OPTION FROM {role}")
    facts = client_of(endpoint_of(mysql_shop)).server_facts((), Deadline.after(10))
    assert facts.grants.global_privileges == {"USAGE"}
    with pytest.raises(DatabaseFailure) as refused:
        client_of(endpoint_of(mysql_shop)).list_tables(Deadline.after(10))
    assert refused.value.failure_code is FailureCode.PERMISSION_DENIED


def test_the_version_is_the_servers_own(mysql_shop: MySQLShop) -> None:
    facts = client_of(endpoint_of(mysql_shop)).server_facts((), Deadline.after(10))
    assert facts.version_number == version_number(mysql_shop.server)
    assert facts.proxy_version is None
    assert replace(facts, proxy_version="5.5.30").proxy_version == "5.5.30"
