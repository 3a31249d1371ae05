"""The stored progress of pipelines and deliveries, read together with what else a request needs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from chalicelib.domain.connector_row import AnyListed, Listed, is_sink
from chalicelib.domain.monitoring.metrics import Metrics
from chalicelib.domain.monitoring.progress import Progress, metrics
from chalicelib.domain.observation import DesiredState
from chalicelib.stores.monitoring.progress import ProgressPart, ProgressStore
from chalicelib.stores.rows import Key

ProgressRow = tuple[str, str | None]
"""A Connect cluster and one of its connectors, or none for the last look at the cluster."""


@dataclass(frozen=True, slots=True)
class KnownProgress:
    """Rows of progress that were read, by key."""

    parts: Mapping[Key, ProgressPart] = field(default_factory=dict)

    def measured(self, resource: Listed, now: datetime) -> Listed:
        """The resource with its metrics."""
        shown = self.metrics(resource, now)
        return replace(resource, metrics=shown) if shown else resource

    def metrics(self, resource: AnyListed, now: datetime) -> Metrics | None:
        """None for a draft, which has no connector that could be measured."""
        if resource.desired_state is DesiredState.DRAFT:
            return None
        progress, cluster = self.of(resource), self._part(resource, None)
        return metrics(progress, cluster.look, now, is_sink=is_sink(resource))

    def of(self, resource: AnyListed) -> Progress | None:
        """The last measurement of its connector."""
        part, cluster = (self._part(resource, name) for name in (resource.connector_name, None))
        return part.progress(resource.connector_name, cluster)

    def _part(self, resource: AnyListed, connector: str | None) -> ProgressPart:
        return self.parts.get(ProgressStore.key((resource.connect_cluster_id, connector)), ProgressPart())


def progress_rows(resources: Iterable[AnyListed]) -> list[ProgressRow]:
    """What is to be read of these resources, each row once."""
    rows: dict[Key, ProgressRow] = {}
    for resource in resources:
        for connector in (resource.connector_name, None):
            row = (resource.connect_cluster_id, connector)
            rows.setdefault(ProgressStore.key(row), row)
    return list(rows.values())


def known_progress(rows: Sequence[ProgressRow], parts: Sequence[ProgressPart]) -> KnownProgress:
    """The parts that were read from these rows, in the same order."""
    return KnownProgress({ProgressStore.key(row): part for row, part in zip(rows, parts, strict=True)})
