"""When work may be taken over."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.access import SYSTEM
from chalicelib.domain.job import Job, JobKind, JobStatus
from chalicelib.domain.lease import expired, is_free

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ENDED, LIVE = NOW, NOW + timedelta(milliseconds=1)


@dataclass(frozen=True)
class LeasedWork:
    lease_until: datetime | None


@pytest.mark.parametrize(("lease_until", "free"), [(None, True), (ENDED, True), (LIVE, False)])
def test_work_is_free_without_a_lease_and_when_its_lease_has_ended(lease_until: datetime | None, free: bool) -> None:
    assert is_free(lease_until, NOW) is free


def test_a_sweep_returns_only_free_work_up_to_a_limit() -> None:
    work = [LeasedWork(LIVE), LeasedWork(None), LeasedWork(ENDED), LeasedWork(LIVE), LeasedWork(ENDED)]
    assert expired(work, NOW, limit=9) == [LeasedWork(None), LeasedWork(ENDED), LeasedWork(ENDED)]
    assert expired(work, NOW, limit=2) == [LeasedWork(None), LeasedWork(ENDED)]


@pytest.mark.parametrize(
    ("status", "lease_until", "may_run"),
    [
        (JobStatus.PENDING, LIVE, True),
        (JobStatus.PENDING, None, True),
        (JobStatus.RUNNING, LIVE, False),
        (JobStatus.RUNNING, ENDED, True),
        (JobStatus.COMPLETED, None, False),
        (JobStatus.FAILED, ENDED, False),
    ],
)
def test_a_job_runs_when_nobody_has_begun_it_or_its_worker_is_lost(
    status: JobStatus, lease_until: datetime | None, may_run: bool
) -> None:
    job = Job(
        id="job", kind=JobKind.HEALTH, status=status, resource_type="source", resource_id="source",
        actor_via=SYSTEM.via, correlation_id="c", lease_until=lease_until, created_at=NOW,
    )  # fmt: skip
    assert job.may_run(NOW) is may_run
