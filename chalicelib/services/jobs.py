"""Jobs: durable requests to look at a source, carried out by a worker, taken up again when a worker dies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from chalicelib.domain.access import SYSTEM, Actor, RequestContext
from chalicelib.domain.audit import Outcome
from chalicelib.domain.job import Job, JobKind, JobStatus
from chalicelib.errors import HeadgateError, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.audit import AuditTrail
from chalicelib.stores.claims import Claims
from chalicelib.stores.jobs import OPEN, Jobs
from chalicelib.stores.sources import Sources
from chalicelib.stores.transaction import Transaction

LEASE = timedelta(seconds=60)
MAX_ATTEMPTS = 3
_NUDGE_AFTER = timedelta(seconds=10)
_SWEPT = 100
_VERBS = {JobKind.DISCOVERY: "discover", JobKind.HEALTH: "health"}

JobHandler = Callable[[RequestContext, str], Mapping[str, Any]]
"""Does a job for a source id and gives the result to store. Raises HeadgateError to fail the job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobService:
    """Accepts jobs, runs them, sweeps up those that were lost. `ring` wakes a worker; the row is the truth."""

    rows: Jobs
    sources: Sources
    claims: Claims
    audit: AuditTrail
    work: Mapping[JobKind, JobHandler]
    ring: Callable[[str], None]
    clock: Clock

    def request(self, context: RequestContext, kind: JobKind, source_id: str) -> Job:
        """Accept a job; a second one of the same kind for the same source is the first while that is not over."""
        self.sources.get(source_id)
        job = Job(
            id=context.fresh_id(),
            kind=kind,
            resource_type="source",
            resource_id=source_id,
            actor_id=context.actor.id,
            actor_email=context.actor.email,
            actor_via=context.actor.via,
            correlation_id=context.correlation_id,
            created_at=self.clock(),
        )
        transaction = Transaction()
        self.rows.put_new(transaction, job)
        self.claims.take(transaction, _claim(job), job.id, label="open")
        self._audit(transaction, job, Outcome.REQUESTED)
        try:
            transaction.commit()
        except WriteConflict:
            return self._already_open(context, job)
        self.ring(job.id)
        return job

    def get(self, job_id: str) -> Job:
        """The job; raises NotFound."""
        return self.rows.get(job_id)

    def run(self, job_id: str, deadline: Deadline) -> None:
        """Carry out a job that nobody else is carrying out. Safe to repeat, and to call for a job that is over."""
        job = self.rows.find(job_id)
        now = self.clock()
        if job is None or job.status.terminal or (job.lease_until and now < job.lease_until):
            return
        running = replace(
            job,
            status=JobStatus.RUNNING,
            attempts=job.attempts + 1,
            lease_until=now + LEASE,
            started_at=job.started_at or now,
        )
        try:
            running = self._save(running)
        except WriteConflict:
            return
        self._finish(running, self._outcome(running, deadline))

    def sweep(self) -> int:
        """Ring again for jobs that should have been taken up by now; returns how many."""
        now = self.clock()
        lost = [
            job.id
            for job in self.rows.list_in("open_state", OPEN, limit=_SWEPT).items
            if (job.lease_until or job.created_at + _NUDGE_AFTER) <= now
        ]
        for job_id in lost:
            self.ring(job_id)
        return len(lost)

    def _outcome(self, job: Job, deadline: Deadline) -> Mapping[str, Any]:
        """The fields that end the job."""
        if job.attempts > MAX_ATTEMPTS:
            return _failed("JOB_ABANDONED", "It was begun several times and never ended. Request it again.")
        context = RequestContext(actor=SYSTEM, correlation_id=job.correlation_id, deadline=deadline)
        try:
            return {"status": JobStatus.COMPLETED, "result": self.work[job.kind](context, job.resource_id)}
        except HeadgateError as error:
            return _failed(error.code, error.message)

    def _finish(self, job: Job, outcome: Mapping[str, Any]) -> None:
        done = replace(job, finished_at=self.clock(), lease_until=None, **outcome)
        transaction = Transaction()
        self.rows.save(transaction, done)
        self.claims.release(transaction, _claim(job), job.id)
        self._audit(transaction, done, Outcome.SUCCESS if done.status is JobStatus.COMPLETED else Outcome.FAILED)
        try:
            transaction.commit()
        except WriteConflict:
            return  # our lease had run out and another worker has it

    def _audit(self, transaction: Transaction, job: Job, outcome: Outcome) -> None:
        actor = Actor(id=job.actor_id, email=job.actor_email, role=None, via=job.actor_via)
        context = RequestContext(actor=actor, correlation_id=job.correlation_id)
        told: dict[str, Any] = {"job_id": job.id}
        if job.error_code:
            told["error"] = {"code": job.error_code, "message": job.error_message}
        action = f"{job.resource_type}.{_VERBS[job.kind]}"
        self.audit.record(transaction, context, action, job.resource_id, outcome=outcome, after=told, meaningful=False)

    def _save(self, job: Job) -> Job:
        transaction = Transaction()
        saved = self.rows.save(transaction, job)
        transaction.commit()
        return saved

    def _already_open(self, context: RequestContext, wanted: Job) -> Job:
        """The open job that holds the claim; a claim whose job is just ending is tried once more."""
        holder = self.claims.find(_claim(wanted))
        found = self.rows.find(holder or wanted.id)
        return found if found else self.request(context, wanted.kind, wanted.resource_id)


def _claim(job: Job) -> str:
    return f"job/{job.kind}/{job.resource_id}"


def _failed(code: str, message: str) -> Mapping[str, Any]:
    return {"status": JobStatus.FAILED, "error_code": code, "error_message": message}
