"""Sealed credentials: the only table that holds anything of a secret, encrypted."""

from dataclasses import replace
from datetime import datetime

from chalicelib.domain.credentials import SealedCredentials
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import Document, document_table
from chalicelib.stores.transaction import Transaction

SecretRows = document_table("secrets")


class SealedSecrets(Documents[SealedCredentials]):
    """Sealed credentials by the UUID that connector configs refer to."""

    table, entity, noun = SecretRows, SealedCredentials, "credentials"

    def from_row(self, row: Document) -> SealedCredentials:
        return replace(super().from_row(row), granted_until=row.granted_until)

    def grant(self, transaction: Transaction, credentials_id: str, until: datetime) -> None:
        """Let Connect read them until then, whatever is rotated meanwhile. Conflict label: `credentials.missing`."""
        actions = [SecretRows.granted_until.set(until), SecretRows.write_id.set(transaction.write_id)]
        there = SecretRows.id.exists()
        transaction.update(SecretRows(credentials_id), actions, condition=there, label="credentials.missing")

    def discard(self, transaction: Transaction, credentials_id: str) -> None:
        """Delete them at any revision: their resource is deleted in the same transaction."""
        transaction.delete(SecretRows(credentials_id), condition=None, label="credentials.gone")
