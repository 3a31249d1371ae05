"""Scheduled functions. Deployed with this module as entry: `app.py` never runs for them."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chalice.app import Blueprint, CloudWatchEvent, Rate

from chalicelib.domain.monitoring.own_metrics import OwnMetric
from chalicelib.domain.timing import ONCE_A_MINUTE
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.log import failure, get_logger, invocation, log_context
from chalicelib.kit.unreadable import noted

if TYPE_CHECKING:
    from chalicelib.wiring import Services

schedules = Blueprint(__name__)
_RESEAL_SECONDS = 45.0
# Then the next one begins. What comes late in it has less time; the next one does the rest.
_DISPATCH_SECONDS = ONCE_A_MINUTE.total_seconds()
_SENDING = ("ticks", "source_checks", "destination_checks", "jobs", "notifications")
"""The parts that return how many messages they have put into queues."""


@schedules.schedule(Rate(1, unit=Rate.MINUTES), name="dispatch")
def dispatch(event: CloudWatchEvent) -> dict[str, int]:
    """Send every Connect cluster its ticks for this minute, every source and destination its look, and lost jobs and
    notifications again. Report to alerting what no look does: clusters at which nobody looks, too. End silences whose
    time is over, and incidents about what was deleted. Count what is registered, for the overview. Sign how far the
    audit trail has come. Measure what waits.

    What is left of deleted sources and Connect clusters is removed.
    """
    with _logged(event):
        from chalicelib.clients.cloudwatch import measure
        from chalicelib.wiring import services

        wired, measured = services(), dict[OwnMetric, float]()
        with noted(wired.unreadable_rows.note):
            results = run_parts(_parts(wired, measured))
        measure({**measured, **results.measured})
        return results.or_raise()


@schedules.schedule(Rate(15, unit=Rate.MINUTES), name="reseal_secrets")
def reseal_secrets(event: CloudWatchEvent) -> dict[str, int]:
    """Seal secrets again that are sealed under a key that seals no more. Without any it only reads."""
    with _logged(event):
        from chalicelib.wiring import services

        return {"rows": services().key_rotation.run(Deadline.after(_RESEAL_SECONDS))}


def _parts(wired: "Services", measured: dict[OwnMetric, float]) -> Mapping[str, Callable[[], int]]:
    """The parts of the dispatcher in their order. They note what they measure."""
    deadline = Deadline.after(_DISPATCH_SECONDS)

    def notifications() -> int:
        swept = wired.alerting.delivery.sweep(within_seconds=deadline.remaining(10))
        measured[OwnMetric.OLDEST_NOTIFICATION_AGE] = swept.oldest_seconds
        return swept.woken

    def own_state() -> int:
        values = wired.own_state.measure()
        measured.update(values)
        return len(values)

    def audit_age() -> int:
        measured[OwnMetric.UNSIGNED_AUDIT_AGE] = wired.auditing.signer.unsigned_seconds()
        return 1

    # Parts that may take long have a bound each, so that a slow one leaves time for those behind it.
    return {
        "ticks": lambda: wired.tick.dispatch(within_seconds=deadline.remaining(40)),
        "unobserved": lambda: wired.own_state.report_unobserved(deadline.within(10)),
        "jobs": wired.jobs.sweep,
        "silences": lambda: wired.alerting.manager.expire_silences(deadline.within(10)),
        "notifications": notifications,
        "source_checks": lambda: wired.source_monitor.dispatch(within_seconds=deadline.remaining(15)),
        "destination_checks": lambda: wired.destination_monitor.dispatch(within_seconds=deadline.remaining(15)),
        "operations": wired.monitor_reports.publish_operations,
        "removed": wired.monitor_reports.publish_removed,
        "incidents": wired.incidents.end_about_deleted,
        "overview": lambda: wired.overview.count(within_seconds=deadline.remaining(10)),
        "source_tables": wired.sources.sweep,
        "cluster_rows": wired.connect_clusters.sweep,
        "unreadable_rows": wired.unreadable_rows.check,
        "audit_anchors": lambda: wired.audit_watch.sign(deadline.within(15)),
        "own_state": own_state,
        "audit_age": audit_age,
    }


@dataclass(kw_only=True)
class PartResults:
    """What each part of a schedule has returned, the seconds that it has taken, and the errors of those that failed."""

    done: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    errors: dict[str, Exception] = field(default_factory=dict)

    @property
    def measured(self) -> Mapping[OwnMetric, float]:
        from chalicelib.domain.audit.problems import AuditChanged

        return {
            OwnMetric.PARTS_FAILED: len(self.errors),
            OwnMetric.DISPATCH_SECONDS: round(sum(self.seconds.values()), 3),
            OwnMetric.MESSAGES_SENT: sum(self.done.get(name, 0) for name in _SENDING),
            OwnMetric.AUDIT_CHANGES_FOUND: sum(isinstance(error, AuditChanged) for error in self.errors.values()),
        }

    def or_raise(self) -> dict[str, int]:
        """What was done. Raises the first error, so that AWS Lambda counts one."""
        error = next(iter(self.errors.values()), None)
        if error is None:
            return self.done
        # AWS Lambda writes the text of what is raised to the log. That of an error that is not ours may hold secrets.
        if isinstance(error, HeadgateError):
            raise error from None
        raise RuntimeError(f"A part of the schedule failed with {type(error).__name__}. See the log.") from None


def run_parts(parts: Mapping[str, Callable[[], int]]) -> PartResults:
    """Run each part. One that fails is logged, and does not stop the others."""
    results = PartResults()
    for name, part in parts.items():
        begun = time.monotonic()
        try:
            results.done[name] = part()
        except Exception as error:  # noqa: BLE001 - raised by `or_raise`, once all parts had their turn
            get_logger().error("a part of the schedule failed", extra={"part": name, "failure": failure(error)})
            results.errors[name] = error
        results.seconds[name] = round(time.monotonic() - begun, 3)
    get_logger().info("parts of the schedule have run", extra={"parts": results.done, "seconds": results.seconds})
    return results


def _logged(event: CloudWatchEvent) -> AbstractContextManager[None]:
    """Lines of this run have its function, its request id, and a correlation id that its messages take along."""
    return log_context(**invocation(event.context), correlation_id=new_id())
