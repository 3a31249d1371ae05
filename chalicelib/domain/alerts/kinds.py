"""The event kinds of alerts, and which of them a condition is (specification, section 6)."""

from collections.abc import Mapping
from enum import StrEnum

from chalicelib.domain.monitoring.incident import (
    CAPTURE_NARROWED,
    CHANGES_LOST,
    CONFIG_DRIFT,
    LOG_AT_RISK,
    STALLED,
    Condition,
    Severity,
)


class EventKind(StrEnum):
    """What can be wrong, in the words of the API."""

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


class AlertSeverity(StrEnum):
    """How bad it is: rows do not move, they soon may not, or it is worth knowing."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 is the worst: the order in which messages are sent."""
        return tuple(AlertSeverity).index(self)


SEVERITIES: Mapping[Severity, AlertSeverity] = {
    Severity.ERROR: AlertSeverity.CRITICAL,
    Severity.WARNING: AlertSeverity.WARNING,
    Severity.INFO: AlertSeverity.INFO,
}

_KINDS: Mapping[str, EventKind] = {
    **{kind.value: kind for kind in EventKind},
    STALLED: EventKind.PIPELINE_NO_EVENTS,
    LOG_AT_RISK: EventKind.CDC_WAL_ERROR,
    CHANGES_LOST: EventKind.PIPELINE_FAILED,
    CAPTURE_NARROWED: EventKind.PIPELINE_DEGRADED,
    CONFIG_DRIFT: EventKind.PIPELINE_DEGRADED,
}
"""By the code of an incident: those of the specification, and ours. `STALLED` is a pipeline that writes nothing, or a
delivery of which nothing arrives. Progress is only measured where there is a metrics provider.
"""


_OF_CONNECTORS = ("CDC_", "SOURCE_", "DESTINATION_")
"""What the classifier finds behind the failure of a connector or a task begins with one of these."""


def general_kind(kind: EventKind, connector_name: str | None, task_id: int | None) -> EventKind:
    """What a failure is whatever its cause: of a task, of a connector, or itself where it is neither."""
    if connector_name is None or not kind.startswith(_OF_CONNECTORS):
        return kind
    return EventKind.CONNECTOR_FAILED if task_id is None else EventKind.CONNECT_TASK_FAILED


def kind_of_condition(condition: Condition) -> EventKind:
    """The event kind of a condition. Raises KeyError for a code that none belongs to."""
    return _KINDS[condition.code]
