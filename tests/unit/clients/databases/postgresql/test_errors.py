"""Foreign failures become codes of ours; no word of theirs survives."""

import pytest

from chalicelib.clients.databases.postgresql.errors import (
    _MESSAGES,
    DatabaseFailure,
    FailureCode,
    Step,
    failure_of_connecting,
    failure_of_sqlstate,
)
from chalicelib.errors import Unavailable

PREFIX = 'connection failed: connection to server at "10.0.0.1", port 5432 failed: '


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('FATAL:  password authentication failed for user "cdc"', FailureCode.AUTHENTICATION_FAILED),
        ('FATAL:  PAM authentication failed for user "cdc"', FailureCode.AUTHENTICATION_FAILED),
        (
            'FATAL:  no pg_hba.conf entry for host "10.0.0.9", user "cdc", database "d", no encryption',
            FailureCode.ACCESS_NOT_ALLOWED,
        ),
        ('FATAL:  database "shop" does not exist', FailureCode.DATABASE_NOT_FOUND),
        ('FATAL:  role "shop" does not exist', FailureCode.CONNECTION_REJECTED),
        ("FATAL:  sorry, too many clients already", FailureCode.TOO_MANY_CONNECTIONS),
        ("FATAL:  remaining connection slots are reserved for roles", FailureCode.TOO_MANY_CONNECTIONS),
        ("FATAL:  the database system is starting up", FailureCode.NOT_ACCEPTING_CONNECTIONS),
        ('FATAL:  database "shop" is not currently accepting connections', FailureCode.NOT_ACCEPTING_CONNECTIONS),
        ("Connection refused", FailureCode.CONNECTION_REFUSED),
        ("No route to host", FailureCode.HOST_UNREACHABLE),
        ("SSL error: certificate verify failed", FailureCode.TLS_FAILED),
        ('server certificate for "a" does not match host name "b"', FailureCode.TLS_FAILED),
        ("server does not support SSL, but SSL was required", FailureCode.TLS_FAILED),
        ("received invalid response to SSL negotiation: H", FailureCode.NOT_A_DATABASE),
        ("server closed the connection unexpectedly", FailureCode.CONNECTION_LOST),
        ("FATAL:  Passwort-Authentifizierung für Benutzer »cdc« fehlgeschlagen", FailureCode.CONNECTION_REJECTED),
    ],
)
def test_refused_connections_are_told_apart(text: str, code: FailureCode) -> None:
    assert failure_of_connecting(PREFIX + text, "shop").failure_code is code


@pytest.mark.parametrize("name", ["password authentication failed", "ssl certificate", "too many connections"])
def test_names_inside_the_text_do_not_lead_astray(name: str) -> None:
    text = f'{PREFIX}FATAL:  role "{name}" does not exist'
    assert failure_of_connecting(text, "shop").failure_code is FailureCode.CONNECTION_REJECTED


@pytest.mark.parametrize(
    ("sqlstate", "code"),
    [
        ("42501", FailureCode.PERMISSION_DENIED),
        ("57014", FailureCode.TIMEOUT),
        ("55P03", FailureCode.TIMEOUT),
        ("57P01", FailureCode.CONNECTION_LOST),
        ("08006", FailureCode.CONNECTION_LOST),
        (None, FailureCode.CONNECTION_LOST),
        ("XX000", FailureCode.READ_FAILED),
        ("42P01", FailureCode.READ_FAILED),
    ],
)
def test_failed_reads_are_told_apart_by_sqlstate(sqlstate: str | None, code: FailureCode) -> None:
    failure = failure_of_sqlstate(sqlstate)
    assert failure.failure_code is code
    assert failure.step is Step.READ


def test_every_code_has_a_sentence_and_a_step() -> None:
    assert set(_MESSAGES) == set(FailureCode)
    for code in FailureCode:
        failure = DatabaseFailure(code)
        assert isinstance(failure, Unavailable)
        assert failure.message.endswith(".")
        assert failure.code == code


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        (FailureCode.AUTHENTICATION_FAILED, False),
        (FailureCode.DATABASE_NOT_FOUND, False),
        (FailureCode.TIMEOUT, True),
        (FailureCode.CONNECTION_REFUSED, True),
        (FailureCode.TLS_FAILED, False),
    ],
)
def test_only_what_may_pass_by_itself_is_worth_another_try(code: FailureCode, retryable: bool) -> None:
    assert DatabaseFailure(code).retryable is retryable
