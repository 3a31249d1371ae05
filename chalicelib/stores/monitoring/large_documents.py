"""Documents that may be large: their bodies are compressed then."""

from chalicelib.kit.adapters import adapter
from chalicelib.stores.documents import Documents, E
from chalicelib.stores.tables import Document, compress_body, decompress_body

LARGE_BODY = 100_000
"""Characters from which a body is compressed: 500 captures without a reader have 900 KB, and a row at most 400 KB."""


class LargeDocuments(Documents[E]):
    def from_row(self, row: Document) -> E:
        entity: E = adapter(self.entity).validate_json(decompress_body(row.body))
        return entity

    def _row(self, entity: E, write_id: str) -> Document:
        row = super()._row(entity, write_id)
        if len(row.body) > LARGE_BODY:
            row.body = compress_body(row.body.encode())
        return row
