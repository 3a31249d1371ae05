"""Stream clusters: Kafka brokers, which are contacted once when they are registered or changed."""

from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import MetricsProvider, SaslMechanism, SecurityProtocol, StreamCluster
from chalicelib.domain.credentials import Credentials, Secrets
from chalicelib.domain.health import Health
from chalicelib.errors import Conflict, HeadgateError, Invalid
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.pages import Page
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.registry import Registry, expect_version
from chalicelib.stores.clusters import StreamClusters

CHECK_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamClusterInput:
    """The fields of a stream cluster that people set."""

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
    clients: ClientFactory
    clock: Clock

    def create(self, context: RequestContext, spec: StreamClusterInput) -> StreamCluster:
        """Register brokers. What cannot be reached is registered all the same, as UNHEALTHY."""
        cluster_id, now = context.fresh_id(), self.clock()
        bare = StreamCluster(
            id=cluster_id, credentials=Credentials(id=cluster_id), created_at=now, updated_at=now, **_fields(spec)
        )
        checked = self._checked(context, bare, spec.secrets)
        return self.registry.create(
            context,
            self.rows,
            cluster_id,
            lambda credentials: replace(checked, credentials=credentials),
            secrets=spec.secrets,
        )

    def get(self, cluster_id: str) -> StreamCluster:
        """The cluster; raises NotFound."""
        return self.rows.get(cluster_id)

    def list(self, *, limit: int, after: str | None) -> Page[StreamCluster]:
        """Stream clusters, newest first."""
        return self.rows.list(limit=limit, after=after)

    def update(self, context: RequestContext, cluster_id: str, spec: StreamClusterInput) -> StreamCluster:
        """Replace everything but secrets that are left blank, and contact the brokers again.

        Raises Conflict RESOURCE_IN_USE when it would move to another Kafka cluster while something runs on it:
        connectors, topics and offsets would be left behind.
        """
        before = self.rows.get(cluster_id)
        expect_version(context, before.version)
        changed = replace(before, version=before.version + 1, updated_at=self.clock(), **_fields(spec))
        if changed.bootstrap_servers != before.bootstrap_servers:
            changed = replace(changed, kafka_cluster_id=None)
        checked = self._same_kafka(before, self._checked(context, changed, spec.secrets))
        return self.registry.update(
            context,
            self.rows,
            before,
            lambda credentials: replace(checked, credentials=credentials),
            spec.secrets,
            # Somebody may register Connect workers on it at this moment.
            unused=before.kafka_cluster_id not in (None, checked.kafka_cluster_id),
        )

    def delete(self, context: RequestContext, cluster_id: str) -> None:
        """Delete the cluster. Raises Conflict RESOURCE_IN_USE while something runs on it."""
        cluster = self.rows.get(cluster_id)
        self.registry.delete(context, self.rows, cluster)

    def _same_kafka(self, before: StreamCluster, checked: StreamCluster) -> StreamCluster:
        """Refuses the brokers of another Kafka cluster while something refers to this one. While the new brokers do not
        answer, the former cluster id stays.
        """
        known = before.kafka_cluster_id
        if known in (None, checked.kafka_cluster_id) or not self.rows.references(before.id):
            return checked
        if checked.kafka_cluster_id is None:
            return replace(checked, kafka_cluster_id=known)
        raise Conflict(
            "These brokers are another Kafka cluster than the one that Connect clusters are registered on here. "
            "Register them as a stream cluster of their own.",
            code="RESOURCE_IN_USE",
        )

    def _checked(self, context: RequestContext, cluster: StreamCluster, secrets: Secrets) -> StreamCluster:
        """The cluster with its id and health. Raises Invalid for an address that is not allowed."""
        now, endpoint = self.clock(), self.clients.open(cluster.endpoint, secrets)
        try:
            with closing(self.clients.make_kafka(endpoint)) as kafka:
                kafka_cluster_id = kafka.cluster_id(Deadline.after(context.deadline.remaining(CHECK_SECONDS)))
        except Invalid:
            raise
        except HeadgateError as error:
            return replace(cluster, health=Health.unhealthy(now, error.code, error.message))
        return replace(cluster, health=Health.healthy(now), kafka_cluster_id=kafka_cluster_id)


def _fields(spec: StreamClusterInput) -> dict[str, Any]:
    return {
        "name": spec.name,
        "bootstrap_servers": spec.bootstrap_servers,
        "security_protocol": spec.security_protocol,
        "sasl_mechanism": spec.sasl_mechanism,
        "username": spec.username,
        "metrics_provider": spec.metrics_provider,
    }
