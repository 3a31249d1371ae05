"""Bounded, read-only checks of databases: connection tests, readiness, and the facts that a preview needs."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.database import CheckStatus, DatabaseAddress, TestCheck, TestResult
from chalicelib.domain.destination import Destination
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.health import Health, HealthStatus
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.source_conditions import health_signals
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.readiness import Readiness
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.domain.source import Source
from chalicelib.domain.table import TableName
from chalicelib.errors import HeadgateError, Invalid, StoreUnavailable, TimedOut, Unavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.log import failure, get_logger
from chalicelib.services.audit import AuditTrail
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.incidents import IncidentService
from chalicelib.stores.documents import Documents
from chalicelib.stores.transaction import Transaction

CHECK_SECONDS = 12.0
"""More than a healthy server needs, and it leaves the request some of its 20 s for what follows."""

S = TypeVar("S", bound=RegisteredSystem)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseChecks:
    """Checks of databases through their clients. None of them changes a database.

    `look_soon` has a monitor look at a system, by its noun and id.
    """

    clients: ClientFactory
    audit: AuditTrail
    incidents: IncidentService
    look_soon: Callable[[str, str], None]
    clock: Clock

    def test_endpoint(self, context: RequestContext, endpoint: OpenedEndpoint[DatabaseAddress]) -> TestResult:
        """Test a connection, registered or not. Stores nothing."""
        try:
            return self.clients.make_database(endpoint).test(_bounded(context))
        except HeadgateError as error:
            check = TestCheck(name="connect", status=CheckStatus.FAILED, code=error.code, message=error.message)
            return TestResult(success=False, checks=(check,), server_version=None, latency_ms=None)

    def test(self, context: RequestContext, store: Documents[S], entity_id: str) -> TestResult:
        """Test a registered connection and store the result in its row. Raises NotFound."""
        entity = store.get(entity_id)
        result = self.test_endpoint(context, self.clients.open(entity.endpoint))
        now = self.clock()
        tested = replace(entity, last_test=result, last_tested_at=now, health=health_after(result, now=now))
        transaction = Transaction()
        self.save_checked(transaction, context, store, entity, tested)
        self.audit.record(
            transaction, context, f"{store.noun}.test", entity.id, after={"success": result.success}, meaningful=False
        )
        with suppress(WriteConflict):  # it was changed in the meantime: this result is of the former endpoint
            transaction.commit()
            self.have_looked_at(store.noun, entity_id, entity.health, tested.health)
        return result

    def have_looked_at(self, noun: str, entity_id: str, before: Health, after: Health) -> None:
        """Have a monitor look now at what fails, or works again, so that alerting need not wait for the next look of
        the schedule. That one makes good what the queue does not take.
        """
        if HealthStatus.UNHEALTHY not in (before.status, after.status):
            return
        try:
            self.look_soon(noun, entity_id)
        except StoreUnavailable as error:
            get_logger().warning("a look was not sent", extra={"resource_id": entity_id, "failure": failure(error)})

    def save_checked(
        self, transaction: Transaction, context: RequestContext, store: Documents[S], before: S, after: S
    ) -> None:
        """Store a system with the health that a check has found, and what that means for its incidents."""
        store.save(transaction, after)
        signals = health_signals(store.noun, after.id, after.name, before.health, after.health, context.correlation_id)
        if signals:
            self.incidents.add(transaction, origin_of(store.noun, after.id), signals)

    def readiness(
        self,
        context: RequestContext,
        source: Source,
        pipeline: Pipeline | None,
        *,
        deployed: bool,
        server: str | None = None,
    ) -> Readiness:
        """Judge whether capture will work: for a pipeline's own choices, or for the server as such.

        `server` identifies the one that the pipeline was captured from, where that is known.
        """
        provider = capture_provider(source.address.provider)
        tables = _tables_of(pipeline) if pipeline else None
        deadline = _bounded(context)
        try:
            facts = self.clients.database(source.endpoint).server_facts(tables, deadline)
        except (Unavailable, TimedOut, Invalid) as error:
            return provider.unreachable_readiness(error, self.clock())
        return provider.judge_readiness(facts, pipeline, self.clock(), deployed=deployed, server=server)

    def target_facts(self, context: RequestContext, destination: Destination, targets: Sequence[TableName]) -> Any:
        """Facts about the tables that are to be written, for the target's provider. Raises DESTINATION_UNAVAILABLE."""
        deadline = _bounded(context)
        try:
            return self.clients.database(destination.endpoint).target_facts(targets, deadline)
        except (Unavailable, TimedOut) as error:
            raise Unavailable(error.message, code="DESTINATION_UNAVAILABLE") from error


def _tables_of(pipeline: Pipeline) -> tuple[TableName, ...]:
    """The captured tables, and the one that is written to at each heartbeat."""
    heartbeat = pipeline.capture.options.heartbeat_table
    return tuple(dict.fromkeys((*pipeline.capture.tables, *((heartbeat,) if heartbeat else ()))))


def health_after(result: TestResult, *, now: datetime) -> Health:
    """What a connection test says about a system's health."""
    failed = next((check for check in result.checks if check.status is CheckStatus.FAILED), None)
    if failed is None:
        return Health.healthy(now)
    return Health.unhealthy(now, failed.code or "FAILED", failed.message)


def _bounded(context: RequestContext) -> Deadline:
    return Deadline.after(context.deadline.remaining(CHECK_SECONDS))
