"""What each diagnosis is called, and what helps: a sentence of ours for each kind of connector, by its event kind."""

from collections.abc import Mapping

from chalicelib.domain.diagnosis.binary_log_sentences import OF_BINARY_LOGS, RIGHTS_ON_BINARY_LOGS
from chalicelib.domain.diagnosis.diagnoses import Diagnosis, Sentences
from chalicelib.domain.diagnosis.new_snapshot import NEW_SNAPSHOT_AND_SLOT
from chalicelib.domain.event_kind import EventKind

OF_SOURCES: Mapping[EventKind, Sentences] = {
    EventKind.CDC_CONNECTOR_FAILED: {
        Diagnosis.GENERAL: "The source connector failed. The Connect worker's log holds the details.",
        Diagnosis.TABLE_GONE: "A captured table or column does not exist on the source any more. Run discovery again.",
        Diagnosis.LOCKED: (
            "The capture waited too long for a lock on the source. End the session that has it; a restart repeats it."
        ),
        Diagnosis.READ_CANCELLED: (
            "The source cancels statements that take too long. Raise its limit for the role of the capture."
        ),
        Diagnosis.SNAPSHOT_CUT: (
            "The connector was stopped during its first snapshot, which must be taken again from the start."
        ),
        Diagnosis.ROW_TOO_LARGE: (
            "A row is larger than a Kafka message may be. Set max_message_bytes; topics that exist keep their own "
            "limit."
        ),
        Diagnosis.NOT_CONVERTED: (
            "Debezium cannot convert a value, for example NaN. During the first snapshot it is enough to correct the "
            "row. Later the value stands in the log as well: delete the deliveries and the pipeline, and create them "
            "anew with another topic_prefix and on_conversion_error null."
        ),
        Diagnosis.DEFINITION: (
            "Debezium cannot parse a statement or definition of the source. Change that definition, or use its legacy"
            " parser."
        ),
        Diagnosis.TOPIC_POLICY: (
            "Kafka refuses to make a topic with these settings. Correct max_message_bytes or the replication factor."
        ),
        Diagnosis.BROKER: "The Connect worker could not write to Kafka. Check the brokers and the topics.",
        Diagnosis.BROKER_DENIED: (
            "Kafka refuses the Connect worker. Check its Kafka credentials, and its ACLs for the topics."
        ),
        Diagnosis.COLUMN_TWICE: (
            "A captured table has columns whose names differ only by case. Leave the table out, or rename one."
        ),
    },
    EventKind.CDC_REPLICATION_SLOT_ERROR: {
        Diagnosis.SLOT_BUSY: (
            "The replication slot is used by another process. Stop the other reader, or give this pipeline its own "
            "slot."
        ),
        Diagnosis.SLOT_GONE: (
            "The replication slot does not exist any more, or not in this database. Without it the changes since are "
            f"lost. {NEW_SNAPSHOT_AND_SLOT}"
        ),
        Diagnosis.SLOT_EXISTS: (
            "A replication slot of this name exists already. Drop it on the source if nobody needs it, or choose "
            "another name."
        ),
        Diagnosis.SLOTS_FULL: (
            "The source has no free replication slot. Raise max_replication_slots, or drop slots that nobody uses."
        ),
        Diagnosis.SLOT_LOST: (f"The replication slot has lost the changes it had kept. {NEW_SNAPSHOT_AND_SLOT}"),
        Diagnosis.SLOT_FAILED: (
            "The replication slot cannot be made or read. Check the slot on the source, and the role's REPLICATION "
            "right."
        ),
        Diagnosis.SLOT_NOT_READY: (
            "The replication slot did not become usable in time: it is lost (see wal_status in pg_replication_slots),"
            " or a long transaction on the source blocks it. End that transaction; a lost slot must be dropped and "
            "made again."
        ),
        Diagnosis.SLOT_PLUGIN: (
            "The source lacks the output plug-in that the slot needs. Use pgoutput, which every PostgreSQL has, or "
            "install it."
        ),
        Diagnosis.PUBLICATION: (
            "The publication is missing or cannot be changed. Create it with these tables, or let the role manage it."
        ),
    },
    EventKind.CDC_WAL_ERROR: {
        Diagnosis.WAL_LEVEL: (
            "The source does not write logical WAL. Set wal_level to logical and restart the database."
        ),
        Diagnosis.WAL_GONE: (f"The source has removed WAL that the connector still needed. {NEW_SNAPSHOT_AND_SLOT}"),
        Diagnosis.WAL_SENDERS: "The source has no free WAL sender. Raise max_wal_senders, or stop unused readers.",
        Diagnosis.WAL_STANDBY: "The source is a standby that cannot decode changes. Capture from the primary instead.",
        Diagnosis.WAL_DECODING: (
            "The source failed to decode its WAL. Check its log, disk space and memory; large transactions cause this."
        ),
    },
    EventKind.CDC_BINLOG_ERROR: OF_BINARY_LOGS,
    EventKind.CDC_PERMISSION_ERROR: {
        Diagnosis.REPLICATION_RIGHT: (
            "The source's role may not replicate. Grant it REPLICATION (or the provider's replication role)."
        ),
        Diagnosis.FILTERED_RIGHT: (
            "The source's role may not make the publication. Let it own the tables and create in the database, or "
            "make it."
        ),
        Diagnosis.LOCK_RIGHT: (
            "The source's account may not take the global read lock with which a snapshot begins. Grant it RELOAD, or "
            "set snapshot_locking to none."
        ),
        **RIGHTS_ON_BINARY_LOGS,
        Diagnosis.PERMISSION: (
            "The source's role lacks a privilege. Grant USAGE on the schema and SELECT on the tables; see readiness."
        ),
    },
    EventKind.SOURCE_DATABASE_UNAVAILABLE: {
        Diagnosis.SERVER_MEMORY: "The source ran out of memory. Give it more, and see its log.",
    },
}
"""Of source connectors."""

