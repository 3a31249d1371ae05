"""What pipelines and deliveries refer to, loaded in one call after the entity itself was read."""

from dataclasses import dataclass

from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.destination import Destination
from chalicelib.domain.monitoring.source_state import SourceState
from chalicelib.domain.monitoring.target_losses import TargetLosses
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.source import Source
from chalicelib.errors import UnreadableRow
from chalicelib.services.connectors.known_progress import KnownProgress
from chalicelib.services.connectors.known_targets import KnownTargets


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorDependencies:
    """What every owner of a connector refers to, each None when it does not exist. `view` is of the last tick."""

    connect_cluster: ConnectCluster | None
    view: ClusterView
    progress: KnownProgress


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineDependencies(ConnectorDependencies):
    source: Source | None
    stream_cluster: StreamCluster | None
    source_state: SourceState | UnreadableRow | None
    targets: KnownTargets
    """Of the deliveries with which it was loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryDependencies(ConnectorDependencies):
    destination: Destination | None
    pipeline: Pipeline | None
    target_losses: TargetLosses | UnreadableRow | None

    @property
    def targets(self) -> KnownTargets:
        destination = self.destination
        return (
            KnownTargets({destination.id: destination}, {destination.id: self.target_losses}) if destination else _NONE
        )


_NONE = KnownTargets()
