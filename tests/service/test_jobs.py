"""Jobs: leases, lost messages, failures, and jobs of other resources than sources."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import pytest

from chalicelib.domain.access import RequestContext
from chalicelib.domain.job import Job, JobKind, JobStatus
from chalicelib.errors import NotFound, SecretMismatch, StoreUnavailable, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import get_logger, log_context
from chalicelib.services.jobs import LEASE, MAX_ATTEMPTS, JobHandler, JobService
from tests.support.apps.in_process_app import InProcessApp
from tests.support.log_lines import logged

Run = Mapping[str, Any]


@dataclass(kw_only=True)
class JobsFixture:
    """The job service, and the messages to workers in a list."""

    app: InProcessApp
    jobs: JobService
    sent: list[str]

    def handle(self, run: Any, kind: JobKind = JobKind.HEALTH) -> JobService:
        """The service with another handler for this kind of jobs of sources."""
        handler = replace(self.jobs.handlers["source", kind], run=run)
        return replace(self.jobs, handlers={**self.jobs.handlers, ("source", kind): handler})

    def request(self, kind: JobKind = JobKind.HEALTH, source_id: str | None = None) -> Job:
        """Request a job for this source, or for a new one."""
        return self.jobs.request(self.app.context(), kind, "source", source_id or self.app.source().id)

    def run(self, job: Job, jobs: JobService | None = None) -> Job:
        """Run the job as a worker does; returns it afterwards."""
        (jobs or self.jobs).run(job.id, Deadline.after(5))
        return self.jobs.get(job.id)


@pytest.fixture
def jobs_fixture(app: InProcessApp) -> JobsFixture:
    sent: list[str] = []
    return JobsFixture(app=app, jobs=replace(app.services.jobs, notify=sent.append), sent=sent)


def dying(*_: object) -> dict[str, object]:
    raise SystemExit


def lease_ends(app: InProcessApp) -> None:
    app.clock.advance(LEASE.total_seconds())


def test_a_job_whose_worker_died_is_run_again_after_its_lease(jobs_fixture: JobsFixture) -> None:
    job = jobs_fixture.request(JobKind.DISCOVERY)
    with pytest.raises(SystemExit):
        jobs_fixture.run(job, jobs_fixture.handle(dying, JobKind.DISCOVERY))
    assert jobs_fixture.jobs.get(job.id).status is JobStatus.RUNNING
    assert jobs_fixture.run(job).attempts == 1
    jobs_fixture.sent.clear()
    lease_ends(jobs_fixture.app)
    assert (jobs_fixture.jobs.sweep(), jobs_fixture.sent) == (1, [job.id])
    done = jobs_fixture.run(job)
    assert (done.status, done.attempts) == (JobStatus.COMPLETED, 2)


def test_a_job_that_kills_every_worker_fails_in_the_end_and_frees_its_source(jobs_fixture: JobsFixture) -> None:
    job = jobs_fixture.request()
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(SystemExit):
            jobs_fixture.run(job, jobs_fixture.handle(dying))
        lease_ends(jobs_fixture.app)
    failed = jobs_fixture.run(job, jobs_fixture.handle(dying))
    assert (failed.status, failed.error_code) == (JobStatus.FAILED, "JOB_ABANDONED")
    assert jobs_fixture.request(source_id=job.resource_id).id != job.id


def test_a_job_for_which_our_own_store_does_not_answer_raises_and_is_run_again(jobs_fixture: JobsFixture) -> None:
    def unavailable(*_: object) -> NoReturn:
        raise StoreUnavailable("The store did not answer.")

    job = jobs_fixture.request()
    with pytest.raises(StoreUnavailable):
        jobs_fixture.run(job, jobs_fixture.handle(unavailable))
    lease_ends(jobs_fixture.app)
    assert jobs_fixture.run(job).status is JobStatus.COMPLETED


def test_a_job_whose_secret_was_exchanged_has_failed(jobs_fixture: JobsFixture) -> None:
    def mismatched(*_: object) -> NoReturn:
        raise SecretMismatch("The stored secret is not the one of this source.")

    job = jobs_fixture.request()
    assert jobs_fixture.run(job, jobs_fixture.handle(mismatched)).status is JobStatus.FAILED


def test_lines_about_a_job_have_the_correlation_id_of_its_request(jobs_fixture: JobsFixture) -> None:
    def noting(*_: object) -> dict[str, object]:
        get_logger().info("work")
        return {}

    job = jobs_fixture.request()
    with logged() as stream, log_context(correlation_id="of-the-dispatcher"):
        jobs_fixture.run(job, jobs_fixture.handle(noting))
    line = json.loads(stream.getvalue())
    assert (line["correlation_id"], line["resource_id"]) == (job.correlation_id, job.resource_id)


def test_a_job_whose_message_was_lost_is_sent_again(jobs_fixture: JobsFixture) -> None:
    job = jobs_fixture.request()
    jobs_fixture.sent.clear()
    assert jobs_fixture.jobs.sweep() == 0
    jobs_fixture.app.clock.advance(10)
    assert (jobs_fixture.jobs.sweep(), jobs_fixture.sent) == (1, [job.id])


def test_a_worker_that_lost_its_lease_ends_nothing(jobs_fixture: JobsFixture) -> None:
    job = jobs_fixture.request()

    def slow(*_: object) -> Run:
        lease_ends(jobs_fixture.app)
        jobs_fixture.run(job, jobs_fixture.handle(lambda *_: {"by": "the second"}))
        return {"by": "the first"}

    done = jobs_fixture.run(job, jobs_fixture.handle(slow))
    assert (done.result, done.attempts) == ({"by": "the second"}, 2)


def test_a_message_that_comes_twice_runs_a_job_once(jobs_fixture: JobsFixture) -> None:
    job, runs = jobs_fixture.request(), list[str]()

    def count(_: RequestContext, job: Job) -> Run:
        runs.append(job.resource_id)
        jobs_fixture.run(job, jobs)
        return {}

    jobs = jobs_fixture.handle(count)
    jobs_fixture.run(job, jobs)
    assert (jobs_fixture.run(job, jobs).status, runs) == (JobStatus.COMPLETED, [job.resource_id])


def test_a_second_request_is_the_open_job_of_its_kind(jobs_fixture: JobsFixture) -> None:
    first = jobs_fixture.request(JobKind.DISCOVERY)
    assert jobs_fixture.request(JobKind.DISCOVERY, first.resource_id) == first
    assert jobs_fixture.request(JobKind.HEALTH, first.resource_id).id != first.id
    assert jobs_fixture.request(JobKind.DISCOVERY).id != first.id
    assert len(jobs_fixture.sent) == 3
    jobs_fixture.run(first)
    assert jobs_fixture.request(JobKind.DISCOVERY, first.resource_id).id != first.id


def test_a_discovery_reads_as_many_tables_as_were_asked_for(jobs_fixture: JobsFixture) -> None:
    source = jobs_fixture.app.source()
    results = []
    for asked in ({"max_tables": 2}, {}):
        job = jobs_fixture.jobs.request(jobs_fixture.app.context(), JobKind.DISCOVERY, "source", source.id, **asked)
        results.append(jobs_fixture.run(job).result or {})
    assert [(result["tables"], result["bound"], result["truncated"]) for result in results] == [(2, 2, True)] * 2


def test_an_error_of_ours_fails_the_job_with_its_code(jobs_fixture: JobsFixture) -> None:
    def refuse(*_: object) -> Run:
        raise Unavailable("It is down.", code="SOURCE_UNAVAILABLE")

    failed = jobs_fixture.run(jobs_fixture.request(), jobs_fixture.handle(refuse))
    assert (failed.status, failed.error_code, failed.error_message) == (
        JobStatus.FAILED,
        "SOURCE_UNAVAILABLE",
        "It is down.",
    )


def test_another_resource_needs_an_entry_in_the_table_only(jobs_fixture: JobsFixture) -> None:
    """Its audit action consists of its type and the handler's verb."""
    app = jobs_fixture.app
    handler = JobHandler(
        store=app.services.stores.resources.destinations,
        verb="health",
        run=lambda _, job: {"checked": job.resource_id},
    )
    jobs = replace(jobs_fixture.jobs, handlers={("destination", JobKind.HEALTH): handler})
    destination = app.destination()
    job = jobs.request(app.context(), JobKind.HEALTH, "destination", destination.id)
    app.clock.advance(1)
    assert jobs_fixture.run(job, jobs).result == {"checked": destination.id}
    records = app.services.audit.list(
        limit=9, after=None, resource_id=destination.id, include_related=False, meaningful=None
    )
    assert [(record.action, record.outcome) for record in records.items if not record.meaningful] == [
        ("destination.health", "success"),
        ("destination.health", "requested"),
    ]
    with pytest.raises(NotFound):
        jobs.request(app.context(), JobKind.HEALTH, "destination", app.source().id)
