"""Credentials: sealed before they are stored, opened only for a client that is about to use them."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from chalicelib.domain.access import RequestContext
from chalicelib.domain.credentials import Credentials, SealedCredentials, SealedSecret, Secrets, without_blanks
from chalicelib.errors import NotFound
from chalicelib.kit.bounded import Bounded
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import id_from, is_uuid
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.services.audit import AuditTrail
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialVault:
    """Seals, rotates and opens the secrets of resources."""

    store: SealedSecrets
    envelope: Envelope
    audit: AuditTrail
    clock: Clock
    _cached: Bounded[Hashable, SealedCredentials] = field(default_factory=lambda: Bounded(1000))

    def seal_new(self, transaction: Transaction, resource_type: str, resource_id: str, secrets: Secrets) -> Credentials:
        """Store the secrets of a resource that is being created. The credentials' id is derived from the resource's."""
        credentials = Credentials(
            id=id_from("credentials", resource_type, resource_id), fields=dict.fromkeys(without_blanks(secrets), 1)
        )
        if credentials.configured:
            row = SealedCredentials(
                id=credentials.id,
                resource_type=resource_type,
                resource_id=resource_id,
                sealed=self._seal(credentials.id, credentials.fields, secrets),
                created_at=self.clock(),
            )
            self.store.put_new(transaction, row)
        return credentials

    def rotate(
        self, transaction: Transaction, resource_type: str, resource_id: str, credentials: Credentials, secrets: Secrets
    ) -> Credentials:
        """Replace the secrets that have a value; the others stay."""
        fresh = without_blanks(secrets)
        if not fresh:
            return credentials
        if not credentials.configured:
            return self.seal_new(transaction, resource_type, resource_id, secrets)
        stored = self.store.get(credentials.id)
        versions = {name: credentials.fields.get(name, 0) + 1 for name in fresh}
        rotated = replace(stored, sealed={**stored.sealed, **self._seal(stored.id, versions, fresh)})
        self.store.save(transaction, rotated)
        return replace(credentials, fields={**credentials.fields, **versions})

    def remove(self, transaction: Transaction, credentials: Credentials) -> None:
        """Delete the secrets of a resource that is being deleted."""
        if credentials.configured:
            self.store.discard(transaction, credentials.id)

    def open(self, credentials: Credentials) -> Mapping[str, Secret]:
        """The plain secrets by field; none when none are stored."""
        return self.envelope.open_all(self._sealed(credentials)) if credentials.configured else {}

    def _sealed(self, credentials: Credentials) -> SealedCredentials:
        # What is sealed under a version never changes, so rows are cached by their versions. They stay sealed.
        versions = (credentials.id, *sorted(credentials.fields.items()))
        row = self._cached.get(versions)
        if row is None:
            row = self._cached[versions] = self.store.get(credentials.id)
        return row

    def hand_to_connect(self, context: RequestContext, credentials_id: str) -> Mapping[str, Secret]:
        """The plain secrets for Connect's secret provider, after the read has been audited. Raises NotFound."""
        stored = self.store.find(credentials_id) if is_uuid(credentials_id) else None
        if stored is None:
            raise NotFound("There are no credentials with this id.")
        self.audit.record_alone(
            context, "secret.read", stored.resource_id, after={"fields": sorted(stored.sealed)}, meaningful=False
        )
        return self.envelope.open_all(stored)

    def _seal(self, credentials_id: str, versions: Mapping[str, int], secrets: Secrets) -> dict[str, SealedSecret]:
        values = without_blanks(secrets)
        return {name: self.envelope.seal(credentials_id, name, versions[name], values[name]) for name in values}
