from typing import Any

from chalicelib.domain.connection import Capability, Connection
from chalicelib.domain.search import EVERYTHING, Search
from chalicelib.kit.pages import Page
from chalicelib.stores.searched import SEARCHED, SearchedDocuments
from chalicelib.stores.tables import document_table

ConnectionRows = document_table("connections", copied=("capability_names",), searched=SEARCHED)


class Connections(SearchedDocuments[Connection]):
    """Connections by id. Each names its users itself, in its document: no column counts them as references."""

    table, entity, noun = ConnectionRows, Connection, "connection"

    def references(self, entity_id: str) -> int:
        connection = self.find(entity_id)
        return len(connection.used_by) if connection else 0

    def filtered(
        self, capability: Capability | None, *, limit: int, after: str | None, search: Search = EVERYTHING
    ) -> Page[Connection]:
        """Newest first: those of a search that have this capability; None: any."""
        row: Any = ConnectionRows
        condition = None if capability is None else row.capability_names.contains(capability.value)
        return self.search(search, limit=limit, after=after, condition=condition)
