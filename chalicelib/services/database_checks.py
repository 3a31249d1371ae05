"""Bounded, read-only looks at databases: connection tests, readiness, and the facts that a preview needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from chalicelib.clients.databases.contract import DatabaseSecrets
from chalicelib.domain.access import RequestContext
from chalicelib.domain.database import CheckStatus, DatabaseAddress, TestCheck, TestResult
from chalicelib.domain.destination import Destination
from chalicelib.domain.health import Health
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.readiness import Readiness
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.domain.source import Source
from chalicelib.domain.table import TableName
from chalicelib.errors import HeadgateError, Invalid, TimedOut, Unavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.audit import AuditTrail
from chalicelib.services.client_factory import ClientFactory, as_database_secrets
from chalicelib.services.credentials import Secrets
from chalicelib.stores.documents import Documents
from chalicelib.stores.transaction import Transaction

LOOK_SECONDS = 12.0
"""Longer than any honest server needs, and it leaves a request time for what comes after."""

S = TypeVar("S", bound=RegisteredSystem)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseChecks:
    """Looks at databases through their clients. Nothing that it does changes a database."""

    clients: ClientFactory
    audit: AuditTrail
    clock: Clock

    def test_unsaved(self, context: RequestContext, address: DatabaseAddress, secrets: Secrets) -> TestResult:
        """Test a connection that is not registered. Stores nothing."""
        return self._test(address, as_database_secrets(secrets), context.deadline)

    def test(self, context: RequestContext, rows: Documents[S], entity_id: str) -> TestResult:
        """Test a registered connection and remember the outcome beside it. Raises NotFound."""
        entity = rows.get(entity_id)
        result = self._test(entity.address, self.clients.database_secrets(entity.credentials), context.deadline)
        now = self.clock()
        tested = replace(entity, last_test=result, last_tested_at=now, health=health_after(result, now=now))
        transaction = Transaction()
        rows.save(transaction, tested)
        self.audit.record(
            transaction, context, f"{rows.noun}.test", entity.id, after={"success": result.success}, meaningful=False
        )
        try:
            transaction.commit()
        except WriteConflict:
            return result  # somebody edited it meanwhile: what was tested is no longer what is registered
        return result

    def readiness(
        self, context: RequestContext, source: Source, pipeline: Pipeline | None, *, deployed: bool
    ) -> Readiness:
        """Judge whether capture will work: for a pipeline's own choices, or for the server as such."""
        provider, tables = capture_provider(source.address.provider), pipeline.capture.tables if pipeline else ()
        deadline = Deadline.after(context.deadline.remaining(LOOK_SECONDS))
        database = self.clients.database(source.address.provider)
        try:
            secrets = self.clients.database_secrets(source.credentials)
            facts = database.server_facts(source.address, secrets, tables, deadline)
        except (Unavailable, TimedOut, Invalid) as error:
            return provider.unreachable_readiness(error, self.clock())
        return provider.judge_readiness(facts, pipeline, self.clock(), deployed=deployed)

    def target_facts(self, context: RequestContext, destination: Destination, targets: Sequence[TableName]) -> Any:
        """Facts about the tables that are to be written, for the target's provider. Raises DESTINATION_UNAVAILABLE."""
        deadline = Deadline.after(context.deadline.remaining(LOOK_SECONDS))
        secrets = self.clients.database_secrets(destination.credentials)
        database = self.clients.database(destination.address.provider)
        try:
            return database.target_facts(destination.address, secrets, targets, deadline)
        except (Unavailable, TimedOut) as error:
            raise Unavailable(error.message, code="DESTINATION_UNAVAILABLE") from error

    def _test(self, address: DatabaseAddress, secrets: DatabaseSecrets, deadline: Deadline) -> TestResult:
        bound = Deadline.after(deadline.remaining(LOOK_SECONDS))
        try:
            return self.clients.database(address.provider).test(address, secrets, bound)
        except HeadgateError as error:
            check = TestCheck(name="connect", status=CheckStatus.FAILED, code=error.code, message=error.message)
            return TestResult(success=False, checks=(check,), server_version=None, latency_ms=None)


def health_after(result: TestResult, *, now: datetime) -> Health:
    """What a connection test says about a system's health."""
    failed = next((check for check in result.checks if check.status is CheckStatus.FAILED), None)
    if failed is None:
        return Health.healthy(now)
    return Health.unhealthy(now, failed.code or "FAILED", failed.message)
