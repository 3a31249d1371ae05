"""Jobs."""

from typing import Any, Self

from chalicelib.api.contract.common import ErrorOutput, Output, Timestamp
from chalicelib.domain.job import Job, JobKind, JobStatus


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

    @classmethod
    def of(cls, job: Job) -> Self:
        """The job with its error as one object."""
        failed = job.error_code is not None
        return cls(
            id=job.id,
            kind=job.kind,
            status=job.status,
            resource_type=job.resource_type,
            resource_id=job.resource_id,
            result=dict(job.result) if job.result is not None else None,
            error=ErrorOutput(code=job.error_code or "", message=job.error_message or "") if failed else None,
            attempts=job.attempts,
            correlation_id=job.correlation_id,
            created_at=job.created_at,
            started_at=job.started_at,
            finished_at=job.finished_at,
        )