OF_SINKS: Mapping[EventKind, Sentences] = {
    EventKind.DESTINATION_CONNECTOR_FAILED: {
        Diagnosis.GENERAL: "The sink connector failed. The Connect worker's log holds the details.",
        Diagnosis.BROKER: "The Connect worker could not read from Kafka. Check the brokers and the topics.",
        Diagnosis.BROKER_DENIED: (
            "Kafka refuses the Connect worker. Check its Kafka credentials, and its ACLs for the topics and the group."
        ),
        Diagnosis.RECORDS_GONE: (
            "The topic no longer has the records that the sink needs next: they were removed before it read them."
        ),
    },
    EventKind.DESTINATION_AUTH_FAILED: {
        Diagnosis.ACCESS_KEY: "The object store refuses the access key. Check the key, its secret and what it may do.",
        Diagnosis.NO_CREDENTIALS: (
            "The sink has no credentials for the object store. Give the destination an access key, or the worker a "
            "role."
        ),
        Diagnosis.TOKEN_EXPIRED: (
            "The session token for the object store has expired or is not valid. Store a new one, or use a permanent "
            "key."
        ),
        Diagnosis.STORE_DENIED: (
            "The object store denies the request. Let the key or role put objects and abort uploads under the prefix."
        ),
        Diagnosis.STORE_KEY_DENIED: (
            "The bucket's encryption key may not be used. Grant kms:GenerateDataKey and kms:Decrypt on it to the key "
            "or role."
        ),
        Diagnosis.CLOCK: (
            "The object store refuses requests because the Connect worker's clock is wrong. Synchronise the worker's "
            "clock."
        ),
    },
    EventKind.DESTINATION_WRITE_FAILED: {
        Diagnosis.PERMISSION: (
            "The destination's role lacks a privilege. Let it write to the tables (and create, with auto_create)."
        ),
        Diagnosis.SERVER_MEMORY: "The destination ran out of memory. Give it more, or use smaller batches.",
        Diagnosis.DUPLICATE: (
            "The target refuses a row: its key exists already. Use write_mode upsert, or remove the constraint."
        ),
        Diagnosis.CONSTRAINT: (
            "A constraint of the target table refuses a row. Relax the constraint, or correct the source row."
        ),
        Diagnosis.VALUE: (
            "A value does not fit its target column (too long or out of range). Widen the column; where its type has "
            "an end, as a time of day has, correct the value in the source or leave the column out of the pipeline."
        ),
        Diagnosis.PACKET: "The rows are larger than the target takes at once. Raise max_allowed_packet there.",
        Diagnosis.LOCKED: "The write lost against another transaction on the target. A restart of the task repeats it.",
        Diagnosis.RETRIES: "The sink gave up writing after several attempts. Check the destination, then restart.",
        Diagnosis.READ_ONLY: (
            "The destination is read-only just now, perhaps after a failover. Check that it is the primary."
        ),
        Diagnosis.ABORTED: (
            "An earlier statement of the transaction failed on the target, whose log names it. A restart repeats it."
        ),
        Diagnosis.ROW_TWICE: (
            "One statement would change a row of the target twice. Make the key of the delivery the source's key."
        ),
        Diagnosis.BUCKET: "The bucket does not exist. Create it, or correct its name.",
        Diagnosis.NULL_VALUE: (
            "The sink refuses records without a value. Drop them in the sink, or let it ignore null values."
        ),
        Diagnosis.STORE_FAULT: "The object store reports a fault of its own. A restart of the task repeats the write.",
        Diagnosis.STORE_REFUSED: (
            "The object store does not know or refuses this kind of request. Check what it supports, and the sink's "
            "options."
        ),
        Diagnosis.UPLOAD_LOST: (
            "The object store does not know the upload any more, or lacks parts of it. A restart of the task begins a"
            " new one."
        ),
        Diagnosis.UPLOAD_FAILED: (
            "The upload to the object store failed, and the trace gives no reason. Check the store, then restart the "
            "task."
        ),
        Diagnosis.OBJECT_SIZE: (
            "An object or one of its parts is larger or smaller than the object store allows. Change the sink's sizes."
        ),
        Diagnosis.SLOW_DOWN: "The object store asks to slow down. A restart of the task repeats the write.",
        Diagnosis.WRITE_CANCELLED: (
            "The destination cancels statements that take too long. Raise its limit for the role."
        ),
    },
    EventKind.DESTINATION_CONNECTION_FAILED: {
        Diagnosis.REGION: (
            "The bucket is in another region than the destination says, or the region is missing. Correct region or "
            "endpoint."
        ),
        Diagnosis.STORE_TIMEOUT: (
            "The object store waited in vain for the rest of a request. Check the network; a restart of the task "
            "repeats it."
        ),
        Diagnosis.NO_SINK_CONNECTION: (
            "The sink could not open its connection and gives no reason. Check the destination's host, database, "
            "credentials."
        ),
    },
    EventKind.DESTINATION_SCHEMA_ERROR: {
        Diagnosis.TABLE_GONE: (
            "The target table or one of its columns does not exist. Create it, or switch on auto_create and "
            "auto_evolve."
        ),
        Diagnosis.NO_EVOLUTION: (
            "The target table does not fit the rows, and the delivery may not alter it. Alter it, or switch on "
            "auto_evolve."
        ),
        Diagnosis.NO_DEFAULT: (
            "A new column is NOT NULL without a default, so the sink cannot add it. Add it to the target by hand."
        ),
        Diagnosis.TARGET_MISSING: (
            "The sink finds no such target table, or may not see or make it. Create it, or let the role create in the"
            " schema. Beside sinks to another kind of database on the same workers, a restart may be enough."
        ),
        Diagnosis.NO_TARGET_TYPE: (
            "The target lacks a type that a column needs. Create the target table with a type that it has. Beside sinks"
            " to another kind of database on the same workers, a restart may be enough."
        ),
        Diagnosis.NO_TARGET_FUNCTION: (
            "The target lacks a function that a column's type needs, for example of PostGIS. Install the extension "
            "there."
        ),
        Diagnosis.NO_MAPPING: (
            "The rows have a field whose type the sink cannot write into a column. Leave it out, or flatten the "
            "records."
        ),
        Diagnosis.GENERATED: (
            "A column of the target is computed there and takes no values. Make it an ordinary column, or leave it out."
        ),
        Diagnosis.NO_VALUE: (
            "A column of the target gets no value and has no default. Give it a default, or let it be null."
        ),
        Diagnosis.TABLE_EXISTS: (
            "The sink would make a table or column that exists, perhaps because two tasks met. A restart finds it."
        ),
        Diagnosis.COLUMN_COUNT: "The target table has other columns than the rows. Alter it, or switch on auto_evolve.",
        Diagnosis.TOO_WIDE: (
            "The target allows no key, row or column count of this size. Create the target table by hand, with less."
        ),
        Diagnosis.NEEDS_KEY: (
            "The target takes no table without a primary key. Give the captured table a key, or create the target by "
            "hand."
        ),
        Diagnosis.TYPE_MISMATCH: (
            "A column of the target table has a type that the value does not fit. Alter the column's type."
        ),
        Diagnosis.NO_KEY: (
            "The rows carry no key, or the target has no unique constraint on it. Upsert needs both; insert needs "
            "neither."
        ),
        Diagnosis.NO_SCHEMA: (
            "The records carry no schema. The pipeline of this delivery must use the converter json_schema."
        ),
        Diagnosis.WRONG_FORMAT: (
            "The records are not in the format that the delivery expects. Check the pipeline's converter."
        ),
        Diagnosis.VALUE_TOO_LONG: (
            "A value has more than 20,000,000 characters as JSON, which Kafka's JSON converter cannot read. Shorten it."
        ),
        Diagnosis.BAD_TARGET_NAME: "The name of the target table cannot be read by the sink. Choose a plainer name.",
    },
}
"""Of sink connectors."""

