"""Checks by a Connect cluster before a connector exists: its plug-in, its config, and the Kafka of the workers."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import ConnectCluster, SecretDelivery, StreamCluster, require_same_kafka
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.object_store import SinkPlugin
from chalicelib.domain.plans.consequences import ConsequenceCode, consequence
from chalicelib.domain.plans.dry_run import current_plan, promise
from chalicelib.errors import Invalid, TimedOut, Unavailable
from chalicelib.services.client_factory import ClientFactory

_BROKERS_SECONDS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """The errors that Connect found in a config, in our words."""

    errors: tuple[Mapping[str, Any], ...]

    @property
    def error_count(self) -> int:
        return len(self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorValidation:
    clients: ClientFactory

    def require_same_kafka(self, context: RequestContext, stream: StreamCluster, cluster: ConnectCluster) -> None:
        """Raise Invalid when the workers run on another Kafka than the stream cluster.

        Registering compares them too, but a cluster that did not answer then has to be asked here. Brokers that only
        Connect can reach are accepted.
        """
        workers = self._workers(context, cluster)
        brokers = stream.kafka_cluster_id or self._brokers(context, stream)
        require_same_kafka(workers, brokers)

    def require(self, context: RequestContext, cluster: ConnectCluster, class_name: str) -> None:
        """Raise PLUGIN_MISSING when the workers do not have the connector class."""
        installed = {plugin.class_name for plugin in self.clients.connect(cluster).plugins(context.deadline)}
        if class_name not in installed:
            raise Invalid(
                f"The Connect cluster has no plug-in for {class_name}. Install it on every worker and restart them.",
                code="PLUGIN_MISSING",
                details={"connector_class": class_name},
            )

    def sink_plugins(self, context: RequestContext, cluster: ConnectCluster) -> Sequence[SinkPlugin]:
        """The sinks that the workers have."""
        plugins = self.clients.connect(cluster).plugins(context.deadline)
        return [SinkPlugin(class_name=one.class_name, version=one.version) for one in plugins if one.type == "sink"]

    def validate(self, context: RequestContext, cluster: ConnectCluster, name: str, built: BuiltConfig) -> Validation:
        """Let Connect validate the config for a connector of that name.

        Connect has to be allowed to read the secrets that it refers to: by a deployed connector, or by `grant`.
        """
        sent = {**self.clients.for_connect(cluster, built), "name": name}
        errors = self.clients.connect(cluster).validate(built.connector_class, sent, context.deadline)
        return Validation(errors=tuple({"field": error.field, "messages": list(error.messages)} for error in errors))

    def grant(self, cluster: ConnectCluster, built: BuiltConfig) -> None:
        """Let the workers read the secrets of a config that is only being validated."""
        # Inline secrets are part of the config: then workers read none.
        for credentials in built.credentials if cluster.secret_delivery is SecretDelivery.CONFIG_PROVIDER else ():
            self.clients.vault.grant_alone(credentials, cluster.id)

    def require_valid(
        self, context: RequestContext, cluster: ConnectCluster, name: str, built: BuiltConfig, *, deployed: bool
    ) -> None:
        """Raise CONNECTOR_CONFIG_INVALID when Connect finds an error in the config. `deployed`: it has a connector, so
        that Connect may read its secrets.

        A dry run grants nothing, so it leaves this out where Connect could not read the secrets.
        """
        if current_plan() and not deployed and cluster.secret_delivery is SecretDelivery.CONFIG_PROVIDER:
            promise([consequence(ConsequenceCode.CONFIG_IS_NOT_VALIDATED)])
            return
        verdict = self.validate(context, cluster, name, built)
        if verdict.error_count:
            raise Invalid(
                "Kafka Connect refuses the connector's config. `details.errors` says which fields and why.",
                code="CONNECTOR_CONFIG_INVALID",
                details={"errors": list(verdict.errors)},
            )

    def kafka_cluster_id(self, context: RequestContext, stream: StreamCluster, cluster: ConnectCluster) -> str | None:
        """The id that Kafka has for itself: two stream clusters may be registrations of one Kafka.

        None when neither the workers nor the brokers say it.
        """
        known = stream.kafka_cluster_id or self._workers(context, cluster)
        return known or self._brokers(context, stream)

    def _workers(self, context: RequestContext, cluster: ConnectCluster) -> str | None:
        return cluster.kafka_cluster_id or self.clients.connect(cluster).root(context.deadline).kafka_cluster_id

    def _brokers(self, context: RequestContext, stream: StreamCluster) -> str | None:
        try:
            with closing(self.clients.kafka(stream)) as kafka:
                return kafka.cluster_id(context.deadline.within(_BROKERS_SECONDS))
        except (Unavailable, TimedOut):
            return None
