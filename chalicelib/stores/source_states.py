"""What the last look at each source found."""

from chalicelib.domain.monitoring.source_state import SourceState
from chalicelib.kit.adapters import adapter
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import Document, document_table, packed, unpacked

SourceStateRows = document_table("source-states")

LARGE_BODY = 100_000
"""Characters from which a body is compressed: 500 captures that have lost their reader are 900 KB, of 400 allowed."""


class SourceStates(Documents[SourceState]):
    """States of sources, by the source's id. A row stays when its source is deleted, and is never read again."""

    table, entity, noun = SourceStateRows, SourceState, "source_state"

    def from_row(self, row: Document) -> SourceState:
        found: SourceState = adapter(SourceState).validate_json(unpacked(row.body))
        return found

    def _row(self, entity: SourceState, write_id: str) -> Document:
        row = super()._row(entity, write_id)
        if len(row.body) > LARGE_BODY:
            row.body = packed(row.body.encode())
        return row
