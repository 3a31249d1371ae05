"""The classifier's tables: what Debezium, PostgreSQL, MySQL and the sinks say, and which meaning that has.

Phrases are lower case; names and values between quotes are gone before they are searched (`""` or `'` is left), and an
ellipsis stands for anything on the same line. Order matters: the more particular rule stands first.
Sources: the PostgreSQL and MySQL manuals' error lists, Debezium 3.6 and Kafka Connect 4.3.
"""

from collections.abc import Mapping

from chalicelib.domain.classify import diagnoses as means
from chalicelib.domain.classify.diagnoses import Rule

SQLSTATES: Mapping[str, Rule] = {
    "08": means.CONNECTION,
    "22": means.VALUE,
    "23502": means.CONSTRAINT,
    "23503": means.CONSTRAINT,
    "23505": means.DUPLICATE,
    "23514": means.CONSTRAINT,
    "23p01": means.CONSTRAINT,
    "25006": means.READ_ONLY,
    "28p01": means.AUTH,
    "3d000": means.NO_DATABASE,
    "40001": means.DEADLOCK,
    "40p01": means.DEADLOCK,
    "42501": means.PERMISSION,
    "42703": means.TABLE_GONE,
    "42704": {**means.SLOT_GONE, **means.NO_TARGET_TYPE},
    "42804": means.TYPE_MISMATCH,
    "42p01": means.TABLE_GONE,
    "42p10": means.NO_KEY,
    "42s02": means.TABLE_GONE,
    "42s22": means.TABLE_GONE,
    "53100": means.DISK_FULL,
    "55006": means.SLOT_BUSY,
    "57p01": means.GOING_DOWN,
    "57p03": means.GOING_DOWN,
    "58p01": means.WAL_GONE,
}
"""SQLSTATE, whole or its class (two characters), in lower case. Codes with several meanings are left to the wording."""

