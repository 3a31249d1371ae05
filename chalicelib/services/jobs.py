"""Jobs: durable requests for work on a resource, run by a worker, and by another one when that worker dies."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.job import Job, JobKind, JobStatus
from chalicelib.domain.lease import expired
from chalicelib.domain.timing import FUNCTION
from chalicelib.errors import HeadgateError, SecretMismatch, StoreUnavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.log import add_to_log
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.claims import Claims
from chalicelib.stores.documents import Documents
from chalicelib.stores.jobs import OPEN, Jobs
from chalicelib.stores.transaction import Transaction

LEASE = FUNCTION
"""Longer than a worker may run, so that no lease ends under a live worker."""
MAX_ATTEMPTS = 3
_MESSAGE_ARRIVES_WITHIN = timedelta(seconds=10)
_SWEEP_LIMIT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class JobHandler:
    """How jobs of one kind are done for one type of resource.

    `store` knows which resources exist, `verb` completes the audit action (`<resource_type>.<verb>`). `run` takes the
    job and returns its result; it raises HeadgateError to fail the job, and is safe to repeat.
    """

    store: Documents[Any]
    verb: str
    run: Callable[[RequestContext, Job], Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class JobService:
    """Accepts jobs, runs them, and sends those that were lost once more.

    `handlers` are found by type of resource and kind. `notify` sends a job's id to the workers. Such a message may be
    lost or arrive twice: the stored job decides what is done.
    """

    store: Jobs
    handlers: Mapping[tuple[str, JobKind], JobHandler]
    claims: Claims
    audit: AuditTrail
    notify: Callable[[str], None]
    clock: Clock

    def request(
        self,
        context: RequestContext,
        kind: JobKind,
        resource_type: str,
        resource_id: str,
        *,
        max_tables: int | None = None,
    ) -> Job:
        """Accept a job. While one of the same kind is open for the resource, that one is returned, also when it reads
        another number of tables. Raises NotFound.
        """
        self.handlers[resource_type, kind].store.get(resource_id)
        now = self.clock()
        job = Job(
            id=context.fresh_id(),
            kind=kind,
            resource_type=resource_type,
            resource_id=resource_id,
            max_tables=max_tables,
            actor_id=context.actor.id,
            actor_email=context.actor.email,
            actor_via=context.actor.via,
            correlation_id=context.correlation_id,
            lease_until=now + _MESSAGE_ARRIVES_WITHIN,
            created_at=now,
        )
        transaction = Transaction()
        self.store.put_new(transaction, job)
        # The claim makes one job at a time open for a resource and a kind, however many ask for it.
        self.claims.take(transaction, _claim(job), job.id, label="open")
        self._audit(transaction, job, Outcome.REQUESTED)
        try:
            transaction.commit()
        except WriteConflict:
            # The open job; when that has just ended, this is requested once more.
            open_id = self.claims.find(_claim(job)) or job.id
            return self.store.find(open_id) or self.request(
                context, kind, resource_type, resource_id, max_tables=max_tables
            )
        self.notify(job.id)
        return job

    def get(self, job_id: str) -> Job:
        """The job; raises NotFound."""
        return self.store.get(job_id)

    def run(self, job_id: str, deadline: Deadline) -> None:
        """Run a job that no live worker has. Safe to repeat, and to call for a job that has ended.

        Raises StoreUnavailable; then it is taken up again, at most three times.
        """
        job, now = self.store.find(job_id), self.clock()
        if job is None or not job.may_run(now):
            return
        add_to_log(correlation_id=job.correlation_id, resource_type=job.resource_type, resource_id=job.resource_id)
        begun: dict[str, Any] = {"attempts": job.attempts + 1, "started_at": job.started_at or now}
        try:
            running = self.store.save_alone(replace(job, lease_until=now + LEASE, status=JobStatus.RUNNING, **begun))
        except WriteConflict:
            return  # another worker was faster
        self._finish(running, self._outcome(running, deadline))

    def sweep(self) -> int:
        """Notify the workers of jobs that none of them has, at most 100; returns how many."""
        open_jobs = self.store.list_in("open_state", OPEN, limit=_SWEEP_LIMIT).items
        lost = expired(open_jobs, self.clock(), limit=_SWEEP_LIMIT)
        for job in lost:
            self.notify(job.id)
        return len(lost)

    def _outcome(self, job: Job, deadline: Deadline) -> Mapping[str, Any]:
        """The fields that end the job."""
        if job.attempts > MAX_ATTEMPTS:
            return _failed("JOB_ABANDONED", "It was begun several times and never ended. Request it again.")
        context = RequestContext(actor=SYSTEM, correlation_id=job.correlation_id, deadline=deadline)
        try:
            return {"status": JobStatus.COMPLETED, "result": self._handler(job).run(context, job)}
        except HeadgateError as error:
            # Our own store: the lease ends, and the job is taken up again. A secret that differs stays so.
            if isinstance(error, StoreUnavailable) and not isinstance(error, SecretMismatch):
                raise
            return _failed(error.code, error.message)

    def _finish(self, job: Job, outcome: Mapping[str, Any]) -> None:
        done = replace(job, finished_at=self.clock(), lease_until=None, **outcome)
        transaction = Transaction()
        self.store.save(transaction, done)
        self.claims.release(transaction, _claim(job), job.id)
        self._audit(transaction, done, Outcome.SUCCESS if done.status is JobStatus.COMPLETED else Outcome.FAILED)
        with suppress(WriteConflict):  # the lease had ended and another worker has the job
            transaction.commit()

    def _audit(self, transaction: Transaction, job: Job, outcome: Outcome) -> None:
        context = RequestContext(actor=job.actor, correlation_id=job.correlation_id)
        details = {"job_id": job.id, **({"error": job.error} if job.error else {})}
        action = f"{job.resource_type}.{self._handler(job).verb}"
        self.audit.record(
            transaction, context, action, job.resource_id, outcome=outcome, after=details, meaningful=False
        )

    def _handler(self, job: Job) -> JobHandler:
        return self.handlers[job.resource_type, job.kind]


def _claim(job: Job) -> str:
    return f"job/{job.kind}/{job.resource_id}"


def _failed(code: str, message: str) -> Mapping[str, Any]:
    return {"status": JobStatus.FAILED, "error_code": code, "error_message": message}
