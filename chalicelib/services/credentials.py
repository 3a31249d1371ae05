"""Credentials: sealed before they are stored, opened only for a client that is about to use them."""

from collections.abc import Collection, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from chalicelib.domain.credentials import (
    SECRET_CLASSES,
    Credentials,
    SealedCredentials,
    SealedSecret,
    SecretBinding,
    Secrets,
    credentials_id,
    without_blanks,
)
from chalicelib.domain.timing import REQUEST
from chalicelib.errors import NotFound, SecretMismatch, StoreUnavailable, WriteConflict
from chalicelib.kit.bounded import Bounded
from chalicelib.kit.clock import Clock
from chalicelib.kit.log import get_logger
from chalicelib.kit.masking import Secret
from chalicelib.secrets.envelope import Envelope
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.transaction import Transaction

GRANTED = 6 * REQUEST
"""Longer than a request that validates and then deploys, and than the indexes need to show what it deployed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialVault:
    store: SealedSecrets
    envelope: Envelope
    clock: Clock
    _cached: Bounded[Hashable, SealedCredentials] = field(default_factory=lambda: Bounded(1000))

    def seal_new(
        self, transaction: Transaction, resource_type: str, resource_id: str, secrets: Secrets, *, version: int = 1
    ) -> Credentials:
        """Store the secrets of a resource that has none of its own, all with this version. The credentials' id is
        derived from the resource's.

        No version is ever used again for other secrets of the resource: by id and version a process knows sealed rows
        and compares configs.
        """
        credentials = Credentials(
            id=credentials_id(resource_type, resource_id), fields=dict.fromkeys(without_blanks(secrets), version)
        )
        if credentials.configured:
            self.store.put_new(transaction, self._row(resource_type, resource_id, credentials, secrets))
        return credentials

    def rotate(
        self,
        transaction: Transaction,
        resource_type: str,
        resource_id: str,
        credentials: Credentials,
        secrets: Secrets,
        *,
        first_version: int = 1,
    ) -> Credentials:
        """Replace the secrets that have a value; the others stay. `first_version` is that of a field that has none: see
        `seal_new`.
        """
        fresh = without_blanks(secrets)
        if not fresh:
            return credentials
        if not credentials.configured:
            return self.seal_new(transaction, resource_type, resource_id, secrets, version=first_version)
        versions = {name: credentials.fields.get(name, first_version - 1) + 1 for name in fresh}
        rotated = replace(credentials, fields={**credentials.fields, **versions})
        if rotated.fields.keys() == fresh.keys():
            # Nothing of the stored row is kept, so that a row that others have changed can be replaced.
            self.store.overwrite(transaction, self._row(resource_type, resource_id, rotated, fresh))
            return rotated
        stored = self.store.get(credentials.id)
        if credentials_id(stored.resource_type, stored.resource_id) != credentials.id:
            raise _refused(credentials.id)
        sealed = self._seal(rotated.bindings(resource_type), fresh)
        self.store.save(transaction, replace(stored, sealed={**stored.sealed, **sealed}))
        return rotated

    def remove(self, transaction: Transaction, credentials: Credentials) -> None:
        """Delete the secrets of a resource that is being deleted, or that gets those of a connection."""
        if credentials.configured:
            self.store.discard(transaction, credentials.id)

    def open(self, credentials: Credentials) -> Mapping[str, Secret]:
        """The plain secrets by field; none when none are stored.

        Raises SecretMismatch when the table does not hold exactly these fields and versions; NotFound.
        """
        if not credentials.configured:
            return {}
        # What is sealed under a version seldom changes, so rows are cached by their versions. They stay sealed.
        versions = (credentials.id, *sorted(credentials.fields.items()))
        if cached := self._cached.get(versions):
            with suppress(StoreUnavailable):  # it may have been sealed again, under another key
                return self._opened(credentials, cached)
        row = self.store.get(credentials.id)
        secrets = self.opened(credentials, row)
        self._cached[versions] = row
        return secrets

    def opened(self, credentials: Credentials, row: SealedCredentials) -> Mapping[str, Secret]:
        """The plain secrets in a row that was read. Raises SecretMismatch, with a line in the log."""
        try:
            return self._opened(credentials, row)
        except SecretMismatch:
            raise _refused(credentials.id) from None

    def differs(self, credentials: Credentials, secrets: Secrets, names: Collection[str]) -> bool:
        """Whether `secrets` have another value than the stored one in any of these fields.

        True for stored secrets that cannot be opened: nobody knows what they are.
        """
        given = {name: value for name, value in without_blanks(secrets).items() if name in names}
        if not given:
            return False
        try:
            stored = self.open(credentials)
        except (SecretMismatch, NotFound):
            return True
        return any(value != stored.get(name) for name, value in given.items())

    def grant(self, transaction: Transaction, credentials: Credentials, cluster_id: str) -> None:
        """Let a Connect cluster read these secrets for two minutes, although none of its deployed connectors refers to
        them yet.
        """
        if credentials.configured:
            self.store.grant(transaction, credentials.id, cluster_id, self.clock() + GRANTED)

    def grant_alone(self, credentials: Credentials, cluster_id: str) -> None:
        """`grant` in a transaction of its own: Connect is about to validate a config that refers to them."""
        if not credentials.configured:
            return
        with suppress(WriteConflict), Transaction() as transaction:  # they were deleted: nothing can be read
            self.grant(transaction, credentials, cluster_id)

    def _opened(self, credentials: Credentials, row: SealedCredentials) -> Mapping[str, Secret]:
        belongs = credentials_id(row.resource_type, row.resource_id) == credentials.id
        if not belongs or row.resource_type not in SECRET_CLASSES or credentials.fields.keys() - row.sealed.keys():
            raise SecretMismatch("The row is another one's, or a field is missing.")
        bindings = credentials.bindings(row.resource_type)
        return {name: self.envelope.open(binding, row.sealed[name]) for name, binding in bindings.items()}

    def _row(
        self, resource_type: str, resource_id: str, credentials: Credentials, secrets: Secrets
    ) -> SealedCredentials:
        return SealedCredentials(
            id=credentials.id,
            resource_type=resource_type,
            resource_id=resource_id,
            sealed=self._seal(credentials.bindings(resource_type), secrets),
            created_at=self.clock(),
        )

    def _seal(self, bindings: Mapping[str, SecretBinding], secrets: Secrets) -> dict[str, SealedSecret]:
        return {name: self.envelope.seal(bindings[name], value) for name, value in without_blanks(secrets).items()}


def _refused(credentials_id: str) -> SecretMismatch:
    get_logger().error("a stored secret was refused", extra={"row_id": credentials_id})
    return SecretMismatch(
        "The stored secrets are not those that this resource lists. If they were changed at this moment, repeat. "
        "Otherwise the table of secrets was changed by others: find out by whom, then give all of its secrets again."
    )
