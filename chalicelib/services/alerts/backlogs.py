"""Reads how much waits for pipelines and deliveries, by the last measurements: for a message nobody else is asked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from chalicelib.domain.alerts.backlog import Backlog, backlog_of
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.source_state import SourceState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.kit.clock import Clock
from chalicelib.services.connectors.known_progress import known_progress, progress_rows
from chalicelib.stores.documents import batch_results
from chalicelib.stores.monitoring.group import MonitoringStores


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlogs:
    monitoring: MonitoringStores
    clock: Clock

    def read(self, resources: Iterable[Pipeline | Delivery]) -> Mapping[str, Backlog]:
        """The backlog of each, by its id: one call for each hundred rows, none without resources."""
        resources = list(resources)
        if not resources:
            return {}
        rows = progress_rows(resources)
        source_ids = sorted({resource.source_id for resource in resources if isinstance(resource, Pipeline)})
        results = batch_results(
            *((self.monitoring.progress, row) for row in rows),
            *((self.monitoring.source_states, source_id) for source_id in source_ids),
        )
        progress, now = known_progress(rows, results[: len(rows)]), self.clock()
        states = {state.id: state for state in results[len(rows) :] if isinstance(state, SourceState)}
        backlogs = {}
        for resource in resources:
            pipeline = resource if isinstance(resource, Pipeline) else None
            source = states.get(pipeline.source_id) if pipeline else None
            backlogs[resource.id] = backlog_of(progress.of(resource), source, pipeline.id if pipeline else None, now)
        return backlogs
