"""Converts failures of MySQL to ours: by the server's error number. Texts are never passed on.

Numbers: MySQL 8.0 error reference, server errors from 1000 on and client errors from 2000 on.
"""

from collections.abc import Mapping

from chalicelib.clients.databases.errors import NO_TLS_OFFERED, ConnectionStep, DatabaseFailure, FailureCode

_MESSAGES: Mapping[FailureCode, str] = {
    FailureCode.NOT_A_DATABASE: "Something answers there, and it is not MySQL. Check the port.",
    FailureCode.AUTHENTICATION_FAILED: (
        "The server refused the user name or the password. It says the same where no account of that name is for this "
        "host, and where the account needs TLS (REQUIRE SSL) or a client certificate (REQUIRE X509) and has none."
    ),
    FailureCode.AUTHENTICATION_NOT_SAFE: (
        "The server asks for the password in a way that does not keep it secret. The account needs the plug-in "
        "caching_sha2_password (ALTER USER ... IDENTIFIED WITH caching_sha2_password BY ...)."
    ),
    FailureCode.ACCESS_NOT_ALLOWED: "The server lets no such connection in: no account of it is for this host.",
    FailureCode.PERMISSION_DENIED: "The account has no right on the database, or none to look at what is needed.",
    FailureCode.TOO_MANY_CONNECTIONS: (
        "The server or the account has no connection left (max_connections, max_user_connections)."
    ),
}
"""Sentences that are better than those for any database."""

_BY_NUMBER: Mapping[int, FailureCode] = {
    1040: FailureCode.TOO_MANY_CONNECTIONS,
    1044: FailureCode.PERMISSION_DENIED,
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
    1524: FailureCode.AUTHENTICATION_FAILED,
    1820: FailureCode.AUTHENTICATION_FAILED,
    1862: FailureCode.AUTHENTICATION_FAILED,
    2026: FailureCode.TLS_FAILED,
    2059: FailureCode.AUTHENTICATION_NOT_SAFE,
    2061: FailureCode.AUTHENTICATION_NOT_SAFE,
    3024: FailureCode.TIMEOUT,
    3032: FailureCode.NOT_ACCEPTING_CONNECTIONS,
    3118: FailureCode.ACCESS_NOT_ALLOWED,
    3159: FailureCode.TLS_FAILED,
    3168: FailureCode.NOT_ACCEPTING_CONNECTIONS,
    3955: FailureCode.ACCESS_NOT_ALLOWED,
    4031: FailureCode.CONNECTION_LOST,
}

_EXPIRED = "The password of the account has expired. Set a new one: ALTER USER ... IDENTIFIED BY ...;"
_BY_NUMBER_MESSAGES: Mapping[int, str] = {
    1129: "The server has blocked this host after too many failed connections. FLUSH HOSTS; or mysqladmin flush-hosts, "
    "on the server, lets it in again.",
    1524: "The server does not have the account's authentication plug-in: mysql_native_password is gone from MySQL 9 "
    "on. ALTER USER ... IDENTIFIED WITH caching_sha2_password BY ...;",
    1820: _EXPIRED,
    1862: _EXPIRED,
    # What else fails in TLS is an error of Python's ssl.
    2026: NO_TLS_OFFERED,
    3118: "The account is locked. ALTER USER ... ACCOUNT UNLOCK;",
    3159: "The server takes encrypted connections only (require_secure_transport). Set ssl_mode to require.",
    3955: "The account is locked for a while, after too many wrong passwords.",
}
"""Sentences that are better than that of the code."""

DENIED = frozenset({1044, 1142, 1143, 1227, 1370})
"""A statement that the account may not execute."""

UNKNOWN_STATEMENT = frozenset({1064, 1193, 1235, 1289, 1109, 1146, 1305, 1381})
"""Statements, variables, tables and functions that the server does not have; 1381: it writes no binary log."""

_CLIENT_ERRORS = range(2000, 3000)

_OTHER_KINDS = (
    ("mariadb", "MariaDB"),
    ("tidb", "TiDB"),
    ("vitess", "Vitess"),
    ("planetscale", "PlanetScale"),
    ("singlestore", "SingleStore"),
    ("memsql", "SingleStore"),
)
"""Words in the version of servers that speak MySQL's protocol and have another binary log, or none."""


class Refused(DatabaseFailure):
    """The account may not execute the statement (`is_denied`), or the server does not know it."""

    def __init__(self, number: int) -> None:
        super().__init__(FailureCode.PERMISSION_DENIED, ConnectionStep.READ)
        self.is_denied = number in DENIED


def failure(code: FailureCode, step: ConnectionStep | None = None) -> DatabaseFailure:
    """A failure with the sentence for MySQL, where there is one."""
    return DatabaseFailure(code, step, _MESSAGES.get(code))


def failure_of_reading(number: object) -> DatabaseFailure:
    """The failure of a statement, by the number of the server's error."""
    code = _BY_NUMBER.get(number) if isinstance(number, int) else None
    if code is None and number in _CLIENT_ERRORS:
        code = FailureCode.CONNECTION_LOST
    return _numbered(code or FailureCode.READ_FAILED, number, ConnectionStep.READ)


def failure_of_connecting(number: int) -> DatabaseFailure:
    """The failure of a connection: what the server refuses, or a connection that ended."""
    code = _BY_NUMBER.get(number)
    if code is None:
        is_server = number not in _CLIENT_ERRORS and number >= 1000
        code = FailureCode.CONNECTION_REJECTED if is_server else FailureCode.CONNECTION_LOST
    return _numbered(code, number)


def require_mysql(version: str) -> None:
    """Raise DatabaseFailure for a server of another kind. `version` is what the server says of itself."""
    for word, title in _OTHER_KINDS:
        if word in version.lower():
            message = f"The server is {title}, and not MySQL: Headgate does not support it."
            raise DatabaseFailure(FailureCode.SERVER_NOT_SUPPORTED, message=message)


def _numbered(code: FailureCode, number: object, step: ConnectionStep | None = None) -> DatabaseFailure:
    message = _BY_NUMBER_MESSAGES.get(number) if isinstance(number, int) else None
    return DatabaseFailure(code, step, message or _MESSAGES.get(code))
