"""Conditions: something wrong with one resource now. The table of all codes: what each is, and what people read."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from chalicelib.domain.diagnosis.cause import Cause
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.names import kind_of_connector


class Severity(StrEnum):
    """How bad it is: rows do not move (ERROR), they soon may not (WARNING), or it is worth knowing (INFO)."""

    ERROR = "ERROR"
    WARNING = "WARNING"
    INFO = "INFO"


class Category(StrEnum):
    """Which part of the way of the rows is concerned."""

    CONNECT = "CONNECT"
    SOURCE = "SOURCE"
    DESTINATION = "DESTINATION"
    PIPELINE = "PIPELINE"
    INSTALLATION = "INSTALLATION"


class ConditionCode(StrEnum):
    """The event kinds of the specification (section 6), and codes of Headgate."""

    CONNECTOR_FAILED = "CONNECTOR_FAILED"
    CONNECTOR_UNASSIGNED = "CONNECTOR_UNASSIGNED"
    CONNECTOR_PAUSED = "CONNECTOR_PAUSED"
    CONNECTOR_RESTART_LOOP = "CONNECTOR_RESTART_LOOP"
    CONNECT_TASK_FAILED = "CONNECT_TASK_FAILED"
    STREAM_CONNECT_UNAVAILABLE = "STREAM_CONNECT_UNAVAILABLE"
    SOURCE_CONNECTION_FAILED = "SOURCE_CONNECTION_FAILED"
    SOURCE_DATABASE_UNAVAILABLE = "SOURCE_DATABASE_UNAVAILABLE"
    SOURCE_AUTH_FAILED = "SOURCE_AUTH_FAILED"
    CDC_REPLICATION_SLOT_ERROR = "CDC_REPLICATION_SLOT_ERROR"
    CDC_BINLOG_ERROR = "CDC_BINLOG_ERROR"
    CDC_WAL_ERROR = "CDC_WAL_ERROR"
    CDC_PERMISSION_ERROR = "CDC_PERMISSION_ERROR"
    CDC_CONNECTOR_FAILED = "CDC_CONNECTOR_FAILED"
    DESTINATION_CONNECTION_FAILED = "DESTINATION_CONNECTION_FAILED"
    DESTINATION_AUTH_FAILED = "DESTINATION_AUTH_FAILED"
    DESTINATION_WRITE_FAILED = "DESTINATION_WRITE_FAILED"
    DESTINATION_SCHEMA_ERROR = "DESTINATION_SCHEMA_ERROR"
    DESTINATION_CONNECTOR_FAILED = "DESTINATION_CONNECTOR_FAILED"
    PIPELINE_FAILED = "PIPELINE_FAILED"
    PIPELINE_DEGRADED = "PIPELINE_DEGRADED"
    PIPELINE_NO_EVENTS = "PIPELINE_NO_EVENTS"
    PIPELINE_LAG_HIGH = "PIPELINE_LAG_HIGH"
    STALLED = "STALLED"
    LOG_AT_RISK = "LOG_AT_RISK"
    CHANGES_LOST = "CHANGES_LOST"
    CAPTURE_NARROWED = "CAPTURE_NARROWED"
    CONFIG_DRIFT = "CONFIG_DRIFT"
    CONNECT_NOT_OBSERVED = "CONNECT_NOT_OBSERVED"
    CONNECTOR_NAME_CONFLICT = "CONNECTOR_NAME_CONFLICT"
    KAFKA_CLUSTER_CHANGED = "KAFKA_CLUSTER_CHANGED"
    CREATIONS_PENDING = "CREATIONS_PENDING"
    AUDIT_TRAIL_CHANGED = "AUDIT_TRAIL_CHANGED"
    TARGET_REPLACED = "TARGET_REPLACED"
    SCHEMA_CHANGED = "SCHEMA_CHANGED"
    UNREADABLE_ROW = "UNREADABLE_ROW"

    @property
    def event_kind(self) -> EventKind:
        """What alerts and channels call it: the specification has no kinds for Headgate's own codes."""
        return _KINDS_OF_OWN_CODES.get(self) or EventKind(self.value)


