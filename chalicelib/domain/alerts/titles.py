"""What an alert is called: what is wrong, and where."""

from collections.abc import Mapping

from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import DESCRIPTIONS

TITLES: Mapping[EventKind, str] = {code.event_kind: described.title for code, described in DESCRIPTIONS.items()}


def title_of(event: AlertEvent) -> str:
    """`Connector task failed: orders, task 0`: the pipeline's name, or that of what the event comes from."""
    where = event.pipeline_name or event.emitter.name
    task = "" if event.task_id is None else f", task {event.task_id}"
    return f"{TITLES[event.kind]}: {where}{task}"
