"""The state of each source, as of its last check."""

from collections.abc import Iterable

from chalicelib.domain.monitoring.source_state import SourceState
from chalicelib.kit.adapters import adapter
from chalicelib.stores.documents import Documents
from chalicelib.stores.monitoring.findings import CaptureFindings
from chalicelib.stores.tables import Document, compress_body, decompress_body, document_table
from chalicelib.stores.transaction import Transaction

SourceStateRows = document_table("source-states")

LARGE_BODY = 100_000
"""Characters from which a body is compressed: 500 captures without a reader have 900 KB, and a row at most 400 KB."""


class SourceStates(Documents[SourceState]):
    """States of sources, by the source's id. A row stays when its source is deleted, and is never read again."""

    table, entity, noun = SourceStateRows, SourceState, "source_state"

    def write(self, before: SourceState | None, after: SourceState, pipelines: Iterable[str]) -> None:
        """Store a state, and which of the source's deployed pipelines (their ids) are degraded.

        Raises WriteConflict when another check or a person was faster.
        """
        with Transaction() as transaction:
            if before is None:
                self.put_new(transaction, after)
            else:
                self.save(transaction, after)
            deployed = set(pipelines)
            degraded = after.degraded(deployed)
            if degraded or (before and before.degraded({*deployed, *before.captures})):
                CaptureFindings.replace(transaction, after.id, degraded, after.checked_at)

    def from_row(self, row: Document) -> SourceState:
        state: SourceState = adapter(SourceState).validate_json(decompress_body(row.body))
        return state

    def _row(self, entity: SourceState, write_id: str) -> Document:
        row = super()._row(entity, write_id)
        if len(row.body) > LARGE_BODY:
            row.body = compress_body(row.body.encode())
        return row
