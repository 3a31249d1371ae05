"""Credentials: sealed on the way in, opened for exactly one use on the way out."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from chalicelib.domain.access import RequestContext
from chalicelib.domain.credentials import Credentials, SealedCredentials
from chalicelib.errors import NotFound
from chalicelib.kit.bounded import Bounded
from chalicelib.kit.clock import Clock
from chalicelib.kit.ids import id_from, is_uuid
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.services.audit import AuditTrail
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.transaction import Transaction

Secrets = Mapping[str, Secret | None]
"""Secret fields of a request. None or blank means: keep what is stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialVault:
    """Seals, rotates and opens the secrets of resources."""

    rows: SealedSecrets
    envelope: Envelope
    audit: AuditTrail
    clock: Clock
    _read: Bounded[Hashable, SealedCredentials] = field(default_factory=lambda: Bounded(1000))

    def seal_new(self, transaction: Transaction, resource_type: str, resource_id: str, secrets: Secrets) -> Credentials:
        """Store the secrets of a resource that is being created. Its credentials' id is a function of its own id."""
        given = {field: value for field, value in secrets.items() if value}
        credentials_id = id_from("credentials", resource_type, resource_id)
        if given:
            sealed = {field: self.envelope.seal(credentials_id, field, 1, value) for field, value in given.items()}
            self.rows.put_new(
                transaction,
                SealedCredentials(
                    id=credentials_id,
                    resource_type=resource_type,
                    resource_id=resource_id,
                    sealed=sealed,
                    created_at=self.clock(),
                ),
            )
        return Credentials(id=credentials_id, fields=dict.fromkeys(given, 1))

    def rotate(
        self, transaction: Transaction, resource_type: str, resource_id: str, credentials: Credentials, secrets: Secrets
    ) -> Credentials:
        """Replace the fields that have a value; the others keep theirs."""
        given = {field: value for field, value in secrets.items() if value}
        if not given:
            return credentials
        if not credentials.configured:
            return self.seal_new(transaction, resource_type, resource_id, secrets)
        stored = self.rows.get(credentials.id)
        versions = {field: credentials.fields.get(field, 0) + 1 for field in given}
        fresh = {field: self.envelope.seal(stored.id, field, versions[field], value) for field, value in given.items()}
        rotated = replace(stored, sealed={**stored.sealed, **fresh})
        self.rows.save(transaction, rotated)
        return replace(credentials, fields={**credentials.fields, **versions})

    def remove(self, transaction: Transaction, credentials: Credentials) -> None:
        """Forget the secrets of a resource that is being deleted."""
        if credentials.configured:
            self.rows.discard(transaction, credentials.id)

    def open(self, credentials: Credentials) -> Mapping[str, Secret]:
        """The plain secrets, for a client that is about to use them."""
        return self.envelope.open_all(self._sealed(credentials)) if credentials.configured else {}

    def _sealed(self, credentials: Credentials) -> SealedCredentials:
        """What is sealed under a version never changes: a process that has read these versions, keeps them, sealed."""
        versions = (credentials.id, *sorted(credentials.fields.items()))
        sealed = self._read.get(versions)
        if sealed is None:
            sealed = self._read[versions] = self.rows.get(credentials.id)
        return sealed

    def hand_to_connect(self, context: RequestContext, credentials_id: str) -> Mapping[str, Secret]:
        """The plain secrets for Connect's secret provider. Each read is audited before anything is handed out."""
        stored = self.rows.find(credentials_id) if is_uuid(credentials_id) else None
        if stored is None:
            raise NotFound("There are no credentials with this id.")
        self.audit.record_alone(
            context, "secret.read", stored.resource_id, after={"fields": sorted(stored.sealed)}, meaningful=False
        )
        return self.envelope.open_all(stored)
