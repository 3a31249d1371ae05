"""Stream clusters: Kafka brokers."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.addresses import KafkaAddress
from chalicelib.domain.cluster import MetricsProvider, StreamCluster
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.kit.clock import Deadline
from chalicelib.services.clusters import ClusterService
from chalicelib.services.registered import RegisteredInput, retried
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClusterInput(RegisteredInput):
    """What people say about a stream cluster."""

    address: KafkaAddress
    metrics_provider: MetricsProvider


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClusterService(ClusterService[StreamCluster]):
    """Create, read, change and delete stream clusters."""

    kind: type[StreamCluster] = StreamCluster

    def create(self, context: RequestContext, data: StreamClusterInput) -> StreamCluster:
        """Register brokers. Those that cannot be reached are registered as UNHEALTHY. Raises NAME_CONFLICT, Invalid."""
        transaction = Transaction()
        built = self._built(transaction, context, data)
        cluster = self._checked(context, built, self.clients.open(built.endpoint, data.secrets))
        return self.registry.create(transaction, context, self.store, cluster)

    @retried
    def update(self, context: RequestContext, cluster_id: str, data: StreamClusterInput) -> StreamCluster:
        """Replace everything but blank secrets, and check the cluster again.

        Raises Conflict RESOURCE_IN_USE when another address leads to another Kafka cluster while something runs on this
        one: connectors, topics and offsets would remain there. Another Kafka cluster at the same address was built
        anew, and is taken: the Connect clusters still compare theirs.
        """
        before, transaction = self._current(context, cluster_id), Transaction()
        edited = self._edited(transaction, before, data)
        moves = edited.address.identity != before.address.identity
        if moves:
            edited = replace(edited, kafka_cluster_id=None)
        endpoint = self.clients.open(replace(edited.endpoint, credentials=before.credentials), data.secrets)
        checked = self._checked(context, edited, endpoint)
        after = self._same_kafka(before, checked) if moves else checked
        # Connect workers may be registered on it at the same time: then this write fails.
        unused = moves and before.kafka_cluster_id not in (None, after.kafka_cluster_id)
        conditions: Any = {"unused": unused, "consequences": self.consequences(before, after)}
        return self.registry.update(transaction, context, self.store, before, after, **conditions)

    def _same_kafka(self, before: StreamCluster, after: StreamCluster) -> StreamCluster:
        """Refuse another Kafka cluster while something runs on this one; brokers without an answer are accepted."""
        former_id = before.kafka_cluster_id
        if former_id in (None, after.kafka_cluster_id) or not self.store.references(before.id):
            return after
        if after.kafka_cluster_id is None:
            return replace(after, kafka_cluster_id=former_id)
        raise self.registry.usage.in_use(
            self.store.noun,
            before.id,
            "These brokers are another Kafka cluster than the one that Connect clusters are registered on here. "
            "Register them as a stream cluster of their own.",
        )

    def _checked(
        self, context: RequestContext, cluster: StreamCluster, endpoint: OpenedEndpoint[KafkaAddress]
    ) -> StreamCluster:
        def look(deadline: Deadline) -> Mapping[str, Any]:
            with closing(self.clients.make_kafka(endpoint)) as kafka:
                return {"kafka_cluster_id": kafka.cluster_id(deadline)}

        return self._look(context, cluster, look)
