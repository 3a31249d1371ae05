"""One bounded test a minute of each destination that has deliveries.

A sink that cannot reach its database fails only when it has rows to write, and retries before that. So destinations are
looked at as sources are.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.destination import Destination
from chalicelib.domain.health import Health
from chalicelib.domain.monitoring.incident import Condition, origin_of
from chalicelib.domain.monitoring.source_conditions import connection_condition
from chalicelib.errors import WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import get_logger
from chalicelib.services.database_checks import DatabaseChecks, health_after
from chalicelib.services.monitoring import DISPATCH_SECONDS, MonitorReports, send_looks
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.transaction import Transaction

CONFIRMED_AFTER_SECONDS = 5.0
"""A failure counts when a second test, so much later, fails too."""

_TEST_SECONDS = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationMonitor:
    """Tests destinations. `send` puts the test of one (its id) into the queue, after so many seconds."""

    destinations: Destinations
    deliveries: Deliveries
    checks: DatabaseChecks
    reports: MonitorReports
    clock: Clock
    sleep: Callable[[float], None]
    send: Callable[[str, int], None]

    def dispatch(self, *, within_seconds: float = DISPATCH_SECONDS) -> int:
        """Send a test of every destination for this minute; returns how many messages were sent.

        A message that is refused does not stop the others. Raises StoreUnavailable at the end when some were not sent.
        """
        destinations = [destination.id for destination in self.destinations.all()]
        return send_looks("destinations", destinations, self.send, within_seconds)

    def run(self, destination_id: str, deadline: Deadline) -> None:
        """Test once, unless the destination was deleted, and report what is wrong. Without deliveries nothing is
        tested: what tests by people have found is reported.
        """
        destination = self.destinations.find(destination_id)
        if destination is None:
            return
        origin = origin_of("destination", destination_id)
        if not self.deliveries.list_in("destination_id", destination_id, limit=1).items:
            self.reports.publish_incidents(origin)
            return
        at = self.clock()
        health = self._tested(destination, deadline)
        if health is None:
            return
        condition = _condition(destination, health)
        if self._note(destination, health, condition):
            self.reports.publish(origin, at, [condition] if condition else [])

    def _tested(self, destination: Destination, deadline: Deadline) -> Health | None:
        """What the test has found; None when there was no time to confirm a failure."""
        health = self._test(destination, deadline)
        if health.last_error is None:
            return health
        if deadline.remaining() <= CONFIRMED_AFTER_SECONDS + _TEST_SECONDS:
            return None
        self.sleep(CONFIRMED_AFTER_SECONDS)
        return self._test(destination, deadline)

    def _test(self, destination: Destination, deadline: Deadline) -> Health:
        """Raises StoreUnavailable when the secrets cannot be read, which says nothing about the destination."""
        endpoint = self.checks.clients.open(destination.endpoint)
        context = _context(Deadline.after(deadline.remaining(_TEST_SECONDS)))
        return health_after(self.checks.test_endpoint(context, endpoint), now=self.clock())

    def _note(self, destination: Destination, health: Health, condition: Condition | None) -> bool:
        """Store the health where it has changed, or where what is wrong has no incident.

        False when the destination was changed or tested meanwhile: then this test says nothing about it.
        """
        if destination.health.says_the_same(health) and (condition is None or self._has_incident(condition)):
            return True
        transaction = Transaction()
        after = replace(destination, health=health)
        with suppress(WriteConflict):
            self.checks.save_checked(
                transaction, _context(Deadline.after(_TEST_SECONDS)), self.destinations, destination, after
            )
            transaction.commit()
            details = {"destination_id": destination.id, "status": health.status.value}
            get_logger().info("what a test of a destination finds has changed", extra=details)
            return True
        return False

    def _has_incident(self, condition: Condition) -> bool:
        current = self.reports.incidents.current_about(condition.resource_id)
        return any(incident.key == condition.key for incident in current)


def _condition(destination: Destination, health: Health) -> Condition | None:
    error = health.last_error
    if error is None:
        return None
    return connection_condition("destination", destination.id, destination.name, error.code, error.message)


def _context(deadline: Deadline) -> RequestContext:
    return RequestContext(actor=SYSTEM, correlation_id=new_id(), deadline=deadline)
