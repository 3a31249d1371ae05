"""Jobs. They are kept for thirty days."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from chalicelib.domain.job import Job
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

JobRows = document_table("jobs", groups=("open_state",))
_RETENTION = timedelta(days=30)
OPEN = "open"


class Jobs(Documents[Job]):
    """Jobs by id; the open ones also as one group, for the sweep."""

    table, entity, noun = JobRows, Job, "job"

    def groups(self, entity: Job) -> Mapping[str, str | None]:
        return {"open_state": None if entity.status.terminal else OPEN}

    def expires_at(self, entity: Job) -> datetime:
        return entity.created_at + _RETENTION
