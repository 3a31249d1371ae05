"""Deliveries with their latest observations: what the API lists."""

from collections.abc import Sequence

from chalicelib.domain.connector_row import ListedDelivery
from chalicelib.services.connectors.known_progress import known_progress, progress_rows
from chalicelib.services.connectors.known_targets import target_keys
from chalicelib.services.connectors.observations import NO_VIEWS, ObservationReader, Views
from chalicelib.stores.documents import batch_results
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
    clusters = sorted({delivery.connect_cluster_id for delivery in deliveries} - loaded.keys())
    rows = progress_rows(deliveries)
    targets = target_keys(deliveries, resources.destinations, monitoring.target_losses)
    found = batch_results(
        *((reader.observations, cluster_id) for cluster_id in clusters),
        *((monitoring.progress, row) for row in rows),
        *targets.keys,
    )
    views: Views = {**loaded, **dict(zip(clusters, found, strict=False))}
    after = len(clusters) + len(rows)
    known = targets.known(found[after:])
    observed = reader.latest(deliveries, views, known_progress(rows, found[len(clusters) : after]))
    return tuple(map(known.explain, observed))
