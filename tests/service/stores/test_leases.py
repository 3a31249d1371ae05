"""A lease is taken by one worker, also when a reply is lost."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.job import Job, JobKind, JobStatus
from chalicelib.errors import WriteConflict
from chalicelib.stores.jobs import OPEN, Jobs
from chalicelib.stores.leases import take_lease
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage, lose_first_reply

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
UNTIL = NOW + timedelta(seconds=60)


@pytest.fixture
def job(storage: Storage) -> Job:
    transaction = Transaction()
    stored = Job(
        id="job", kind=JobKind.HEALTH, resource_type="source", resource_id="source", correlation_id="c", created_at=NOW
    )
    Jobs().put_new(transaction, stored)
    transaction.commit()
    return stored


def test_the_lease_comes_with_its_changes(job: Job) -> None:
    leased = take_lease(Jobs(), job, UNTIL, status=JobStatus.RUNNING)
    assert leased == replace(job, status=JobStatus.RUNNING, lease_until=UNTIL, revision=2)
    assert Jobs().get(job.id) == leased


def test_of_two_workers_that_read_the_same_job_one_has_the_lease(job: Job) -> None:
    first = take_lease(Jobs(), job, UNTIL)
    with pytest.raises(WriteConflict):
        take_lease(Jobs(), job, UNTIL + timedelta(seconds=1))
    assert Jobs().get(job.id) == first


def test_a_lease_is_renewed_until_another_worker_has_it(job: Job) -> None:
    first = take_lease(Jobs(), job, UNTIL)
    renewed = take_lease(Jobs(), first, UNTIL + timedelta(seconds=60))
    take_lease(Jobs(), renewed, UNTIL + timedelta(seconds=120))
    with pytest.raises(WriteConflict):
        take_lease(Jobs(), renewed, UNTIL + timedelta(seconds=180))


def test_a_lease_whose_reply_was_lost_is_ours(job: Job, storage: Storage) -> None:
    storage.interceptor.watch(lose_first_reply)
    leased = take_lease(Jobs(), job, UNTIL)
    assert len(storage.interceptor.unwatch()) == 2
    assert Jobs().get(job.id) == leased


def test_an_ended_job_is_not_listed_as_open(job: Job) -> None:
    assert [one.id for one in Jobs().list_in("open_state", OPEN, limit=9).items] == [job.id]
    take_lease(Jobs(), job, UNTIL, status=JobStatus.COMPLETED)
    assert Jobs().list_in("open_state", OPEN, limit=9).items == ()
