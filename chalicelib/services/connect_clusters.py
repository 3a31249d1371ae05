"""Connect clusters: Kafka Connect workers behind one REST address."""

from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.addresses import ConnectAddress
from chalicelib.domain.cluster import (
    ChangeKind,
    ConnectCluster,
    ConnectorPlugin,
    PendingChanges,
    SecretDelivery,
    StreamCluster,
    require_same_kafka,
)
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.confirmations import CONFIRMED_FOR, Confirmation
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.health import HealthRecord
from chalicelib.domain.live_reads import LiveAnswer, LiveQuestion
from chalicelib.domain.search import EVERYTHING, Search
from chalicelib.errors import Conflict, Invalid, StoreUnavailable, WriteConflict
from chalicelib.kit.clock import Deadline, rfc3339
from chalicelib.kit.pages import Page, sorted_page
from chalicelib.services.clusters import ClusterService
from chalicelib.services.connectors.workers import fault_of_version
from chalicelib.services.live_reads import LiveReads
from chalicelib.services.registered import RegisteredInput, retried
from chalicelib.services.registry import Links, reference_not_found
from chalicelib.stores.clusters import StreamClusters
from chalicelib.stores.connectors.deleted_clusters import DeletedClusters
from chalicelib.stores.connectors.observations import Observations
from chalicelib.stores.transaction import Transaction

SWEPT_AFTER = timedelta(minutes=10)
"""Longer than a tick that ran when its cluster was deleted."""

_SWEEP_SECONDS = 3.0


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
    deleted: DeletedClusters
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

    def list(self, *, limit: int, after: str | None, search: Search = EVERYTHING) -> Page[ConnectCluster]:
        """The Connect clusters that are looked for, newest first."""
        page = self.store.search(search, limit=limit, after=after)
        return page.with_items(self._with_health(page.items))

    @retried
    def update(self, context: RequestContext, cluster_id: str, data: ConnectClusterInput) -> ConnectCluster:
        """Replace everything but blank secrets, and check the cluster again. The Kafka cluster that the workers run on
        now is the right one from then on; where they do not answer, the former one stays.

        Raises Invalid for another stream cluster: the connectors that run there would remain on the old one.
        """
        before = self._current(context, cluster_id)
        if data.stream_cluster_id != before.stream_cluster_id:
            message = "A Connect cluster stays with its stream cluster. Register another one instead."
            raise Invalid.at("body", "stream_cluster_id", type_="immutable", message=message)
        stream, transaction = self._stream(data), Transaction()
        edited = self._edited(transaction, before, data)
        if edited.address.identity != before.address.identity:
            edited = replace(edited, connect_version=None)
        endpoint = self.clients.open(replace(edited.endpoint, credentials=before.credentials), data.secrets)
        after = self._checked(context, edited, endpoint, stream)
        return self.registry.update(transaction, context, self.store, before, after)

    @retried
    def delete(self, context: RequestContext, entity_id: str) -> None:
        cluster = self._current(context, entity_id)

        def note(transaction: Transaction, deleted: ConnectCluster) -> None:
            self.deleted.note(transaction, deleted.id, self.clock())

        self.registry.delete(context, self.store, cluster, links=self.links(cluster), also=note)

    def sweep(self) -> int:
        """Remove what ticks have stored about deleted clusters, a bounded number of them; returns of how many.

        What there is no time for is left to the next sweep.
        """
        deadline, swept = Deadline.after(_SWEEP_SECONDS), 0
        with suppress(StoreUnavailable):
            for note in self.deleted.notes_before(self.clock() - SWEPT_AFTER):
                self.deleted.sweep(note, deadline)
                swept += 1
        return swept

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

    def confirm(self, context: RequestContext, cluster_id: str, kind: ChangeKind, count: int) -> ConnectCluster:
        """Let the ticks make the changes that wait for it: those that are shown now, for an hour.

        Raises Conflict STATE_CONFLICT when not exactly `count` of them wait.
        """
        cluster = self.store.get(cluster_id)
        view = self.observations.heads([cluster_id]).get(cluster_id, ClusterView())
        pending = view.waiting(kind)
        if pending is None or pending.count != count:
            raise _other_changes(kind, pending)
        transaction = Transaction()
        confirmation = Confirmation(newest=pending.newest, until=self.clock() + CONFIRMED_FOR)
        self.observations.confirm(transaction, cluster_id, kind, pending, confirmation)
        self.registry.audit.record(
            transaction,
            context,
            f"{self.store.noun}.confirm_{kind}",
            cluster_id,
            resource_name=cluster.name,
            after={"count": pending.count, "since": rfc3339(pending.since), "names": list(pending.names)},
        )
        try:
            transaction.commit()
        except WriteConflict as conflict:
            raise _other_changes(kind, None) from conflict
        return view.without_waiting(kind).on(cluster, self.clock())

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
            raise reference_not_found("stream cluster", "body", "stream_cluster_id")
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

        looked = self._look(context, cluster, look)
        fault = fault_of_version(looked.connect_version)
        at = looked.health.checked_at
        return replace(looked, health=HealthRecord.unhealthy(at, fault.code, fault.message)) if fault and at else looked


def _other_changes(kind: ChangeKind, pending: PendingChanges | None) -> Conflict:
    waiting = f"{pending.count} {kind} wait" if pending else f"No {kind} wait, or their number has just changed"
    return Conflict(f"{waiting}. Read the cluster again, and confirm the number of `pending_{kind}` that it shows.")


def _plugin_key(plugin: ConnectorPlugin) -> str:
    """A worker may have several versions of one class, and one class may serve as two types."""
    return "\x1f".join((plugin.class_name, plugin.version or "", plugin.type))
