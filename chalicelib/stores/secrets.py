"""Sealed credentials of resources."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from chalicelib.domain.credentials import SealedCredentials
from chalicelib.kit.adapters import adapter
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import LISTING, Document, document_table, store_errors
from chalicelib.stores.transaction import Transaction

SecretRows = document_table("secrets")


class SealedSecrets(Documents[SealedCredentials]):
    """Sealed credentials by the UUID that connector configs refer to."""

    table, entity, noun = SecretRows, SealedCredentials, "credentials"

    def from_row(self, row: Document) -> SealedCredentials:
        # The id is that of the row: a body that was copied to another row has the id of its former row.
        credentials = super().from_row(row)
        return replace(credentials, id=row.id, granted_until=row.granted_until, granted_to=row.granted_to)

    def walk(self) -> Iterator[Document]:
        """All rows, newest first, without a bound: for workers and with a deadline only."""
        with store_errors():
            yield from getattr(SecretRows, f"by_{LISTING}").query(self.noun, scan_index_forward=False)

    def replace_sealed(self, row: Document, credentials: SealedCredentials) -> None:
        """Store the same secrets, sealed again. Raises WriteConflict when the row was written since it was read.

        The condition is the whole body, because `overwrite` counts revisions from the beginning. The revision stays,
        so that a user who changes a secret at the same time gets no conflict. Grants are other columns and stay, too.
        """
        with Transaction() as transaction:
            body = adapter(SealedCredentials).dump_json(credentials).decode()
            actions = [SecretRows.body.set(body), SecretRows.write_id.set(transaction.write_id)]
            unchanged = SecretRows.body == row.body
            transaction.update(SecretRows(row.id), actions, condition=unchanged, label="credentials.changed")

    def overwrite(self, transaction: Transaction, credentials: SealedCredentials) -> None:
        """Replace the row at any revision: the revision of their resource is the condition of the same transaction."""
        row = self._row(credentials, transaction.write_id)
        columns = ("position", "body", "revision", "write_id", LISTING)
        # An update, not a put: a grant stays.
        actions = [getattr(SecretRows, name).set(getattr(row, name)) for name in columns]
        transaction.update(row, actions, condition=None, label="credentials.overwritten")

    def grant(self, transaction: Transaction, credentials_id: str, cluster_id: str, until: datetime) -> None:
        """Let a Connect cluster read them until then, also after a rotation. Conflict label: `credentials.missing`."""
        actions = [SecretRows.granted_until.set(until), SecretRows.granted_to.set(cluster_id)]
        actions.append(SecretRows.write_id.set(transaction.write_id))
        exists = SecretRows.id.exists()
        transaction.update(SecretRows(credentials_id), actions, condition=exists, label="credentials.missing")

    def discard(self, transaction: Transaction, credentials_id: str) -> None:
        """Delete them at any revision: their resource is deleted in the same transaction."""
        transaction.delete(SecretRows(credentials_id), condition=None, label="credentials.gone")
