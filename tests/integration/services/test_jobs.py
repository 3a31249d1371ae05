"""Jobs whose worker died, and jobs that nobody was told of."""

from dataclasses import replace

import pytest

from chalicelib.domain.job import JobKind, JobStatus
from chalicelib.kit.clock import Deadline
from chalicelib.services.jobs import LEASE, MAX_ATTEMPTS, JobService
from tests.support.in_process_app import InProcessApp


def _jobs(app: InProcessApp, rung: list[str]) -> JobService:
    """The service, its bell in the test's hands."""
    return replace(app.services.jobs, ring=rung.append)


def _dying(*_: object) -> dict[str, object]:
    raise SystemExit


def test_a_job_whose_worker_died_is_taken_up_again(app: InProcessApp) -> None:
    rung: list[str] = []
    source, jobs = app.source(), _jobs(app, rung)
    job = jobs.request(app.context(), JobKind.DISCOVERY, source.id)
    with pytest.raises(SystemExit):
        replace(jobs, work={JobKind.DISCOVERY: _dying}).run(job.id, Deadline.after(5))
    assert jobs.get(job.id).status is JobStatus.RUNNING
    jobs.run(job.id, Deadline.after(5))
    assert jobs.get(job.id).attempts == 1
    rung.clear()
    app.clock.advance(LEASE.total_seconds())
    assert (jobs.sweep(), rung) == (1, [job.id])
    jobs.run(job.id, Deadline.after(5))
    done = jobs.get(job.id)
    assert (done.status, done.attempts) == (JobStatus.COMPLETED, 2)


def test_a_job_that_kills_every_worker_fails_in_the_end_and_frees_its_source(app: InProcessApp) -> None:
    source, jobs = app.source(), replace(_jobs(app, []), work={JobKind.HEALTH: _dying})
    job = jobs.request(app.context(), JobKind.HEALTH, source.id)
    for _ in range(MAX_ATTEMPTS):
        try:
            jobs.run(job.id, Deadline.after(5))
        except SystemExit:
            app.clock.advance(LEASE.total_seconds())
    jobs.run(job.id, Deadline.after(5))
    failed = jobs.get(job.id)
    assert (failed.status, failed.error_code) == (JobStatus.FAILED, "JOB_ABANDONED")
    assert jobs.request(app.context(), JobKind.HEALTH, source.id).id != job.id


def test_a_job_whose_message_was_lost_is_rung_for_again(app: InProcessApp) -> None:
    rung: list[str] = []
    jobs = _jobs(app, rung)
    job = jobs.request(app.context(), JobKind.HEALTH, app.source().id)
    rung.clear()
    assert jobs.sweep() == 0
    app.clock.advance(10)
    assert (jobs.sweep(), rung) == (1, [job.id])
