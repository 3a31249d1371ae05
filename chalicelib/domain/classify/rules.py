"""The classifier's tables: messages of Debezium, PostgreSQL, MySQL and the sinks, and the diagnosis for each.

Phrases are lower case; names and values between quotes are removed before the search (`""` or `'` stays), and an
ellipsis matches anything on the same line. Order matters: the more specific rule comes first.
Sources: the PostgreSQL and MySQL manuals' error lists, Debezium 3.6 and Kafka Connect 4.3.
"""

from collections.abc import Mapping

from chalicelib.domain.classify import diagnoses
from chalicelib.domain.classify.diagnoses import Diagnosis

SQLSTATES: Mapping[str, Diagnosis] = {
    "08": diagnoses.CONNECTION,
    "22": diagnoses.VALUE,
    "23502": diagnoses.CONSTRAINT,
    "23503": diagnoses.CONSTRAINT,
    "23505": diagnoses.DUPLICATE,
    "23514": diagnoses.CONSTRAINT,
    "23p01": diagnoses.CONSTRAINT,
    "25006": diagnoses.READ_ONLY,
    "28p01": diagnoses.AUTH,
    "3d000": diagnoses.NO_DATABASE,
    "40001": diagnoses.DEADLOCK,
    "40p01": diagnoses.DEADLOCK,
    "42501": diagnoses.PERMISSION,
    "42703": diagnoses.TABLE_GONE,
    "42704": {**diagnoses.SLOT_GONE, **diagnoses.NO_TARGET_TYPE},
    "42804": diagnoses.TYPE_MISMATCH,
    "42p01": diagnoses.TABLE_GONE,
    "42p10": diagnoses.NO_KEY,
    "42s02": diagnoses.TABLE_GONE,
    "42s22": diagnoses.TABLE_GONE,
    "53100": diagnoses.DISK_FULL,
    "55006": diagnoses.SLOT_BUSY,
    "57p01": diagnoses.GOING_DOWN,
    "57p03": diagnoses.GOING_DOWN,
    "58p01": diagnoses.WAL_GONE,
}
"""SQLSTATE, whole or its class (two characters), in lower case. For codes with several meanings the wording decides."""

