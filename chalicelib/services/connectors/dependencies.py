"""What pipelines and deliveries refer to, loaded in one call after the entity itself was read."""

from dataclasses import dataclass
from typing import Protocol

from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.destination import Destination
from chalicelib.domain.monitoring.source_state import SourceState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.source import Source
from chalicelib.services.connectors.known_progress import KnownProgress


class ConnectorDependencies(Protocol):
    """What every owner of a connector refers to; its `ConnectorOwner` knows the rest. `view` is of the last tick."""

    @property
    def connect_cluster(self) -> ConnectCluster | None: ...
    @property
    def view(self) -> ClusterView: ...
    @property
    def progress(self) -> KnownProgress: ...


@dataclass(frozen=True, slots=True)
class PipelineDependencies:
    """What a pipeline refers to, each None when it does not exist."""

    source: Source | None
    stream_cluster: StreamCluster | None
    connect_cluster: ConnectCluster | None
    view: ClusterView
    source_state: SourceState | None
    progress: KnownProgress


@dataclass(frozen=True, slots=True)
class DeliveryDependencies:
    """What a delivery refers to, each None when it does not exist."""

    destination: Destination | None
    pipeline: Pipeline | None
    connect_cluster: ConnectCluster | None
    view: ClusterView
    progress: KnownProgress
