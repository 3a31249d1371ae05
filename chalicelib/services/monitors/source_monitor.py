"""One bounded look a minute at each source that has deployed pipelines.

Debezium retries a database that does not answer for ever, and the connector is RUNNING meanwhile; the same where the
server no longer hands out the changes of a table. So what Kafka Connect says is compared with the source itself.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.health import HealthRecord
from chalicelib.domain.monitoring.consequences import idle_of, with_concerned
from chalicelib.domain.monitoring.history import HistoryKind, Series
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.source_conditions import source_conditions
from chalicelib.domain.monitoring.source_state import CaptureState, SourceState, after_check, after_failure
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.source import Source
from chalicelib.errors import Invalid, TimedOut, Unavailable, WriteConflict
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.log import add_to_log, get_logger
from chalicelib.kit.pages import Page
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.capture_checks import CaptureChecks
from chalicelib.services.monitors.history_recorder import HistoryRecorder
from chalicelib.services.monitors.reports import (
    DISPATCH_SECONDS,
    MonitorReports,
    Send,
    end_watch,
    send_looks,
    store_health,
)
from chalicelib.stores.documents import batch_results, require_readable
from chalicelib.stores.monitoring.source_states import SourceStates
from chalicelib.stores.resources import ResourceStores

_MAX_PIPELINES = 500
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMonitor:
    """Looks at sources. `send` puts looks at sources (their ids) into the queue."""

    resources: ResourceStores
    store: SourceStates
    histories: HistoryRecorder
    checks: CaptureChecks
    clients: ClientFactory
    reports: MonitorReports
    clock: Clock
    send: Send

    def dispatch(self, *, within_seconds: float = DISPATCH_SECONDS) -> int:
        """Send a look at every source for this minute. See `send_all`."""
        return send_looks("sources", list(self.resources.sources.ids()), self.send, within_seconds)

    def run(self, source_id: str, deadline: Deadline) -> None:
        """Look once, unless the source was deleted or has no deployed pipeline, and report what is wrong. Without
        deployed pipelines that is what tests and jobs have found: a test of the source ends it.
        """
        page = self.resources.pipelines.list_in("source_id", source_id, limit=_MAX_PIPELINES)
        every = page.items
        deployed = [pipeline for pipeline in every if pipeline.desired_state is not DesiredState.DRAFT]
        pipelines = [pipeline for pipeline in deployed if pipeline.open_operation is None]
        if not deployed:
            origin, over = origin_of("source", source_id), [draft.id for draft in every]
            self.reports.repeat(origin, over=over, idle=idle_of(source_id, page))
            if not page.unreadable:  # one of them may be deployed: then its source is UNKNOWN, as nobody looks at it
                end_watch(self.resources.sources, source_id)
        if not pipelines:
            return
        cluster_ids = sorted({pipeline.connect_cluster_id for pipeline in pipelines})
        source, before, clusters = self._read(source_id, cluster_ids)
        if source is None:
            return
        add_to_log(resource_type="source", resource_id=source.id, resource_name=source.name)
        connects = {cluster.id: self.clients.connect(cluster) for cluster in clusters}
        running = [
            (pipeline, connects[pipeline.connect_cluster_id])
            for pipeline in pipelines
            if pipeline.connect_cluster_id in connects
        ]
        # Whether a pipeline that cannot be read is deployed is not known: what was found about it stands.
        now, ids = self.clock(), [*(pipeline.id for pipeline in deployed), *page.unreadable]
        try:
            captures = self.checks.look(source, running, before, deadline)
        except (Unavailable, TimedOut, Invalid) as error:
            failed: str | None = error.code
            after = after_failure(before, source_id, error.message, now)
            health = HealthRecord.unhealthy(now, error.code, error.message)
        else:
            after = after_check(before, source_id, captures, now, not_looked_at=set(ids) - captures.keys())
            health, failed = HealthRecord.healthy(now), None
        if self._store(before, after, source, ids):
            series, last = Series(HistoryKind.LOG, source.id), before.checked_at if before else None
            self.histories.record(series, {source.id: after.log_sample(now)}, now, last, deadline)
            self._report(source, after, failed, ids, now, page)
        store_health(self.resources.sources, source, health)

    def _read(
        self, source_id: str, cluster_ids: Sequence[str]
    ) -> tuple[Source | None, SourceState | None, list[ConnectCluster]]:
        """The source, what was found about it, and its Connect clusters without those that do not exist or cannot be
        read: one call. Raises UnreadableRow for the first two.
        """
        source, before, *clusters = batch_results(
            (self.resources.sources, source_id),
            (self.store, source_id),
            *((self.resources.connects, cluster_id) for cluster_id in cluster_ids),
        )
        readable = [cluster for cluster in clusters if isinstance(cluster, ConnectCluster)]
        return require_readable(source), require_readable(before), readable

    def _report(
        self,
        source: Source,
        state: SourceState,
        failed: str | None,
        pipeline_ids: Sequence[str],
        now: datetime,
        page: Page[Pipeline],
    ) -> None:
        # One failed look says neither that the source is away nor that what a test has found is over.
        if state.unreachable is not None and not state.is_confirmed(state.unreachable):
            return
        conditions = source_conditions(source.id, source.name, state, failed, pipeline_ids, now)
        looked_at = None
        if failed is not None:  # it has seen no capture
            conditions = [condition for condition in conditions if condition.resource_id == source.id]
            looked_at = [source.id]
        conditions = [with_concerned(condition, page) for condition in conditions]
        idle = idle_of(source.id, page)
        self.reports.publish(origin_of("source", source.id), now, conditions, looked_at=looked_at, idle=idle)

    def _store(
        self, before: SourceState | None, after: SourceState, source: Source, pipeline_ids: Sequence[str]
    ) -> bool:
        """Store the state, unless another look was faster, and log what is new or gone; whether it was stored."""
        try:
            self.store.write(before, after, pipeline_ids)
        except WriteConflict:
            return False
        if _codes(before) != _codes(after):
            details = {"source_id": source.id, "before": _codes(before), "after": _codes(after)}
            get_logger().info("what a look at the source finds has changed", extra=details)
        timelines = _switched(before, after, lambda capture: capture.captured.timeline)
        servers = _switched(before, after, lambda capture: capture.server)
        if timelines or servers:
            details = {"source_id": source.id, "timelines": timelines, "servers": servers}
            get_logger().info("another server writes the log of the source: a standby was promoted", extra=details)
        return True


def _switched(
    before: SourceState | None, after: SourceState, name_of: Callable[[CaptureState], T | None]
) -> dict[str, list[T]]:
    """What names the log before and after, by pipeline, where another one is captured from than at the last look."""
    earlier = {key: name_of(capture) for key, capture in before.captures.items()} if before else {}
    pairs = {key: (earlier.get(key), name_of(capture)) for key, capture in after.captures.items()}
    return {key: [old, new] for key, (old, new) in pairs.items() if old is not None and new is not None and old != new}


def _codes(state: SourceState | None) -> dict[str, list[str]]:
    """The codes of all findings, by pipeline; those of the source itself under its own id."""
    if state is None:
        return {}
    of_source = {state.id: [state.unreachable.code.value]} if state.unreachable else {}
    of_captures = {key: [finding.code.value for finding in capture.findings] for key, capture in state.captures.items()}
    return {**of_source, **{key: codes for key, codes in of_captures.items() if codes}}
