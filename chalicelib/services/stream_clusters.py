"""Stream clusters: Kafka brokers, looked at once when they are registered or changed."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.clients.kafka import Kafka
from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import MetricsProvider, SaslMechanism, SecurityProtocol, StreamCluster
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.health import Health
from chalicelib.errors import Conflict, HeadgateError, Invalid
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import Page
from chalicelib.services.credentials import Secrets
from chalicelib.services.registry import Registry, expect_version
from chalicelib.stores.clusters import StreamClusters

LOOK_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClusterInput:
    """What people say about a stream cluster."""

    name: str
    bootstrap_servers: str
    security_protocol: SecurityProtocol
    sasl_mechanism: SaslMechanism | None
    username: str | None
    metrics_provider: MetricsProvider
    secrets: Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClusterService:
    """Create, read, change and delete stream clusters."""

    rows: StreamClusters
    registry: Registry
    make_kafka: Callable[[StreamCluster, Secret | None], Kafka]
    clock: Clock

    def create(self, context: RequestContext, given: StreamClusterInput) -> StreamCluster:
        """Register brokers. What cannot be reached is registered all the same, as UNHEALTHY."""
        cluster_id, now = context.fresh_id(), self.clock()

        bare = StreamCluster(
            id=cluster_id, credentials=Credentials(id=cluster_id), created_at=now, updated_at=now, **_fields(given)
        )
        looked = self._look(context, bare, given.secrets.get("password"))
        return self.registry.create(
            context,
            self.rows,
            cluster_id,
            lambda credentials: replace(looked, credentials=credentials),
            secrets=given.secrets,
        )

    def get(self, cluster_id: str) -> StreamCluster:
        """The cluster; raises NotFound."""
        return self.rows.get(cluster_id)

    def list(self, *, limit: int, after: str | None) -> Page[StreamCluster]:
        """Stream clusters, newest first."""
        return self.rows.list(limit=limit, after=after)

    def update(self, context: RequestContext, cluster_id: str, given: StreamClusterInput) -> StreamCluster:
        """Replace everything but secrets that are left blank, and look again.

        Raises Conflict RESOURCE_IN_USE when it would move to another Kafka cluster while something runs on it:
        connectors, topics and offsets would be left behind.
        """
        before = self.rows.get(cluster_id)
        expect_version(context, before.version)
        password = given.secrets.get("password") or self.registry.vault.open(before.credentials).get("password")
        changed = replace(before, version=before.version + 1, updated_at=self.clock(), **_fields(given))
        if changed.bootstrap_servers != before.bootstrap_servers:
            changed = replace(changed, kafka_cluster_id=None)
        looked = self._same_kafka(before, self._look(context, changed, password))
        return self.registry.update(
            context,
            self.rows,
            before,
            lambda credentials: replace(looked, credentials=credentials),
            given.secrets,
            # Somebody may register Connect workers on it at this moment.
            unused=before.kafka_cluster_id not in (None, looked.kafka_cluster_id),
        )

    def delete(self, context: RequestContext, cluster_id: str) -> None:
        """Forget the cluster. Raises Conflict RESOURCE_IN_USE while something runs on it."""
        cluster = self.rows.get(cluster_id)
        self.registry.delete(context, self.rows, cluster)

    def _same_kafka(self, before: StreamCluster, looked: StreamCluster) -> StreamCluster:
        """Refuses other brokers than those that what runs here was made for; it is still them that count while the
        new ones do not answer.
        """
        known = before.kafka_cluster_id
        if known in (None, looked.kafka_cluster_id) or not self.rows.references(before.id):
            return looked
        if looked.kafka_cluster_id is None:
            return replace(looked, kafka_cluster_id=known)
        raise Conflict(
            "These brokers are another Kafka cluster than the one that Connect clusters are registered on here. "
            "Register them as a stream cluster of their own.",
            code="RESOURCE_IN_USE",
        )

    def _look(self, context: RequestContext, cluster: StreamCluster, password: Secret | None) -> StreamCluster:
        """The cluster with what one bounded look told about it. A forbidden address is an error, not a bad health."""
        now = self.clock()
        try:
            with closing(self.make_kafka(cluster, password)) as kafka:
                kafka_cluster_id = kafka.cluster_id(Deadline.after(context.deadline.remaining(LOOK_SECONDS)))
        except Invalid:
            raise
        except HeadgateError as error:
            return replace(cluster, health=Health.unhealthy(now, error.code, error.message))
        return replace(cluster, health=Health.healthy(now), kafka_cluster_id=kafka_cluster_id)


def _fields(given: StreamClusterInput) -> dict[str, Any]:
    return {
        "name": given.name,
        "bootstrap_servers": given.bootstrap_servers,
        "security_protocol": given.security_protocol,
        "sasl_mechanism": given.sasl_mechanism,
        "username": given.username,
        "metrics_provider": given.metrics_provider,
    }
