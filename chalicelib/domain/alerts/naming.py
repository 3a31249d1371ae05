"""From a condition to an alert event: who it comes from, with the names of the resources as they are now."""

from collections.abc import Iterable
from typing import Any

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.alerts.backlog import Backlog, lost_sentence
from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.kinds import SEVERITIES
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.condition import Condition
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import database_defaults

Resource = tuple[str, str]
"""Type and id."""


def pipeline_id_of(condition: Condition, resource: Any) -> str | None:
    """The pipeline that a condition of this resource is about, if it is about one."""
    match resource:
        case Pipeline(id=pipeline_id) | Delivery(pipeline_id=pipeline_id):
            return pipeline_id
    return condition.pipeline_id


def emitter_of(condition: Condition, resource: Any) -> Resource:
    """The source of a pipeline, the destination of a delivery, else the resource itself."""
    match resource:
        case Pipeline(source_id=source_id):
            return "source", source_id
        case Delivery(destination_id=destination_id):
            return "destination", destination_id
    return condition.resource_type, condition.resource_id


def event_of(
    condition: Condition, resource: Any, emitter: Any, pipeline: Pipeline | None, backlog: Backlog | None = None
) -> AlertEvent:
    emitter_type, emitter_id = emitter_of(condition, resource)
    return AlertEvent(
        kind=condition.code.event_kind,
        severity=SEVERITIES[condition.severity],
        emitter=Emitter(type=emitter_type, id=emitter_id, name=emitter.name),
        pipeline_id=pipeline_id_of(condition, resource),
        pipeline_name=pipeline.name if pipeline else None,
        source_id=_only("source", condition) or (pipeline.source_id if pipeline else None),
        delivery_id=_only("delivery", condition),
        delivery_name=resource.name if isinstance(resource, Delivery) else None,
        destination_id=emitter_id if emitter_type == "destination" else None,
        connect_cluster_id=_only("connect_cluster", condition) or getattr(resource, "connect_cluster_id", None),
        connector_name=condition.connector_name,
        task_id=condition.task_id,
        error=condition.message,
        hint=condition.hint,
        diagnosis=condition.diagnosis,
        cause=condition.cause,
        tasks=getattr(resource, "expected_tasks", 1),
        database=_database_of(getattr(emitter, "address", None)),
        backlog=backlog,
        lost=lost_sentence(condition, backlog),
        condition_key=condition.key,
    )


def _database_of(address: Any) -> str | None:
    """The database of a source or destination whose names of tables do not say in which one they are."""
    is_database = isinstance(address, DatabaseAddress)
    return str(address.database_name) if is_database and database_defaults(address.provider).schema else None


def worst_by_fingerprint(events: Iterable[AlertEvent]) -> dict[str, AlertEvent]:
    """Of several events with one fingerprint the worst, else the first."""
    worst: dict[str, AlertEvent] = {}
    for event in events:
        other = worst.get(event.fingerprint)
        if other is None or event.severity.rank < other.severity.rank:
            worst[event.fingerprint] = event
    return worst


def _only(resource_type: str, condition: Condition) -> str | None:
    return condition.resource_id if condition.resource_type == resource_type else None
