"""What can go wrong with a database of any kind: stable codes of ours, each with a sentence for people."""

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
    """The codes that a connection test and `DatabaseFailure` report."""

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
        "Something answers there, and it is not a database of this kind. Check the port.",
    ),
    FailureCode.AUTHENTICATION_FAILED: (Step.AUTHENTICATE, False, "The server refused the user name or the password."),
    FailureCode.ACCESS_NOT_ALLOWED: (
        Step.AUTHENTICATE,
        False,
        "The server does not allow this user to connect from this address.",
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


class DatabaseFailure(Unavailable):
    """A database could not be read. `step` is where it happened.

    `message` takes the place of the code's sentence where one database kind can say more.
    """

    def __init__(self, code: FailureCode, step: Step | None = None, message: str | None = None) -> None:
        usual_step, retryable, usual_message = _MESSAGES[code]
        super().__init__(message or usual_message, code=code)
        self.failure_code = code
        self.step = step or usual_step
        self.retryable = retryable
