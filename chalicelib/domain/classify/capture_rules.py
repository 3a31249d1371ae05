"""Messages about reading a source: its logs, slots and rights, by PostgreSQL, MySQL, MariaDB and Debezium.

Sources: the manuals' error lists, PostgreSQL 18, Debezium 3.6.
"""

from chalicelib.domain.classify import diagnoses
from chalicelib.domain.classify.diagnoses import Rules

CAPTURE_RULES: Rules = (
    # Headgate's own secret provider.
    (diagnoses.SECRET, "headgate gave no answer for secret", "headgate refused this worker", "headgate has no secret"),
    (
        diagnoses.SECRET,
        *("was answered for secret", "the answer for secret", "headgate secret provider", "headgate reference"),
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
    (diagnoses.PACKET, "max_allowed_packet", "packet for query is too large", "got a packet bigger than"),
    (
        diagnoses.BINLOG_REFUSED,
        *("binlog truncated in the middle of event", "bogus data in log event", "master server_id is 0"),
        *("source server_id is 0", "could not open log file"),
    ),
    (
        diagnoses.BINLOG_FORMAT,
        *("not configured to use a row binlog_format", "full binlog_row_image"),
        "statement or mixed based replication format",
    ),
    (diagnoses.BINLOG_HISTORY, "history topic is missing", "fully or partially missing", "history topic…missing"),
    (diagnoses.BINLOG_ONE_TASK, "only a single connector task may be started"),
    (diagnoses.BINLOG_HISTORY_SETUP, "error configuring an instance of kafkaschemahistory"),
    (
        diagnoses.BINLOG_SCHEMA,
        *("schema isn't known to this connector", "internal schema size"),
        "internal schema representation is probably",
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
    (diagnoses.SLOT_BUSY, "is active for pid", 'replication slot "" is already active'),
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
        *('publication "" does not exist', "publication autocreation is disabled", "publication…can not be altered"),
        *("no table filters found for filtered", "cannot use different column lists for table"),
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
        *("must be owner of table", "must be owner of relation", "must be owner of publication"),
    ),
    (diagnoses.LOCK_RIGHT, "' privilege required to obtain a consistent snapshot"),
    (
        diagnoses.PERMISSION,
        *("permission denied for ", "must be owner of ", "you need (at least one of) the…privilege"),
        *("command denied to user", "access denied for user…to database", "violates row-level security policy"),
    ),
    # The write-ahead log.
    (
        diagnoses.WAL_LEVEL,
        *("logical decoding requires wal_level", 'logical decoding requires "" >=', "wal_level property must be"),
        "insufficient wal_level",
    ),
    (
        diagnoses.WAL_GONE,
        *("requested wal segment…has already been removed", "has been removed from the database write-ahead log"),
        *("cannot seek to the last known offset", "but this is no longer available on the server"),
    ),
    (diagnoses.WAL_SENDERS, "max_wal_senders", "number of requested standby connections exceeds"),
    (
        diagnoses.WAL_STANDBY,
        *("logical decoding cannot be used while in recovery", "logical decoding on standby requires"),
        *("cannot be used on ro (read only) node", "create the replication slot from the writer node"),
    ),
    (
        diagnoses.WAL_DECODING,
        *("reorderbuffer spill file", "invalid memory alloc request size", "could not map filenode"),
        *("missing contrecord", "logically-decoded data"),
    ),
)