_KINDS_OF_OWN_CODES: Mapping[ConditionCode, EventKind] = {
    ConditionCode.STALLED: EventKind.PIPELINE_NO_EVENTS,
    ConditionCode.LOG_AT_RISK: EventKind.CDC_WAL_ERROR,
    ConditionCode.CHANGES_LOST: EventKind.PIPELINE_FAILED,
    ConditionCode.CAPTURE_NARROWED: EventKind.PIPELINE_DEGRADED,
    ConditionCode.CONFIG_DRIFT: EventKind.PIPELINE_DEGRADED,
    ConditionCode.CONNECT_NOT_OBSERVED: EventKind.STREAM_CONNECT_UNAVAILABLE,
    ConditionCode.CONNECTOR_NAME_CONFLICT: EventKind.CONNECTOR_FAILED,
    # Of the cluster: in a storm its alert speaks for those of all its connectors.
    ConditionCode.KAFKA_CLUSTER_CHANGED: EventKind.STREAM_CONNECT_UNAVAILABLE,
    ConditionCode.CREATIONS_PENDING: EventKind.STREAM_CONNECT_UNAVAILABLE,
    ConditionCode.TARGET_REPLACED: EventKind.DESTINATION_CONNECTOR_FAILED,
    ConditionCode.SCHEMA_CHANGED: EventKind.DESTINATION_SCHEMA_ERROR,
    ConditionCode.UNREADABLE_ROW: EventKind.PIPELINE_DEGRADED,
}


WITHOUT_ALERTS = frozenset({ConditionCode.AUDIT_TRAIL_CHANGED})
"""About the installation itself: no event kind of the specification fits. The function that finds it fails as well, so
that the alarms of the platform see it.
"""


LOG_ERRORS = frozenset(
    {ConditionCode.CDC_REPLICATION_SLOT_ERROR, ConditionCode.CDC_BINLOG_ERROR, ConditionCode.CDC_WAL_ERROR}
)
"""The log of a database, or what keeps it, is not as the capture needs it."""


class Variant(StrEnum):
    """Which of several things that one code stands for, where decisions or hints differ."""

    MISSING = "MISSING"  # CONNECTOR_FAILED
    PAUSED_ONCE = "PAUSED_ONCE"  # CONNECTOR_PAUSED
    PAUSED_REPEATEDLY = "PAUSED_REPEATEDLY"
    NOT_STARTED = "NOT_STARTED"  # PIPELINE_DEGRADED
    RESTARTS = "RESTARTS"  # CONNECTOR_RESTART_LOOP
    RECREATIONS = "RECREATIONS"
    RECORDS_REMOVED = "RECORDS_REMOVED"  # CHANGES_LOST
    SWAPPED = "SWAPPED"  # TARGET_REPLACED


@dataclass(frozen=True, slots=True)
class Description:
    """What a code means. `severity` is the usual one; `hint` says what it means and what to do."""

    category: Category
    severity: Severity
    title: str
    hint: str | None = None


_SOURCE_HINT = "Nothing is captured while this lasts. Test the source: its checks say which step fails."
_DESTINATION_HINT = "Nothing is delivered while this lasts. Test the destination: its checks say which step fails."
_OPERATION_HINT = "Its last_error and the audit trail say more. Remove the cause, then do it again."
_UNASSIGNED_HINT = "Its rows do not move. Look at the workers: too few are running, or one of them cannot start it."
_UNAVAILABLE_HINT = "What its connectors do is not known until it answers. Look at its workers and at the network."
_NOT_OBSERVED_HINT = (
    "What happens there is not known, and nothing is repaired, until ticks run again. See what becomes of the messages "
    "in the queue of ticks, and read the log of what takes them."
)
_OTHER_WORKERS_HINT = (
    "Find out which workers answer at the address. If the connectors still run on others, correct the address: created "
    "again, they would capture and write everything twice."
)
_AUDIT_HINT = (
    "Nothing is signed until it is settled. GET /api/v1/audit/verify says what is wrong. If you have restored the "
    "tables yourself, accept that: POST /api/v1/audit/accept-restored."
)
_LOST_ROWS_HINT = (
    "The rows stay missing while the delivery goes on. Put them back, or delete the delivery and deploy a new one, "
    "which reads its topics from their beginning. Then resolve this incident."
)
_SCHEMA_HINT = (
    "GET /api/v1/data/schemas shows all changes of the table. Change the target table by hand where it has to follow, "
    "or replace the delivery. Then resolve this incident: nothing else ends it."
)
_UNREADABLE_HINT = (
    "Use a release of Headgate that reads it: the newest that has ever written here. What it describes is left alone "
    "until then. Everything else goes on."
)
_NOT_PAUSED_HINT = "Headgate pauses it in each tick. If it does not stay so, another program controls this connector."

