"""Converts failures of MySQL to ours: by the server's error number. Texts are never passed on.

Numbers: MySQL 8.0 error reference, server errors from 1000 on and client errors from 2000 on.
"""

from collections.abc import Mapping

from chalicelib.clients.databases.errors import ConnectionStep, DatabaseFailure, FailureCode

_MESSAGES: Mapping[FailureCode, str] = {
    FailureCode.NOT_A_DATABASE: "Something answers there, and it is not MySQL. Check the port.",
    FailureCode.AUTHENTICATION_NOT_SAFE: (
        "The server asks for the password in a way that does not keep it secret. The account needs the plug-in "
        "caching_sha2_password (ALTER USER ... IDENTIFIED WITH caching_sha2_password BY ...)."
    ),
    FailureCode.ACCESS_NOT_ALLOWED: (
        "The server lets no such connection in: no account of it is for this host, or the account may not use the "
        "database."
    ),
}
"""Sentences that are better than those for any database."""

_BY_NUMBER: Mapping[int, FailureCode] = {
    1040: FailureCode.TOO_MANY_CONNECTIONS,
    1044: FailureCode.ACCESS_NOT_ALLOWED,
    1045: FailureCode.AUTHENTICATION_FAILED,
    1049: FailureCode.DATABASE_NOT_FOUND,
    1053: FailureCode.NOT_ACCEPTING_CONNECTIONS,
    1129: FailureCode.ACCESS_NOT_ALLOWED,
    1130: FailureCode.ACCESS_NOT_ALLOWED,
    1142: FailureCode.PERMISSION_DENIED,
    1143: FailureCode.PERMISSION_DENIED,
    1203: FailureCode.TOO_MANY_CONNECTIONS,
    1205: FailureCode.TIMEOUT,
    1226: FailureCode.TOO_MANY_CONNECTIONS,
    1227: FailureCode.PERMISSION_DENIED,
    1251: FailureCode.AUTHENTICATION_NOT_SAFE,
    1317: FailureCode.TIMEOUT,
    1370: FailureCode.PERMISSION_DENIED,
    1820: FailureCode.AUTHENTICATION_FAILED,
    1862: FailureCode.AUTHENTICATION_FAILED,
    2026: FailureCode.TLS_FAILED,
    2059: FailureCode.AUTHENTICATION_NOT_SAFE,
    2061: FailureCode.AUTHENTICATION_NOT_SAFE,
    3024: FailureCode.TIMEOUT,
    3118: FailureCode.ACCESS_NOT_ALLOWED,
    3159: FailureCode.TLS_FAILED,
    3168: FailureCode.NOT_ACCEPTING_CONNECTIONS,
    4031: FailureCode.CONNECTION_LOST,
}

DENIED = frozenset({1044, 1142, 1143, 1227, 1370})
"""A statement that the account may not execute."""

_CLIENT_ERRORS = range(2000, 3000)


def failure(code: FailureCode, step: ConnectionStep | None = None) -> DatabaseFailure:
    """A failure with the sentence for MySQL, where there is one."""
    return DatabaseFailure(code, step, _MESSAGES.get(code))


def failure_of_reading(number: object) -> DatabaseFailure:
    """The failure of a statement, by the number of the server's error."""
    code = _BY_NUMBER.get(number) if isinstance(number, int) else None
    if code is None and number in _CLIENT_ERRORS:
        code = FailureCode.CONNECTION_LOST
    return failure(code or FailureCode.READ_FAILED, ConnectionStep.READ)


def failure_of_connecting(number: object) -> DatabaseFailure:
    """The failure of a connection: what the server refuses, or a connection that ended."""
    code = _BY_NUMBER.get(number) if isinstance(number, int) else None
    if code is None:
        is_server = isinstance(number, int) and number not in _CLIENT_ERRORS and number >= 1000
        code = FailureCode.CONNECTION_REJECTED if is_server else FailureCode.CONNECTION_LOST
    return failure(code)
