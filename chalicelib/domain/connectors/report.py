"""What a tick reports: everything that is wrong on its Connect cluster."""

from datetime import datetime
from itertools import chain

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.conditions import cluster_conditions
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.domain.timing import CLOCKS_APART, ONCE_A_MINUTE


def has_changed(cluster_id: str, before: ClusterView, after: ClusterView) -> bool:
    """Whether something has begun, got worse or ended. Such a report is due until it was recorded."""
    earlier, now = ([wrong.code for wrong in cluster_conditions(cluster_id, view)] for view in (before, after))
    return earlier != now or before.memory.conditions != after.memory.conditions


def report_due(view: ClusterView, now: datetime) -> bool:
    """Whether the last report is a minute ago, or was not recorded, or is of a clock that was set back since."""
    if view.reported_at is None:
        return True
    return now - view.reported_at >= ONCE_A_MINUTE or view.reported_at - now > CLOCKS_APART


def cluster_report(cluster_id: str, view: ClusterView) -> MonitorReport:
    """The report about a stored view. While Connect cannot be read it says nothing about connectors."""
    at, origin = view.observed_at, origin_of("connect_cluster", cluster_id)
    if at is None:
        raise ValueError("A cluster that was never looked at has nothing to report.")
    of_cluster, idle = cluster_conditions(cluster_id, view), _idle(cluster_id, view)
    if view.unreadable is not None:
        # Only the cluster itself was looked at: the incidents of its connectors stay as they are.
        looked_at = frozenset({cluster_id})
        return MonitorReport(origin=origin, at=at, conditions=of_cluster, looked_at=looked_at, idle=idle)
    wrong = view.memory.conditions
    return MonitorReport(
        origin=origin,
        at=at,
        conditions=(*of_cluster, *chain.from_iterable(wrong[name] for name in sorted(wrong))),
        tasks={
            name: frozenset(task.id for task in memory.observation.connector.tasks)
            for name, memory in view.memory.connectors.items()
            if memory.observation and memory.observation.connector
        },
        idle=idle,
    )


def _idle(cluster_id: str, view: ClusterView) -> frozenset[str]:
    """The ids of the pipelines and deliveries that should not run, and of the cluster when none should."""
    desired = view.memory.desired.values()
    idle = {connector.resource_id for connector in desired if not connector.should_run}
    needed = view.torn or len(idle) < len(view.memory.desired)
    return frozenset(idle if needed else {*idle, cluster_id})
