"""Deliveries with their latest observations: what the API lists."""

from collections.abc import Sequence

from chalicelib.domain.connector_row import DeliveryRow, ObservedRow
from chalicelib.domain.delivery import Delivery
from chalicelib.services.connectors.known_progress import known_progress, progress_rows
from chalicelib.services.connectors.known_targets import target_keys
from chalicelib.services.connectors.observations import ObservationReader, Views
from chalicelib.stores.documents import batch_results
from chalicelib.stores.monitoring.group import MonitoringStores
from chalicelib.stores.resources import ResourceStores


def latest_deliveries(
    deliveries: Sequence[Delivery], reader: ObservationReader, resources: ResourceStores, monitoring: MonitoringStores
) -> tuple[Delivery, ...]:
    """The deliveries with their latest observations, and with what is wrong at their destinations: one read."""
    targets = target_keys(deliveries, resources.destinations, monitoring.target_losses)
    observed, found = reader.latest_with(deliveries, targets.keys)
    return tuple(map(targets.known(found).explain, observed))


def latest_delivery_rows(
    rows: Sequence[DeliveryRow],
    reader: ObservationReader,
    resources: ResourceStores,
    monitoring: MonitoringStores,
    views: Views,
) -> list[ObservedRow]:
    """The same of rows. Their progress is read, because a row shows its lag."""
    targets, parts = target_keys(rows, resources.destinations, monitoring.target_losses), progress_rows(rows)
    found = batch_results(*((monitoring.progress, part) for part in parts), *targets.keys)
    known, progress = targets.known(found[len(parts) :]), known_progress(parts, found[: len(parts)])
    now, observed = reader.clock(), []
    for row in rows:
        metrics = progress.metrics(row, now)
        observation = known.explained(row, reader.latest_of_row(row, views, now, metrics))
        observed.append(ObservedRow(row, observation, lag=metrics.lag if metrics else None))
    return observed
