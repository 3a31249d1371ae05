"""Pipelines with their latest observations: what the API lists."""

from collections.abc import Sequence

from chalicelib.domain.connector_row import ObservedRow, PipelineRow
from chalicelib.domain.pipeline import Pipeline
from chalicelib.services.connectors.known_sources import source_keys
from chalicelib.services.connectors.observations import ObservationReader, Views
from chalicelib.stores.documents import batch_results
from chalicelib.stores.monitoring.findings import FaultyIds
from chalicelib.stores.monitoring.group import MonitoringStores


def latest_pipelines(
    pipelines: Sequence[Pipeline], reader: ObservationReader, monitoring: MonitoringStores
) -> tuple[Pipeline, ...]:
    """The pipelines with their latest observations, and with what the last looks at their sources have found: one
    read.
    """
    sources, now = source_keys(pipelines, monitoring.source_states), reader.clock()
    observed, found = reader.latest_with(pipelines, sources.keys)
    known = sources.known(found)
    return tuple(known.explain(pipeline, now) for pipeline in observed)


def latest_pipeline_rows(
    rows: Sequence[PipelineRow],
    reader: ObservationReader,
    monitoring: MonitoringStores,
    views: Views,
    faulty: FaultyIds,
) -> list[ObservedRow]:
    """The same of rows. Of the states of sources only those are read of which there is something to show."""
    noted = [row for row in rows if row.id in faulty.noted]
    sources, now = source_keys(noted, monitoring.source_states), reader.clock()
    known = sources.known(batch_results(*sources.keys))
    observed = []
    for row in rows:
        observation, log = known.explained(row, reader.latest_of_row(row, views, now), now)
        observed.append(ObservedRow(row, observation, seconds_to_loss=log.seconds_to_loss if log else None))
    return observed
