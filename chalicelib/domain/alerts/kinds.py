"""How bad alerts are, and what kind a failure is whatever its cause."""

from collections.abc import Mapping
from enum import StrEnum

from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import DESCRIPTIONS, WITHOUT_ALERTS, Severity


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

_OF_CONNECTORS = ("CDC_", "SOURCE_", "DESTINATION_")
"""What the classifier finds behind the failure of a connector or a task begins with one of these."""

TITLES: Mapping[EventKind, str] = {
    code.event_kind: described.title for code, described in DESCRIPTIONS.items() if code not in WITHOUT_ALERTS
}


def general_kind(kind: EventKind, connector_name: str | None, task_id: int | None) -> EventKind:
    """What a failure is whatever its cause: of a task, of a connector, or itself where it is neither."""
    if connector_name is None or not kind.startswith(_OF_CONNECTORS):
        return kind
    return EventKind.CONNECTOR_FAILED if task_id is None else EventKind.CONNECT_TASK_FAILED
