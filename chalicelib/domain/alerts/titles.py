"""What an alert is called: what is wrong, and where."""

from collections.abc import Mapping

from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.kinds import EventKind

TITLES: Mapping[EventKind, str] = {
    EventKind.CONNECTOR_FAILED: "Connector failed",
    EventKind.CONNECTOR_UNASSIGNED: "Connector without a worker",
    EventKind.CONNECTOR_PAUSED: "Connector paused by something else",
    EventKind.CONNECTOR_RESTART_LOOP: "Connector restarts again and again",
    EventKind.CONNECT_TASK_FAILED: "Connector task failed",
    EventKind.STREAM_CONNECT_UNAVAILABLE: "Kafka Connect unavailable",
    EventKind.SOURCE_CONNECTION_FAILED: "Source cannot be reached",
    EventKind.SOURCE_DATABASE_UNAVAILABLE: "Source database unavailable",
    EventKind.SOURCE_AUTH_FAILED: "Source refuses the login",
    EventKind.CDC_REPLICATION_SLOT_ERROR: "Replication slot error",
    EventKind.CDC_BINLOG_ERROR: "Binary log error",
    EventKind.CDC_WAL_ERROR: "Write-ahead log error",
    EventKind.CDC_PERMISSION_ERROR: "Permission missing for the capture",
    EventKind.CDC_CONNECTOR_FAILED: "Capture failed",
    EventKind.DESTINATION_CONNECTION_FAILED: "Destination cannot be reached",
    EventKind.DESTINATION_AUTH_FAILED: "Destination refuses the login",
    EventKind.DESTINATION_WRITE_FAILED: "Destination refuses rows",
    EventKind.DESTINATION_SCHEMA_ERROR: "Destination schema does not fit",
    EventKind.DESTINATION_CONNECTOR_FAILED: "Delivery failed",
    EventKind.PIPELINE_FAILED: "Pipeline failed",
    EventKind.PIPELINE_DEGRADED: "Pipeline degraded",
    EventKind.PIPELINE_NO_EVENTS: "Pipeline without events",
    EventKind.PIPELINE_LAG_HIGH: "Delivery is behind",
}


def title_of(event: AlertEvent) -> str:
    """`Connector task failed: orders, task 0`: the pipeline's name, or that of what the event comes from."""
    where = event.pipeline_name or event.emitter.name
    task = "" if event.task_id is None else f", task {event.task_id}"
    return f"{TITLES[event.kind]}: {where}{task}"
