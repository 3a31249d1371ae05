"""The event bus: monitors publish what they have found, without knowing who uses it.

Publishing never fails: a monitor's work does not depend on the tables of incidents, nor on the tables and the queue of
alerting.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.monitoring.episodes import Episodes
from chalicelib.domain.monitoring.own_metrics import Measure, OwnMetric
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import current_correlation_id, failure, get_logger

Record = Callable[[MonitorReport, Deadline], Episodes]
"""Compares a report with the open incidents; what goes on after it."""

Active = Callable[[str], Sequence[Alert]]
"""The active alerts of an origin."""

Follow = Callable[[Episodes, Sequence[Alert], Deadline], bool]
"""Is given what was active before. Returns whether it has recorded everything before the deadline."""


class EventBus(Protocol):
    """Takes reports of monitors."""

    def publish(self, report: MonitorReport, deadline: Deadline) -> bool:
        """Whether everything was recorded; if not, the next report of the same origin records it. Never raises."""


@dataclass(frozen=True, slots=True)
class InProcessBus:
    """Hands the report to the incidents, and what goes on to alerting, where it is published. It carries the
    correlation id of the invocation or the message that it comes from.
    """

    record: Record
    active: Active
    follow: Follow
    measure: Measure

    def publish(self, report: MonitorReport, deadline: Deadline) -> bool:
        """See `EventBus`. What incidents have no time for is no reason to leave out alerts."""
        report = replace(report, correlation_id=report.correlation_id or current_correlation_id())
        try:
            try:
                # Each process writes incidents first, so what is active here has an incident that `record` sees. The
                # other way round, what another report begins in between would seem to be over.
                active = self.active(report.origin)
            finally:  # also where alerts cannot be read
                episodes = self.record(report, deadline)
            return self.follow(episodes, active, deadline) and episodes.complete
        except Exception as error:  # noqa: BLE001 - whatever it is, no monitor and no request may fail by it
            get_logger().error("a report was not recorded", extra={"origin": report.origin, "failure": failure(error)})
            self.measure({OwnMetric.REPORTS_NOT_RECORDED: 1})
            return False
