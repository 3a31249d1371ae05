"""Jobs. They are kept for thirty days."""

from collections.abc import Mapping
from datetime import timedelta

from chalicelib.domain.job import Job
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import Document, document_table

JobRows = document_table("jobs", groups=("open_state",))
_KEPT = timedelta(days=30)
OPEN = "open"


class Jobs(Documents[Job]):
    """Jobs by id; the open ones also as one group, for the sweep."""

    def __init__(self) -> None:
        super().__init__(JobRows, Job, "job")

    def groups(self, entity: Job) -> Mapping[str, str | None]:
        return {"open_state": None if entity.status.terminal else OPEN}

    def _row(self, entity: Job, write_id: str) -> Document:
        row = super()._row(entity, write_id)
        row.expires_at = entity.created_at + _KEPT
        return row