OF_BOTH: Mapping[tuple[EventKind, EventKind], Sentences] = {
    (EventKind.SOURCE_AUTH_FAILED, EventKind.DESTINATION_AUTH_FAILED): {
        Diagnosis.AUTH: "The {side} refuses the user name or password. Check them, store the right ones and restart.",
        Diagnosis.AUTH_HOST: (
            "The {side} does not let this user in from the Connect worker's address, or not without TLS. Check "
            "pg_hba.conf."
        ),
        Diagnosis.AUTH_TLS: (
            "The {side} requires an encrypted connection for this user. Raise the ssl_mode of its connection."
        ),
        Diagnosis.AUTH_LOCKED: (
            "The account on the {side} is locked, or its password has expired. Unlock it or set a new password, store"
            " it and restart."
        ),
        Diagnosis.AUTH_METHOD: (
            "The driver does not know how the {side} checks passwords. Use an authentication method that both know."
        ),
    },
    (EventKind.CDC_CONNECTOR_FAILED, EventKind.DESTINATION_CONNECTOR_FAILED): {
        Diagnosis.SECRET: (
            "Kafka Connect could not read the credentials of the {side} from Headgate. Check the worker's secret "
            "provider."
        ),
        Diagnosis.DRIVER: (
            "The Connect worker has no JDBC driver for the {side}. Install it next to the connector's plug-in on "
            "every worker."
        ),
    },
    (EventKind.SOURCE_DATABASE_UNAVAILABLE, EventKind.DESTINATION_CONNECTION_FAILED): {
        Diagnosis.GOING_DOWN: (
            "The {side} is starting, stopping or ended the connection. It should come back by itself; restart the "
            "task if not."
        ),
        Diagnosis.TOO_MANY: (
            "The {side} takes no more connections. Raise its limit, or close connections that nobody uses."
        ),
        Diagnosis.NO_DATABASE: "The {side} has no database of this name.",
    },
    (EventKind.SOURCE_CONNECTION_FAILED, EventKind.DESTINATION_CONNECTION_FAILED): {
        Diagnosis.TLS: (
            "The Connect worker does not trust the {side}'s certificate, or gets no TLS connection. Check ssl_mode "
            "and CA."
        ),
        Diagnosis.HOST_NAME: (
            "The Connect worker cannot resolve the {side}'s host name. Check the name, and the worker's name server."
        ),
        Diagnosis.HOST_BLOCKED: (
            "The {side} blocks the Connect worker's address after many failed connections. Unblock it there (FLUSH "
            "HOSTS)."
        ),
        Diagnosis.POOLER: (
            "A connection pooler or proxy is in front of the {side} and does not pass this on. Use the server's own "
            "address."
        ),
        Diagnosis.TIME_ZONE: (
            "The driver does not know the {side}'s time zone. Set a named zone on the server, or the option for the "
            "zone."
        ),
        Diagnosis.CONNECTION: (
            "The Connect worker cannot reach the {side}, or lost it. Check host, port, firewall and whether the "
            "server runs."
        ),
    },
    (EventKind.CDC_CONNECTOR_FAILED, EventKind.DESTINATION_WRITE_FAILED): {
        Diagnosis.DISK_FULL: "The {side} has no disk space left.",
        Diagnosis.MEMORY: "The Connect worker ran out of memory. Give it more, or use smaller batches.",
    },
}
"""Of source and of sink connectors, with `{side}` for the system that is meant."""
