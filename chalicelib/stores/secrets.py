"""Sealed credentials: the only table that holds anything of a secret, encrypted."""

from chalicelib.domain.credentials import SealedCredentials
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table
from chalicelib.stores.transaction import Transaction

SecretRows = document_table("secrets")


class SealedSecrets(Documents[SealedCredentials]):
    """Sealed credentials by the UUID that connector configs refer to."""

    table, entity, noun = SecretRows, SealedCredentials, "credentials"

    def discard(self, transaction: Transaction, credentials_id: str) -> None:
        """Delete them at any revision: their resource is deleted in the same transaction."""
        transaction.delete(SecretRows(credentials_id), condition=None, label="credentials.gone")
