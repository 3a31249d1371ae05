"""Reads the resources that conditions are about, for the names in alert events."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.naming import Resource, emitter_of, event_of, pipeline_id_of
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.condition import WITHOUT_ALERTS, Condition
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import UnreadableRow
from chalicelib.services.alerts.backlogs import Backlogs
from chalicelib.stores.documents import Documents, batch_results


@dataclass(frozen=True, slots=True)
class Unnamed:
    """Something that exists, and whose row cannot be read: its name is its id."""

    type: str
    id: str

    @property
    def name(self) -> str:
        return f"{self.type.replace('_', ' ')} {self.id}"


@dataclass(frozen=True, slots=True)
class EventNames:
    """Makes events of conditions. For one report: what it has read, it does not read again. `stores` are those of the
    resources, by type.
    """

    stores: Mapping[str, Documents[Any]]
    backlogs: Backlogs
    _known: dict[Resource, Any] = field(default_factory=dict)

    def events(self, conditions: Sequence[Condition]) -> list[AlertEvent]:
        """The events of the conditions, without those whose resource does not exist (any more), or that have none."""
        conditions = [condition for condition in conditions if condition.code not in WITHOUT_ALERTS]
        self.read((condition.resource_type, condition.resource_id) for condition in conditions)
        resources = [
            (condition, self._known[condition.resource_type, condition.resource_id]) for condition in conditions
        ]
        pipelines = [pipeline_id_of(condition, resource) for condition, resource in resources]
        emitters = [emitter_of(condition, resource) for condition, resource in resources]
        # Emitters and pipelines are known only after the resources of the conditions: two reads, whatever the number.
        self.read([*(("pipeline", pipeline_id) for pipeline_id in pipelines if pipeline_id), *emitters])
        moving = {one.id: one for _, one in resources if isinstance(one, Pipeline | Delivery)}
        waiting = self.backlogs.read(moving.values())
        return [
            event_of(
                condition,
                resource,
                self._known[emitter],
                self._pipeline(pipeline_id),
                waiting.get(condition.resource_id),
            )
            for (condition, resource), pipeline_id, emitter in zip(resources, pipelines, emitters, strict=True)
            if resource is not None and self._known[emitter] is not None
        ]

    def existing(self, resources: Sequence[Resource]) -> frozenset[Resource]:
        self.read(resources)
        return frozenset(resource for resource in resources if self._known[resource] is not None)

    def labels(self, resource: Resource) -> Mapping[str, str]:
        """The labels of a resource that was read; none where its row cannot be read."""
        return getattr(self._known.get(resource), "labels", {})

    def _pipeline(self, pipeline_id: str | None) -> Pipeline | None:
        pipeline = self._known.get(("pipeline", pipeline_id or ""))
        return pipeline if isinstance(pipeline, Pipeline) else None

    def read(self, resources: Iterable[Resource]) -> None:
        """Read those that were not read yet: one call for each hundred."""
        missing = [resource for resource in dict.fromkeys(resources) if resource not in self._known]
        # Conditions are about other rows than resources, such as rules, only because these cannot be read.
        self._known.update((resource, Unnamed(*resource)) for resource in missing if resource[0] not in self.stores)
        stored = [resource for resource in missing if resource[0] in self.stores]
        keys = [(self.stores[resource_type], resource_id) for resource_type, resource_id in stored]
        for resource, result in zip(stored, batch_results(*keys) if keys else (), strict=True):
            self._known[resource] = Unnamed(*resource) if isinstance(result, UnreadableRow) else result
