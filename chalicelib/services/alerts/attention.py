"""Which resources need a person now, for the overview. It costs the same however many resources there are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.access import Actor
from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.attention import Attention, actions, most_urgent, one_of_each_resource
from chalicelib.domain.alerts.listing import Facets
from chalicelib.domain.alerts.naming import Resource
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import UnreadableRow
from chalicelib.kit.clock import Clock
from chalicelib.services.alerts.event_names import Unnamed
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import batch_results
from chalicelib.stores.resources import ResourceStores


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionService:
    """`pipelines` and `deliveries` add the latest observations and metrics to such resources."""

    stores: AlertStores
    resources: ResourceStores
    pipelines: Callable[[Sequence[Pipeline]], Sequence[Pipeline]]
    deliveries: Callable[[Sequence[Delivery]], Sequence[Delivery]]
    clock: Clock

    def read(
        self, reader: Actor, active: Sequence[Facets], clusters: Mapping[str, HealthStatus]
    ) -> Sequence[Attention]:
        """The most urgent resources first. `active` are all active alerts, `clusters` the health of Connect clusters by
        id, as ticks have seen it.

        With alerts that takes one call for them, one for their resources, and at most one each for what is known of
        their pipelines and deliveries.
        """
        now = self.clock()
        ids = most_urgent(active, now)
        alerts = one_of_each_resource(self.stores.alerts.with_ids(ids), now) if ids else []
        resources = self._resources([alert.event.resource for alert in alerts])
        return [
            self._entry(reader, alert, resources[alert.event.resource], clusters)
            for alert in alerts
            if alert.event.resource in resources
        ]

    def _entry(self, reader: Actor, alert: Alert, resource: Any, clusters: Mapping[str, HealthStatus]) -> Attention:
        resource_type, resource_id = alert.event.resource
        return Attention(
            resource_type=resource_type,
            resource_id=resource_id,
            resource_name=resource.name,
            observed_state=clusters.get(resource_id) or self._state(resource),
            waiting=resource.metrics.lag if isinstance(resource, Delivery) and resource.metrics else None,
            alert=alert,
            actions=actions(resource, resource_type, alert.status_at(self.clock()), reader.may),
        )

    def _state(self, resource: Any) -> ObservedState | HealthStatus | None:
        if isinstance(resource, Pipeline | Delivery):
            return resource.observation.state if resource.observation else ObservedState.UNKNOWN
        return None if isinstance(resource, Unnamed) else resource.health.as_of(self.clock()).status

    def _resources(self, wanted: Sequence[Resource]) -> Mapping[Resource, Any]:
        """Those that exist, with their latest observations."""
        stores = self.resources.by_type()
        stored = [resource for resource in wanted if resource[0] in stores]
        keys = [(stores[resource_type], resource_id) for resource_type, resource_id in stored]
        read = batch_results(*keys) if keys else []
        found: dict[Resource, Any] = {resource: Unnamed(*resource) for resource in wanted if resource not in stored}
        for resource, result in zip(stored, read, strict=True):
            if result is not None:
                found[resource] = Unnamed(*resource) if isinstance(result, UnreadableRow) else result
        observed: tuple[Pipeline | Delivery, ...] = (
            *self.pipelines([one for one in found.values() if isinstance(one, Pipeline)]),
            *self.deliveries([one for one in found.values() if isinstance(one, Delivery)]),
        )
        return found | {(_noun(one), one.id): one for one in observed}


def _noun(resource: Pipeline | Delivery) -> str:
    return "pipeline" if isinstance(resource, Pipeline) else "delivery"
