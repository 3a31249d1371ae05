"""What the installation looks like now: counts by state, open incidents, what happened last.

It reads what the schedule has counted and what ticks have stored, never a list of resources: it costs the same however
many there are.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from chalicelib.domain.access import SYSTEM, Actor, Permission
from chalicelib.domain.alerts.attention import Attention
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.audit.record import Activity, AuditRecord
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.state_counts import StateTotals, oldest_look, state_counts
from chalicelib.domain.counts import RegisteredCounts
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.monitoring.metrics import Metrics
from chalicelib.domain.monitoring.progress import ProgressLook, total_metrics
from chalicelib.domain.monitoring.source_state import VALID_FOR
from chalicelib.domain.observation import ObservedState
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.alerts.attention import AttentionService
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.connectors.group import ConnectorStores
from chalicelib.stores.counts import REGISTERED
from chalicelib.stores.documents import Documents, batch_find_readable, batch_read
from chalicelib.stores.monitoring.group import MonitoringStores
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.tables import LISTING

ACTIVITY = 20
"""Audit records that the overview shows."""

_ACTIVITY_READ = 100
"""So many records are read for people who see some of them only: one call for the keys and one for the rows."""

MAX_CLUSTERS = 500
"""Connect clusters that are read one by one. More of them count as UNKNOWN."""

INCIDENT_STATES = ("OPEN", "ACKNOWLEDGED")
COUNTED_AGAIN_AFTER = timedelta(minutes=2)
"""A count that is older was not followed by another one: the schedule does not run."""

MAX_COUNTED_AT_ONCE = 1_000
"""So many resources are counted when somebody asks: one call for each kind. More are shown as of the last minute."""

MAX_SOURCES = 1_000
"""Sources whose logs are read once a minute: one call for each hundred. Of more of them the largest is not known."""

_WITH_CONNECTOR = ("pipeline", "delivery")
_CONNECT = "connect_cluster"
_COUNT_SECONDS = 10.0

StateCounts = Mapping[str, int]
"""A number for every state; 0 where nothing is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Counts by state, what needs a person, and the newest records of the audit trail that say what people did.

    `observed_at` is the oldest look at a Connect cluster whose connectors are counted; None without any.
    """

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
    attention: Sequence[Attention]
    recent_activity: Sequence[AuditRecord | Activity]
    observed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OverviewService:
    """Reads the overview. `resources` are the stores of everything that is counted by its state, by type."""

    resources: ResourceStores
    attention: AttentionService
    connectors: ConnectorStores
    monitoring: MonitoringStores
    alerts: AlertStores
    audit: AuditTrail
    clock: Clock

    def read(self, reader: Actor = SYSTEM) -> Overview:
        """The overview. What is registered is as of now or of the last minute, connectors are as of the last ticks.
        Only a `reader` who may read the audit trail gets whole records.

        Raises StoreUnavailable, and TimedOut when there are more incidents and alerts than can be read.
        """
        now, deadline = self.clock(), Deadline.after(_COUNT_SECONDS)
        registered, observed, looks, clusters, observed_at = self._states(now, deadline)
        incidents = self.monitoring.incidents.count_active(deadline)
        active = self.alerts.alerts.facets(deadline, only_active=True)
        severities = Counter(alert.severity for alert in active)
        return Overview(
            sources=_all_of(HealthStatus, registered.of("source")),
            destinations=_all_of(HealthStatus, registered.of("destination")),
            stream_clusters=_all_of(HealthStatus, registered.of("stream_cluster")),
            connect_clusters=_all_of(HealthStatus, observed.connect_clusters),
            pipelines=_all_of(ObservedState, observed.pipelines),
            deliveries=_all_of(ObservedState, observed.deliveries),
            incidents={status: incidents.get(status, 0) for status in INCIDENT_STATES},
            active_alerts=severities.total(),
            critical_alerts=severities[AlertSeverity.CRITICAL],
            metrics=total_metrics(looks, now, clusters=sum(observed.connect_clusters.values())),
            attention=self.attention.read(reader, active, clusters),
            recent_activity=self._activity(reader),
            observed_at=observed_at,
        )

    def observed(self, deadline: Deadline) -> tuple[StateTotals, int | None]:
        """The counts by observed state, as the overview shows them, and the most that a source keeps of its log for one
        pipeline; None where that is not known. Raises StoreUnavailable and TimedOut.
        """
        registered, observed, *_ = self._states(self.clock(), deadline)
        return observed, registered.max_log_bytes

    def _states(
        self, now: datetime, deadline: Deadline
    ) -> tuple[RegisteredCounts, StateTotals, Sequence[ProgressLook], Mapping[str, HealthStatus], datetime | None]:
        """What is registered, in which states that is, the last measurements of progress, the health of the Connect
        clusters by their ids, and the oldest look at one.
        """
        page = self.resources.connects.list(limit=MAX_CLUSTERS)
        ids = [cluster.id for cluster in page.items]
        registered, views, looks = self._read_stored(ids, now, deadline)
        clusters = {
            cluster.id: view.on(cluster, now).health.status for view, cluster in zip(views, page.items, strict=True)
        }
        connects = Counter(clusters.values())
        connects[HealthStatus.UNKNOWN] += len(page.unreadable)
        if page.next_key:
            more = max(0, sum(registered.of(_CONNECT).values()) - len(ids))
            connects[HealthStatus.UNKNOWN] += more
            views.append(ClusterView())
        views += [ClusterView() for _ in page.unreadable]
        degraded = self.monitoring.findings.pipelines(since=now - VALID_FOR)
        observed = state_counts(views, degraded, registered, _WITH_CONNECTOR, now)
        counts = StateTotals(connect_clusters=connects, pipelines=observed["pipeline"], deliveries=observed["delivery"])
        return registered, counts, looks, clusters, oldest_look(views, now)

    def _activity(self, reader: Actor) -> Sequence[AuditRecord | Activity]:
        if reader.may(Permission.ADMINISTER):
            return self.audit.list(limit=ACTIVITY, meaningful=True).items
        records = self.audit.list(limit=_ACTIVITY_READ, meaningful=True).items
        return [activity for record in records if (activity := record.activity)][:ACTIVITY]

    def _read_stored(
        self, cluster_ids: Sequence[str], now: datetime, deadline: Deadline
    ) -> tuple[RegisteredCounts, list[ClusterView], list[ProgressLook]]:
        """The last count, the view of each Connect cluster, and the last looks at progress: one call, and one more for
        views that are new to this process.
        """
        row, *rows = batch_read(
            (self.monitoring.counts, REGISTERED),
            *((self.connectors.observations, cluster_id) for cluster_id in cluster_ids),
            *((self.monitoring.progress, (cluster_id, None)) for cluster_id in cluster_ids),
        )
        stored = registered = self.monitoring.counts.decode(row)
        # Who registers a few resources sees them at once. Without the schedule even a large number is counted again.
        if registered is None or registered.total <= MAX_COUNTED_AT_ONCE or now - registered.at > COUNTED_AGAIN_AFTER:
            log_bytes = stored.max_log_bytes if stored and now - stored.at <= VALID_FOR else None
            registered = replace(self._count(deadline), max_log_bytes=log_bytes)
        views = self.connectors.observations.views(filter(None, rows[: len(cluster_ids)]))
        parts = map(self.monitoring.progress.decode, rows[len(cluster_ids) :])
        looks = [part.look for part in parts if part.look]
        return registered, [views.get(cluster_id, ClusterView()) for cluster_id in cluster_ids], looks

    def count(self, *, within_seconds: float = _COUNT_SECONDS) -> int:
        """Count what is registered, for the overviews of the next minute; returns how much that is. Raises TimedOut."""
        deadline = Deadline.after(within_seconds)
        counts = self._count(deadline)
        self.monitoring.counts.write(replace(counts, max_log_bytes=self._max_log_bytes(deadline)))
        return counts.total

    def _max_log_bytes(self, deadline: Deadline) -> int | None:
        sources = self.resources.sources
        ids = [source_id for source_id, _ in sources.columns_in(LISTING, sources.noun, deadline)]
        if len(ids) > MAX_SOURCES:
            return None
        now, states = self.clock(), batch_find_readable(*((self.monitoring.source_states, id_) for id_ in ids))
        kept = (state.max_retained_bytes(now) for state in states if state)
        return max((size for size in kept if size is not None), default=None)

    def _count(self, deadline: Deadline) -> RegisteredCounts:
        at = self.clock()
        by_type = {
            noun: _by_desired_state(store, deadline) if noun in _WITH_CONNECTOR else _by_health(store, at)
            for noun, store in self.resources.by_type().items()
        }
        return RegisteredCounts(at=at, by_type=by_type)


def _by_health(store: Documents[Any], now: datetime) -> StateCounts:
    """What cannot be read is UNKNOWN."""
    readable, unreadable = store.read_in(LISTING, store.noun)
    counts = Counter(resource.health.as_of(now).status for resource in readable)
    counts[HealthStatus.UNKNOWN] += len(unreadable)
    return counts


def _by_desired_state(store: Documents[Any], deadline: Deadline) -> StateCounts:
    """Without the bodies, which are large."""
    columns = store.columns_in(LISTING, store.noun, deadline)
    return Counter(values["desired_state"] or "" for _, values in columns)


def _all_of(states: type[HealthStatus] | type[ObservedState], numbers: Mapping[Any, int]) -> StateCounts:
    return {state.value: numbers.get(state, 0) for state in states}