_ERROR, _WARNING = Severity.ERROR, Severity.WARNING
_CONNECT, _SOURCE, _DESTINATION, _PIPELINE, _INSTALLATION = Category

DESCRIPTIONS: Mapping[ConditionCode, Description] = {
    ConditionCode.CONNECTOR_FAILED: Description(_CONNECT, _ERROR, "Connector failed"),
    ConditionCode.CONNECTOR_UNASSIGNED: Description(_CONNECT, _ERROR, "Connector without a worker", _UNASSIGNED_HINT),
    ConditionCode.CONNECTOR_PAUSED: Description(_CONNECT, _ERROR, "Connector paused by something else"),
    ConditionCode.CONNECTOR_RESTART_LOOP: Description(_CONNECT, _ERROR, "Connector restarts again and again"),
    ConditionCode.CONNECT_TASK_FAILED: Description(_CONNECT, _ERROR, "Connector task failed"),
    ConditionCode.STREAM_CONNECT_UNAVAILABLE: Description(
        _CONNECT, _ERROR, "Kafka Connect unavailable", _UNAVAILABLE_HINT
    ),
    ConditionCode.SOURCE_CONNECTION_FAILED: Description(_SOURCE, _ERROR, "Source cannot be reached", _SOURCE_HINT),
    ConditionCode.SOURCE_DATABASE_UNAVAILABLE: Description(
        _SOURCE, _ERROR, "Source database unavailable", _SOURCE_HINT
    ),
    ConditionCode.SOURCE_AUTH_FAILED: Description(_SOURCE, _ERROR, "Source refuses the login", _SOURCE_HINT),
    ConditionCode.CDC_REPLICATION_SLOT_ERROR: Description(_SOURCE, _ERROR, "Replication slot error"),
    ConditionCode.CDC_BINLOG_ERROR: Description(_SOURCE, _ERROR, "Binary log error"),
    ConditionCode.CDC_WAL_ERROR: Description(_SOURCE, _ERROR, "Write-ahead log error"),
    ConditionCode.CDC_PERMISSION_ERROR: Description(_SOURCE, _ERROR, "Permission missing for the capture"),
    ConditionCode.CDC_CONNECTOR_FAILED: Description(_SOURCE, _ERROR, "Capture failed"),
    ConditionCode.DESTINATION_CONNECTION_FAILED: Description(
        _DESTINATION, _ERROR, "Destination cannot be reached", _DESTINATION_HINT
    ),
    ConditionCode.DESTINATION_AUTH_FAILED: Description(
        _DESTINATION, _ERROR, "Destination refuses the login", _DESTINATION_HINT
    ),
    ConditionCode.DESTINATION_WRITE_FAILED: Description(_DESTINATION, _ERROR, "Destination refuses rows"),
    ConditionCode.DESTINATION_SCHEMA_ERROR: Description(_DESTINATION, _ERROR, "Destination schema does not fit"),
    ConditionCode.DESTINATION_CONNECTOR_FAILED: Description(_DESTINATION, _ERROR, "Delivery failed", _OPERATION_HINT),
    ConditionCode.PIPELINE_FAILED: Description(_PIPELINE, _ERROR, "Pipeline failed", _OPERATION_HINT),
    ConditionCode.PIPELINE_DEGRADED: Description(_PIPELINE, _WARNING, "Pipeline degraded", _NOT_PAUSED_HINT),
    ConditionCode.PIPELINE_NO_EVENTS: Description(_PIPELINE, _ERROR, "Pipeline without events"),
    ConditionCode.PIPELINE_LAG_HIGH: Description(_PIPELINE, _WARNING, "Delivery is behind"),
    ConditionCode.STALLED: Description(_PIPELINE, _ERROR, "Pipeline without events"),
    ConditionCode.LOG_AT_RISK: Description(_SOURCE, _WARNING, "Write-ahead log error"),
    ConditionCode.CHANGES_LOST: Description(_PIPELINE, _ERROR, "Pipeline failed"),
    ConditionCode.CAPTURE_NARROWED: Description(_SOURCE, _ERROR, "Pipeline degraded"),
    ConditionCode.CONFIG_DRIFT: Description(_CONNECT, _WARNING, "Pipeline degraded"),
    ConditionCode.CONNECT_NOT_OBSERVED: Description(_CONNECT, _ERROR, "Kafka Connect unavailable", _NOT_OBSERVED_HINT),
    ConditionCode.CONNECTOR_NAME_CONFLICT: Description(_CONNECT, _ERROR, "Connector failed"),
    ConditionCode.KAFKA_CLUSTER_CHANGED: Description(
        _CONNECT, _ERROR, "Kafka Connect unavailable", _OTHER_WORKERS_HINT
    ),
    ConditionCode.CREATIONS_PENDING: Description(_CONNECT, _ERROR, "Kafka Connect unavailable", _OTHER_WORKERS_HINT),
    ConditionCode.AUDIT_TRAIL_CHANGED: Description(_INSTALLATION, _ERROR, "Audit trail changed", _AUDIT_HINT),
    ConditionCode.TARGET_REPLACED: Description(_DESTINATION, _ERROR, "Delivery failed", _LOST_ROWS_HINT),
    ConditionCode.SCHEMA_CHANGED: Description(_SOURCE, _WARNING, "Destination schema does not fit", _SCHEMA_HINT),
    ConditionCode.UNREADABLE_ROW: Description(_PIPELINE, _WARNING, "Pipeline degraded", _UNREADABLE_HINT),
}
"""A failed operation is `PIPELINE_FAILED`, or `DESTINATION_CONNECTOR_FAILED` without a diagnosis. `STALLED` is a
pipeline that writes nothing, or a delivery of which nothing arrives.
"""

