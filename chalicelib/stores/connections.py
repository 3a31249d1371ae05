from typing import Any

from chalicelib.domain.connection import Capability, Connection
from chalicelib.kit.pages import Page
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import LISTING, document_table

ConnectionRows = document_table("connections", copied=("capability_names",))


class Connections(Documents[Connection]):
    """Connections by id. Each names its users itself, in its document: no column counts them as references."""

    table, entity, noun = ConnectionRows, Connection, "connection"

    def references(self, entity_id: str) -> int:
        connection = self.find(entity_id)
        return len(connection.used_by) if connection else 0

    def filtered(self, capability: Capability | None, *, limit: int, after: str | None) -> Page[Connection]:
        """Newest first: those with this capability; None: all."""
        row: Any = ConnectionRows
        condition = None if capability is None else row.capability_names.contains(capability.value)
        return self.list_in(LISTING, self.noun, limit=limit, after=after, by_size=True, condition=condition)