RULES: tuple[tuple[Rule, tuple[str, ...]], ...] = (
    # Headgate's own secret provider.
    (means.SECRET, ("headgate gave no answer for secret", "headgate refused this worker", "headgate has no secret")),
    (
        means.SECRET,
        ("was answered for secret", "the answer for secret", "headgate secret provider", "headgate reference"),
    ),
    # The binary log, before the write-ahead log, because one phrase is shared.
    (
        means.BINLOG_GONE,
        (
            "could not find first log file name in binary log index",
            "purged required binary logs",
            "purged binary logs containing gtids",
            "binlog starting at…no longer available on the server",
            "binlog file…not found",
        ),
    ),
    (means.BINLOG_SERVER_ID, ("same server_uuid/server_id",)),
    ({**means.BINLOG_PACKET, **means.VALUE}, ("max_allowed_packet",)),
    (means.BINLOG_GONE, ("error code: 1236",)),
    (
        means.BINLOG_FORMAT,
        (
            "not configured to use a row binlog_format",
            "full binlog_row_image",
            "statement or mixed based replication format",
        ),
    ),
    (means.BINLOG_HISTORY, ("history topic is missing", "fully or partially missing", "history topic…missing")),
    (means.BINLOG_SCHEMA, ("schema isn't known to this connector", "internal schema size")),
    (means.BINLOG_OFF, ("not configured to use binary log", "binary logging is not enabled", "error code: 1373")),
    # Replication slots and publications.
    (means.SLOT_BUSY, ("is active for pid",)),
    (means.SLOT_EXISTS, ('replication slot "" already exists',)),
    (means.SLOTS_FULL, ("all replication slots are in use", "increase max_replication_slots")),
    (means.SLOT_GONE, ('replication slot "" does not exist', '"" was not created in this database')),
    (
        means.SLOT_LOST,
        (
            "can no longer get changes from replication slot",
            "can no longer access replication slot",
            "cannot read from logical replication slot",
            "wal_status…lost",
            "slot has been invalidated",
        ),
    ),
    (
        means.PUBLICATION,
        (
            'publication "" does not exist',
            "publication autocreation is disabled",
            "publication…can not be altered",
            "no table filters found for filtered",
        ),
    ),
    # Permissions, before the general slot phrases that wrap them.
    (
        means.REPLICATION_RIGHT,
        (
            "permission denied to start wal sender",
            "permission denied to use replication slots",
            "permission denied to create replication slot",
            "must be superuser or replication role",
            "must be superuser or have the replication",
            "login and replication are not assigned",
        ),
    ),
    (
        means.FILTERED_RIGHT,
        (
            "unable to create filtered publication",
            "permission denied to create publication",
            "must be superuser to create for all tables",
            "must be owner of table",
            "must be owner of relation",
            "must be owner of publication",
        ),
    ),
    (means.LOCK_RIGHT, ("' privilege required to obtain a consistent snapshot",)),
    (
        means.PERMISSION,
        (
            "permission denied for ",
            "must be owner of ",
            "you need (at least one of) the…privilege",
            "command denied to user",
            "access denied for user…to database",
        ),
    ),
    # The write-ahead log.
    (
        means.WAL_LEVEL,
        (
            "logical decoding requires wal_level",
            'logical decoding requires "" >=',
            "wal_level property must be",
            "insufficient wal_level",
        ),
    ),
    (
        means.WAL_GONE,
        (
            "requested wal segment…has already been removed",
            "has been removed from the database write-ahead log",
            "cannot seek to the last known offset",
            "but this is no longer available on the server",
        ),
    ),
    (means.WAL_SENDERS, ("max_wal_senders", "number of requested standby connections exceeds")),
    (
        means.WAL_STANDBY,
        (
            "logical decoding cannot be used while in recovery",
            "logical decoding on standby requires",
            "cannot be used on ro (read only) node",
            "create the replication slot from the writer node",
        ),
    ),
    (means.WAL_DECODING, ("reorderbuffer spill file", "invalid memory alloc request size")),
    # Who may come in.
    (
        means.AUTH,
        (
            "password authentication failed",
            "access denied for user",
            "public key retrieval is not allowed",
            "scram-based authentication, but",
            'role "" does not exist',
            'role "" is not permitted to log in',
        ),
    ),
    (means.AUTH_HOST, ("no pg_hba.conf entry", "pg_hba.conf rejects connection")),
    (means.AUTH_TLS, ("require_secure_transport",)),
    (
        means.ACCESS_KEY,
        ("invalidaccesskeyid", "signaturedoesnotmatch", "expiredtoken", "error code: accessdenied", "status code: 403"),
    ),
    # Whether the server is there.
    (means.TOO_MANY, ("too many clients", "too many connections", "remaining connection slots are reserved")),
    (
        means.GOING_DOWN,
        (
            "terminating connection due to",
            "the database system is starting up",
            "the database system is shutting down",
            "the database system is in recovery mode",
            "the database system is not yet accepting connections",
            "server shutdown in progress",
        ),
    ),
    (means.NO_DATABASE, ('database "" does not exist', "unknown database '")),
    (
        means.TLS,
        (
            "pkix path",
            "certpathvalidatorexception",
            "certificateexception",
            "sslhandshakeexception",
            "the server does not support ssl",
            "could not open ssl root certificate",
        ),
    ),
    (means.HOST_NAME, ("unknownhostexception", "unresolvedaddressexception", "name or service not known")),
    # What the destination's schema says.
    (means.NO_DEFAULT, ("not optional but has no default",)),
    (
        means.NO_EVOLUTION,
        ("schema evolution is disabled", "failed to find column", "cannot create table"),
    ),
    (
        means.TABLE_GONE,
        (
            'relation "" does not exist',
            'column "" does not exist',
            'column "" of relation "" does not exist',
            'schema "" does not exist',
            "table ' doesn't exist",
            "unknown column '",
        ),
    ),
    (means.TARGET_MISSING, ("could not find table", "failed to find table")),
    (means.NO_TARGET_TYPE, ('type "" does not exist',)),
    (
        means.TYPE_MISMATCH,
        ("is of type…but expression is of type", "cannot be cast automatically", "invalid input syntax for"),
    ),
    (
        means.NO_KEY,
        ("no key fields defined", "no unique or exclusion constraint matching", "primary key mode", "primary.key.mode"),
    ),
    (means.NO_SCHEMA, ("null schema", "schemas.enable requires")),
    (
        means.WRONG_FORMAT,
        ("unknown magic byte", "converting byte[] to kafka connect data failed", "unrecognized token"),
    ),
    (means.BAD_TARGET_NAME, ("unexpected input",)),
    # What happens to rows.
    (means.DUPLICATE, ("duplicate key value violates", "duplicate entry '")),
    (
        means.CONSTRAINT,
        (
            "violates not-null constraint",
            "violates check constraint",
            "violates foreign key constraint",
            "violates exclusion constraint",
            "a foreign key constraint fails",
            "column ' cannot be null",
        ),
    ),
    (
        means.VALUE,
        (
            "value too long for type",
            "data too long for column",
            "out of range",
            "numeric field overflow",
            "data truncation",
            "invalid byte sequence for encoding",
        ),
    ),
    (
        means.DEADLOCK,
        ("deadlock detected", "deadlock found", "could not serialize access", "lock wait timeout exceeded"),
    ),
    (means.READ_ONLY, ("read-only transaction", "read-only mode", "--read-only option")),
    (means.BUCKET, ("nosuchbucket", "the specified bucket does not exist")),
    (means.SLOW_DOWN, ("slowdown", "please reduce your request rate")),
    # What befalls the worker itself.
    (means.DISK_FULL, ("no space left on device", "disk full")),
    (means.MEMORY, ("outofmemoryerror", "java heap space")),
    (means.ROW_TOO_LARGE, ("recordtoolargeexception", "larger than…max.request.size", "message was too large")),
    (means.SNAPSHOT_CUT, ("previously stopped while taking a snapshot",)),
    (means.COLUMN_TWICE, ("multiple entries with same key", "duplicate column name", "field names must be unique")),
    (
        means.BROKER,
        (
            "not present in metadata after",
            "failed to update metadata",
            "topicauthorizationexception",
            "notenoughreplicas",
        ),
    ),
    # The network comes late: other messages wrap it.
    (
        means.CONNECTION,
        (
            "connection refused",
            "connection to…refused",
            "communications link failure",
            "connect timed out",
            "read timed out",
            "connection reset",
            "connection attempt failed",
            "connection attempt timed out",
            "broken pipe",
            "no route to host",
            "network is unreachable",
            "host is unreachable",
            "i/o error occurred while sending to the backend",
            "connection has been closed",
            "connection validation timed out",
            "couldn't obtain encoding for database",
            "database connection failed when",
            "could not create connection to database server",
            "unable to acquire jdbc connection",
            "unable to obtain connection",
        ),
    ),
    # All that Hibernate says when the JDBC sink could not connect at its start, for whatever reason.
    (means.NO_SINK_CONNECTION, ("unable to determine dialect without jdbc metadata",)),
    (
        means.SLOT_FAILED,
        (
            "creation of replication slot failed",
            "unable to obtain valid replication slot",
            "failed to start replication stream",
        ),
    ),
    (means.RETRIES, ("exceeded max retries",)),
)
"""What is meant, and phrases that say so, searched from top to bottom; the first that holds for the role decides."""
