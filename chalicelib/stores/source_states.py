"""What the last look at each source found."""

from chalicelib.domain.monitoring.source_state import SourceState
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

SourceStateRows = document_table("source-states")


class SourceStates(Documents[SourceState]):
    """States of sources, by the source's id. A row stays when its source is deleted, and is never read again."""

    table, entity, noun = SourceStateRows, SourceState, "source_state"
