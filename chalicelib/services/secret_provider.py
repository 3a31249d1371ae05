"""What Kafka Connect's secret provider may read: secrets of sources, destinations and connections that a connector
refers to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connection import Connection
from chalicelib.domain.credentials import SealedCredentials
from chalicelib.domain.destination import Destination
from chalicelib.domain.kafka_sign_in import FOR_CONNECTORS
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.source import Source
from chalicelib.domain.usage import UsedBy
from chalicelib.errors import NotFound, SecretMismatch, UnreadableRow
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import is_uuid
from chalicelib.kit.masking import Secret
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.credentials import CredentialVault
from chalicelib.stores.documents import Documents
from chalicelib.stores.resources import ResourceStores

_ACTION = "secret.read"
_Owner = Source | Destination | Connection | StreamCluster


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretProvider:
    """Opens secrets for the service credential. Never those of Connect clusters, and never a key of Headgate's own; of
    those of brokers only what Kafka clients of a connector's own need.

    A credential of one Connect cluster opens those that connectors on that cluster refer to.
    """

    vault: CredentialVault
    resources: ResourceStores
    audit: AuditTrail
    clock: Clock

    def read(self, context: RequestContext, credentials_id: str) -> Mapping[str, Secret]:
        """The plain secrets, after the read has been audited. Refusals are audited too, a bounded number of them.

        Raises NotFound when there are none, or no connector may need them; SecretMismatch.
        """
        row = self.vault.store.find(credentials_id) if is_uuid(credentials_id) else None
        if row is None:
            raise self._refused(context, None, "unknown")
        stores: Mapping[str, Documents[Any]] = {
            "source": self.resources.sources,
            "destination": self.resources.destinations,
            "connection": self.resources.connections,
            "stream_cluster": self.resources.streams,
        }
        store, names = stores.get(row.resource_type), _names_for_connectors(row)
        if store is None or not names:
            raise self._refused(context, row, "not_for_connectors")
        resource = store.find(row.resource_id)
        if resource is None or resource.credentials.id != credentials_id:
            raise self._mismatch(context, row)
        if not self._needed(row, resource, context.actor.credential_id if context.actor.via == "service" else None):
            raise self._refused(context, row, "not_deployed")
        try:
            secrets = self.vault.opened(resource.credentials, row)
        except SecretMismatch:
            raise self._mismatch(context, row) from None
        secrets = {name: secrets[name] for name in names}
        # The record comes first: no secret leaves without one.
        fields = {"fields": sorted(secrets)}
        self.audit.record_alone(
            context, _ACTION, resource.id, resource_name=resource.name, after=fields, meaningful=False
        )
        return secrets

    def _needed(self, row: SealedCredentials, resource: _Owner, cluster_id: str | None) -> bool:
        """Whether a connector refers to them, on this Connect cluster (None: on any): a deployed one, one being
        deployed, or one that is being validated.
        """
        if row.granted_until is not None and row.granted_until > self.clock() and cluster_id in (None, row.granted_to):
            return True
        match resource:
            case Connection():
                return any(self._needed_by(user, cluster_id) for user in resource.used_by)
            case Destination():
                return self._is_written_to(resource, cluster_id)
            case Source():
                return self._is_captured("source_id", resource.id, cluster_id)
            case StreamCluster():
                return self._is_captured("stream_cluster_id", resource.id, cluster_id, signs_in=True)

    def _needed_by(self, user: UsedBy, cluster_id: str | None) -> bool:
        """The same for a source or a destination that uses a connection."""
        if user.type == self.resources.sources.noun:
            return self._is_captured("source_id", user.id, cluster_id)
        try:
            destination = self.resources.destinations.find(user.id)
        except UnreadableRow:  # it may be written to: its connectors go on
            return cluster_id is None or self._delivers(user.id, cluster_id)
        return destination is not None and self._is_written_to(destination, cluster_id)

    def _is_captured(self, group: str, referred_id: str, cluster_id: str | None, *, signs_in: bool = False) -> bool:
        """Whether a pipeline that refers to this is deployed; with `signs_in` one whose connector signs in to brokers
        itself. The index of pipelines lags behind, by less than a grant lasts.
        """
        found, unreadable = self.resources.pipelines.read_in(group, referred_id)
        # A pipeline that cannot be read may be deployed: its connector is left alone, and goes on.
        return any(_is_on(cluster_id, fields) for fields in unreadable) or any(
            (pipeline.desired_state is not DesiredState.DRAFT or pipeline.open_operation)
            and cluster_id in (None, pipeline.connect_cluster_id)
            and (capture_provider(pipeline.provider).signs_in_to_brokers or not signs_in)
            for pipeline in found
        )

    def _is_written_to(self, destination: Destination, cluster_id: str | None) -> bool:
        """A destination counts its deliveries exactly, those being deployed included. Their index lags behind, and has
        none that is being deployed.
        """
        return destination.deliveries > 0 and (cluster_id is None or self._delivers(destination.id, cluster_id))

    def _delivers(self, destination_id: str, cluster_id: str) -> bool:
        of_destination, unreadable = self.resources.deliveries.read_in("destination_id", destination_id)
        return any(_is_on(cluster_id, fields) for fields in unreadable) or any(
            delivery.connect_cluster_id == cluster_id for delivery in of_destination
        )

    def _refused(self, context: RequestContext, row: SealedCredentials | None, reason: str) -> NotFound:
        self.audit.record_refusal(context, _ACTION, row.resource_id if row else None, reason=reason, once=True)
        return NotFound("There are no credentials with this id that a deployed connector refers to.")

    def _mismatch(self, context: RequestContext, row: SealedCredentials) -> SecretMismatch:
        self.audit.record_refusal(context, _ACTION, row.resource_id, reason="mismatch", once=True)
        return SecretMismatch("The stored secrets are not those that their resource lists. The audit names it.")


def _names_for_connectors(row: SealedCredentials) -> frozenset[str]:
    """The fields that a connector may refer to."""
    names = frozenset(row.sealed)
    return names & FOR_CONNECTORS if row.resource_type == "stream_cluster" else names


def _is_on(cluster_id: str | None, fields: Mapping[str, Any]) -> bool:
    """Whether what cannot be read is on this Connect cluster, as far as its raw fields say; where they do not, it may
    be on each.
    """
    return cluster_id is None or fields.get("connect_cluster_id", cluster_id) == cluster_id
