"""Shows the consumer groups of a stream cluster, and which of them are those of deliveries."""

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.connector import ConnectorResource
from chalicelib.domain.consumer_group import ConsumerGroup, ConsumerGroupPage
from chalicelib.domain.live_reads import LiveAnswer, LiveQuestion
from chalicelib.domain.names import sink_of_group
from chalicelib.kit.pages import Page, bounded_key
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connector_resources import ConnectorResources
from chalicelib.services.live_reads import LiveReads
from chalicelib.stores.clusters import ConnectClusters, StreamClusters

OwnedGroup = tuple[ConsumerGroup, ConnectorResource | None]
"""A group, and the delivery whose sink reads by it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupService:
    """Lists groups. Nothing here changes one."""

    store: StreamClusters
    connects: ConnectClusters
    resources: ConnectorResources
    clients: ClientFactory
    live_reads: LiveReads

    def list(
        self, context: RequestContext, cluster_id: str, *, limit: int, after: str | None, fresh: bool
    ) -> LiveAnswer[Page[OwnedGroup]]:
        """The groups of a cluster, by id; without `fresh`, some seconds ago.

        Raises NotFound, Unavailable, ServerBusy while others ask the brokers, RateLimited.
        """
        cluster = self.store.get(cluster_id)

        def read() -> ConsumerGroupPage:
            with closing(self.clients.kafka(cluster)) as kafka:
                return kafka.groups(limit=limit, after=after, deadline=context.deadline)

        question = LiveQuestion[ConsumerGroupPage](
            server=cluster.address.identity,
            subject=("consumer groups", cluster.id, cluster.version, limit, after),
            answer=ConsumerGroupPage,
        )
        answer = self.live_reads.ask(context, question, read, fresh=fresh)
        groups = answer.value.groups
        deliveries = self._deliveries(cluster, groups)
        page = Page[OwnedGroup](
            items=tuple((group, deliveries.get(group.group_id)) for group in groups),
            keys=tuple(bounded_key(group.group_id) for group in groups),
            more=answer.value.more,
        )
        return LiveAnswer(page, answer.asked_at, answer.at)

    def _deliveries(self, cluster: StreamCluster, groups: tuple[ConsumerGroup, ...]) -> Mapping[str, ConnectorResource]:
        """The deliveries of these groups whose workers run on this Kafka cluster."""
        connectors = {group.group_id: name for group in groups if (name := sink_of_group(group.group_id))}
        resources = self.resources.of(connectors.values())
        ids = {resource.connect_cluster_id for resource in resources.values()}
        here = {workers.id for workers in self.connects.with_ids(sorted(ids)) if _same_kafka(workers, cluster)}
        found = ((group_id, resources.get(name)) for group_id, name in connectors.items())
        return {group_id: one for group_id, one in found if one and one.connect_cluster_id in here}


def _same_kafka(workers: ConnectCluster, brokers: StreamCluster) -> bool:
    """By Kafka's own id: a cluster may be registered more than once. While nobody has read it, by registration."""
    if workers.kafka_cluster_id and brokers.kafka_cluster_id:
        return workers.kafka_cluster_id == brokers.kafka_cluster_id
    return workers.stream_cluster_id == brokers.id
