"""Jobs: the open ones are a group."""

from dataclasses import replace

from chalicelib.domain.job import Job, JobKind, JobStatus
from chalicelib.stores.jobs import OPEN, Jobs
from tests.service.stores.conftest import Storage
from tests.support.entities import NOW, store_new


def test_an_ended_job_is_not_listed_as_open(storage: Storage) -> None:
    job = Job(
        id="job", kind=JobKind.HEALTH, resource_type="source", resource_id="source", correlation_id="c", created_at=NOW
    )
    store_new(Jobs(), job)
    assert Jobs().list_in("open_state", OPEN, limit=9).items == (job,)
    Jobs().save_alone(replace(job, status=JobStatus.COMPLETED))
    assert Jobs().list_in("open_state", OPEN, limit=9).items == ()
