"""Rows of several tables in one call: what a pipeline stands among, read as of one moment."""

from dataclasses import dataclass
from typing import Any, TypeVar

from pynamodb.exceptions import DoesNotExist
from pynamodb.transactions import TransactGet

from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.cluster_view import ClusterView
from chalicelib.domain.source import Source
from chalicelib.stores.clusters import ConnectClusterRows, ConnectClusters, StreamClusterRows, StreamClusters
from chalicelib.stores.documents import Documents, Entity, store_errors
from chalicelib.stores.observations import ObservationRow, Observations
from chalicelib.stores.sources import SourceRows, Sources
from chalicelib.stores.tables import connection

E = TypeVar("E", bound=Entity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surrounding:
    """Source and clusters, each None when it does not exist, and what was last seen of the Connect cluster."""

    source: Source | None
    stream_cluster: StreamCluster | None
    connect_cluster: ConnectCluster | None
    view: ClusterView


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Reads across the stores that it is given."""

    sources: Sources
    streams: StreamClusters
    connects: ConnectClusters
    observations: Observations

    def read(self, *, source_id: str, stream_cluster_id: str, connect_cluster_id: str) -> Surrounding:
        """All of it in one call, and one more where the body of the observations is new to this process."""
        with store_errors():
            with TransactGet(connection=connection()) as reads:
                source = reads.get(SourceRows, source_id)
                stream = reads.get(StreamClusterRows, stream_cluster_id)
                connect = reads.get(ConnectClusterRows, connect_cluster_id)
                head = reads.get(ObservationRow, *self.observations.head_key(connect_cluster_id))
            return Surrounding(
                source=_entity(self.sources, source),
                stream_cluster=_entity(self.streams, stream),
                connect_cluster=_entity(self.connects, connect),
                view=self.observations.views([row] if (row := _row(head)) else []).get(
                    connect_cluster_id, ClusterView()
                ),
            )


def _entity(rows: Documents[E], read: Any) -> E | None:
    row = _row(read)
    return None if row is None else rows.from_row(row)


def _row(read: Any) -> Any:
    try:
        return read.get()
    except DoesNotExist:
        return None