_VARIANT_HINTS: Mapping[Variant, str | None] = {
    Variant.MISSING: (
        "Headgate creates it again, unless many are missing at once. Its status says what was tried, and when it is "
        "tried again."
    ),
    Variant.PAUSED_ONCE: (
        "Headgate resumes it in each tick. If it does not stay so, another program controls this connector."
    ),
    Variant.PAUSED_REPEATEDLY: "Headgate resumes it each time. The incident ends when it has run for 15 minutes.",
    Variant.NOT_STARTED: (
        "Headgate tries to start it in each tick. Its status says what it waits for, or why the last attempt failed."
    ),
    Variant.RESTARTS: "Remove the cause that its other incidents and its status name, then restart it.",
    Variant.RECREATIONS: None,
    Variant.RECORDS_REMOVED: (
        "What was removed stays missing in the target, also when the delivery goes on. This incident ends when a "
        "person resolves it or the delivery is deleted."
    ),
    Variant.SWAPPED: "Changes that arrived while the other table was filled may be missing in it. Compare some rows.",
}
"""Instead of the hint of the code."""


def condition_key(
    resource_type: str, resource_id: str, connector_name: str | None, task_id: int | None, code: str
) -> str:
    """See `Condition.key`. Also for a code that this release does not know."""
    task = "" if task_id is None else str(task_id)
    return f"{resource_type}/{resource_id}/{connector_name or ''}/{task}/{code}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """Something wrong with one resource: a pipeline, delivery, source, destination, connect_cluster or installation.

    `message` says what is wrong, in a sentence of ours. `diagnosis` is that of the connector or task that has failed,
    `cause` what that is about, where it is known. `pipeline_id` is the only pipeline that a source's condition
    concerns, if there is only one. `advice` is the hint where who has found the condition knows a better one than the
    table.
    """

    code: ConditionCode
    resource_type: str
    resource_id: str
    message: str
    variant: Variant | None = None
    diagnosis: Diagnosis | None = None
    cause: Cause | None = None
    severity: Severity = Severity.ERROR
    connector_name: str | None = None
    task_id: int | None = None
    pipeline_id: str | None = None
    advice: str | None = None

    @property
    def key(self) -> str:
        """The same for the same fault: code, resource, connector and task."""
        return condition_key(self.resource_type, self.resource_id, self.connector_name, self.task_id, self.code)

    @property
    def hint(self) -> str | None:
        if self.advice:
            return self.advice
        if self.diagnosis and self.connector_name:
            return hint_of(self.diagnosis, kind_of_connector(self.connector_name)).message
        return _VARIANT_HINTS[self.variant] if self.variant else DESCRIPTIONS[self.code].hint
