"""What can be wrong with a connector, in the words of Headgate, and what to do about it."""

from collections.abc import Mapping
from functools import partial

from chalicelib.domain.capture.new_snapshot import NEW_SNAPSHOT
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import Hint

Diagnosis = Mapping[ConnectorKind, Hint]
"""One fault: for each kind of connector that can have it, the event kind (specification, section 6) and a sentence of
ours that says what is wrong and what helps.
"""

Rules = tuple[tuple[Diagnosis, *tuple[str, ...]], ...]
"""Phrases for each diagnosis, in the order in which they are searched (see `rules`)."""


def _source(kind: str, sentence: str) -> Diagnosis:
    return {ConnectorKind.SOURCE: Hint(event_type=kind, message=sentence)}


def _sink(kind: str, sentence: str) -> Diagnosis:
    return {ConnectorKind.SINK: Hint(event_type=kind, message=sentence)}


def _both(source_kind: str, sink_kind: str, sentence: str) -> Diagnosis:
    """One sentence for both kinds of connector, with `{side}` for the database that is meant."""
    return {
        **_source(source_kind, sentence.format(side="source")),
        **_sink(sink_kind, sentence.format(side="destination")),
    }


_slot = partial(_source, "CDC_REPLICATION_SLOT_ERROR")
_wal = partial(_source, "CDC_WAL_ERROR")
_binlog = partial(_source, "CDC_BINLOG_ERROR")
_capture_right = partial(_source, "CDC_PERMISSION_ERROR")
_capture = partial(_source, "CDC_CONNECTOR_FAILED")
_schema = partial(_sink, "DESTINATION_SCHEMA_ERROR")
_write = partial(_sink, "DESTINATION_WRITE_FAILED")
_auth = partial(_both, "SOURCE_AUTH_FAILED", "DESTINATION_AUTH_FAILED")
_availability = partial(_both, "SOURCE_DATABASE_UNAVAILABLE", "DESTINATION_CONNECTION_FAILED")
_connection = partial(_both, "SOURCE_CONNECTION_FAILED", "DESTINATION_CONNECTION_FAILED")

GENERAL: Diagnosis = {
    **_source("CDC_CONNECTOR_FAILED", "The source connector failed. The Connect worker's log holds the details."),
    **_sink("DESTINATION_CONNECTOR_FAILED", "The sink connector failed. The Connect worker's log holds the details."),
}

