"""Jobs."""

from typing import Any

from chalicelib.api.contract.common import ErrorOutput, Output, Timestamp
from chalicelib.domain.job import JobKind, JobStatus


class JobOutput(Output):
    """A stored request to examine a source. Poll it until it is COMPLETED or FAILED."""

    id: str
    kind: JobKind
    status: JobStatus
    resource_type: str
    resource_id: str
    result: dict[str, Any] | None
    error: ErrorOutput | None
    attempts: int
    correlation_id: str
    created_at: Timestamp
    started_at: Timestamp | None
    finished_at: Timestamp | None
