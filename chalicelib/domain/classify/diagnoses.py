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
ACCESS_KEY = _sink(
    "DESTINATION_AUTH_FAILED", "The object store refuses the access key. Check the key, its secret and what it may do."
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
TLS = _connection(
    "The Connect worker does not trust the {side}'s certificate, or gets no TLS connection. Check ssl_mode and CA."
)
HOST_NAME = _connection(
    "The Connect worker cannot resolve the {side}'s host name. Check the name, and the worker's name server."
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
DEADLOCK = _write("The write lost against another transaction on the target. A restart of the task repeats it.")
RETRIES = _write("The sink gave up writing after several attempts. Check the destination, then restart.")
READ_ONLY = _write("The destination is read-only just now, perhaps after a failover. Check that it is the primary.")
BUCKET = _write("The bucket does not exist. Create it, or correct its name.")
SLOW_DOWN = _write("The object store asks to slow down. A restart of the task repeats the write.")
DISK_FULL = _both("CDC_CONNECTOR_FAILED", "DESTINATION_WRITE_FAILED", "The {side} has no disk space left.")
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
BROKER: Diagnosis = {
    **_capture("The Connect worker could not write to Kafka. Check the brokers and the topics."),
    **_sink(
        "DESTINATION_CONNECTOR_FAILED",
        "The Connect worker could not read from Kafka. Check the brokers and the topics.",
    ),
}
COLUMN_TWICE = _capture(
    "A captured table has columns whose names differ only by case. Leave the table out, or rename one."
)
