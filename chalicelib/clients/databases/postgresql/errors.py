"""Foreign failures become ours: by the server's SQLSTATE, or by what libpq says while connecting.

libpq gives no SQLSTATE for a refused connection (psycopg 3.3), only text; the text is matched and never passed on. Its
own part is English; the server's part may be in any language, and then the failure is `CONNECTION_REJECTED`.
SQLSTATEs: PostgreSQL documentation, appendix A.
"""

from collections.abc import Mapping
from enum import StrEnum

from chalicelib.errors import Unavailable


class Step(StrEnum):
    """The steps of a connection test, in their order."""

    CONNECT = "connect"
    AUTHENTICATE = "authenticate"
    DATABASE = "database"
    READ = "read"


class FailureCode(StrEnum):
    """Stable codes of everything that can go wrong with a database."""

    URL_NOT_ALLOWED = "URL_NOT_ALLOWED"
    HOST_NOT_FOUND = "HOST_NOT_FOUND"
    HOST_UNREACHABLE = "HOST_UNREACHABLE"
    CONNECTION_REFUSED = "CONNECTION_REFUSED"
    CONNECTION_LOST = "CONNECTION_LOST"
    CONNECTION_REJECTED = "CONNECTION_REJECTED"
    TIMEOUT = "TIMEOUT"
    TLS_FAILED = "TLS_FAILED"
    NOT_A_DATABASE = "NOT_A_DATABASE"
    AUTHENTICATION_FAILED = "AUTHENTICATION_FAILED"
    ACCESS_NOT_ALLOWED = "ACCESS_NOT_ALLOWED"
    DATABASE_NOT_FOUND = "DATABASE_NOT_FOUND"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    TOO_MANY_CONNECTIONS = "TOO_MANY_CONNECTIONS"
    NOT_ACCEPTING_CONNECTIONS = "NOT_ACCEPTING_CONNECTIONS"
    RESULT_TOO_LARGE = "RESULT_TOO_LARGE"
    READ_FAILED = "READ_FAILED"


_MESSAGES: Mapping[FailureCode, tuple[Step, bool, str]] = {
    FailureCode.URL_NOT_ALLOWED: (Step.CONNECT, False, "This installation may not contact that address."),
    FailureCode.HOST_NOT_FOUND: (
        Step.CONNECT,
        True,
        "The host name cannot be resolved. Check its spelling and the DNS.",
    ),
    FailureCode.HOST_UNREACHABLE: (
        Step.CONNECT,
        True,
        "No route leads to the host. Check the address and the network.",
    ),
    FailureCode.CONNECTION_REFUSED: (
        Step.CONNECT,
        True,
        "The host refuses connections on this port. Check the port and that the server runs.",
    ),
    FailureCode.CONNECTION_LOST: (Step.CONNECT, True, "The server ended the connection before it was of use."),
    FailureCode.CONNECTION_REJECTED: (
        Step.AUTHENTICATE,
        True,
        "The server answered and refused the connection. Its own log says why.",
    ),
    FailureCode.TIMEOUT: (
        Step.CONNECT,
        True,
        "The server did not answer in time. Check the address, firewalls and its load.",
    ),
    FailureCode.TLS_FAILED: (
        Step.CONNECT,
        False,
        "No encrypted connection as asked for. Check ssl_mode, the server's certificate and the CA.",
    ),
    FailureCode.NOT_A_DATABASE: (
        Step.CONNECT,
        False,
        "Something answers there, and it is not PostgreSQL. Check the port.",
    ),
    FailureCode.AUTHENTICATION_FAILED: (Step.AUTHENTICATE, False, "The server refused the user name or the password."),
    FailureCode.ACCESS_NOT_ALLOWED: (
        Step.AUTHENTICATE,
        False,
        "The server lets no such connection in: its pg_hba.conf has no line for this user, database and address.",
    ),
    FailureCode.DATABASE_NOT_FOUND: (Step.DATABASE, False, "The server has no database of that name."),
    FailureCode.PERMISSION_DENIED: (Step.DATABASE, False, "The role lacks a privilege that is needed to look."),
    FailureCode.TOO_MANY_CONNECTIONS: (
        Step.DATABASE,
        True,
        "The server, the database or the role has no connection left.",
    ),
    FailureCode.NOT_ACCEPTING_CONNECTIONS: (
        Step.CONNECT,
        True,
        "The server is starting, stopping or recovering and takes no connections now.",
    ),
    FailureCode.RESULT_TOO_LARGE: (Step.READ, False, "The server answered with more than is ever read at once."),
    FailureCode.READ_FAILED: (Step.READ, True, "The server could not be read."),
}
"""Each code's usual step, whether trying again may help, and its sentence."""

