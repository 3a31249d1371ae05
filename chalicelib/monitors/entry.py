"""Scheduled functions. Deployed with this module as entry: `app.py` never runs for them."""

from chalice.app import Blueprint, CloudWatchEvent, Rate

monitors = Blueprint(__name__)


@monitors.schedule(Rate(1, unit=Rate.MINUTES), name="dispatch")
def dispatch(_event: CloudWatchEvent) -> dict[str, int]:
    """Send every Connect cluster its ticks for this minute, every source its look, and lost jobs again."""
    from chalicelib.wiring import services

    wired = services()
    try:
        ticks = wired.tick.dispatch()
    finally:
        jobs = wired.jobs.sweep()
        source_checks = wired.source_monitor.dispatch()
    return {"ticks": ticks, "jobs": jobs, "source_checks": source_checks}
