"""Messages of a database that does not let the connector in, or is not there.

Sources: the PostgreSQL and MySQL manuals' error lists, the JDBC drivers of both, PgBouncer.
"""

from chalicelib.domain.diagnosis.diagnoses import Diagnosis, Rules

ACCESS_RULES: Rules = (
    # Authentication.
    (Diagnosis.AUTH_LOCKED, "account is locked", "your password has expired", "password of your account has expired"),
    (
        Diagnosis.AUTH,
        *("authentication failed for user", "password authentication failed", "access denied for user"),
        *("public key retrieval is not allowed", "scram-based authentication, but", 'role "" does not exist'),
        *('role "" is not permitted to log in', "failed to authenticate to the database", "tenant or user not found"),
    ),
    (
        Diagnosis.AUTH_HOST,
        *("no pg_hba.conf entry", "pg_hba.conf rejects connection", "is not allowed to connect to this m"),
    ),
    (Diagnosis.AUTH_TLS, "require_secure_transport", "insecure transport are prohibited", "ssl connection is required"),
    (
        Diagnosis.AUTH_METHOD,
        *("does not support authentication protocol", "unable to load authentication plugin"),
        *("the authentication type…is not supported", "authentication method unknown to the client"),
        "authentication plugin…cannot be loaded",
    ),
    # Availability of the server.
    (
        Diagnosis.TOO_MANY,
        *("too many clients", "too many connections", "remaining connection slots are reserved"),
        *("max clients reached", "no more connections allowed", "query_wait_timeout", "already has more than '"),
        "has exceeded the '",
    ),
    (Diagnosis.HOST_BLOCKED, "is blocked because of many connection errors"),
    (
        Diagnosis.POOLER,
        *("unsupported startup parameter", "not a valid replication connection", "support streaming replication"),
    ),
    (Diagnosis.TIME_ZONE, "the server time zone value", "unknown or incorrect time zone"),
    (
        Diagnosis.GOING_DOWN,
        *("terminating connection due to", "the database system is starting up"),
        *("the database system is shutting down", "the database system is in recovery mode"),
        *("the database system is not yet accepting connections", "server shutdown in progress"),
        *("the database system is not accepting connections", "is not currently accepting connections"),
        "connection was killed",
    ),
    (Diagnosis.NO_DATABASE, 'database "" does not exist', "unknown database '"),
    (
        Diagnosis.TLS,
        *("pkix path", "certpathvalidatorexception", "certificateexception", "sslhandshakeexception"),
        *("the server does not support ssl", "could not open ssl root certificate"),
        "could not be verified by hostnameverifier",
    ),
    (Diagnosis.HOST_NAME, "unknownhostexception", "unresolvedaddressexception", "name or service not known"),
)
