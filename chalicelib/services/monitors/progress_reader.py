"""Measures how the connectors of a Connect cluster move: one look at the offsets in Kafka for all of them."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from chalicelib.domain.cluster import ConnectCluster, MetricsProvider, StreamCluster
from chalicelib.domain.connectors.memory import DesiredConnector
from chalicelib.domain.connectors.watched import watched_connector
from chalicelib.domain.health import HealthRecord
from chalicelib.domain.monitoring.history import HistoryKind, Sample, Series, metric_sample
from chalicelib.domain.monitoring.lock_waits import with_lock_wait
from chalicelib.domain.monitoring.offsets import Offsets
from chalicelib.domain.monitoring.progress import (
    Progress,
    ProgressLook,
    after_measurement,
    is_known,
    is_stalled,
    measure_due,
)
from chalicelib.domain.monitoring.watched_connector import WatchedConnector, progress_facts
from chalicelib.domain.observation import ConnectorStatus, ReportedState
from chalicelib.domain.timing import MINUTE, ONCE_A_MINUTE
from chalicelib.errors import HeadgateError, StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.owner import ConnectorOwner
from chalicelib.services.monitors.history_recorder import HistoryRecorder
from chalicelib.services.monitors.reports import store_health
from chalicelib.stores.clusters import StreamClusters
from chalicelib.stores.documents import batch_find_readable
from chalicelib.stores.monitoring.progress import ProgressStore
from chalicelib.stores.monitoring.target_tables import TargetLossStore
from chalicelib.stores.rows import ROWS_PER_CALL

MAX_LOADED = 5_000
"""Pipelines and deliveries that one measurement reads; those beyond are measured by the next ones."""

_Known = dict[str, tuple[str | None, WatchedConnector]]
"""Connector -> the hash of its config, and how it is watched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressReader:
    """A pipeline or delivery that this process has read before is read again only when its config has changed."""

    streams: StreamClusters
    owners: Mapping[str, ConnectorOwner[Any]]
    store: ProgressStore
    histories: HistoryRecorder
    targets: TargetLossStore
    clients: ClientFactory
    _known: dict[str, _Known] = field(default_factory=dict)
    _unmeasured: dict[str, datetime] = field(default_factory=dict)

    def measure(
        self,
        cluster: ConnectCluster,
        desired: Mapping[str, DesiredConnector],
        statuses: Mapping[str, ConnectorStatus] | None,
        deadline: Deadline,
        now: datetime,
    ) -> Mapping[str, Progress] | None:
        """Measure and store the progress of the desired connectors, by name; as it is stored, when another tick has
        already measured it in this period. `statuses` are what Connect has just answered, None when it could not be
        read.

        Empty when the stream cluster has no metrics provider, None when its brokers cannot be read. Whether they can
        is the health of the stream cluster. Raises StoreUnavailable.
        """
        stream = self._measured_stream(cluster.stream_cluster_id, now)
        if stream is None:
            return {}
        stored = self.store.read(cluster.id)
        # A connector that could not be loaded in time keeps what is known of it.
        measured = {name: progress for name, progress in stored.connectors.items() if name in desired}
        if _is_measured(stored.cluster.look, now):
            return measured
        connectors = self._watched(cluster.id, desired, deadline)
        try:
            offsets = self._offsets(stream, connectors.values(), deadline)
        except StoreUnavailable:
            raise
        except HeadgateError as failure:
            self.store.write_failure(cluster.id, failure.message, now)
            # Without time left it says nothing about the brokers: their health gets old.
            health = stream.health if deadline.passed else HealthRecord.unhealthy(now, failure.code, failure.message)
            store_health(self.streams, stream, health)
            return None
        store_health(self.streams, stream, HealthRecord.healthy(now))
        for name, connector in connectors.items():
            facts, running = progress_facts(connector, offsets), _runs(statuses, name)
            measured[name] = after_measurement(measured.get(name), connector, facts, running, now)
        measured |= self._waiting(connectors, desired, measured, now)
        self.store.write(cluster.id, measured, _totals(connectors, measured, now, len(desired)), stored)
        last, series = stored.cluster.look, Series(HistoryKind.METRICS, cluster.id)
        samples = _samples(desired, measured, stored.connectors, now)
        self.histories.record(series, samples, now, last.at if last else None, deadline)
        return measured

    def _measured_stream(self, stream_id: str, now: datetime) -> StreamCluster | None:
        """The stream cluster, None where no provider is installed. Ticks of those do not ask each time."""
        asked_at = self._unmeasured.get(stream_id)
        if asked_at and now - asked_at < ONCE_A_MINUTE:
            return None
        stream = self.streams.find(stream_id)
        if stream is None or stream.metrics_provider is MetricsProvider.NONE:
            self._unmeasured[stream_id] = now
            return None
        return stream

    def _waiting(
        self,
        connectors: Mapping[str, WatchedConnector],
        desired: Mapping[str, DesiredConnector],
        measured: Mapping[str, Progress],
        now: datetime,
    ) -> dict[str, Progress]:
        """The progress of the deliveries that stand, with who is in the way at their targets: one read for all, and
        none while everything moves.
        """
        stalled = {
            name: connector.destination_id
            for name, connector in connectors.items()
            if connector.destination_id and is_stalled(measured[name])
        }
        ids = sorted(set(stalled.values()))
        found = batch_find_readable(*((self.targets, destination_id) for destination_id in ids)) if ids else []
        waits = {state.id: state.lock_waits for state in found if state}
        return {
            name: with_lock_wait(measured[name], waits.get(target, {}).get(desired[name].resource_id), now)
            for name, target in stalled.items()
        }

    def _offsets(self, stream: StreamCluster, connectors: Iterable[WatchedConnector], deadline: Deadline) -> Offsets:
        topics, groups = set[str](), dict[str, tuple[str, ...]]()
        for connector in connectors:
            if connector.is_sink:
                groups[connector.group] = connector.topics
            else:
                topics |= set(connector.all_topics)
        with closing(self.clients.kafka(stream)) as kafka:
            if not topics and not groups:
                kafka.cluster_id(deadline)  # whether the brokers answer
                return Offsets()
            return kafka.offsets(topics, groups, deadline)

    def _watched(
        self, cluster_id: str, desired: Mapping[str, DesiredConnector], deadline: Deadline
    ) -> dict[str, WatchedConnector]:
        """How the desired connectors are watched, without those that could not be read (in time) or were deleted."""
        known = {name: entry for name, entry in self._known.get(cluster_id, {}).items() if name in desired}
        unread = [name for name in desired if name not in known or known[name][0] != desired[name].config_hash]
        for at in range(0, min(len(unread), MAX_LOADED), ROWS_PER_CALL):
            if deadline.passed:
                break
            names = unread[at : min(at + ROWS_PER_CALL, MAX_LOADED)]
            keys = [(self.owners[desired[name].resource_type].store, desired[name].resource_id) for name in names]
            for name, resource in zip(names, batch_find_readable(*keys), strict=True):
                if resource:
                    known[name] = (resource.config_hash, watched_connector(resource))
        self._known[cluster_id] = known
        return {name: connector for name, (_, connector) in known.items()}


