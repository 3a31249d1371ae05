"""Connect clusters: Kafka Connect workers behind one REST address."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.addresses import ConnectAddress
from chalicelib.domain.cluster import (
    ConnectCluster,
    ConnectorPlugin,
    PendingDeletions,
    SecretDelivery,
    StreamCluster,
    require_same_kafka,
)
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.orphans import CONFIRMED_FOR, Confirmation
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.live_reads import LiveAnswer, LiveQuestion
from chalicelib.errors import Conflict, Invalid, WriteConflict
from chalicelib.kit.clock import Deadline, rfc3339
from chalicelib.kit.pages import Page, sorted_page
from chalicelib.services.clusters import ClusterService
from chalicelib.services.live_reads import LiveReads
from chalicelib.services.registered import RegisteredInput
from chalicelib.services.registry import Links, reference_not_found
from chalicelib.stores.clusters import StreamClusters
from chalicelib.stores.connectors.observations import Observations
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectClusterInput(RegisteredInput):
    """What people say about a Connect cluster."""

    address: ConnectAddress
    stream_cluster_id: str
    secret_delivery: SecretDelivery


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectClusterService(ClusterService[ConnectCluster]):
    """Create, read, change and delete Connect clusters; list their plug-ins."""

    kind: type[ConnectCluster] = ConnectCluster
    streams: StreamClusters
    observations: Observations
    live_reads: LiveReads
    allow_inline_secrets: bool

    def create(self, context: RequestContext, data: ConnectClusterInput) -> ConnectCluster:
        """Register workers. Those that cannot be reached are registered as UNHEALTHY.

        Raises Conflict NAME_CONFLICT; Invalid when inline secrets are not allowed here, when the stream cluster does
        not exist, or when the workers run on another Kafka cluster than that one.
        """
        stream, transaction = self._stream(data), Transaction()
        built = self._built(transaction, context, data)
        cluster = self._checked(context, built, self.clients.open(built.endpoint, data.secrets), stream)
        return self.registry.create(transaction, context, self.store, cluster, links=self.links(cluster))

    def get(self, cluster_id: str) -> ConnectCluster:
        """The cluster; raises NotFound."""
        return self._with_health([self.store.get(cluster_id)])[0]

    def list(self, *, limit: int, after: str | None) -> Page[ConnectCluster]:
        """Connect clusters, newest first."""
        page = self.store.list(limit=limit, after=after, by_size=True)
        return page.with_items(self._with_health(page.items))

    def update(self, context: RequestContext, cluster_id: str, data: ConnectClusterInput) -> ConnectCluster:
        """Replace everything but blank secrets, and check the cluster again.

        Raises Invalid for another stream cluster: the connectors that run there would remain on the old one.
        """
        before = self._current(context, cluster_id)
        if data.stream_cluster_id != before.stream_cluster_id:
            message = "A Connect cluster stays with its stream cluster. Register another one instead."
            raise Invalid.at("body", "stream_cluster_id", type_="immutable", message=message)
        stream, transaction = self._stream(data), Transaction()
        edited = self._edited(transaction, before, data)
        if edited.address.identity != before.address.identity:
            edited = replace(edited, connect_version=None, kafka_cluster_id=None)
        endpoint = self.clients.open(replace(edited.endpoint, credentials=before.credentials), data.secrets)
        after = self._checked(context, edited, endpoint, stream)
        return self.registry.update(transaction, context, self.store, before, after)

    def plugins(
        self, context: RequestContext, cluster_id: str, *, limit: int, after: str | None, fresh: bool = True
    ) -> LiveAnswer[Page[ConnectorPlugin]]:
        """What the worker that answers has installed, by class; without `fresh`, some seconds ago.

        Raises NotFound, Unavailable, TimedOut, ServerBusy while others ask the workers, RateLimited.
        """
        cluster = self.store.get(cluster_id)
        question = LiveQuestion[Sequence[ConnectorPlugin]](
            server=cluster.address.identity,
            subject=("plugins", cluster.id, cluster.version),
            answer=tuple[ConnectorPlugin, ...],
        )
        installed = self.live_reads.ask(
            context, question, lambda: self.clients.connect(cluster).plugins(context.deadline), fresh=fresh
        )
        page = sorted_page(installed.value, key=_plugin_key, limit=limit, after=after)
        return LiveAnswer(page, installed.asked_at, installed.at)

    def confirm_deletions(self, context: RequestContext, cluster_id: str, count: int) -> ConnectCluster:
        """Let the ticks remove the orphans that wait for it: those that are shown now, for an hour.

        Raises Conflict STATE_CONFLICT when not exactly `count` of them wait.
        """
        cluster = self.store.get(cluster_id)
        view = self.observations.heads([cluster_id]).get(cluster_id, ClusterView())
        pending = view.pending
        if pending is None or pending.count != count:
            raise _other_deletions(pending)
        transaction = Transaction()
        confirmation = Confirmation(newest=pending.newest, until=self.clock() + CONFIRMED_FOR)
        self.observations.confirm(transaction, cluster_id, pending, confirmation)
        self.registry.audit.record(
            transaction,
            context,
            f"{self.store.noun}.confirm_deletions",
            cluster_id,
            after={"count": pending.count, "since": rfc3339(pending.since), "names": list(pending.names)},
        )
        try:
            transaction.commit()
        except WriteConflict as conflict:
            raise _other_deletions(None) from conflict
        return replace(view, pending=None).on(cluster, self.clock())

    def links(self, cluster: ConnectCluster) -> Links:
        """The stream cluster that it belongs to."""
        return Links(references=[(self.streams, cluster.stream_cluster_id)])

    def _with_health(self, clusters: Sequence[ConnectCluster]) -> tuple[ConnectCluster, ...]:
        """With the health that the last tick saw, where that is newer; it is not known when nobody looks."""
        views, now = self.observations.heads(cluster.id for cluster in clusters), self.clock()
        return tuple(views.get(cluster.id, ClusterView()).on(cluster, now) for cluster in clusters)

    def _stream(self, data: ConnectClusterInput) -> StreamCluster:
        if data.secret_delivery is SecretDelivery.INLINE and not self.allow_inline_secrets:
            message = "This installation does not allow plain secrets in connector configs. Use config-provider."
            raise Invalid.at("body", "secret_delivery", type_="not_allowed", message=message)
        stream = self.streams.find(data.stream_cluster_id)
        if stream is None:
            raise reference_not_found("stream cluster")
        return stream

    def _checked(
        self,
        context: RequestContext,
        cluster: ConnectCluster,
        endpoint: OpenedEndpoint[ConnectAddress],
        stream: StreamCluster,
    ) -> ConnectCluster:
        def look(deadline: Deadline) -> Mapping[str, Any]:
            with closing(self.clients.make_connect(endpoint)) as connect:
                root = connect.root(deadline)
            require_same_kafka(root.kafka_cluster_id, stream.kafka_cluster_id)
            return {"connect_version": root.version, "kafka_cluster_id": root.kafka_cluster_id}

        return self._look(context, cluster, look)


def _other_deletions(pending: PendingDeletions | None) -> Conflict:
    waiting = f"{pending.count} deletions wait" if pending else "No deletions wait, or their number has just changed"
    return Conflict(f"{waiting}. Read the cluster again, and confirm the number of `pending_deletions` that it shows.")


def _plugin_key(plugin: ConnectorPlugin) -> str:
    """A worker may have several versions of one class, and one class may serve as two types."""
    return "\x1f".join((plugin.class_name, plugin.version or "", plugin.type))
