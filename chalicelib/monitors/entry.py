"""Scheduled functions. Deployed with this module as entry: `app.py` never runs for them."""

from collections.abc import Callable, Mapping

from chalice.app import Blueprint, CloudWatchEvent, Rate

from chalicelib.kit.log import failure, get_logger

monitors = Blueprint(__name__)


@monitors.schedule(Rate(1, unit=Rate.MINUTES), name="dispatch")
def dispatch(_event: CloudWatchEvent) -> dict[str, int]:
    """Send every Connect cluster its ticks for this minute, every source its look, and lost jobs again.

    What an earlier release has stored without counting it is counted, once. What is left of the tables of deleted
    sources is removed.
    """
    from chalicelib.wiring import services

    wired = services()
    return run_all(
        {
            "ticks": wired.tick.dispatch,
            "jobs": wired.jobs.sweep,
            "source_checks": wired.source_monitor.dispatch,
            "recount": wired.overview.count_existing,
            "source_tables": wired.sources.sweep,
        }
    )


def run_all(parts: Mapping[str, Callable[[], int]]) -> dict[str, int]:
    """What each part has returned. One that fails does not stop the others; the first error is raised at the end."""
    done: dict[str, int] = {}
    errors: list[Exception] = []
    for name, part in parts.items():
        try:
            done[name] = part()
        except Exception as error:  # noqa: BLE001 - raised below, once all parts had their turn
            get_logger().error("a part of the schedule failed", extra={"part": name, "failure": failure(error)})
            errors.append(error)
    if errors:
        raise errors[0]
    return done