RULES: tuple[tuple[Diagnosis, *tuple[str, ...]], ...] = (
    # Headgate's own secret provider.
    (diagnoses.SECRET, "headgate gave no answer for secret", "headgate refused this worker", "headgate has no secret"),
    (
        diagnoses.SECRET,
        "was answered for secret",
        "the answer for secret",
        "headgate secret provider",
        "headgate reference",
    ),
    # The binary log, before the write-ahead log, because one phrase is shared.
    (
        diagnoses.BINLOG_GONE,
        *("could not find first log file name in binary log index", "purged required binary logs"),
        *("purged binary logs containing gtids", "binlog starting at…no longer available on the server"),
        "binlog file…not found",
    ),
    (diagnoses.BINLOG_SERVER_ID, "same server_uuid/server_id"),
    ({**diagnoses.BINLOG_PACKET, **diagnoses.VALUE}, "max_allowed_packet"),
    (diagnoses.BINLOG_GONE, "error code: 1236"),
    (
        diagnoses.BINLOG_FORMAT,
        "not configured to use a row binlog_format",
        "full binlog_row_image",
        "statement or mixed based replication format",
    ),
    (diagnoses.BINLOG_HISTORY, "history topic is missing", "fully or partially missing", "history topic…missing"),
    (diagnoses.BINLOG_SCHEMA, "schema isn't known to this connector", "internal schema size"),
    (diagnoses.BINLOG_OFF, "not configured to use binary log", "binary logging is not enabled", "error code: 1373"),
    # Replication slots and publications.
    (diagnoses.SLOT_BUSY, "is active for pid"),
    (diagnoses.SLOT_EXISTS, 'replication slot "" already exists'),
    (diagnoses.SLOTS_FULL, "all replication slots are in use", "increase max_replication_slots"),
    (diagnoses.SLOT_GONE, 'replication slot "" does not exist', '"" was not created in this database'),
    (
        diagnoses.SLOT_LOST,
        *("can no longer get changes from replication slot", "can no longer access replication slot"),
        *("cannot read from logical replication slot", "wal_status…lost", "slot has been invalidated"),
    ),
    (
        diagnoses.PUBLICATION,
        'publication "" does not exist',
        "publication autocreation is disabled",
        "publication…can not be altered",
        "no table filters found for filtered",
    ),
    # Permissions, before the general slot phrases that wrap them.
    (
        diagnoses.REPLICATION_RIGHT,
        *("permission denied to start wal sender", "permission denied to use replication slots"),
        *("permission denied to create replication slot", "must be superuser or replication role"),
        *("must be superuser or have the replication", "login and replication are not assigned"),
    ),
    (
        diagnoses.FILTERED_RIGHT,
        *("unable to create filtered publication", "permission denied to create publication"),
        *("must be superuser to create for all tables", "must be owner of table", "must be owner of relation"),
        "must be owner of publication",
    ),
    (diagnoses.LOCK_RIGHT, "' privilege required to obtain a consistent snapshot"),
    (
        diagnoses.PERMISSION,
        *("permission denied for ", "must be owner of ", "you need (at least one of) the…privilege"),
        *("command denied to user", "access denied for user…to database"),
    ),
    # The write-ahead log.
    (
        diagnoses.WAL_LEVEL,
        "logical decoding requires wal_level",
        'logical decoding requires "" >=',
        "wal_level property must be",
        "insufficient wal_level",
    ),
    (
        diagnoses.WAL_GONE,
        "requested wal segment…has already been removed",
        "has been removed from the database write-ahead log",
        "cannot seek to the last known offset",
        "but this is no longer available on the server",
    ),
    (diagnoses.WAL_SENDERS, "max_wal_senders", "number of requested standby connections exceeds"),
    (
        diagnoses.WAL_STANDBY,
        "logical decoding cannot be used while in recovery",
        "logical decoding on standby requires",
        "cannot be used on ro (read only) node",
        "create the replication slot from the writer node",
    ),
    (diagnoses.WAL_DECODING, "reorderbuffer spill file", "invalid memory alloc request size"),
    # Authentication.
    (
        diagnoses.AUTH,
        *("password authentication failed", "access denied for user", "public key retrieval is not allowed"),
        *("scram-based authentication, but", 'role "" does not exist', 'role "" is not permitted to log in'),
    ),
    (diagnoses.AUTH_HOST, "no pg_hba.conf entry", "pg_hba.conf rejects connection"),
    (diagnoses.AUTH_TLS, "require_secure_transport"),
    (
        diagnoses.ACCESS_KEY,
        *("invalidaccesskeyid", "signaturedoesnotmatch", "expiredtoken", "error code: accessdenied"),
        "status code: 403",
    ),
    # Availability of the server.
    (diagnoses.TOO_MANY, "too many clients", "too many connections", "remaining connection slots are reserved"),
    (
        diagnoses.GOING_DOWN,
        *("terminating connection due to", "the database system is starting up"),
        *("the database system is shutting down", "the database system is in recovery mode"),
        *("the database system is not yet accepting connections", "server shutdown in progress"),
    ),
    (diagnoses.NO_DATABASE, 'database "" does not exist', "unknown database '"),
    (
        diagnoses.TLS,
        *("pkix path", "certpathvalidatorexception", "certificateexception", "sslhandshakeexception"),
        *("the server does not support ssl", "could not open ssl root certificate"),
    ),
    (diagnoses.HOST_NAME, "unknownhostexception", "unresolvedaddressexception", "name or service not known"),
    # The destination's schema.
    (diagnoses.NO_DEFAULT, "not optional but has no default"),
    (diagnoses.NO_EVOLUTION, "schema evolution is disabled", "failed to find column", "cannot create table"),
    (
        diagnoses.TABLE_GONE,
        *('relation "" does not exist', 'column "" does not exist', 'column "" of relation "" does not exist'),
        *('schema "" does not exist', "table ' doesn't exist", "unknown column '"),
    ),
    (diagnoses.TARGET_MISSING, "could not find table", "failed to find table"),
    (diagnoses.NO_TARGET_TYPE, 'type "" does not exist'),
    (
        diagnoses.TYPE_MISMATCH,
        "is of type…but expression is of type",
        "cannot be cast automatically",
        "invalid input syntax for",
    ),
    (
        diagnoses.NO_KEY,
        "no key fields defined",
        "no unique or exclusion constraint matching",
        "primary key mode",
        "primary.key.mode",
    ),
    (diagnoses.NO_SCHEMA, "null schema", "schemas.enable requires"),
    (diagnoses.VALUE_TOO_LONG, "streamreadconstraints"),
    (
        diagnoses.WRONG_FORMAT,
        "unknown magic byte",
        "converting byte[] to kafka connect data failed",
        "unrecognized token",
    ),
    (diagnoses.BAD_TARGET_NAME, "unexpected input"),
    # Writing rows.
    (diagnoses.DUPLICATE, "duplicate key value violates", "duplicate entry '"),
    (
        diagnoses.CONSTRAINT,
        *("violates not-null constraint", "violates check constraint", "violates foreign key constraint"),
        *("violates exclusion constraint", "a foreign key constraint fails", "column ' cannot be null"),
    ),
    (
        diagnoses.VALUE,
        *("value too long for type", "data too long for column", "out of range", "numeric field overflow"),
        *("data truncation", "invalid byte sequence for encoding"),
    ),
    (
        diagnoses.DEADLOCK,
        "deadlock detected",
        "deadlock found",
        "could not serialize access",
        "lock wait timeout exceeded",
    ),
    (diagnoses.READ_ONLY, "read-only transaction", "read-only mode", "--read-only option"),
    (diagnoses.BUCKET, "nosuchbucket", "the specified bucket does not exist"),
    (diagnoses.SLOW_DOWN, "slowdown", "please reduce your request rate"),
    # The Connect worker itself.
    (diagnoses.DISK_FULL, "no space left on device", "disk full"),
    (diagnoses.MEMORY, "outofmemoryerror", "java heap space"),
    (diagnoses.ROW_TOO_LARGE, "recordtoolargeexception", "larger than…max.request.size", "message was too large"),
    (diagnoses.NOT_CONVERTED, "failed to properly convert data value for"),
    (diagnoses.SNAPSHOT_CUT, "previously stopped while taking a snapshot"),
    (diagnoses.COLUMN_TWICE, "multiple entries with same key", "duplicate column name", "field names must be unique"),
    (
        diagnoses.BROKER,
        "not present in metadata after",
        "failed to update metadata",
        "topicauthorizationexception",
        "notenoughreplicas",
    ),
    # The network, late because other messages wrap these.
    (
        diagnoses.CONNECTION,
        *("connection refused", "connection to…refused", "communications link failure", "connect timed out"),
        *("read timed out", "connection reset", "connection attempt failed", "connection attempt timed out"),
        *("broken pipe", "no route to host", "network is unreachable", "host is unreachable"),
        *("i/o error occurred while sending to the backend", "connection has been closed"),
        *("connection validation timed out", "couldn't obtain encoding for database"),
        *("database connection failed when", "could not create connection to database server"),
        *("unable to acquire jdbc connection", "unable to obtain connection"),
    ),
    # Hibernate's message when the JDBC sink could not connect at its start, for any reason.
    (diagnoses.NO_SINK_CONNECTION, "unable to determine dialect without jdbc metadata"),
    (
        diagnoses.SLOT_FAILED,
        "creation of replication slot failed",
        "unable to obtain valid replication slot",
        "failed to start replication stream",
    ),
    (diagnoses.RETRIES, "exceeded max retries"),
)
"""Phrases for each diagnosis, searched from top to bottom; the first that occurs, and concerns the role, decides."""
