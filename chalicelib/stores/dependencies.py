"""What pipelines and deliveries stand among, read in one call across the tables.

What a pipeline or a delivery hangs on never changes. A process that has met it once therefore knows the keys of
everything around it, and reads it together with all that in one call instead of two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reconcile.snapshot import ClusterView
from chalicelib.domain.source import Source
from chalicelib.kit.bounded import Bounded
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.documents import Documents, Entity, store_errors
from chalicelib.stores.observations import Observations
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.rows import Key, expect, one_request, read_rows
from chalicelib.stores.sources import Sources

E = TypeVar("E", bound=Entity)
S = TypeVar("S")
Ties = tuple[str, ...]
"""The ids of what an entity hangs on."""


@dataclass(frozen=True, slots=True)
class PipelineDependencies:
    """What a pipeline stands among, each None when it does not exist; `view` is what was last seen of its workers."""

    source: Source | None
    stream_cluster: StreamCluster | None
    connect_cluster: ConnectCluster | None
    view: ClusterView


@dataclass(frozen=True, slots=True)
class DeliveryDependencies:
    """What a delivery stands among, each None when it does not exist; `view` is what was last seen of its workers."""

    destination: Destination | None
    pipeline: Pipeline | None
    connect_cluster: ConnectCluster | None
    view: ClusterView


@dataclass(frozen=True, slots=True, kw_only=True)
class DependencyLoader(Generic[E, S]):
    """Reads one kind of entity with its setting.

    `ties` gives the ids, `others` are the stores of what these name, in their order, the Connect cluster last; `make`
    takes what was found there, and what was last `seen` of that cluster.
    """

    rows: Documents[E]
    ties: Callable[[E], Ties]
    others: Sequence[Documents[Any]]
    seen: Observations
    make: Callable[..., S]
    _met: Bounded[str, Ties] = field(default_factory=lambda: Bounded(10_000))

    def expect(self, entity_id: str) -> None:
        """Say that this request is going to `read` it."""
        met = self._met.get(entity_id)
        expect(self.rows.key(entity_id), *(self._keys(met) if met else ()))

    def read(self, entity_id: str) -> tuple[E, S]:
        """The entity and its setting; raises NotFound."""
        with one_request():
            self.expect(entity_id)
            entity = self.rows.get(entity_id)
            return entity, self.around(self.meet(entity))

    def expect_around(self, ties: Ties) -> None:
        """Say that this request is going to ask what is `around`."""
        expect(*self._keys(ties))

    def around(self, ties: Ties) -> S:
        """The setting of an entity with these ties."""
        with store_errors():
            return self._setting(read_rows(*self._keys(ties)))

    def known(self, entity_id: str) -> Ties | None:
        """What an entity hangs on, if this process has met it."""
        return self._met.get(entity_id)

    def meet(self, entity: E) -> Ties:
        """Remember what it hangs on; returns that."""
        ties = self._met[entity.id] = self.ties(entity)
        return ties

    def _keys(self, ties: Ties) -> Sequence[Key]:
        keys = [store.key(one) for store, one in zip(self.others, ties, strict=True)]
        return [*keys, self.seen.head_key(ties[-1])]

    def _setting(self, rows: Sequence[Any]) -> S:
        *around, head = rows
        found = [store.found(row) for store, row in zip(self.others, around, strict=True)]
        return self.make(*found, self.seen.view(head))


def pipelines_among(
    pipelines: Pipelines, sources: Sources, streams: StreamClusters, connects: ConnectClusters, seen: Observations
) -> DependencyLoader[Pipeline, PipelineDependencies]:
    """Pipelines with their source and clusters. Ties: source, stream cluster, Connect cluster."""
    return DependencyLoader(
        rows=pipelines,
        ties=lambda one: (one.source_id, one.stream_cluster_id, one.connect_cluster_id),
        others=(sources, streams, connects),
        seen=seen,
        make=PipelineDependencies,
    )


def deliveries_among(
    deliveries: Deliveries,
    destinations: Destinations,
    pipelines: Pipelines,
    connects: ConnectClusters,
    seen: Observations,
) -> DependencyLoader[Delivery, DeliveryDependencies]:
    """Deliveries with their destination, pipeline and workers. Ties: destination, pipeline, Connect cluster."""
    return DependencyLoader(
        rows=deliveries,
        ties=lambda one: (one.destination_id, one.pipeline_id, one.connect_cluster_id),
        others=(destinations, pipelines, connects),
        seen=seen,
        make=DeliveryDependencies,
    )
