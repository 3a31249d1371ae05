"""Shows the connectors of Connect clusters, those of Headgate and all others. Nothing here changes one."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.connector import ClusterConnector, ConnectorResource, ListedConnector
from chalicelib.domain.live_reads import LiveAnswer, LiveQuestion
from chalicelib.domain.usage import used_by
from chalicelib.errors import Invalid, NotFound, TimedOut, Unavailable
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page, bounded_key, sorted_page
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connector_resources import ConnectorResources
from chalicelib.services.live_reads import LiveReads
from chalicelib.stores.clusters import ConnectClusters

MAX_CLUSTERS = 20
"""Clusters that one request asks: one after another, within its time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorReads:
    """Connectors as one worker of their cluster sees them."""

    store: ConnectClusters
    resources: ConnectorResources
    clients: ClientFactory
    live_reads: LiveReads
    clock: Clock

    def list(
        self, context: RequestContext, cluster_id: str | None, *, limit: int, after: str | None, fresh: bool
    ) -> LiveAnswer[Page[ClusterConnector]]:
        """All connectors of a cluster, or of all clusters, by name; without `fresh`, some seconds ago.

        Raises NotFound, Unavailable, TimedOut, ServerBusy while others ask the workers, RateLimited. One cluster that
        cannot be read is an error also among others: its connectors would seem absent. Raises Invalid without
        `cluster_id` where there are more than `MAX_CLUSTERS`.
        """
        clusters = self._all() if cluster_id is None else [self.store.get(cluster_id)]
        ask = self._ask if cluster_id else self._ask_one_of_all
        answers = [ask(context, cluster, fresh) for cluster in clusters]
        found = [
            (cluster, connector)
            for cluster, answer in zip(clusters, answers, strict=True)
            for connector in answer.value
        ]
        page = sorted_page(found, key=_key, limit=limit, after=after)
        now = self.clock()
        return LiveAnswer(
            page.with_items(self._shown(page.items)),
            min((answer.asked_at for answer in answers), default=now),
            min((answer.at for answer in answers), default=now),
        )

    def status(
        self, context: RequestContext, cluster_id: str, name: str, *, fresh: bool
    ) -> LiveAnswer[ClusterConnector]:
        """One connector; without `fresh`, some seconds ago.

        Raises NotFound, Unavailable, TimedOut, ServerBusy while others ask the workers, RateLimited.
        """
        cluster = self.store.get(cluster_id)

        def find() -> ListedConnector:
            connector = self.clients.connect(cluster).find_connector(name, context.deadline)
            if connector is None:
                raise NotFound("This Connect cluster has no connector of this name.")
            return connector

        question = LiveQuestion[ListedConnector](
            server=cluster.address.identity,
            subject=("connector", cluster.id, cluster.version, name),
            answer=ListedConnector,
        )
        answer = self.live_reads.ask(context, question, find, fresh=fresh)
        (shown,) = self._shown([(cluster, answer.value)])
        return LiveAnswer(shown, answer.asked_at, answer.at)

    def _all(self) -> Sequence[ConnectCluster]:
        page = self.store.list(limit=MAX_CLUSTERS)
        if page.more:
            message = f"There are more than {MAX_CLUSTERS} Connect clusters. Name one by cluster_id."
            raise Invalid.at("query", "cluster_id", type_="missing", message=message)
        return page.items

    def _ask(
        self, context: RequestContext, cluster: ConnectCluster, fresh: bool
    ) -> LiveAnswer[Sequence[ListedConnector]]:
        question = LiveQuestion[Sequence[ListedConnector]](
            server=cluster.address.identity,
            subject=("connectors", cluster.id, cluster.version),
            answer=tuple[ListedConnector, ...],
        )

        def run() -> Sequence[ListedConnector]:
            return tuple(self.clients.connect(cluster).connectors(context.deadline).values())

        return self.live_reads.ask(context, question, run, fresh=fresh)

    def _ask_one_of_all(
        self, context: RequestContext, cluster: ConnectCluster, fresh: bool
    ) -> LiveAnswer[Sequence[ListedConnector]]:
        try:
            return self._ask(context, cluster, fresh)
        except (Unavailable, TimedOut) as failure:
            message = (
                f"The Connect cluster {cluster.name} cannot be read now, so the list would lack its connectors. "
                "Name another cluster by cluster_id to see those of that one."
            )
            details = {"cluster": asdict(used_by(self.store.noun, cluster)), "reason": failure.message}
            raise Unavailable(message, details=details) from None

    def _shown(self, found: Sequence[tuple[ConnectCluster, ListedConnector]]) -> Sequence[ClusterConnector]:
        resources = self.resources.of(connector.name for _, connector in found)
        return [self._owned(cluster, connector, resources) for cluster, connector in found]

    def _owned(
        self, cluster: ConnectCluster, connector: ListedConnector, resources: Mapping[str, ConnectorResource]
    ) -> ClusterConnector:
        resource = resources.get(connector.name)
        if resource and resource.connect_cluster_id != cluster.id:
            resource = None
        marks = connector.marks
        managed = resource is not None if marks is None else self.clients.is_ours(connector.name, marks)
        return ClusterConnector(
            cluster_id=cluster.id, connector=connector, managed=managed, resource=resource if managed else None
        )


def _key(found: tuple[ConnectCluster, ListedConnector]) -> str:
    cluster, connector = found
    return f"{bounded_key(connector.name)}\x1f{cluster.id}"
