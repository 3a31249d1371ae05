"""Converts failures of PostgreSQL to ours: by the SQLSTATE of the server, or by the text of libpq for a connection.

libpq gives only text for a refused connection, no SQLSTATE (psycopg 3.3). The text is matched and never passed on. The
part of libpq is English; that of the server may be in any language, and then the failure is `CONNECTION_REJECTED`.
SQLSTATEs: PostgreSQL documentation, appendix A.
"""

from collections.abc import Mapping

from chalicelib.clients.databases.errors import (
    CERTIFICATE_REFUSED,
    NO_TLS_OFFERED,
    ConnectionStep,
    DatabaseFailure,
    FailureCode,
)

_MESSAGES: Mapping[FailureCode, str] = {
    FailureCode.NOT_A_DATABASE: "Something answers there, and it is not PostgreSQL. Check the port.",
    FailureCode.AUTHENTICATION_FAILED: (
        "The server refused the user name or the password. It says the same where the password has expired (VALID "
        "UNTIL of the role)."
    ),
    FailureCode.ACCESS_NOT_ALLOWED: (
        "The server lets no such connection in: its pg_hba.conf has no line for this user, database and address."
    ),
    FailureCode.AUTHENTICATION_NOT_SAFE: (
        "The server does not ask for the password by SCRAM (its pg_hba.conf has another method for this connection, "
        "such as password, md5, trust or cert), and Headgate gives it in no other way, whatever the ssl_mode. Set "
        "password_encryption = scram-sha-256, then set the password of this user again, and give its line in "
        "pg_hba.conf the method scram-sha-256."
    ),
}
"""Sentences that are better than those for any database."""

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
    ("authentication method requirement", FailureCode.AUTHENTICATION_NOT_SAFE),
    ("requires a valid client certificate", FailureCode.AUTHENTICATION_NOT_SAFE),
    ("password authentication failed", FailureCode.AUTHENTICATION_FAILED),
    ("no password supplied", FailureCode.AUTHENTICATION_FAILED),
    ("no pg_hba.conf entry", FailureCode.ACCESS_NOT_ALLOWED),
    ("pg_hba.conf rejects", FailureCode.ACCESS_NOT_ALLOWED),
    ("is not permitted to log in", FailureCode.ACCESS_NOT_ALLOWED),
    ("permission denied for database", FailureCode.PERMISSION_DENIED),
    ("to start walsender", FailureCode.PERMISSION_DENIED),
    ("permission denied to start wal sender", FailureCode.PERMISSION_DENIED),
    ("requested standby connections", FailureCode.TOO_MANY_CONNECTIONS),
    ("unsupported startup parameter", FailureCode.REPLICATION_NOT_SUPPORTED),
    ("support streaming replication", FailureCode.REPLICATION_NOT_SUPPORTED),
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
    ("does not support ssl", FailureCode.TLS_FAILED),
    ("certificate verify failed", FailureCode.TLS_FAILED),
    ("does not match host name", FailureCode.TLS_FAILED),
    ("ssl", FailureCode.TLS_FAILED),
    ("certificate", FailureCode.TLS_FAILED),
    ("server closed the connection", FailureCode.CONNECTION_LOST),
    ("connection reset", FailureCode.CONNECTION_LOST),
    ("broken pipe", FailureCode.CONNECTION_LOST),
)
"""The first phrase in the text decides, so more specific ones come first."""

_PHRASE_MESSAGES: Mapping[str, str] = {
    "is not permitted to log in": "The role may not log in. ALTER ROLE ... LOGIN; lets it in.",
    "permission denied for database": (
        "The role may not connect to this database. GRANT CONNECT ON DATABASE ... TO ...; lets it in."
    ),
    "does not support ssl": NO_TLS_OFFERED,
    "certificate verify failed": CERTIFICATE_REFUSED,
    "does not match host name": CERTIFICATE_REFUSED,
}
"""Sentences that are better than that of the code."""


def failure(code: FailureCode, step: ConnectionStep | None = None) -> DatabaseFailure:
    """A failure with the sentence for PostgreSQL, where there is one."""
    return DatabaseFailure(code, step, _MESSAGES.get(code))


def failure_of_sqlstate(sqlstate: str | None) -> DatabaseFailure:
    code = _BY_SQLSTATE.get(sqlstate or "")
    if code is None and (sqlstate is None or sqlstate.startswith("08")):
        code = FailureCode.CONNECTION_LOST
    return failure(code or FailureCode.READ_FAILED, ConnectionStep.READ)


def failure_of_connecting(text: str, database_name: str) -> DatabaseFailure:
    """The failure of a connection. `text` is that of libpq."""
    lower = text.casefold()
    if f'database "{database_name[:63]}" does not exist'.casefold() in lower:
        return failure(FailureCode.DATABASE_NOT_FOUND)
    # Names of users, roles and databases stand in quotes, and may contain one of the phrases.
    unquoted = "".join(lower.split('"')[::2])
    for phrase, code in _PHRASES:
        if phrase in unquoted:
            return DatabaseFailure(code, message=_PHRASE_MESSAGES.get(phrase) or _MESSAGES.get(code))
    # The server answered and refused, perhaps in another language than English.
    refused = "fatal:" in lower or " failed: " in lower
    return failure(FailureCode.CONNECTION_REJECTED if refused else FailureCode.CONNECTION_LOST)
