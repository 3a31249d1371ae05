"""Connect clusters: workers behind one REST address, which are contacted once when they are registered or changed."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import (
    ConnectCluster,
    ConnectorPlugin,
    SecretDelivery,
    StreamCluster,
    require_same_kafka,
)
from chalicelib.domain.credentials import Credentials, Secrets
from chalicelib.domain.health import Health
from chalicelib.errors import HeadgateError, Invalid
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.pages import Page, slice_of
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.registry import Links, Registry, expect_version
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.observations import Observations

CHECK_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectClusterInput:
    """The fields of a Connect cluster that people set."""

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
    allow_inline_secrets: bool
    clock: Clock

    def create(self, context: RequestContext, spec: ConnectClusterInput) -> ConnectCluster:
        """Register workers. What cannot be reached is registered all the same, as UNHEALTHY.

        Raises Invalid when inline secrets are not allowed here, when the stream cluster does not exist, or when the
        workers belong to another Kafka than the stream cluster that is named.
        """
        stream = self._stream(spec)
        cluster_id, now = context.fresh_id(), self.clock()
        bare = ConnectCluster(
            id=cluster_id, credentials=Credentials(id=cluster_id), created_at=now, updated_at=now, **_fields(spec)
        )
        checked = self._checked(context, bare, spec.secrets, stream)
        return self.registry.create(
            context,
            self.rows,
            cluster_id,
            lambda credentials: replace(checked, credentials=credentials),
            secrets=spec.secrets,
            links=self._links(checked),
        )

    def get(self, cluster_id: str) -> ConnectCluster:
        """The cluster; raises NotFound."""
        return self._with_observed_health([self.rows.get(cluster_id)])[0]

    def list(self, *, limit: int, after: str | None) -> Page[ConnectCluster]:
        """Connect clusters, newest first."""
        page = self.rows.list(limit=limit, after=after)
        return Page(items=self._with_observed_health(page.items), next_key=page.next_key)

    def update(self, context: RequestContext, cluster_id: str, spec: ConnectClusterInput) -> ConnectCluster:
        """Replace everything but secrets that are left blank, and contact the workers again.

        Raises Invalid when it would move to another stream cluster: what runs there would be left behind.
        """
        before = self.rows.get(cluster_id)
        expect_version(context, before.version)
        if spec.stream_cluster_id != before.stream_cluster_id:
            raise Invalid.at(
                "body",
                "stream_cluster_id",
                type_="immutable",
                message="A Connect cluster stays with its stream cluster. Register another one instead.",
            )
        stream = self._stream(spec)
        changed = replace(before, version=before.version + 1, updated_at=self.clock(), **_fields(spec))
        if changed.base_url != before.base_url:
            changed = replace(changed, connect_version=None, kafka_cluster_id=None)
        checked = self._checked(context, changed, spec.secrets, stream)
        return self.registry.update(
            context, self.rows, before, lambda credentials: replace(checked, credentials=credentials), spec.secrets
        )

    def delete(self, context: RequestContext, cluster_id: str) -> None:
        """Delete the cluster. Raises Conflict RESOURCE_IN_USE while pipelines or deliveries run there."""
        cluster = self.rows.get(cluster_id)
        self.registry.delete(context, self.rows, cluster, links=self._links(cluster))

    def plugins(
        self, context: RequestContext, cluster_id: str, *, limit: int, after: str | None
    ) -> Page[ConnectorPlugin]:
        """The plug-ins of the worker that answers, by class."""
        installed = self.clients.connect(self.rows.get(cluster_id)).plugins(context.deadline)
        return slice_of(sorted(installed, key=lambda plugin: plugin.class_name), limit=limit, after=after)

    def _with_observed_health(self, clusters: Sequence[ConnectCluster]) -> tuple[ConnectCluster, ...]:
        """The clusters with the health that the ticks have observed since."""
        views = self.observations.heads(cluster.id for cluster in clusters)
        return tuple(
            replace(cluster, health=views[cluster.id].health(cluster.health)) if cluster.id in views else cluster
            for cluster in clusters
        )

    def _links(self, cluster: ConnectCluster) -> Links:
        return Links(references=[(self.streams, cluster.stream_cluster_id)])

    def _stream(self, spec: ConnectClusterInput) -> StreamCluster:
        if spec.secret_delivery is SecretDelivery.INLINE and not self.allow_inline_secrets:
            raise Invalid.at(
                "body",
                "secret_delivery",
                type_="not_allowed",
                message="This installation does not allow plain secrets in connector configs. Use config-provider.",
            )
        stream = self.streams.find(spec.stream_cluster_id)
        if stream is None:
            raise Invalid("The stream cluster that this refers to does not exist.", code="REFERENCE_NOT_FOUND")
        return stream

    def _checked(
        self, context: RequestContext, cluster: ConnectCluster, secrets: Secrets, stream: StreamCluster
    ) -> ConnectCluster:
        """The cluster with its health and what its workers report.

        Raises Invalid for an address that is not allowed, and for workers of another Kafka cluster.
        """
        now, endpoint = self.clock(), self.clients.open(cluster.endpoint, secrets)
        try:
            with closing(self.clients.make_connect(endpoint)) as connect:
                root = connect.root(Deadline.after(context.deadline.remaining(CHECK_SECONDS)))
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


def _fields(spec: ConnectClusterInput) -> dict[str, Any]:
    return {
        "name": spec.name,
        "base_url": spec.base_url,
        "stream_cluster_id": spec.stream_cluster_id,
        "username": spec.username,
        "secret_delivery": spec.secret_delivery,
    }
