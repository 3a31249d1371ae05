"""What pipelines and deliveries refer to, loaded in one call once the entity itself has been read."""

from dataclasses import dataclass
from typing import Protocol

from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reconcile.snapshot import ClusterView
from chalicelib.domain.source import Source
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.documents import find_together
from chalicelib.stores.observations import Observations
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.sources import Sources


class ConnectorDependencies(Protocol):
    """What every owner of a connector refers to. What else there is, only its own `ConnectorOwner` knows."""

    @property
    def connect_cluster(self) -> ConnectCluster | None:
        """The workers that the connector runs on."""
        ...

    @property
    def view(self) -> ClusterView:
        """What the last tick saw of those workers."""
        ...


@dataclass(frozen=True, slots=True)
class PipelineDependencies:
    """What a pipeline refers to, each None when it does not exist."""

    source: Source | None
    stream_cluster: StreamCluster | None
    connect_cluster: ConnectCluster | None
    view: ClusterView


@dataclass(frozen=True, slots=True)
class DeliveryDependencies:
    """What a delivery refers to, each None when it does not exist."""

    destination: Destination | None
    pipeline: Pipeline | None
    connect_cluster: ConnectCluster | None
    view: ClusterView


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyLoader:
    """Loads the dependencies of pipelines and deliveries."""

    sources: Sources
    destinations: Destinations
    pipelines: Pipelines
    streams: StreamClusters
    connects: ConnectClusters
    observations: Observations

    def of_pipeline(self, pipeline: Pipeline) -> PipelineDependencies:
        """Its source, its clusters and what was last seen of its workers."""
        found = find_together(
            (self.sources, pipeline.source_id),
            (self.streams, pipeline.stream_cluster_id),
            (self.connects, pipeline.connect_cluster_id),
            (self.observations, pipeline.connect_cluster_id),
        )
        return PipelineDependencies(*found)

    def of_delivery(self, delivery: Delivery) -> DeliveryDependencies:
        """Its destination, its pipeline, its workers and what was last seen of them."""
        found = find_together(
            (self.destinations, delivery.destination_id),
            (self.pipelines, delivery.pipeline_id),
            (self.connects, delivery.connect_cluster_id),
            (self.observations, delivery.connect_cluster_id),
        )
        return DeliveryDependencies(*found)
