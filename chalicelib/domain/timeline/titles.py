"""The titles of entries: sentences that say what has happened. Names in them are of tables of the source."""

from collections.abc import Mapping

from chalicelib.domain.alerts.kinds import TITLES
from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.connectors.transitions import Transition
from chalicelib.domain.monitoring.condition import DESCRIPTIONS
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.timeline.event import AlertChange, AlertMove, Change, IncidentChange, TableChange

_NAMED = 3
"""Changes of a schema that a title names."""

_MAX_NAME = 120
"""Characters of the name of a table."""

_OPERATIONS: Mapping[str, str] = {
    OperationKind.DEPLOY: "Deployment",
    OperationKind.RECREATE: "Creation of the missing connector",
    OperationKind.PAUSE: "Pause",
    OperationKind.RESUME: "Resume",
    OperationKind.RESTART: "Restart",
    OperationKind.RESTART_TASK: "Restart of one task",
    OperationKind.UPDATE_CONFIG: "Update of the connector's config",
    OperationKind.UPDATE_MAPPINGS: "Update of the mappings",
    OperationKind.DELETE: "Deletion",
}
"""Operations by their kinds, which are verbs of the audit trail."""

_OTHERS: Mapping[str, str] = {
    "create": "Created",
    "update": "Definition updated",
    "restart_failed": "Failed parts were restarted by Headgate",
    "forget": "Removed without touching Kafka Connect",
    "adopt": "Connector adopted",
}
"""Other actions, which are done at once, by their verbs."""

_REFUSED = "A request was refused"
_DONE = "Changed in another way"

_INCIDENTS: Mapping[IncidentStatus, str] = {
    IncidentStatus.OPEN: "Incident opened again",
    IncidentStatus.ACKNOWLEDGED: "Incident acknowledged",
    IncidentStatus.RESOLVED: "Incident resolved",
}
"""By the status that an incident has got; for a new one `_NEW_INCIDENT`."""
_NEW_INCIDENT = "Incident opened"

_ALERTS: Mapping[AlertMove, str] = {
    AlertMove.FIRED: "Alert fired",
    AlertMove.RAISED: "Severity of the alert raised",
    AlertMove.ACKNOWLEDGED: "Alert acknowledged",
    AlertMove.SILENCED: "Alert silenced",
    AlertMove.UNSILENCED: "Silence of the alert ended",
    AlertMove.RESOLVED: "Alert resolved",
}


def operation_title(verb: str, outcome: Outcome) -> str:
    """Of an action of the audit trail that begins with this outcome."""
    operation = _OPERATIONS.get(verb)
    if outcome is Outcome.DENIED:
        return f"{operation} was refused" if operation else _REFUSED
    if operation:
        return f"{operation} was asked for"
    return _OTHERS.get(verb, _DONE)


def is_operation(verb: str) -> bool:
    """Whether an action leaves one record when it is requested, and one when it is settled."""
    return verb in _OPERATIONS


def title_of(change: Change) -> str:
    match change:
        case Transition():
            before = f", was {change.before}" if change.before else " for the first time"
            return f"Observed {change.after}{before}"
        case IncidentChange():
            change_of_status = _INCIDENTS[change.after] if change.before else _NEW_INCIDENT
            return f"{change_of_status}: {DESCRIPTIONS[change.code].title}"
        case AlertChange():
            return f"{_ALERTS[change.move]}: {TITLES[change.kind]}"
        case TableChange():
            return f"Schema of {str(change.table)[:_MAX_NAME]} has version {change.version} now: {_alterations(change)}"


def _alterations(change: TableChange) -> str:
    named = [alteration.replace("_", " ").lower() for alteration in change.alterations[:_NAMED]]
    others = change.count - len(named)
    return ", ".join([*named, *([f"{others} more"] if others > 0 else [])]) or "no column changed"
