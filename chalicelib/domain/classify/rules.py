"""The classifier's phrases: messages of Debezium, PostgreSQL, MySQL and the sinks, and the diagnosis for each.

Phrases are lower case; names and values between quotes are removed before the search (`""` or `'` stays), and an
ellipsis matches anything on the same line. Order matters: the more specific rule comes first.
Sources: the PostgreSQL and MySQL manuals' error lists, Debezium 3.6 and Kafka Connect 4.3.
"""

from chalicelib.domain.classify import diagnoses
from chalicelib.domain.classify.diagnoses import Diagnosis
from chalicelib.domain.classify.store_rules import LATE_STORE_RULES, STORE_RULES

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
    # A definition that cannot be read is quoted over many lines; nothing in it counts.
    (diagnoses.DEFINITION, "ddl statement couldn't be parsed"),
    # The binary log, before the write-ahead log, because one phrase is shared.
    (
        diagnoses.BINLOG_GONE,
        *("could not find first log file name in binary log index", "purged required binary logs"),
        *("purged binary logs containing gtids", "binlog starting at…no longer available on the server"),
        *("binlog file…not found", "trying to read binlog starting at", "change stream starting at sourceinfo"),
        *("change stream starting at mysqloffsetcontext", "change stream starting at mariadboffsetcontext"),
        *("has purged binary logs", "position > file size"),
    ),
    (diagnoses.BINLOG_SERVER_ID, "same server_uuid/server_id"),
    (
        diagnoses.PACKET,
        *("max_allowed_packet", "packet for query is too large", "got a packet bigger than"),
    ),
    (
        diagnoses.BINLOG_REFUSED,
        *("binlog truncated in the middle of event", "bogus data in log event", "master server_id is 0"),
        *("source server_id is 0", "could not open log file"),
    ),
    (
        diagnoses.BINLOG_FORMAT,
        "not configured to use a row binlog_format",
        "full binlog_row_image",
        "statement or mixed based replication format",
    ),
    (diagnoses.BINLOG_HISTORY, "history topic is missing", "fully or partially missing", "history topic…missing"),
    (diagnoses.BINLOG_HISTORY_SETUP, "error configuring an instance of kafkaschemahistory"),
    (
        diagnoses.BINLOG_SCHEMA,
        *("schema isn't known to this connector", "internal schema size", "internal schema representation is probably"),
    ),
    (
        diagnoses.BINLOG_OFF,
        *("not configured to use binary log", "binary logging is not enabled", "you are not using binary logging"),
        *("cannot read the binlog filename and position", "should support show binary log status but it failed"),
    ),
    (
        diagnoses.BINLOG_EVENT,
        *("eventdatadeserializationexception", "failed to deserialize data of eventheader"),
        "error while deserializing binlog data",
    ),
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
    (diagnoses.SLOT_PLUGIN, 'could not access file ""', "output plugin…does not exist"),
    # Permissions, before the general slot phrases that wrap them.
    (
        diagnoses.REPLICATION_RIGHT,
        *("permission denied to start wal sender", "permission denied to use replication slots"),
        *("permission denied to create replication slot", "must be superuser or replication role"),
        *("must be superuser or have the replication", "login and replication are not assigned"),
    ),
    (
        diagnoses.FILTERED_RIGHT,
        *("unable to create filtered publication", "unable to…filtered publication"),
        *("permission denied to create publication", "must be superuser to create for all tables"),
        *("must be owner of table", "must be owner of relation"),
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
    (diagnoses.AUTH_LOCKED, "account is locked", "your password has expired", "password of your account has expired"),
    (
        diagnoses.AUTH,
        *("password authentication failed", "access denied for user", "public key retrieval is not allowed"),
        *("scram-based authentication, but", 'role "" does not exist', 'role "" is not permitted to log in'),
        "failed to authenticate to the database",
    ),
    (
        diagnoses.AUTH_HOST,
        *("no pg_hba.conf entry", "pg_hba.conf rejects connection", "is not allowed to connect to this m"),
    ),
    (diagnoses.AUTH_TLS, "require_secure_transport", "insecure transport are prohibited", "ssl connection is required"),
    (
        diagnoses.AUTH_METHOD,
        *("does not support authentication protocol", "unable to load authentication plugin"),
        "the authentication type…is not supported",
    ),
    *STORE_RULES,
    # Availability of the server.
    (
        diagnoses.TOO_MANY,
        *("too many clients", "too many connections", "remaining connection slots are reserved"),
        *("max clients reached", "no more connections allowed", "active connections", "has exceeded the '"),
    ),
    (diagnoses.HOST_BLOCKED, "is blocked because of many connection errors"),
    (diagnoses.POOLER, "unsupported startup parameter", "not a valid replication connection"),
    (diagnoses.TIME_ZONE, "the server time zone value"),
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
        "could not be verified by hostnameverifier",
    ),
    (diagnoses.HOST_NAME, "unknownhostexception", "unresolvedaddressexception", "name or service not known"),
    # The destination's schema.
    (
        diagnoses.NO_DEFAULT,
        *("not optional but has no default", "not optional and does not have a default value"),
        "field is not optional and does not have",
    ),
    (
        diagnoses.NO_EVOLUTION,
        *("schema evolution is disabled", "failed to find column", "cannot create table", "auto-evolution is disabled"),
        *("auto-creation is disabled", "is missing fields"),
    ),
    (
        diagnoses.TABLE_GONE,
        *('relation "" does not exist', 'column "" does not exist', 'column "" of relation "" does not exist'),
        *('schema "" does not exist', "table ' doesn't exist", "unknown column '"),
        "unknown table '",
    ),
    (diagnoses.TARGET_MISSING, "could not find table", "failed to find table", "target table…does not exist"),
    (
        diagnoses.NO_TARGET_TYPE,
        *('type "" does not exist', "failed to resolve column type for schema"),
        "does not support schema type",
    ),
    (diagnoses.NO_TARGET_FUNCTION, "function…does not exist"),
    (diagnoses.NO_MAPPING, "type doesn't have a mapping to the sql", "no binder found for"),
    (
        diagnoses.GENERATED,
        *("cannot insert a non-default value into column", "can only be updated to default"),
        "value specified for generated column",
    ),
    (
        diagnoses.TOO_WIDE,
        *("specified key was too long", "row size too large", "key specification without a key length"),
    ),
    (diagnoses.NEEDS_KEY, "create or change a table without a primary key", "table type requires a primary key"),
    (diagnoses.NO_VALUE, "field ' doesn't have a default value"),
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
        *("primary key mode", "primary.key.mode", "pk mode for table", "requires records with a non-null key"),
        *("requires key field names to be known", "require primary keys to support delete"),
    ),
    (diagnoses.NO_SCHEMA, "null schema", "schemas.enable requires", "requires records with a non-null struct"),
    (diagnoses.VALUE_TOO_LONG, "streamconstraintsexception", "streamreadconstraints"),
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
        *("data truncation", "invalid byte sequence for encoding", "incorrect string value"),
        *("incorrect datetime value", "invalid value for nanoofday", "infinity values"),
    ),
    (
        diagnoses.LOCKED,
        *("deadlock detected", "deadlock found", "could not serialize access", "lock wait timeout exceeded"),
        "canceling statement due to lock timeout",
    ),
    (
        diagnoses.CANCELLED,
        *("canceling statement due to statement timeout", "maximum statement execution time exceeded"),
        "max_statement_time exceeded",
    ),
    (
        diagnoses.READ_ONLY,
        "read-only transaction",
        "read-only mode",
        "read-only option so it cannot",
        "--read-only option",
    ),
    # The Connect worker itself.
    (diagnoses.DISK_FULL, "no space left on device", "disk full", "the table ' is full"),
    (diagnoses.SERVER_MEMORY, "error: out of memory"),
    (diagnoses.MEMORY, "outofmemoryerror", "java heap space"),
    (diagnoses.ROW_TOO_LARGE, "recordtoolargeexception", "larger than…max.request.size", "message was too large"),
    (
        diagnoses.NOT_CONVERTED,
        *("failed to properly convert d", "failed to parse and read", "got a special value (nan/infinity)"),
    ),
    (diagnoses.SNAPSHOT_CUT, "previously stopped while taking a snapshot"),
    (
        diagnoses.COLUMN_TWICE,
        *("multiple entries with same key", "duplicate column name", "field names must be unique"),
        "has columns that differ only by case",
    ),
    (
        diagnoses.TOPIC_POLICY,
        *("policyviolationexception", "invalidreplicationfactorexception", "errors.invalidconfigurationexception"),
    ),
    (
        diagnoses.BROKER_DENIED,
        *("topicauthorizationexception", "groupauthorizationexception", "clusterauthorizationexception"),
        *("transactionalidauthorizationexception", "saslauthenticationexception", "sslauthenticationexception"),
    ),
    (
        diagnoses.BROKER,
        *("not present in metadata after", "failed to update metadata", "notenoughreplicas"),
        *("fetching topic metadata", "unknowntopicorpartitionexception", "before the position for partition"),
        *("no resolvable bootstrap urls", "failed to construct kafka", "before successfully committing offsets"),
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
        *("unable to acquire jdbc connection", "unable to obtain connection", "unable to obtain a jdbc connection"),
        *("database connection failed during", "could not create postgresql connection"),
        *("driver has not received any packets from the server", "when the connection failed"),
        *("connections could not be acquired", "connection is not available, request timed out"),
        *("no operations allowed after connection closed", "while waiting to connect to database"),
    ),
    *LATE_STORE_RULES,
    # Hibernate's message when the JDBC sink could not connect at its start, for any reason.
    (diagnoses.NO_SINK_CONNECTION, "unable to determine dialect without jdbc metadata"),
    (
        diagnoses.SLOT_FAILED,
        "creation of replication slot failed",
        "unable to obtain valid replication slot",
        *("failed to start replication stream", "no replication slot found"),
        "neither confirmed_flush_lsn nor restart_lsn",
    ),
    (diagnoses.RETRIES, "exceeded max retries"),
)
"""Phrases for each diagnosis, searched from top to bottom; the first that occurs, and concerns the role, decides."""
