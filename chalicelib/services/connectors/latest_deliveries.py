"""Deliveries with their latest observations: what the API lists."""

from collections.abc import Sequence

from chalicelib.domain.connector_row import ListedDelivery
from chalicelib.services.connectors.known_targets import target_keys
from chalicelib.services.connectors.observations import NO_VIEWS, ObservationReader, Views
from chalicelib.stores.monitoring.group import MonitoringStores
from chalicelib.stores.resources import ResourceStores


def latest_deliveries(
    deliveries: Sequence[ListedDelivery],
    reader: ObservationReader,
    resources: ResourceStores,
    monitoring: MonitoringStores,
    loaded: Views = NO_VIEWS,
) -> tuple[ListedDelivery, ...]:
    """The deliveries with their latest observations, and with what is wrong at their destinations: one read, without
    the views in `loaded`.
    """
    targets = target_keys(deliveries, resources.destinations, monitoring.target_losses)
    observed, found = reader.latest_with(deliveries, targets.keys, loaded)
    return tuple(map(targets.known(found).explain, observed))
