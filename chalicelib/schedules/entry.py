"""Scheduled functions. Deployed with this module as entry: `app.py` never runs for them."""

from collections.abc import Callable, Mapping

from chalice.app import Blueprint, CloudWatchEvent, Rate

from chalicelib.domain.timing import ONCE_A_MINUTE
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import failure, get_logger

schedules = Blueprint(__name__)
_RESEAL_SECONDS = 45.0
# Then the next one begins. What comes late in it has less time; the next one does the rest.
_DISPATCH_SECONDS = ONCE_A_MINUTE.total_seconds()


@schedules.schedule(Rate(1, unit=Rate.MINUTES), name="dispatch")
def dispatch(_event: CloudWatchEvent) -> dict[str, int]:
    """Send every Connect cluster its ticks for this minute, every source and destination its look, and lost jobs and
    notifications again. Report to alerting what no look does, and end silences whose time is over, and incidents about
    what was deleted. Count what is registered, for the overview. Sign how far the audit trail has come.

    What is left of deleted sources and Connect clusters is removed.
    """
    from chalicelib.wiring import services

    wired, deadline = services(), Deadline.after(_DISPATCH_SECONDS)
    # Parts that may take long have a bound each, so that a slow one leaves time for those behind it.
    return run_all(
        {
            "ticks": lambda: wired.tick.dispatch(within_seconds=deadline.remaining(40)),
            "jobs": wired.jobs.sweep,
            "silences": lambda: wired.alerting.manager.expire_silences(deadline.within(10)),
            "notifications": lambda: wired.alerting.delivery.sweep(within_seconds=deadline.remaining(10)),
            "source_checks": lambda: wired.source_monitor.dispatch(within_seconds=deadline.remaining(15)),
            "destination_checks": lambda: wired.destination_monitor.dispatch(within_seconds=deadline.remaining(15)),
            "operations": wired.monitor_reports.publish_operations,
            "removed": wired.monitor_reports.publish_removed,
            "incidents": wired.incidents.end_about_deleted,
            "overview": lambda: wired.overview.count(within_seconds=deadline.remaining(10)),
            "source_tables": wired.sources.sweep,
            "cluster_rows": wired.connect_clusters.sweep,
            "audit_anchors": lambda: wired.audit_watch.sign(deadline.within(15)),
        }
    )


@schedules.schedule(Rate(15, unit=Rate.MINUTES), name="reseal_secrets")
def reseal_secrets(_event: CloudWatchEvent) -> dict[str, int]:
    """Seal secrets again that are sealed under a key that seals no more. Without any it only reads."""
    from chalicelib.wiring import services

    return {"rows": services().key_rotation.run(Deadline.after(_RESEAL_SECONDS))}


def run_all(parts: Mapping[str, Callable[[], int]]) -> dict[str, int]:
    """What each part has returned. One that fails does not stop the others: the first error is raised at the end."""
    done: dict[str, int] = {}
    errors: list[Exception] = []
    for name, part in parts.items():
        try:
            done[name] = part()
        except Exception as error:  # noqa: BLE001 - raised below, once all parts had their turn
            get_logger().error("a part of the schedule failed", extra={"part": name, "failure": failure(error)})
            errors.append(error)
    if not errors:
        return done
    # AWS Lambda writes the text of what is raised to the log. That of an error that is not ours may hold secrets.
    if isinstance(errors[0], HeadgateError):
        raise errors[0] from None
    raise RuntimeError(f"A part of the schedule failed with {type(errors[0]).__name__}. See the log.") from None
