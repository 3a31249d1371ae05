"""From a condition to an alert event: who it comes from, with the names of the resources as they are now."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.kinds import SEVERITIES, kind_of_condition
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.incident import Condition
from chalicelib.domain.pipeline import Pipeline
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.documents import find_together
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.sources import Sources

Resource = tuple[str, str]
"""Type and id."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The resources that one report is about, each read once."""

    stores: Mapping[str, Any]
    found: dict[Resource, Any] = field(default_factory=dict)

    def read(self, resources: Iterable[Resource]) -> None:
        """Read those that were not read yet: one call for each hundred."""
        missing = [one for one in dict.fromkeys(resources) if one not in self.found]
        asked = [(self.stores[resource_type], resource_id) for resource_type, resource_id in missing]
        self.found.update(zip(missing, find_together(*asked), strict=True) if asked else ())

    def get(self, resource_type: str, resource_id: str) -> Any:
        return self.found.get((resource_type, resource_id))


class EventNames:
    """Makes events of conditions. For one report: what it has read, it does not read again."""

    def __init__(
        self,
        *,
        sources: Sources,
        destinations: Destinations,
        connects: ConnectClusters,
        pipelines: Pipelines,
        deliveries: Deliveries,
    ) -> None:
        self._known = _Known(
            {
                "source": sources,
                "destination": destinations,
                "connect_cluster": connects,
                "pipeline": pipelines,
                "delivery": deliveries,
            }
        )

    def events(self, conditions: Sequence[Condition]) -> list[AlertEvent | None]:
        """The event of each condition; None where what it is about does not exist (any more)."""
        known = self._known
        known.read((one.resource_type, one.resource_id) for one in conditions)
        known.read(("pipeline", pipeline_id) for one in conditions if (pipeline_id := self._pipeline_id(one)))
        known.read(self._emitter(one) for one in conditions)
        return [self._event(one) for one in conditions]

    def existing(self, resources: Sequence[Resource]) -> frozenset[Resource]:
        """Those of these resources that exist."""
        self._known.read(resources)
        return frozenset(one for one in resources if self._known.get(*one) is not None)

    def _pipeline_id(self, condition: Condition) -> str | None:
        match self._known.get(condition.resource_type, condition.resource_id):
            case Pipeline(id=pipeline_id) | Delivery(pipeline_id=pipeline_id):
                return pipeline_id
        return condition.pipeline_id

    def _emitter(self, condition: Condition) -> Resource:
        match self._known.get(condition.resource_type, condition.resource_id):
            case Pipeline(source_id=source_id):
                return "source", source_id
            case Delivery(destination_id=destination_id):
                return "destination", destination_id
        return condition.resource_type, condition.resource_id

    def _event(self, condition: Condition) -> AlertEvent | None:
        resource = self._known.get(condition.resource_type, condition.resource_id)
        emitter_type, emitter_id = self._emitter(condition)
        emitter, pipeline_id = self._known.get(emitter_type, emitter_id), self._pipeline_id(condition)
        if resource is None or emitter is None:
            return None
        pipeline = self._known.get("pipeline", pipeline_id or "")
        return AlertEvent(
            kind=kind_of_condition(condition),
            severity=SEVERITIES[condition.severity],
            emitter=Emitter(type=emitter_type, id=emitter_id, name=emitter.name),
            pipeline_id=pipeline_id,
            pipeline_name=pipeline.name if pipeline else None,
            source_id=_only("source", condition) or (pipeline.source_id if pipeline else None),
            delivery_id=_only("delivery", condition),
            destination_id=emitter_id if emitter_type == "destination" else None,
            connect_cluster_id=_only("connect_cluster", condition) or getattr(resource, "connect_cluster_id", None),
            connector_name=condition.connector_name,
            task_id=condition.task_id,
            error=condition.message,
            hint=condition.hint,
            condition_key=condition.key,
        )


def _only(resource_type: str, condition: Condition) -> str | None:
    return condition.resource_id if condition.resource_type == resource_type else None


def repeated(event: AlertEvent, condition: Condition) -> AlertEvent:
    """The event of an active alert as its condition is now. Its names stay: nothing has to be read for a repetition."""
    severity = SEVERITIES[condition.severity]
    return replace(event, severity=severity, error=condition.message, hint=condition.hint)
