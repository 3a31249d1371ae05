"""Deliveries with their latest observations: what the API lists."""

from collections.abc import Sequence
from typing import Any

from chalicelib.domain.delivery import Delivery
from chalicelib.services.connectors.known_progress import known_progress, progress_rows
from chalicelib.services.connectors.known_targets import target_keys
from chalicelib.services.connectors.observations import ObservationReader
from chalicelib.stores.documents import batch_results
from chalicelib.stores.monitoring.group import MonitoringStores
from chalicelib.stores.resources import ResourceStores


def latest_deliveries(
    deliveries: Sequence[Delivery], reader: ObservationReader, resources: ResourceStores, monitoring: MonitoringStores
) -> tuple[Delivery, ...]:
    """The deliveries with their latest observations, and with what is wrong at their destinations: one read."""
    clusters, rows = sorted({delivery.connect_cluster_id for delivery in deliveries}), progress_rows(deliveries)
    targets = target_keys(deliveries, resources.destinations, monitoring.target_losses)
    keys: list[tuple[Any, Any]] = [
        *((reader.observations, cluster_id) for cluster_id in clusters),
        *((monitoring.progress, row) for row in rows),
        *targets.keys,
    ]
    loaded = batch_results(*keys) if keys else []
    views, after = dict(zip(clusters, loaded, strict=False)), len(clusters) + len(rows)
    known = targets.known(loaded[after:])
    observed = reader.latest(deliveries, views, known_progress(rows, loaded[len(clusters) : after]))
    return tuple(map(known.explain, observed))
