from dataclasses import replace

from chalicelib.domain.destination import Destination
from chalicelib.stores.searched import SEARCHED, SearchedDocuments
from chalicelib.stores.tables import Document, document_table

DestinationRows = document_table("destinations", searched=SEARCHED)


class Destinations(SearchedDocuments[Destination]):
    """Destinations by id. References are their deliveries, those being deployed included."""

    table, entity, noun = DestinationRows, Destination, "destination"

    def from_row(self, row: Document) -> Destination:
        return replace(super().from_row(row), deliveries=int(row.references))
