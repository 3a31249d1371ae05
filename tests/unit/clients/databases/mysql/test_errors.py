"""Failures of MySQL, by the number of the server's error."""

import pytest

from chalicelib.clients.databases.errors import ConnectionStep, DatabaseFailure, FailureCode
from chalicelib.clients.databases.mysql.errors import (
    failure_of_connecting,
    failure_of_reading,
    require_mysql,
)


@pytest.mark.parametrize(
    ("number", "step", "code"),
    [
        (1040, "database", "TOO_MANY_CONNECTIONS"),
        (1044, "database", "PERMISSION_DENIED"),
        (1045, "authenticate", "AUTHENTICATION_FAILED"),
        (1049, "database", "DATABASE_NOT_FOUND"),
        (1129, "authenticate", "ACCESS_NOT_ALLOWED"),
        (1130, "authenticate", "ACCESS_NOT_ALLOWED"),
        (1203, "database", "TOO_MANY_CONNECTIONS"),
        (1226, "database", "TOO_MANY_CONNECTIONS"),
        (1862, "authenticate", "AUTHENTICATION_FAILED"),
        (2013, "connect", "CONNECTION_LOST"),
        (3118, "authenticate", "ACCESS_NOT_ALLOWED"),
        (3159, "connect", "TLS_FAILED"),
        (9999, "authenticate", "CONNECTION_REJECTED"),
        (-1, "connect", "CONNECTION_LOST"),
    ],
)
def test_a_refused_connection_has_its_step_and_code(number: int, step: str, code: str) -> None:
    failure = failure_of_connecting(number)
    assert (failure.step, failure.failure_code) == (step, code)


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (1142, "PERMISSION_DENIED"),
        (1205, "TIMEOUT"),
        (3024, "TIMEOUT"),
        (1317, "TIMEOUT"),
        (1820, "AUTHENTICATION_FAILED"),
        (2013, "CONNECTION_LOST"),
        (4031, "CONNECTION_LOST"),
        (1234, "READ_FAILED"),
        (None, "READ_FAILED"),
    ],
)
def test_a_failed_statement_has_its_code_in_the_last_step(number: int | None, code: str) -> None:
    failure = failure_of_reading(number)
    assert (failure.step, failure.failure_code) == (ConnectionStep.READ, code)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (1862, "expired"),
        (1129, "FLUSH HOSTS"),
        (3118, "ACCOUNT UNLOCK"),
        (3159, "ssl_mode"),
        (2026, "offers no TLS"),
        (1524, "MySQL 9"),
    ],
)
def test_what_a_person_can_do_is_said_by_number(number: int, words: str) -> None:
    assert words in failure_of_connecting(number).message


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("5.5.5-10.11.6-MariaDB-1:10.11.6+maria~ubu2204", "MariaDB"),
        ("11.4.5-MariaDB (mariadb.org binary distribution)", "MariaDB"),
        ("8.0.11-TiDB-v8.5.0 (TiDB Server (Apache License 2.0))", "TiDB"),
        ("8.0.30-Vitess", "Vitess"),
        ("8.0.34-PlanetScale", "PlanetScale"),
        ("5.7.32 (SingleStoreDB source distribution)", "SingleStore"),
    ],
)
def test_servers_of_other_kinds_are_refused_by_their_name(version: str, name: str) -> None:
    with pytest.raises(DatabaseFailure) as refused:
        require_mysql(version)
    assert refused.value.failure_code is FailureCode.SERVER_NOT_SUPPORTED
    assert refused.value.message.startswith(f"The server is {name}, and not MySQL")


@pytest.mark.parametrize(
    "version",
    ["8.0.15 (MySQL Community Server - GPL)", "8.0.36-28 (Percona Server (GPL), Release 28)", "9.7.4 ((Debian))"],
)
def test_mysql_and_percona_server_are_let_in(version: str) -> None:
    require_mysql(version)