_BY_SQLSTATE: Mapping[str, FailureCode] = {
    "28P01": FailureCode.AUTHENTICATION_FAILED,
    "28000": FailureCode.ACCESS_NOT_ALLOWED,
    "3D000": FailureCode.DATABASE_NOT_FOUND,
    "42501": FailureCode.PERMISSION_DENIED,
    "53300": FailureCode.TOO_MANY_CONNECTIONS,
    "55P03": FailureCode.TIMEOUT,
    "57014": FailureCode.TIMEOUT,
    "57P01": FailureCode.CONNECTION_LOST,
    "57P02": FailureCode.CONNECTION_LOST,
    "57P03": FailureCode.NOT_ACCEPTING_CONNECTIONS,
    "57P05": FailureCode.CONNECTION_LOST,
}

_PHRASES: tuple[tuple[str, FailureCode], ...] = (
    ("password authentication failed", FailureCode.AUTHENTICATION_FAILED),
    ("no password supplied", FailureCode.AUTHENTICATION_FAILED),
    ("no pg_hba.conf entry", FailureCode.ACCESS_NOT_ALLOWED),
    ("pg_hba.conf rejects", FailureCode.ACCESS_NOT_ALLOWED),
    ("is not permitted to log in", FailureCode.ACCESS_NOT_ALLOWED),
    ("permission denied for database", FailureCode.PERMISSION_DENIED),
    ("is not currently accepting connections", FailureCode.NOT_ACCEPTING_CONNECTIONS),
    ("too many connections", FailureCode.TOO_MANY_CONNECTIONS),
    ("too many clients", FailureCode.TOO_MANY_CONNECTIONS),
    ("connection slots are reserved", FailureCode.TOO_MANY_CONNECTIONS),
    ("the database system is", FailureCode.NOT_ACCEPTING_CONNECTIONS),
    ("authentication failed", FailureCode.AUTHENTICATION_FAILED),
    ("connection refused", FailureCode.CONNECTION_REFUSED),
    ("no route to host", FailureCode.HOST_UNREACHABLE),
    ("network is unreachable", FailureCode.HOST_UNREACHABLE),
    ("timeout expired", FailureCode.TIMEOUT),
    ("timed out", FailureCode.TIMEOUT),
    ("invalid response to ssl negotiation", FailureCode.NOT_A_DATABASE),
    ("expected authentication request", FailureCode.NOT_A_DATABASE),
    ("invalid authentication request", FailureCode.NOT_A_DATABASE),
    ("unsupported frontend protocol", FailureCode.NOT_A_DATABASE),
    ("ssl", FailureCode.TLS_FAILED),
    ("certificate", FailureCode.TLS_FAILED),
    ("server closed the connection", FailureCode.CONNECTION_LOST),
    ("connection reset", FailureCode.CONNECTION_LOST),
    ("broken pipe", FailureCode.CONNECTION_LOST),
)
"""Read from the first on: what is more telling stands first."""


class DatabaseFailure(Unavailable):
    """A database could not be read. `code` is a FailureCode, `message` ours; `step` is where it happened."""

    def __init__(self, code: FailureCode, step: Step | None = None) -> None:
        usual_step, retryable, message = _MESSAGES[code]
        super().__init__(message, code=code)
        self.failure_code = code
        self.step = step or usual_step
        self.retryable = retryable


def failure_of_sqlstate(sqlstate: str | None) -> DatabaseFailure:
    """What a failed read means."""
    code = _BY_SQLSTATE.get(sqlstate or "")
    if code is None and (sqlstate is None or sqlstate.startswith("08")):
        code = FailureCode.CONNECTION_LOST
    return DatabaseFailure(code or FailureCode.READ_FAILED, Step.READ)


def failure_of_connecting(text: str, database_name: str) -> DatabaseFailure:
    """What a failed connection means. `text` is libpq's; names inside it do not lead astray: they are cut out first."""
    spoken = text.casefold()
    refused = spoken.find("fatal:") >= 0 or spoken.find(" failed: ") >= 0
    if f'database "{database_name[:63]}" does not exist'.casefold() in spoken:
        return DatabaseFailure(FailureCode.DATABASE_NOT_FOUND)
    plain = _without_names(spoken)
    for phrase, code in _PHRASES:
        if phrase in plain:
            return DatabaseFailure(code)
    return DatabaseFailure(FailureCode.CONNECTION_REJECTED if refused else FailureCode.CONNECTION_LOST)


def _without_names(text: str) -> str:
    """Drops what stands between double quotes: names of users, databases and hosts may hold any phrase."""
    return "".join(text.split('"')[::2])