SLOT_BUSY = _slot(
    "The replication slot is used by another process. Stop the other reader, or give this pipeline its own slot."
)
SLOT_GONE = _slot(
    "The replication slot does not exist any more, or not in this database. Without it the changes since are lost. "
    + NEW_SNAPSHOT
)
SLOT_EXISTS = _slot(
    "A replication slot of this name exists already. Drop it on the source if nobody needs it, or choose another name."
)
SLOTS_FULL = _slot(
    "The source has no free replication slot. Raise max_replication_slots, or drop slots that nobody uses."
)
SLOT_LOST = _slot(f"The replication slot has lost the changes it had kept. {NEW_SNAPSHOT}")
SLOT_FAILED = _slot(
    "The replication slot cannot be made or read. Check the slot on the source, and the role's REPLICATION right."
)
SLOT_NOT_READY = _slot(
    "The replication slot did not become usable in time: it is lost (see wal_status in pg_replication_slots), or a "
    "long transaction on the source blocks it. End that transaction; a lost slot must be dropped and made again."
)
SLOT_PLUGIN = _slot(
    "The source lacks the output plug-in that the slot needs. Use pgoutput, which every PostgreSQL has, or install it."
)
PUBLICATION = _slot(
    "The publication is missing or cannot be changed. Create it with these tables, or let the role manage it."
)
WAL_LEVEL = _wal("The source does not write logical WAL. Set wal_level to logical and restart the database.")
WAL_GONE = _wal(f"The source has removed WAL that the connector still needed. {NEW_SNAPSHOT}")
WAL_SENDERS = _wal("The source has no free WAL sender. Raise max_wal_senders, or stop unused readers.")
WAL_STANDBY = _wal("The source is a standby that cannot decode changes. Capture from the primary instead.")
WAL_DECODING = _wal(
    "The source failed to decode its WAL. Check its log, disk space and memory; large transactions cause this."
)
BINLOG_GONE = _binlog(f"The source has purged binary logs that the connector still needed. {NEW_SNAPSHOT}")
BINLOG_REFUSED = _binlog(
    "The source refuses to send its binary log from where the connector stopped. Compare SHOW BINARY LOGS with the "
    "connector's offset, and read the source's error log."
)
BINLOG_EVENT = _binlog(
    "An event of the binary log could not be read. A restart of the task reads it again; if that fails too, look at it "
    "with mysqlbinlog, and raise replica_net_timeout on the source."
)
BINLOG_SERVER_ID = _binlog(
    "Another reader of the binary log uses the same server id. Give this pipeline its own server_id."
)
BINLOG_PACKET = _binlog(
    "A binary log event is larger than the source may send. Raise max_allowed_packet on the source."
)
BINLOG_FORMAT = _binlog("The binary log lacks whole rows. Set binlog_format to ROW and binlog_row_image to FULL.")
BINLOG_HISTORY = _binlog(
    "The schema history topic is missing or incomplete. It must be rebuilt by a recovery snapshot."
)
BINLOG_ONE_TASK = _binlog("A connector for a binary log runs as exactly one task. Set tasks_max to 1.")
BINLOG_HISTORY_SETUP = _binlog(
    "The schema history cannot be set up. Check that the worker reaches its Kafka brokers and may use its topic."
)
BINLOG_OFF = _binlog("The binary log cannot be read. Check that it is on, and that its files are there.")
BINLOG_SCHEMA = _binlog(
    "The connector met a table that its schema history does not know. A recovery snapshot is needed."
)
REPLICATION_RIGHT = _capture_right(
    "The source's role may not replicate. Grant it REPLICATION (or the provider's replication role)."
)
FILTERED_RIGHT = _capture_right(
    "The source's role may not make the publication. Let it own the tables and create in the database, or make it."
)
LOCK_RIGHT = _capture_right("The source's user may not lock tables for the snapshot. Grant it LOCK TABLES.")
PERMISSION: Diagnosis = {
    **_capture_right(
        "The source's role lacks a privilege. Grant USAGE on the schema and SELECT on the tables; see readiness."
    ),
    **_sink(
        "DESTINATION_AUTH_FAILED",
        "The destination's role lacks a privilege. Let it write to the tables (and create, with auto_create).",
    ),
}
AUTH = _auth("The {side} refuses the user name or password. Check them, store the right ones and restart.")
AUTH_HOST = _auth(
    "The {side} does not let this user in from the Connect worker's address, or not without TLS. Check pg_hba.conf."
)
AUTH_TLS = _auth("The {side} requires an encrypted connection for this user. Raise the ssl_mode of its connection.")
AUTH_LOCKED = _auth(
    "The account on the {side} is locked, or its password has expired. Unlock it or set a new password, store it and "
    "restart."
)
AUTH_METHOD = _auth(
    "The driver does not know how the {side} checks passwords. Use an authentication method that both know."
)
ACCESS_KEY = _sink(
    "DESTINATION_AUTH_FAILED", "The object store refuses the access key. Check the key, its secret and what it may do."
)
NO_CREDENTIALS = _sink(
    "DESTINATION_AUTH_FAILED",
    "The sink has no credentials for the object store. Give the destination an access key, or the worker a role.",
)
TOKEN_EXPIRED = _sink(
    "DESTINATION_AUTH_FAILED",
    "The session token for the object store has expired or is not valid. Store a new one, or use a permanent key.",
)
STORE_DENIED = _sink(
    "DESTINATION_AUTH_FAILED",
    "The object store denies the request. Let the key or role put objects and abort uploads under the prefix.",
)
STORE_KEY_DENIED = _sink(
    "DESTINATION_AUTH_FAILED",
    "The bucket's encryption key may not be used. Grant kms:GenerateDataKey and kms:Decrypt on it to the key or role.",
)
CLOCK = _sink(
    "DESTINATION_AUTH_FAILED",
    "The object store refuses requests because the Connect worker's clock is wrong. Synchronise the worker's clock.",
)
SECRET = _both(
    "CDC_CONNECTOR_FAILED",
    "DESTINATION_CONNECTOR_FAILED",
    "Kafka Connect could not read the credentials of the {side} from Headgate. Check the worker's secret provider.",
)
GOING_DOWN = _availability(
    "The {side} is starting, stopping or ended the connection. It should come back by itself; restart the task if not."
)
TOO_MANY = _availability(
    "The {side} takes no more connections. Raise its limit, or close connections that nobody uses."
)
NO_DATABASE = _availability("The {side} has no database of this name.")
SERVER_MEMORY: Diagnosis = {
    **_source("SOURCE_DATABASE_UNAVAILABLE", "The source ran out of memory. Give it more, and see its log."),
    **_sink("DESTINATION_WRITE_FAILED", "The destination ran out of memory. Give it more, or use smaller batches."),
}
TLS = _connection(
    "The Connect worker does not trust the {side}'s certificate, or gets no TLS connection. Check ssl_mode and CA."
)
HOST_NAME = _connection(
    "The Connect worker cannot resolve the {side}'s host name. Check the name, and the worker's name server."
)
HOST_BLOCKED = _connection(
    "The {side} blocks the Connect worker's address after many failed connections. Unblock it there (FLUSH HOSTS)."
)
POOLER = _connection(
    "A connection pooler or proxy is in front of the {side} and does not pass this on. Use the server's own address."
)
TIME_ZONE = _connection(
    "The driver does not know the {side}'s time zone. Set a named zone on the server, or the option for the zone."
)
REGION = _sink(
    "DESTINATION_CONNECTION_FAILED",
    "The bucket is in another region than the destination says, or the region is missing. Correct region or endpoint.",
)
STORE_TIMEOUT = _sink(
    "DESTINATION_CONNECTION_FAILED",
    "The object store waited in vain for the rest of a request. Check the network; a restart of the task repeats it.",
)
NO_SINK_CONNECTION = _sink(
    "DESTINATION_CONNECTION_FAILED",
    "The sink could not open its connection and gives no reason. Check the destination's host, database, credentials.",
)
CONNECTION = _connection(
    "The Connect worker cannot reach the {side}, or lost it. Check host, port, firewall and whether the server runs."
)
TABLE_GONE: Diagnosis = {
    **_capture("A captured table or column does not exist on the source any more. Run discovery again."),
    **_schema(
        "The target table or one of its columns does not exist. Create it, or switch on auto_create and auto_evolve."
    ),
}
NO_EVOLUTION = _schema(
    "The target table does not fit the rows, and the delivery may not alter it. Alter it, or switch on auto_evolve."
)
NO_DEFAULT = _schema(
    "A new column is NOT NULL without a default, so the sink cannot add it. Add it to the target by hand."
)
TARGET_MISSING = _schema(
    "The sink finds no such target table, or may not see or make it. Create it, or let the role create in the schema."
)
NO_TARGET_TYPE = _schema(
    "The target lacks a type that a column needs. Create the target table with a type that it has."
)
NO_TARGET_FUNCTION = _schema(
    "The target lacks a function that a column's type needs, for example of PostGIS. Install the extension there."
)
NO_MAPPING = _schema(
    "The rows have a field whose type the sink cannot write into a column. Leave it out, or flatten the records."
)
GENERATED = _schema(
    "A column of the target is computed there and takes no values. Make it an ordinary column, or leave it out."
)
NO_VALUE = _schema("A column of the target gets no value and has no default. Give it a default, or let it be null.")
TABLE_EXISTS = _schema(
    "The sink would make a table or column that exists, perhaps because two tasks met. A restart finds it."
)
COLUMN_COUNT = _schema("The target table has other columns than the rows. Alter it, or switch on auto_evolve.")
TOO_WIDE = _schema(
    "The target allows no key, row or column count of this size. Create the target table by hand, with less."
)
NEEDS_KEY = _schema(
    "The target takes no table without a primary key. Give the captured table a key, or create the target by hand."
)
TYPE_MISMATCH = _schema("A column of the target table has a type that the value does not fit. Alter the column's type.")
NO_KEY = _schema(
    "The rows carry no key, or the target has no unique constraint on it. Upsert needs both; insert needs neither."
)
NO_SCHEMA = _schema("The records carry no schema. The pipeline of this delivery must use the converter json_schema.")
WRONG_FORMAT = _schema("The records are not in the format that the delivery expects. Check the pipeline's converter.")
VALUE_TOO_LONG = _schema(
    "A value has more than 20,000,000 characters as JSON, which Kafka's JSON converter cannot read. Shorten it."
)
BAD_TARGET_NAME = _schema("The name of the target table cannot be read by the sink. Choose a plainer name.")
DUPLICATE = _write("The target refuses a row: its key exists already. Use write_mode upsert, or remove the constraint.")
CONSTRAINT = _write("A constraint of the target table refuses a row. Relax the constraint, or correct the source row.")
VALUE = _write("A value does not fit its target column (too long or out of range). Widen the column.")
PACKET: Diagnosis = {
    **BINLOG_PACKET,
    **_write("The rows are larger than the target takes at once. Raise max_allowed_packet there."),
}
DEADLOCK = _write("The write lost against another transaction on the target. A restart of the task repeats it.")
LOCKED: Diagnosis = {
    **_capture(
        "The capture waited too long for a lock on the source. End the session that has it; a restart repeats it."
    ),
    **DEADLOCK,
}
RETRIES = _write("The sink gave up writing after several attempts. Check the destination, then restart.")
READ_ONLY = _write("The destination is read-only just now, perhaps after a failover. Check that it is the primary.")
ABORTED = _write(
    "An earlier statement of the transaction failed on the target, whose log names it. A restart repeats it."
)
ROW_TWICE = _write(
    "One statement would change a row of the target twice. Make the key of the delivery the source's key."
)
BUCKET = _write("The bucket does not exist. Create it, or correct its name.")
NULL_VALUE = _write("The sink refuses records without a value. Drop them in the sink, or let it ignore null values.")
STORE_FAULT = _write("The object store reports a fault of its own. A restart of the task repeats the write.")
STORE_REFUSED = _write(
    "The object store does not know or refuses this kind of request. Check what it supports, and the sink's options."
)
UPLOAD_LOST = _write(
    "The object store does not know the upload any more, or lacks parts of it. A restart of the task begins a new one."
)
UPLOAD_FAILED = _write(
    "The upload to the object store failed, and the trace gives no reason. Check the store, then restart the task."
)
OBJECT_SIZE = _write(
    "An object or one of its parts is larger or smaller than the object store allows. Change the sink's sizes."
)
SLOW_DOWN = _write("The object store asks to slow down. A restart of the task repeats the write.")
DISK_FULL = _both("CDC_CONNECTOR_FAILED", "DESTINATION_WRITE_FAILED", "The {side} has no disk space left.")
WRITE_CANCELLED = _write("The destination cancels statements that take too long. Raise its limit for the role.")
CANCELLED: Diagnosis = {
    **_capture("The source cancels statements that take too long. Raise its limit for the role of the capture."),
    **WRITE_CANCELLED,
}
MEMORY = _both(
    "CDC_CONNECTOR_FAILED",
    "DESTINATION_WRITE_FAILED",
    "The Connect worker ran out of memory. Give it more, or use smaller batches.",
)
SNAPSHOT_CUT = _capture(
    "The connector was stopped during its first snapshot, which must be taken again from the start."
)
ROW_TOO_LARGE = _capture(
    "A row is larger than a Kafka message may be. Set max_message_bytes; topics that exist keep their own limit."
)
NOT_CONVERTED = _capture(
    "Debezium cannot convert a value, for example NaN. Correct the value, or set on_conversion_error to null."
)
DEFINITION = _capture(
    "Debezium cannot parse a statement or definition of the source. Change that definition, or use its legacy parser."
)
TOPIC_POLICY = _capture(
    "Kafka refuses to make a topic with these settings. Correct max_message_bytes or the replication factor."
)
BROKER: Diagnosis = {
    **_capture("The Connect worker could not write to Kafka. Check the brokers and the topics."),
    **_sink(
        "DESTINATION_CONNECTOR_FAILED",
        "The Connect worker could not read from Kafka. Check the brokers and the topics.",
    ),
}
BROKER_DENIED: Diagnosis = {
    **_capture("Kafka refuses the Connect worker. Check its Kafka credentials, and its ACLs for the topics."),
    **_sink(
        "DESTINATION_CONNECTOR_FAILED",
        "Kafka refuses the Connect worker. Check its Kafka credentials, and its ACLs for the topics and the group.",
    ),
}
DRIVER = _both(
    "CDC_CONNECTOR_FAILED",
    "DESTINATION_CONNECTOR_FAILED",
    "The Connect worker has no JDBC driver for the {side}. Install it next to the connector's plug-in on every worker.",
)
RECORDS_GONE = _sink(
    "DESTINATION_CONNECTOR_FAILED",
    "The topic no longer has the records that the sink needs next: they were removed before it read them.",
)
COLUMN_TWICE = _capture(
    "A captured table has columns whose names differ only by case. Leave the table out, or rename one."
)
