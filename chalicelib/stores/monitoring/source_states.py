"""The state of each source, as of its last check."""

from collections.abc import Iterable

from chalicelib.domain.monitoring.source_state import SourceState
from chalicelib.stores.monitoring.findings import CaptureFindings
from chalicelib.stores.monitoring.large_documents import LargeDocuments
from chalicelib.stores.tables import document_table
from chalicelib.stores.transaction import Transaction

SourceStateRows = document_table("source-states")


class SourceStates(LargeDocuments[SourceState]):
    """States of sources, by the source's id. A row stays when its source is deleted, and is never read again."""

    table, entity, noun = SourceStateRows, SourceState, "source_state"

    def write(self, before: SourceState | None, after: SourceState, pipelines: Iterable[str]) -> None:
        """Store a state, and what is to be noted of the source's deployed
        pipelines (their ids).

        Raises WriteConflict when another check or a person was faster.
        """
        with Transaction() as transaction:
            if before is None:
                self.put_new(transaction, after)
            else:
                self.save(transaction, after)
            deployed = set(pipelines)
            noted = after.noted(deployed)
            if noted or (before and before.noted({*deployed, *before.captures})):
                faulty, losing_log = after.degraded(deployed), after.losing_log(deployed)
                CaptureFindings.replace(
                    transaction, after.id, faulty, after.checked_at, losing_log=losing_log, noted=noted
                )
