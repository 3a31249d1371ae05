"""What the installation looks like now: counts by state, open incidents, what happened last.

It reads counters and what the ticks have stored, never a list of resources: it costs the same however many there are.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.audit import AuditRecord
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.monitoring.metrics import Metrics
from chalicelib.domain.monitoring.progress import total_metrics
from chalicelib.domain.monitoring.source_state import VALID_FOR
from chalicelib.domain.observation import OLD_AFTER, ObservedState
from chalicelib.domain.reconcile.snapshot import ClusterView
from chalicelib.domain.reconcile.state_counts import state_counts
from chalicelib.errors import WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.audit import AuditTrail
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.counts import SHARDS, Counts
from chalicelib.stores.documents import Documents, find_together
from chalicelib.stores.monitoring.findings import CaptureFindings
from chalicelib.stores.monitoring.progress import ProgressStore
from chalicelib.stores.monitoring.recent_states import RecentStates
from chalicelib.stores.monitoring.recount import Recount
from chalicelib.stores.observations import Observations

ACTIVITY = 20
"""Audit records that the overview shows."""

MOST_CLUSTERS = 500
"""Connect clusters that are looked at one by one. More of them count as UNKNOWN."""

INCIDENT = "incident"
_ALERT = "alert"
INCIDENT_STATES = ("OPEN", "ACKNOWLEDGED")
_CHECKED = ("source", "destination", "stream_cluster")
_WITH_CONNECTOR = ("pipeline", "delivery")
_CONNECT = "connect_cluster"
_RECOUNT_SECONDS = 10.0

StateCounts = Mapping[str, int]
"""A number for every state; 0 where nothing is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Counts by state, and the newest records of the audit trail that say what people did."""

    sources: StateCounts
    destinations: StateCounts
    stream_clusters: StateCounts
    connect_clusters: StateCounts
    pipelines: StateCounts
    deliveries: StateCounts
    incidents: StateCounts
    active_alerts: int
    critical_alerts: int
    metrics: Metrics
    recent_activity: Sequence[AuditRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewService:
    """Reads the overview. `counted` are the stores of everything that is counted."""

    counted: Sequence[Documents[Any]]
    counts: Counts
    recount: Recount
    connects: ConnectClusters
    observations: Observations
    recent_states: RecentStates
    findings: CaptureFindings
    progress: ProgressStore
    audit: AuditTrail
    clock: Clock

    def read(self) -> Overview:
        """The overview as it is now. Raises StoreUnavailable."""
        now, counted = self.clock(), self._counts()
        clusters = self.connects.list(limit=MOST_CLUSTERS).items
        views = self.observations.read(cluster.id for cluster in clusters)
        connects = Counter(views.get(one.id, ClusterView()).on(one).health.status for one in clusters)
        connects[HealthStatus.UNKNOWN] += max(0, sum(counted[_CONNECT].values()) - len(clusters))
        observed = state_counts(
            views,
            self.recent_states.since(_oldest_look(views, now)),
            self.findings.pipelines(since=now - VALID_FOR),
            {noun: counted[noun] for noun in _WITH_CONNECTOR},
            now,
        )
        activity = self.audit.list(limit=ACTIVITY, after=None, resource_id=None, include_related=False, meaningful=True)
        return Overview(
            sources=_all_of(HealthStatus, counted["source"]),
            destinations=_all_of(HealthStatus, counted["destination"]),
            stream_clusters=_all_of(HealthStatus, counted["stream_cluster"]),
            connect_clusters=_all_of(HealthStatus, connects),
            pipelines=_all_of(ObservedState, observed["pipeline"]),
            deliveries=_all_of(ObservedState, observed["delivery"]),
            incidents={name: counted[INCIDENT][name] for name in INCIDENT_STATES},
            active_alerts=sum(counted[_ALERT].values()),
            critical_alerts=counted[_ALERT][AlertSeverity.CRITICAL.upper()],
            metrics=self._metrics([cluster.id for cluster in clusters], sum(counted[_CONNECT].values()), now),
            recent_activity=activity.items,
        )

    def _metrics(self, cluster_ids: Sequence[str], clusters: int, now: datetime) -> Metrics:
        looks = self.progress.looks(cluster_ids)
        return total_metrics(list(looks.values()), now, clusters=max(clusters, len(cluster_ids)))

    def count_existing(self, *, within_seconds: float = _RECOUNT_SECONDS) -> int:
        """Count what an earlier release has stored, which did not count; returns how many that were.

        Each is written once more, and counted by that. Nothing is read again once a run has found nothing to count.
        """
        if self.recount.is_done():
            return 0
        deadline, uncounted = Deadline.after(within_seconds), 0
        for store in self.counted:
            for entity in store.uncounted():
                if deadline.passed:
                    return uncounted
                uncounted += 1
                with suppress(WriteConflict):  # it was written, and counted, at this moment
                    store.save_alone(entity)
        if not uncounted:
            self.recount.mark_done()
        return uncounted

    def _counts(self) -> dict[str, Counter[str]]:
        """The numbers by noun: the sums over all shards."""
        nouns = (*_CHECKED, *_WITH_CONNECTOR, _CONNECT, INCIDENT, _ALERT)
        keys = [(noun, shard) for noun in nouns for shard in SHARDS]
        found = find_together(*((self.counts, f"{noun}/{shard}") for noun, shard in keys))
        sums: dict[str, Counter[str]] = {noun: Counter() for noun in nouns}
        for (noun, _), numbers in zip(keys, found, strict=True):
            sums[noun].update(numbers)
        return sums


def _oldest_look(views: Mapping[str, ClusterView], now: datetime) -> datetime:
    """Before this, ticks have seen everything that operations have noted, or it is too old to count."""
    looks = [view.observed_at for view in views.values()]
    oldest, bound = min((look for look in looks if look), default=now), now - OLD_AFTER
    return bound if None in looks else max(oldest, bound)


def _all_of(states: type[HealthStatus] | type[ObservedState], numbers: Mapping[Any, int]) -> StateCounts:
    return {state.value: max(0, numbers.get(state, 0)) for state in states}
