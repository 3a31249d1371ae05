"""Jobs whose worker died, jobs whose message was lost, and jobs of other resources than sources."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from chalicelib.domain.access import RequestContext
from chalicelib.domain.job import Job, JobKind, JobStatus
from chalicelib.errors import NotFound, Unavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.jobs import LEASE, MAX_ATTEMPTS, JobHandler, JobService
from tests.support.in_process_app import InProcessApp

Run = Mapping[str, Any]


@dataclass(kw_only=True)
class Stage:
    """The job service, with the messages to workers in a list."""

    app: InProcessApp
    jobs: JobService
    sent: list[str]

    def handle(self, run: Any, kind: JobKind = JobKind.HEALTH) -> JobService:
        """The service whose jobs of this kind, for sources, do this."""
        handler = replace(self.jobs.handlers["source", kind], run=run)
        return replace(self.jobs, handlers={**self.jobs.handlers, ("source", kind): handler})

    def request(self, kind: JobKind = JobKind.HEALTH, source_id: str | None = None) -> Job:
        """A job for this source, or for a new one."""
        return self.jobs.request(self.app.context(), kind, "source", source_id or self.app.source().id)

    def run(self, job: Job, jobs: JobService | None = None) -> Job:
        """The job after a worker has had it."""
        (jobs or self.jobs).run(job.id, Deadline.after(5))
        return self.jobs.get(job.id)


@pytest.fixture
def stage(app: InProcessApp) -> Stage:
    sent: list[str] = []
    return Stage(app=app, jobs=replace(app.services.jobs, notify=sent.append), sent=sent)


def dying(*_: object) -> dict[str, object]:
    raise SystemExit


def lease_ends(app: InProcessApp) -> None:
    app.clock.advance(LEASE.total_seconds())


def test_a_job_whose_worker_died_is_run_again_after_its_lease(stage: Stage) -> None:
    job = stage.request(JobKind.DISCOVERY)
    with pytest.raises(SystemExit):
        stage.run(job, stage.handle(dying, JobKind.DISCOVERY))
    assert stage.jobs.get(job.id).status is JobStatus.RUNNING
    assert stage.run(job).attempts == 1
    stage.sent.clear()
    lease_ends(stage.app)
    assert (stage.jobs.sweep(), stage.sent) == (1, [job.id])
    done = stage.run(job)
    assert (done.status, done.attempts) == (JobStatus.COMPLETED, 2)


def test_a_job_that_kills_every_worker_fails_in_the_end_and_frees_its_source(stage: Stage) -> None:
    job = stage.request()
    for _ in range(MAX_ATTEMPTS):
        with pytest.raises(SystemExit):
            stage.run(job, stage.handle(dying))
        lease_ends(stage.app)
    failed = stage.run(job, stage.handle(dying))
    assert (failed.status, failed.error_code) == (JobStatus.FAILED, "JOB_ABANDONED")
    assert stage.request(source_id=job.resource_id).id != job.id


def test_a_job_whose_message_was_lost_is_sent_again(stage: Stage) -> None:
    job = stage.request()
    stage.sent.clear()
    assert stage.jobs.sweep() == 0
    stage.app.clock.advance(10)
    assert (stage.jobs.sweep(), stage.sent) == (1, [job.id])


def test_a_worker_that_lost_its_lease_ends_nothing(stage: Stage) -> None:
    job = stage.request()

    def slow(*_: object) -> Run:
        lease_ends(stage.app)
        stage.run(job, stage.handle(lambda *_: {"by": "the second"}))
        return {"by": "the first"}

    done = stage.run(job, stage.handle(slow))
    assert (done.result, done.attempts) == ({"by": "the second"}, 2)


def test_a_message_that_comes_twice_runs_a_job_once(stage: Stage) -> None:
    job, runs = stage.request(), list[str]()

    def count(_: RequestContext, source_id: str) -> Run:
        runs.append(source_id)
        stage.run(job, jobs)
        return {}

    jobs = stage.handle(count)
    stage.run(job, jobs)
    assert (stage.run(job, jobs).status, runs) == (JobStatus.COMPLETED, [job.resource_id])


def test_a_second_request_is_the_open_job_of_its_kind(stage: Stage) -> None:
    first = stage.request(JobKind.DISCOVERY)
    assert stage.request(JobKind.DISCOVERY, first.resource_id) == first
    assert stage.request(JobKind.HEALTH, first.resource_id).id != first.id
    assert stage.request(JobKind.DISCOVERY).id != first.id
    assert len(stage.sent) == 3
    stage.run(first)
    assert stage.request(JobKind.DISCOVERY, first.resource_id).id != first.id


def test_an_error_of_ours_fails_the_job_with_its_code(stage: Stage) -> None:
    def refuse(*_: object) -> Run:
        raise Unavailable("It is down.", code="SOURCE_UNAVAILABLE")

    failed = stage.run(stage.request(), stage.handle(refuse))
    assert (failed.status, failed.error_code, failed.error_message) == (
        JobStatus.FAILED,
        "SOURCE_UNAVAILABLE",
        "It is down.",
    )


def test_another_resource_needs_an_entry_in_the_table_only(stage: Stage) -> None:
    """Its audit action is made of its type and the handler's verb."""
    app = stage.app
    handler = JobHandler(store=app.services.stores.destinations, verb="health", run=lambda _, found: {"checked": found})
    jobs = replace(stage.jobs, handlers={("destination", JobKind.HEALTH): handler})
    destination = app.destination()
    job = jobs.request(app.context(), JobKind.HEALTH, "destination", destination.id)
    app.clock.advance(1)
    assert stage.run(job, jobs).result == {"checked": destination.id}
    records = app.services.audit.list(
        limit=9, after=None, resource_id=destination.id, include_related=False, meaningful=None
    )
    assert [(record.action, record.outcome) for record in records.items if not record.meaningful] == [
        ("destination.health", "success"),
        ("destination.health", "requested"),
    ]
    with pytest.raises(NotFound):
        jobs.request(app.context(), JobKind.HEALTH, "destination", app.source().id)
