"""Failures of databases of any kind: stable codes, each with a sentence for people."""

from collections.abc import Mapping
from enum import StrEnum

from chalicelib.errors import Unavailable


class ConnectionStep(StrEnum):
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
    SERVER_NOT_SUPPORTED = "SERVER_NOT_SUPPORTED"
    AUTHENTICATION_FAILED = "AUTHENTICATION_FAILED"
    AUTHENTICATION_NOT_SAFE = "AUTHENTICATION_NOT_SAFE"
    ACCESS_NOT_ALLOWED = "ACCESS_NOT_ALLOWED"
    DATABASE_NOT_FOUND = "DATABASE_NOT_FOUND"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    TOO_MANY_CONNECTIONS = "TOO_MANY_CONNECTIONS"
    NOT_ACCEPTING_CONNECTIONS = "NOT_ACCEPTING_CONNECTIONS"
    REPLICATION_NOT_SUPPORTED = "REPLICATION_NOT_SUPPORTED"
    RESULT_TOO_LARGE = "RESULT_TOO_LARGE"
    READ_FAILED = "READ_FAILED"


NO_TLS_OFFERED = (
    "The server answers, but offers no TLS. Turn TLS on there, or set ssl_mode to disable or prefer: then the "
    "connection is not encrypted."
)
CERTIFICATE_REFUSED = (
    "The server answers, but its certificate is not accepted: it is for another host name, not valid now, or not "
    "signed by the CA that is trusted for it. Check the host, the CA (ca_certificate) and ssl_mode."
)
"""Sentences that are better than that of `TLS_FAILED`, where a driver tells the one from the other."""

_MESSAGES: Mapping[ConnectionStep, Mapping[FailureCode, str]] = {
    ConnectionStep.CONNECT: {
        FailureCode.URL_NOT_ALLOWED: "This installation may not contact that address.",
        FailureCode.HOST_NOT_FOUND: "The host name cannot be resolved. Check its spelling and the DNS.",
        FailureCode.HOST_UNREACHABLE: "No route leads to the host. Check the address and the network.",
        FailureCode.CONNECTION_REFUSED: (
            "The host refuses connections on this port. Check the port and that the server runs."
        ),
        FailureCode.CONNECTION_LOST: "The server ended the connection before it was of use.",
        FailureCode.TIMEOUT: "The server did not answer in time. Check the address, firewalls and its load.",
        FailureCode.TLS_FAILED: (
            "No encrypted connection as asked for. Check ssl_mode, the server's certificate and the CA."
        ),
        FailureCode.NOT_A_DATABASE: "Something answers there, and it is not a database of this kind. Check the port.",
        FailureCode.SERVER_NOT_SUPPORTED: "The server is of a kind that Headgate does not support.",
        FailureCode.NOT_ACCEPTING_CONNECTIONS: (
            "The server is starting, stopping or recovering and takes no connections now."
        ),
        FailureCode.REPLICATION_NOT_SUPPORTED: (
            "What answers there takes no replication connections: a pooler or proxy stands before the server."
        ),
    },
    ConnectionStep.AUTHENTICATE: {
        FailureCode.CONNECTION_REJECTED: "The server answered and refused the connection. Its own log says why.",
        FailureCode.AUTHENTICATION_FAILED: "The server refused the user name or the password.",
        FailureCode.AUTHENTICATION_NOT_SAFE: "The server asks for the password in a way that does not keep it secret.",
        FailureCode.ACCESS_NOT_ALLOWED: "The server does not allow this user to connect from this address.",
    },
    ConnectionStep.DATABASE: {
        FailureCode.DATABASE_NOT_FOUND: "The server has no database of that name.",
        FailureCode.PERMISSION_DENIED: "The role lacks a privilege that is needed to look.",
        FailureCode.TOO_MANY_CONNECTIONS: "The server, the database or the role has no connection left.",
    },
    ConnectionStep.READ: {
        FailureCode.RESULT_TOO_LARGE: "The server answered with more than is ever read at once.",
        FailureCode.READ_FAILED: "The server could not be read.",
    },
}
"""By the usual step of each code."""


class DatabaseFailure(Unavailable):
    """A database could not be read. `step` is the failed step, by default the usual one of the code.

    `message` replaces the sentence of the code where one kind of database has a better one.
    """

    def __init__(self, code: FailureCode, step: ConnectionStep | None = None, message: str | None = None) -> None:
        usual_step = next(step for step, messages in _MESSAGES.items() if code in messages)
        super().__init__(message or _MESSAGES[usual_step][code], code=code)
        self.failure_code = code
        self.step = step or usual_step
