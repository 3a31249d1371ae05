"""One bounded look a minute at each destination that has deliveries: a test, and a look at the tables.

A sink that cannot reach its destination fails only when it has rows to write, and retries before that. It makes a table
that was dropped again, and goes on. So destinations are looked at as sources are.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import health_after
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.destination import Destination
from chalicelib.domain.health import HealthRecord, HealthStatus
from chalicelib.domain.monitoring.consequences import idle_of, with_concerned
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.source_conditions import health_conditions
from chalicelib.domain.monitoring.target_losses import TargetLosses, loss_conditions
from chalicelib.domain.observation import DesiredState
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.log import add_to_log, get_logger
from chalicelib.kit.randomness import shuffled
from chalicelib.services.monitors.reports import (
    DISPATCH_SECONDS,
    MonitorReports,
    Send,
    end_watch,
    send_looks,
    store_health,
)
from chalicelib.services.monitors.target_looks import TargetLooks
from chalicelib.services.system_checks import SystemChecks
from chalicelib.stores.monitoring.findings import CaptureFindings
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.transaction import Transaction

CONFIRMED_AFTER_SECONDS = 5.0
"""A failure counts when a second test, so much later, fails too."""

_TEST_SECONDS = 8.0
_TEST_AGAIN_SECONDS = 5.0
"""For a destination that could not be reached before: nothing has to be confirmed, and many may be away at once."""

MAX_UNREACHABLE = 120
"""Destinations that could not be reached and are tested in one minute, at random where there are more. At 5 s each they
take half of what 20 workers have: so the others are looked at on time, however many are away.
"""

_MAX_DELIVERIES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationMonitor:
    """Looks at destinations. `send` puts looks at some (their ids) into the queue."""

    resources: ResourceStores
    checks: SystemChecks
    targets: TargetLooks
    reports: MonitorReports
    clock: Clock
    sleep: Callable[[float], None]
    send: Send

    def dispatch(self, *, within_seconds: float = DISPATCH_SECONDS) -> int:
        """Send a look at every destination for this minute, of those that are away at most `MAX_UNREACHABLE`. See
        `send_all`.
        """
        destinations = tuple(self.resources.destinations.all())
        away = shuffled(one.id for one in destinations if _is_away(one))[:MAX_UNREACHABLE]
        others = [one.id for one in destinations if not _is_away(one)]
        return send_looks("destinations", [*others, *away], self.send, within_seconds)

    def run(self, destination_id: str, deadline: Deadline) -> None:
        """Look once, and report what is wrong with it and its deliveries; nothing when it was deleted. Without
        deliveries nothing is tested: what tests by people have found is reported.
        """
        destination, origin = self.resources.destinations.find(destination_id), origin_of("destination", destination_id)
        if destination is None:  # it was just deleted, and its alerts are over
            self.reports.publish(origin, self.clock(), ())
            return
        add_to_log(resource_type="destination", resource_id=destination.id, resource_name=destination.name)
        page = self.resources.deliveries.list_in("destination_id", destination_id, limit=_MAX_DELIVERIES)
        if not page.items and not page.unreadable:
            self.reports.repeat(origin, idle=idle_of(destination_id, page))
            end_watch(self.resources.destinations, destination_id)
            return
        at = self.clock()
        health = self._tested(destination, deadline)
        if health is None:
            return
        if not self._store(destination, health):
            return
        before = after = self.targets.known(destination.id)
        if health.last_error is None and isinstance(destination.address, DatabaseAddress):
            after = self.targets.look(destination, page, before, at, deadline)
        self._count_degraded(destination, health, page.items, before, after)
        connection = health_conditions("destination", destination.id, destination.name, health)
        lost = loss_conditions(after, [*(delivery.id for delivery in page.items), *page.unreadable])
        conditions = [*(with_concerned(condition, page) for condition in connection), *lost]
        self.reports.publish(origin, at, conditions, idle=idle_of(destination_id, page))

    def _tested(self, destination: Destination, deadline: Deadline) -> HealthRecord | None:
        """What the test has found; None when there was no time to confirm a failure."""
        if _is_away(destination):
            return self._test(destination, deadline.within(_TEST_AGAIN_SECONDS))
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
        return health_after(self.checks.look_at(endpoint, deadline.within(_TEST_SECONDS)), now=self.clock())

    def _count_degraded(
        self,
        destination: Destination,
        health: HealthRecord,
        deliveries: Sequence[Delivery],
        before: TargetLosses | None,
        after: TargetLosses | None,
    ) -> None:
        """Store which deliveries are not simply RUNNING, for the overview."""
        degraded = frozenset(_degraded(health, deliveries, after))
        if degraded or destination.health.last_error or (before and before.losses):
            with Transaction() as transaction:
                CaptureFindings.replace(transaction, destination.id, degraded, self.clock())

    def _store(self, destination: Destination, health: HealthRecord) -> bool:
        """See `store_health`."""
        if not store_health(self.resources.destinations, destination, health):
            return False
        if not destination.health.says_the_same(health):
            details = {"destination_id": destination.id, "status": health.status.value}
            get_logger().info("what a test of a destination finds has changed", extra=details)
        return True


def _is_away(destination: Destination) -> bool:
    return destination.health.status is HealthStatus.UNHEALTHY


def _degraded(health: HealthRecord, deliveries: Sequence[Delivery], state: TargetLosses | None) -> Iterator[str]:
    """The ids of the running deliveries that cannot deliver, or whose targets lack rows."""
    ids = [delivery.id for delivery in deliveries if delivery.desired_state is DesiredState.RUNNING]
    if health.last_error:
        yield from ids
    elif state:
        yield from state.degraded(ids)
