"""What a tick reports to alerting: everything that is wrong on its Connect cluster."""

from datetime import datetime, timedelta

from chalicelib.domain.alerts.event import MonitorReport
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.reconcile.conditions import by_name, cluster_condition
from chalicelib.domain.reconcile.snapshot import ClusterView

REPORT_EVERY = timedelta(seconds=55)
"""With ticks ten seconds apart that is a minute: so long a lost report is not made good."""


def report_due(view: ClusterView, now: datetime) -> bool:
    """Whether something has begun or ended, or the last report is a minute ago."""
    if view.signals or view.reported_at is None:
        return True
    return now - view.reported_at >= REPORT_EVERY


def cluster_report(cluster_id: str, view: ClusterView) -> MonitorReport:
    """The report about a stored view. While Connect cannot be read it says nothing about connectors."""
    at = view.observed_at
    if at is None:
        raise ValueError("A cluster that was never looked at has nothing to report.")
    origin, readable = origin_of("connect_cluster", cluster_id), view.unreadable is None
    unavailable = cluster_condition(cluster_id, view.unreadable, view.unreadable_since, at)
    if not readable:
        return MonitorReport(origin=origin, at=at, conditions=(unavailable,) if unavailable else (), complete=False)
    return MonitorReport(
        origin=origin,
        at=at,
        conditions=tuple(by_name(view.snapshot.conditions)),
        tasks={
            name: frozenset(task.id for task in seen.connector.tasks)
            for name, seen in view.snapshot.observed.items()
            if seen.connector
        },
    )
