"""Jobs whose worker died, and jobs that nobody was told of."""

from dataclasses import replace

import pytest

from chalicelib.domain.job import JobKind, JobStatus
from chalicelib.kit.clock import Deadline
from chalicelib.services.jobs import LEASE, MAX_ATTEMPTS, JobService
from tests.support.in_process_app import House


def _jobs(house: House, rung: list[str]) -> JobService:
    """The service, its bell in the test's hands."""
    return replace(house.services.jobs, ring=rung.append)


def _dying(*_: object) -> dict[str, object]:
    raise SystemExit


def test_a_job_whose_worker_died_is_taken_up_again(house: House) -> None:
    rung: list[str] = []
    source, jobs = house.source(), _jobs(house, rung)
    job = jobs.request(house.call(), JobKind.DISCOVERY, source.id)
    with pytest.raises(SystemExit):
        replace(jobs, work={JobKind.DISCOVERY: _dying}).run(job.id, Deadline.after(5))
    assert jobs.get(job.id).status is JobStatus.RUNNING
    jobs.run(job.id, Deadline.after(5))
    assert jobs.get(job.id).attempts == 1
    rung.clear()
    house.clock.advance(LEASE.total_seconds())
    assert (jobs.sweep(), rung) == (1, [job.id])
    jobs.run(job.id, Deadline.after(5))
    done = jobs.get(job.id)
    assert (done.status, done.attempts) == (JobStatus.COMPLETED, 2)


def test_a_job_that_kills_every_worker_fails_in_the_end_and_frees_its_source(house: House) -> None:
    source, jobs = house.source(), replace(_jobs(house, []), work={JobKind.HEALTH: _dying})
    job = jobs.request(house.call(), JobKind.HEALTH, source.id)
    for _ in range(MAX_ATTEMPTS):
        try:
            jobs.run(job.id, Deadline.after(5))
        except SystemExit:
            house.clock.advance(LEASE.total_seconds())
    jobs.run(job.id, Deadline.after(5))
    failed = jobs.get(job.id)
    assert (failed.status, failed.error_code) == (JobStatus.FAILED, "JOB_ABANDONED")
    assert jobs.request(house.call(), JobKind.HEALTH, source.id).id != job.id


def test_a_job_whose_message_was_lost_is_rung_for_again(house: House) -> None:
    rung: list[str] = []
    jobs = _jobs(house, rung)
    job = jobs.request(house.call(), JobKind.HEALTH, house.source().id)
    rung.clear()
    assert jobs.sweep() == 0
    house.clock.advance(10)
    assert (jobs.sweep(), rung) == (1, [job.id])
