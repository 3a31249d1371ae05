"""Failures of PostgreSQL become our codes, and its text is not passed on."""

import pytest

from chalicelib.clients.databases.errors import ConnectionStep, DatabaseFailure, FailureCode
from chalicelib.clients.databases.postgresql.errors import failure, failure_of_connecting, failure_of_sqlstate

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
        ("FATAL:  permission denied to start WAL sender", FailureCode.PERMISSION_DENIED),
        ("FATAL:  must be superuser or replication role to start walsender", FailureCode.PERMISSION_DENIED),
        (
            "FATAL:  number of requested standby connections exceeds max_wal_senders (currently 1)",
            FailureCode.TOO_MANY_CONNECTIONS,
        ),
        ("FATAL:  unsupported startup parameter: replication", FailureCode.REPLICATION_NOT_SUPPORTED),
        (
            "FATAL:  Feature not supported: RDS Proxy currently doesn't support streaming replication mode",
            FailureCode.REPLICATION_NOT_SUPPORTED,
        ),
        ("FATAL:  the database system is starting up", FailureCode.NOT_ACCEPTING_CONNECTIONS),
        ('FATAL:  database "shop" is not currently accepting connections', FailureCode.NOT_ACCEPTING_CONNECTIONS),
        ("FATAL:  connection requires a valid client certificate", FailureCode.AUTHENTICATION_NOT_SAFE),
        (
            'authentication method requirement "scram-sha-256" failed: server requested a cleartext password',
            FailureCode.AUTHENTICATION_NOT_SAFE,
        ),
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
def test_refused_connections_have_a_code(text: str, code: FailureCode) -> None:
    assert failure_of_connecting(PREFIX + text, "shop").failure_code is code


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("server does not support SSL, but SSL was required", "offers no TLS"),
        ("SSL error: certificate verify failed", "certificate is not accepted"),
        ('server certificate for "a" does not match host name "b"', "certificate is not accepted"),
        ('root certificate file "/a" does not exist', "No encrypted connection"),
    ],
)
def test_it_is_said_which_part_of_tls_has_failed(text: str, words: str) -> None:
    assert words in failure_of_connecting(PREFIX + text, "shop").message


@pytest.mark.parametrize("name", ["password authentication failed", "ssl certificate", "too many connections"])
def test_names_inside_the_text_are_not_matched(name: str) -> None:
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
def test_failed_reads_have_a_code_by_sqlstate(sqlstate: str | None, code: FailureCode) -> None:
    failed = failure_of_sqlstate(sqlstate)
    assert failed.failure_code is code
    assert failed.step is ConnectionStep.READ


def test_postgresql_has_better_sentences_for_some_codes() -> None:
    plain, ours = DatabaseFailure(FailureCode.ACCESS_NOT_ALLOWED), failure(FailureCode.ACCESS_NOT_ALLOWED)
    assert "pg_hba.conf" in ours.message
    assert (ours.code, ours.step) == (plain.code, plain.step)
    assert "PostgreSQL" in failure(FailureCode.NOT_A_DATABASE).message
    assert failure(FailureCode.TIMEOUT).message == DatabaseFailure(FailureCode.TIMEOUT).message
