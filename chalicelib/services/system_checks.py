"""Connection tests of sources and destinations, and what their results mean for health and incidents."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.connection_checks import CheckStatus, TestCheck, TestResult, health_after
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.monitoring.condition import Condition
from chalicelib.domain.monitoring.consequences import by_consequence, idle_of, with_concerned
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.source_conditions import health_change
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.errors import HeadgateError, StoreUnavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.log import failure, get_logger
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.incidents import IncidentService
from chalicelib.stores.documents import Documents
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.transaction import Transaction

TEST_SECONDS = 12.0
"""More than a healthy server needs, and it leaves the request some of its 20 s for what follows."""

_MAX_USERS = 500
"""Pipelines of a source, or deliveries of a destination, of which one has to run for a failed test to be an error."""

S = TypeVar("S", bound=RegisteredSystem[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemChecks:
    """Tests of connections through the clients of their kind. None of them changes a system.

    `look_soon` has a monitor look at a system, by its noun and id.
    """

    resources: ResourceStores
    clients: ClientFactory
    audit: AuditTrail
    incidents: IncidentService
    look_soon: Callable[[str, str], None]
    clock: Clock

    def test_endpoint(self, context: RequestContext, endpoint: OpenedEndpoint[SystemAddress]) -> TestResult:
        """Test a connection, registered or not. Stores nothing."""
        deadline = context.deadline.within(TEST_SECONDS)
        return _result(lambda: self.clients.make_target(endpoint).test(deadline))

    def look_at(self, endpoint: OpenedEndpoint[SystemAddress], deadline: Deadline) -> TestResult:
        """The same as a monitor does it every minute: nothing is left behind."""
        return _result(lambda: self.clients.make_target(endpoint).look(deadline))

    def test(self, context: RequestContext, store: Documents[S], entity_id: str) -> TestResult:
        """Test a registered connection and store the result in its row. Raises NotFound."""
        entity = store.get(entity_id)
        result = self.test_endpoint(context, self.clients.open(entity.endpoint))
        now = self.clock()
        tested = replace(entity, last_test=result, last_tested_at=now, health=health_after(result, now=now))
        transaction = Transaction()
        changed = self.save_checked(transaction, context, store, entity, tested)
        self.audit.record(
            transaction,
            context,
            f"{store.noun}.test",
            entity.id,
            resource_name=entity.name,
            after={"success": result.success},
            meaningful=False,
        )
        with suppress(WriteConflict):  # it was changed in the meantime: this result is of the former endpoint
            transaction.commit()
            if changed:
                self.request_look(store.noun, entity_id)
        return result

    def request_look(self, noun: str, entity_id: str) -> None:
        """Have a monitor look now at a system whose incidents have changed, so that alerting need not wait for the next
        look of the schedule. That one does what the queue does not take.
        """
        try:
            self.look_soon(noun, entity_id)
        except StoreUnavailable as error:
            get_logger().warning("a look was not sent", extra={"resource_id": entity_id, "failure": failure(error)})

    def save_checked(
        self, transaction: Transaction, context: RequestContext, store: Documents[S], before: S, after: S
    ) -> bool:
        """Store a system with the health that a check has found, and what that means for its incidents; whether it
        means anything.
        """
        # Whether a monitor looks at it too is not for a test to say.
        after = replace(after, health=replace(after.health, watched=before.health.watched))
        store.save(transaction, after)
        change = health_change(store.noun, after.id, after.name, before.health, after.health)
        if change is None:
            return False
        return self.incidents.settle(
            transaction,
            origin_of(store.noun, after.id),
            change.at,
            began=self._judged(store.noun, after.id, change.began) if change.began else (),
            ended=change.ended,
            correlation_id=context.correlation_id,
        )

    def _judged(self, noun: str, system_id: str, conditions: Sequence[Condition]) -> list[Condition]:
        """The conditions of a system with what they cost, and whom they concern."""
        users: Documents[Any] = self.resources.pipelines if noun == "source" else self.resources.deliveries
        page = users.list_in(f"{noun}_id", system_id, limit=_MAX_USERS)
        idle = idle_of(system_id, page)
        return [with_concerned(by_consequence(condition, idle), page) for condition in conditions]


def _result(tried: Callable[[], TestResult]) -> TestResult:
    try:
        return tried()
    except HeadgateError as error:
        check = TestCheck(name="connect", status=CheckStatus.FAILED, code=error.code, message=error.message)
        return TestResult(success=False, checks=(check,), server_version=None, latency_ms=None)
