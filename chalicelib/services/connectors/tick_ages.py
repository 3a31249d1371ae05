"""How long ago each Connect cluster was looked at."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.kit.clock import Clock
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.connectors.observations import Observations
from chalicelib.stores.groups import Stores


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAges:
    """`oldest` is the age of the oldest look, zero when there is no cluster. `unobserved` are the clusters, by id, that
    were not looked at for too long, each with its last look.
    """

    oldest: timedelta
    unobserved: Mapping[str, datetime]


@dataclass(frozen=True, slots=True, kw_only=True)
class TickAges:
    connects: ConnectClusters
    observations: Observations
    clock: Clock

    @classmethod
    def of(cls, stores: Stores, clock: Clock) -> "TickAges":
        return cls(connects=stores.resources.connects, observations=stores.connectors.observations, clock=clock)

    def read(self) -> ClusterAges:
        """Of all clusters: a list of them, and one call more for each hundred. Raises StoreUnavailable."""
        now, clusters = self.clock(), list(self.connects.all())
        heads = self.observations.heads(cluster.id for cluster in clusters)
        views = [(cluster, heads.get(cluster.id, ClusterView())) for cluster in clusters]
        ages = [now - view.last_look(cluster) for cluster, view in views]
        old = {cluster.id: view.last_look(cluster) for cluster, view in views if view.is_unobserved(cluster, now)}
        return ClusterAges(oldest=max((timedelta(), *ages)), unobserved=old)
