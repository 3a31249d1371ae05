"""Sealed credentials: the only table that holds anything of a secret, encrypted."""

from dataclasses import replace
from datetime import datetime

from chalicelib.domain.credentials import SealedCredentials
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import LISTING, Document, document_table
from chalicelib.stores.transaction import Transaction

SecretRows = document_table("secrets")


class SealedSecrets(Documents[SealedCredentials]):
    """Sealed credentials by the UUID that connector configs refer to."""

    table, entity, noun = SecretRows, SealedCredentials, "credentials"

    def from_row(self, row: Document) -> SealedCredentials:
        return replace(super().from_row(row), granted_until=row.granted_until)

    def overwrite(self, transaction: Transaction, credentials: SealedCredentials) -> None:
        """Replace the row at any revision: the revision of their resource is the condition of the same transaction."""
        row = self._row(credentials, transaction.write_id)
        columns = ("position", "body", "revision", "write_id", LISTING)
        # An update, not a put: a grant stays.
        actions = [getattr(SecretRows, name).set(getattr(row, name)) for name in columns]
        transaction.update(row, actions, condition=None, label="credentials.overwritten")

    def grant(self, transaction: Transaction, credentials_id: str, until: datetime) -> None:
        """Let Connect read them until then, whatever is rotated meanwhile. Conflict label: `credentials.missing`."""
        actions = [SecretRows.granted_until.set(until), SecretRows.write_id.set(transaction.write_id)]
        there = SecretRows.id.exists()
        transaction.update(SecretRows(credentials_id), actions, condition=there, label="credentials.missing")

    def discard(self, transaction: Transaction, credentials_id: str) -> None:
        """Delete them at any revision: their resource is deleted in the same transaction."""
        transaction.delete(SecretRows(credentials_id), condition=None, label="credentials.gone")
