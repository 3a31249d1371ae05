"""The event bus: monitors publish what they have found, without knowing who uses it.

Publishing never fails: a monitor's work does not depend on the tables or the queue of alerting.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from chalicelib.domain.alerts.event import MonitorReport
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import failure, get_logger

Subscriber = Callable[[MonitorReport, Deadline], bool]
"""Returns whether it has recorded everything before the deadline."""


class EventBus(Protocol):
    """Takes reports of monitors."""

    def publish(self, report: MonitorReport, deadline: Deadline) -> bool:
        """Whether everything was recorded; if not, the next report of the same origin makes it good. Never raises."""


@dataclass(frozen=True, slots=True)
class InProcessBus:
    """Calls its subscribers, one after the other, where the report is published."""

    subscribers: Sequence[Subscriber]

    def publish(self, report: MonitorReport, deadline: Deadline) -> bool:
        """See `EventBus`."""
        received = [_received(subscriber, report, deadline) for subscriber in self.subscribers]
        return all(received)


def _received(subscriber: Subscriber, report: MonitorReport, deadline: Deadline) -> bool:
    try:
        return subscriber(report, deadline)
    except Exception as error:  # noqa: BLE001 - whatever it is, no monitor and no request may fail by it
        get_logger().error("a report was not recorded", extra={"origin": report.origin, "failure": failure(error)})
        return False