def _is_measured(look: ProgressLook | None, now: datetime) -> bool:
    """Whether another tick has measured in this period. A second measurement some seconds later would show the
    throughput of these seconds, for half a minute.
    """
    return look is not None and look.failure is None and not measure_due(look.at, now)


def _runs(statuses: Mapping[str, ConnectorStatus] | None, name: str) -> bool | None:
    """Whether the connector and all of its tasks run, as Connect says; None when Connect could not be read."""
    if statuses is None:
        return None
    status = statuses.get(name)
    if status is None or not status.tasks:
        return False
    return all(part.state is ReportedState.RUNNING for part in status.parts)


def _samples(
    desired: Mapping[str, DesiredConnector],
    measured: Mapping[str, Progress],
    former: Mapping[str, Progress],
    now: datetime,
) -> dict[str, Sample]:
    """What this look and the one before it have measured, by the id of the pipeline or delivery: there are two looks in
    a minute, and one sample of it.
    """
    return {
        desired[name].resource_id: HistoryKind.METRICS.combined(
            metric_sample(one.lag, one.throughput)
            for one in (former.get(name), progress)
            if one and now - one.measured_at < MINUTE
        )
        for name, progress in measured.items()
        if progress.measured_at == now and is_known(progress, now)
    }


def _totals(
    connectors: Mapping[str, WatchedConnector], measured: Mapping[str, Progress], now: datetime, desired: int
) -> ProgressLook:
    """The look, with the throughput of all pipelines and the lag of all deliveries that this look has measured, of so
    many that are desired.
    """
    fresh = [
        (connectors[name], progress)
        for name, progress in measured.items()
        if name in connectors and progress.measured_at == now and is_known(progress, now)
    ]
    throughput = [
        progress.throughput
        for connector, progress in fresh
        if not connector.is_sink and progress.throughput is not None
    ]
    lag = [progress.lag for _, progress in fresh if progress.lag is not None]
    return ProgressLook(
        at=now,
        throughput=sum(throughput) if throughput else None,
        lag=sum(lag) if lag else None,
        left_out=desired - len(fresh),
    )
