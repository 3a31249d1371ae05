"""Messages about reading a source: its logs, slots and rights, by PostgreSQL, MySQL, MariaDB and Debezium.

Sources: the manuals' error lists, PostgreSQL 18, Debezium 3.6.
"""

from chalicelib.domain.diagnosis.diagnoses import Diagnosis, Rules

CAPTURE_RULES: Rules = (
    # Headgate's own secret provider.
    (Diagnosis.SECRET, "headgate gave no answer for secret", "headgate refused this worker", "headgate has no secret"),
    (
        Diagnosis.SECRET,
        *("was answered for secret", "the answer for secret", "headgate secret provider", "headgate reference"),
    ),
    # A definition that cannot be read is quoted over many lines; nothing in it counts.
    (Diagnosis.DEFINITION, "ddl statement couldn't be parsed"),
    # The binary log, before the write-ahead log, because one phrase is shared.
    (
        Diagnosis.BINLOG_GONE,
        *("could not find first log file name in binary log index", "purged required binary logs"),
        *("purged binary logs containing gtids", "binlog starting at…no longer available on the server"),
        *("binlog file…not found", "trying to read binlog starting at", "change stream starting at sourceinfo"),
        *("change stream starting at mysqloffsetcontext", "change stream starting at mariadboffsetcontext"),
        "change stream starting at binlogoffsetcontext",
        *("has purged binary logs", "position > file size"),
    ),
    (Diagnosis.BINLOG_SERVER_ID, "same server_uuid/server_id"),
    (Diagnosis.PACKET, "max_allowed_packet", "packet for query is too large", "got a packet bigger than"),
    (
        Diagnosis.BINLOG_REFUSED,
        *("binlog truncated in the middle of event", "bogus data in log event", "master server_id is 0"),
        *("source server_id is 0", "could not open log file", "has more gtids than the"),
        *("cannot replicate anonymous transaction", "failed to replace gtid event"),
    ),
    (
        Diagnosis.BINLOG_FORMAT,
        *("not configured to use a row binlog_format", "full binlog_row_image"),
        *("statement or mixed based replication format", "received dml"),
    ),
    (Diagnosis.BINLOG_HISTORY, "history topic is missing", "fully or partially missing", "history topic…missing"),
    (Diagnosis.BINLOG_HISTORY_NAMES, "cannot compare binlog filenames"),
    (Diagnosis.BINLOG_GTIDS, "because this.gtidset"),
    (Diagnosis.BINLOG_ONE_TASK, "only a single connector task may be started"),
    (Diagnosis.BINLOG_HISTORY_SETUP, "error configuring an instance of kafkaschemahistory"),
    (
        Diagnosis.BINLOG_SCHEMA,
        *("schema isn't known to this connector", "internal schema size"),
        "internal schema representation is probably",
    ),
    (
        Diagnosis.BINLOG_OFF,
        *("not configured to use binary log", "binary logging is not enabled", "you are not using binary logging"),
        *("cannot read the binlog filename and position", "should support show binary log status but it failed"),
    ),
    (
        Diagnosis.BINLOG_EVENT,
        *("eventdatadeserializationexception", "failed to deserialize data of eventheader"),
        "error while deserializing binlog data",
    ),
    # Replication slots and publications.
    (Diagnosis.SLOT_BUSY, "is active for pid", 'replication slot "" is already active'),
    (Diagnosis.SLOT_EXISTS, 'replication slot "" already exists'),
    (Diagnosis.SLOTS_FULL, "all replication slots are in use", "increase max_replication_slots"),
    (Diagnosis.SLOT_GONE, 'replication slot "" does not exist', '"" was not created in this database'),
    (
        Diagnosis.SLOT_LOST,
        *("can no longer get changes from replication slot", "can no longer access replication slot"),
        *("cannot read from logical replication slot", "wal_status…lost", "slot has been invalidated"),
    ),
    (
        Diagnosis.PUBLICATION,
        *('publication "" does not exist', "publication autocreation is disabled", "publication…can not be altered"),
        *("no table filters found for filtered", "cannot use different column lists for table"),
    ),
    (Diagnosis.SLOT_PLUGIN, 'could not access file ""', "output plugin…does not exist"),
    # Permissions, before the general slot phrases that wrap them.
    (
        Diagnosis.REPLICATION_RIGHT,
        *("permission denied to start wal sender", "permission denied to use replication slots"),
        *("permission denied to create replication slot", "must be superuser or replication role"),
        *("must be superuser or have the replication", "login and replication are not assigned"),
    ),
    (
        Diagnosis.FILTERED_RIGHT,
        *("unable to create filtered publication", "unable to…filtered publication"),
        *("permission denied to create publication", "must be superuser to create for all tables"),
        *("must be owner of table", "must be owner of relation", "must be owner of publication"),
    ),
    (Diagnosis.LOCK_RIGHT, "' privilege required to obtain a consistent snapshot"),
    (Diagnosis.BINLOG_RIGHT, "you need (at least one of) the…replication slave", "of) the…replication client"),
    (
        Diagnosis.PERMISSION,
        *("permission denied for ", "must be owner of ", "you need (at least one of) the…privilege"),
        *("command denied to user", "access denied for user…to database", "violates row-level security policy"),
    ),
    # The write-ahead log.
    (
        Diagnosis.WAL_LEVEL,
        *("logical decoding requires wal_level", 'logical decoding requires "" >=', "wal_level property must be"),
        "insufficient wal_level",
    ),
    (
        Diagnosis.WAL_GONE,
        *("requested wal segment…has already been removed", "has been removed from the database write-ahead log"),
        *("cannot seek to the last known offset", "but this is no longer available on the server"),
    ),
    (Diagnosis.WAL_SENDERS, "max_wal_senders", "number of requested standby connections exceeds"),
    (
        Diagnosis.WAL_STANDBY,
        *("logical decoding cannot be used while in recovery", "logical decoding on standby requires"),
        *("cannot be used on ro (read only) node", "create the replication slot from the writer node"),
    ),
    (
        Diagnosis.WAL_DECODING,
        *("reorderbuffer spill file", "invalid memory alloc request size", "could not map filenode"),
        *("missing contrecord", "logically-decoded data"),
    ),
)
