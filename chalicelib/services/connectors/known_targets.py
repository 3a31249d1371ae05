"""What is known about the destinations of deliveries, read together with what else a request needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chalicelib.domain.connector_row import DeliveryRow
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.monitoring.source_state import observed_with, with_unread_findings
from chalicelib.domain.monitoring.target_losses import TargetLosses, target_findings
from chalicelib.domain.observation import DesiredState, Observation
from chalicelib.errors import UnreadableRow
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.monitoring.target_tables import TargetLossStore


@dataclass(frozen=True, slots=True)
class KnownTargets:
    """Destinations, and what was lost there, by the destination's id."""

    destinations: Mapping[str, Destination | UnreadableRow | None] = field(default_factory=dict)
    losses: Mapping[str, TargetLosses | UnreadableRow | None] = field(default_factory=dict)

    def explain(self, delivery: Delivery) -> Delivery:
        """The delivery, its observation with what is wrong at its destination."""
        return replace(delivery, observation=self.explained(delivery, delivery.observation))

    def explained(self, delivery: Delivery | DeliveryRow, observation: Observation | None) -> Observation | None:
        """The observation of the delivery with what is wrong at its destination. A draft delivers nothing yet."""
        if observation is None or delivery.desired_state is DesiredState.DRAFT:
            return observation
        destination, losses = self.destinations.get(delivery.destination_id), self.losses.get(delivery.destination_id)
        if isinstance(destination, UnreadableRow) or isinstance(losses, UnreadableRow):
            return with_unread_findings(observation, "destination")
        return observed_with(observation, target_findings(destination, losses, delivery.id))


@dataclass(frozen=True, slots=True)
class TargetKeys:
    """What is to be read about the destinations of these deliveries, each once: `keys` for `batch_results`."""

    ids: Sequence[str]
    keys: Sequence[tuple[Any, str]]

    def known(self, entities: Sequence[Any]) -> KnownTargets:
        """What was read by `keys`, in the same order."""
        count = len(self.ids)
        return KnownTargets(
            dict(zip(self.ids, entities[:count], strict=True)), dict(zip(self.ids, entities[count:], strict=True))
        )


def target_keys(
    deliveries: Iterable[Delivery | DeliveryRow], destinations: Destinations, losses: TargetLossStore
) -> TargetKeys:
    ids = sorted({delivery.destination_id for delivery in deliveries})
    return TargetKeys(ids, [*((destinations, one) for one in ids), *((losses, one) for one in ids)])
