"""Connect clusters: workers behind one REST address, looked at once when they are registered or changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.clients.connect.client import Connect
from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import (
    ConnectCluster,
    ConnectorPlugin,
    SecretDelivery,
    StreamCluster,
    require_same_kafka,
)
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.health import Health
from chalicelib.errors import HeadgateError, Invalid
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page, slice_of
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.credentials import Secrets
from chalicelib.services.registry import Links, Registry, expect_version
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.observations import Observations

LOOK_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectClusterInput:
    """What people say about a Connect cluster."""

    name: str
    base_url: str
    stream_cluster_id: str
    username: str | None
    secret_delivery: SecretDelivery
    secrets: Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectClusterService:
    """Create, read, change and delete Connect clusters; list their plug-ins."""

    rows: ConnectClusters
    streams: StreamClusters
    observations: Observations
    registry: Registry
    clients: ClientFactory
    make_connect: Callable[[str, str | None, Secret | None], Connect]
    allow_inline_secrets: bool
    clock: Clock

    def create(self, context: RequestContext, given: ConnectClusterInput) -> ConnectCluster:
        """Register workers. What cannot be reached is registered all the same, as UNHEALTHY.

        Raises Invalid when inline secrets are not allowed here, when the stream cluster does not exist, or when the
        workers belong to another Kafka than the stream cluster that is named.
        """
        stream = self._stream(given)
        cluster_id, now = context.fresh_id(), self.clock()
        bare = ConnectCluster(
            id=cluster_id, credentials=Credentials(id=cluster_id), created_at=now, updated_at=now, **_fields(given)
        )
        looked = self._look(context, bare, given.secrets.get("password"), stream)
        return self.registry.create(
            context,
            self.rows,
            cluster_id,
            lambda credentials: replace(looked, credentials=credentials),
            secrets=given.secrets,
            links=self._links(looked),
        )

    def get(self, cluster_id: str) -> ConnectCluster:
        """The cluster; raises NotFound."""
        return self._as_seen([self.rows.get(cluster_id)])[0]

    def list(self, *, limit: int, after: str | None) -> Page[ConnectCluster]:
        """Connect clusters, newest first."""
        page = self.rows.list(limit=limit, after=after)
        return Page(items=self._as_seen(page.items), next_key=page.next_key)

    def update(self, context: RequestContext, cluster_id: str, given: ConnectClusterInput) -> ConnectCluster:
        """Replace everything but secrets that are left blank, and look again.

        Raises Invalid when it would move to another stream cluster: what runs there would be left behind.
        """
        before = self.rows.get(cluster_id)
        expect_version(context, before.version)
        if given.stream_cluster_id != before.stream_cluster_id:
            raise Invalid.at(
                "body",
                "stream_cluster_id",
                type_="immutable",
                message="A Connect cluster stays with its stream cluster. Register another one instead.",
            )
        stream = self._stream(given)
        password = given.secrets.get("password") or self.registry.vault.open(before.credentials).get("password")
        changed = replace(before, version=before.version + 1, updated_at=self.clock(), **_fields(given))
        if changed.base_url != before.base_url:
            changed = replace(changed, connect_version=None, kafka_cluster_id=None)
        looked = self._look(context, changed, password, stream)
        return self.registry.update(
            context, self.rows, before, lambda credentials: replace(looked, credentials=credentials), given.secrets
        )

    def delete(self, context: RequestContext, cluster_id: str) -> None:
        """Forget the cluster. Raises Conflict RESOURCE_IN_USE while pipelines or deliveries run there."""
        cluster = self.rows.get(cluster_id)
        self.registry.delete(context, self.rows, cluster, links=self._links(cluster))

    def plugins(
        self, context: RequestContext, cluster_id: str, *, limit: int, after: str | None
    ) -> Page[ConnectorPlugin]:
        """What the worker that answers has installed, by class."""
        installed = self.clients.connect(self.rows.get(cluster_id)).plugins(context.deadline)
        return slice_of(sorted(installed, key=lambda plugin: plugin.class_name), limit=limit, after=after)

    def _as_seen(self, clusters: Sequence[ConnectCluster]) -> tuple[ConnectCluster, ...]:
        """With the health that ticks have seen since they were last looked at here."""
        views = self.observations.heads(cluster.id for cluster in clusters)
        return tuple(
            replace(cluster, health=views[cluster.id].health(cluster.health)) if cluster.id in views else cluster
            for cluster in clusters
        )

    def _links(self, cluster: ConnectCluster) -> Links:
        return Links(references=[(self.streams, cluster.stream_cluster_id)])

    def _stream(self, given: ConnectClusterInput) -> StreamCluster:
        if given.secret_delivery is SecretDelivery.INLINE and not self.allow_inline_secrets:
            raise Invalid.at(
                "body",
                "secret_delivery",
                type_="not_allowed",
                message="This installation does not allow plain secrets in connector configs. Use config-provider.",
            )
        stream = self.streams.find(given.stream_cluster_id)
        if stream is None:
            raise Invalid("The stream cluster that this refers to does not exist.", code="REFERENCE_NOT_FOUND")
        return stream

    def _look(
        self, context: RequestContext, cluster: ConnectCluster, password: Secret | None, stream: StreamCluster
    ) -> ConnectCluster:
        now = self.clock()
        try:
            root = self.make_connect(cluster.base_url, cluster.username, password).root(
                Deadline.after(context.deadline.remaining(LOOK_SECONDS))
            )
        except Invalid:
            raise
        except HeadgateError as error:
            return replace(cluster, health=Health.unhealthy(now, error.code, error.message))
        require_same_kafka(root.kafka_cluster_id, stream.kafka_cluster_id)
        return replace(
            cluster,
            connect_version=root.version,
            kafka_cluster_id=root.kafka_cluster_id,
            health=Health.healthy(now),
        )


def _fields(given: ConnectClusterInput) -> dict[str, Any]:
    return {
        "name": given.name,
        "base_url": given.base_url,
        "stream_cluster_id": given.stream_cluster_id,
        "username": given.username,
        "secret_delivery": given.secret_delivery,
    }
