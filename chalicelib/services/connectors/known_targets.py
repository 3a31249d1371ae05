"""What is known about the destinations of deliveries, read together with what else a request needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.monitoring.source_state import observed_with
from chalicelib.domain.monitoring.target_losses import TargetLosses, target_findings
from chalicelib.domain.observation import DesiredState
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.monitoring.target_tables import TargetLossStore


@dataclass(frozen=True, slots=True)
class KnownTargets:
    """Destinations, and what was lost there, by the destination's id."""

    destinations: Mapping[str, Destination | None] = field(default_factory=dict)
    losses: Mapping[str, TargetLosses | None] = field(default_factory=dict)

    def explain(self, delivery: Delivery) -> Delivery:
        """The delivery, its observation with what is wrong at its destination. A draft delivers nothing yet."""
        if delivery.observation is None or delivery.desired_state is DesiredState.DRAFT:
            return delivery
        place = delivery.destination_id
        findings = target_findings(self.destinations.get(place), self.losses.get(place), delivery.id)
        return replace(delivery, observation=observed_with(delivery.observation, findings))


@dataclass(frozen=True, slots=True)
class TargetKeys:
    """What is to be read about the destinations of these deliveries, each once: `keys` for `batch_find`."""

    ids: Sequence[str]
    keys: Sequence[tuple[Any, str]]

    def known(self, entities: Sequence[Any]) -> KnownTargets:
        """What was read by `keys`, in the same order."""
        count = len(self.ids)
        return KnownTargets(
            dict(zip(self.ids, entities[:count], strict=True)), dict(zip(self.ids, entities[count:], strict=True))
        )


def target_keys(deliveries: Iterable[Delivery], destinations: Destinations, losses: TargetLossStore) -> TargetKeys:
    ids = sorted({delivery.destination_id for delivery in deliveries})
    return TargetKeys(ids, [*((destinations, one) for one in ids), *((losses, one) for one in ids)])
