"""One bounded test a minute of each destination that has deliveries.

A sink that cannot reach its destination fails only when it has rows to write, and retries before that. So destinations
are looked at as sources are.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.connection_checks import health_after
from chalicelib.domain.destination import Destination
from chalicelib.domain.health import HealthRecord
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.source_conditions import health_conditions
from chalicelib.errors import WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import add_to_log, current_correlation_id, get_logger
from chalicelib.services.monitors.reports import DISPATCH_SECONDS, MonitorReports, Send, end_watch, send_looks
from chalicelib.services.system_checks import SystemChecks
from chalicelib.stores.resources import ResourceStores

CONFIRMED_AFTER_SECONDS = 5.0
"""A failure counts when a second test, so much later, fails too."""

_TEST_SECONDS = 8.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationMonitor:
    """Tests destinations. `send` puts tests of some (their ids) into the queue."""

    resources: ResourceStores
    checks: SystemChecks
    reports: MonitorReports
    clock: Clock
    sleep: Callable[[float], None]
    send: Send

    def dispatch(self, *, within_seconds: float = DISPATCH_SECONDS) -> int:
        """Send a test of every destination for this minute. See `send_all`."""
        destinations = [destination.id for destination in self.resources.destinations.all()]
        return send_looks("destinations", destinations, self.send, within_seconds)

    def run(self, destination_id: str, deadline: Deadline) -> None:
        """Test once, unless the destination was deleted, and report what is wrong. Without deliveries nothing is
        tested: what tests by people have found is reported.
        """
        destination = self.resources.destinations.find(destination_id)
        if destination is None:
            return
        add_to_log(resource_type="destination", resource_id=destination.id, resource_name=destination.name)
        origin = origin_of("destination", destination_id)
        if not self.resources.deliveries.list_in("destination_id", destination_id, limit=1).items:
            self.reports.repeat(origin)
            end_watch(self.resources.destinations, destination_id)
            return
        at = self.clock()
        health = self._tested(destination, deadline)
        if health is None:
            return
        if self._store(destination, health):
            self.reports.publish(origin, at, health_conditions("destination", destination.id, destination.name, health))

    def _tested(self, destination: Destination, deadline: Deadline) -> HealthRecord | None:
        """What the test has found; None when there was no time to confirm a failure."""
        health = self._test(destination, deadline)
        if health.last_error is None:
            return health
        if deadline.remaining() <= CONFIRMED_AFTER_SECONDS + _TEST_SECONDS:
            return None
        self.sleep(CONFIRMED_AFTER_SECONDS)
        return self._test(destination, deadline)

    def _test(self, destination: Destination, deadline: Deadline) -> HealthRecord:
        """Raises StoreUnavailable when the secrets cannot be read, which says nothing about the destination."""
        endpoint = self.checks.clients.open(destination.endpoint)
        correlation_id, within = current_correlation_id() or new_id(), deadline.within(_TEST_SECONDS)
        context = RequestContext(actor=SYSTEM, correlation_id=correlation_id, deadline=within)
        return health_after(self.checks.test_endpoint(context, endpoint), now=self.clock())

    def _store(self, destination: Destination, health: HealthRecord) -> bool:
        """Store the health where it has changed, or before it is too old. False when the destination was changed or
        tested meanwhile: then this test says nothing about it.
        """
        health = replace(health, watched=True)
        if not destination.health.replaced_by(health):
            return True
        with suppress(WriteConflict):
            self.resources.destinations.save_alone(replace(destination, health=health))
            if destination.health.says_the_same(health):
                return True
            details = {"destination_id": destination.id, "status": health.status.value}
            get_logger().info("what a test of a destination finds has changed", extra=details)
            return True
        return False
