"""What `/metrics` says, in Prometheus' text format, version 0.0.4.

The numbers are those of durable counters and of stored rows, never of one process's memory. Every series exists from
the beginning, with 0, but what a source keeps of its log: that is left out while it is not known.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from itertools import product
from typing import Any, NamedTuple

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.connectors.state_counts import StateTotals
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.observation import ObservedState
from chalicelib.errors import TimedOut
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.services.alerts.channel_states import CHANNEL_STATUSES, ChannelState, channel_state
from chalicelib.services.connectors.tick_ages import TickAges
from chalicelib.stores.alerts.counters import AlertNumbers
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import batch_find_readable

Labels = Mapping[str, str]
Sample = tuple[str, Labels, float]
"""What is added to the metric's name, the labels, the value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What all metrics are made of: counters since the beginning, active alerts, and channels as they are now.

    `tick_age` is how long ago the Connect cluster was looked at that was not looked at for longest. `log_bytes` is the
    most that a source keeps of its log for one pipeline, None where that is not known.
    """

    observed: StateTotals
    log_bytes: int | None

    numbers: AlertNumbers
    active: Mapping[tuple[AlertSeverity, EventKind], int]
    channels: Sequence[ChannelState]
    tick_age: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsService:
    stores: AlertStores
    clock: Clock
    tick_ages: TickAges
    observed: Callable[[Deadline], tuple[StateTotals, int | None]]
    """Reads `Readings.observed` and `log_bytes`."""

    def text(self, deadline: Deadline) -> str:
        """All metrics. Its cost grows with the number of active alerts: one call for about 2,700; and with that of
        channels: three calls for each. Raises TimedOut.
        """
        active = Counter(
            (alert.severity, alert.kind) for alert in self.stores.alerts.facets(deadline, only_active=True)
        )
        observed, log_bytes = self.observed(deadline)
        readings = Readings(
            observed=observed,
            log_bytes=log_bytes,
            numbers=self.stores.counters.read(),
            active=active,
            channels=self._channel_states(deadline),
            tick_age=self.tick_ages.read().oldest,
        )
        return "".join(f"{line}\n" for metric in METRICS for line in metric.lines(readings))

    def _channel_states(self, deadline: Deadline) -> list[ChannelState]:
        channels, now = list(self.stores.channels.all()), self.clock()
        gates = batch_find_readable(*((self.stores.gates, channel.id) for channel in channels))
        states = []
        for channel, gate in zip(channels, gates, strict=True):
            if deadline.passed:
                raise TimedOut("The store did not list everything in time.")
            states.append(channel_state(channel, gate, self.stores.notifications, now))
        return states


def _by_kind(counts: Mapping[tuple[AlertSeverity, EventKind], int]) -> Iterator[Sample]:
    for severity, kind in product(AlertSeverity, EventKind):
        yield "", {"severity": severity, "event_type": kind}, counts.get((severity, kind), 0)


def _active(readings: Readings) -> Iterator[Sample]:
    return _by_kind(readings.active)


def _opened(readings: Readings) -> Iterator[Sample]:
    return _by_kind(readings.numbers.alerts)


def _ended(readings: Readings, end: NotificationStatus) -> Iterator[Sample]:
    for provider in ChannelProvider:
        yield "", {"provider": provider}, readings.numbers.deliveries[provider, end].count


def _sent(readings: Readings) -> Iterator[Sample]:
    return _ended(readings, NotificationStatus.DELIVERED)


def _failed(readings: Readings) -> Iterator[Sample]:
    return _ended(readings, NotificationStatus.FAILED)


def _delivery_seconds(readings: Readings) -> Iterator[Sample]:
    for (provider, end), times in readings.numbers.deliveries.items():
        labels = {"provider": provider.value, "status": end.value}
        for bound, count in times.buckets.items():
            yield "_bucket", {**labels, "le": bound}, count
        yield "_sum", labels, times.seconds
        yield "_count", labels, times.count


def _channels(readings: Readings) -> Iterator[Sample]:
    counts = Counter((channel.provider, channel.status) for channel in readings.channels)
    for provider, status in product(ChannelProvider, CHANNEL_STATUSES):
        yield "", {"provider": provider, "status": status}, counts[provider, status]


def _waiting(readings: Readings) -> Iterator[Sample]:
    for provider in ChannelProvider:
        channels = (channel for channel in readings.channels if channel.provider is provider)
        yield "", {"provider": provider}, max((channel.waiting_seconds or 0 for channel in channels), default=0)


def _overdue(readings: Readings) -> Iterator[Sample]:
    counts = Counter(channel.provider for channel in readings.channels if channel.overdue)
    for provider in ChannelProvider:
        yield "", {"provider": provider}, counts[provider]


def _by_state(counts: Mapping[Any, int], states: Iterable[StrEnum]) -> Iterator[Sample]:
    for state in states:
        yield "", {"status": state.value}, counts.get(state, 0)


def _pipelines(readings: Readings) -> Iterator[Sample]:
    return _by_state(readings.observed.pipelines, ObservedState)


def _deliveries(readings: Readings) -> Iterator[Sample]:
    return _by_state(readings.observed.deliveries, ObservedState)


def _connect_clusters(readings: Readings) -> Iterator[Sample]:
    return _by_state(readings.observed.connect_clusters, HealthStatus)


def _log_bytes(readings: Readings) -> Iterator[Sample]:
    if readings.log_bytes is not None:
        yield "", {}, readings.log_bytes


def _tick_age(readings: Readings) -> Iterator[Sample]:
    yield "", {}, readings.tick_age.total_seconds()


class Metric(NamedTuple):
    """A metric and how its series are read. No label value needs escaping: they are words of ours."""

    name: str
    type: str
    help: str
    samples: Callable[[Readings], Iterator[Sample]]

    def lines(self, readings: Readings) -> Iterator[str]:
        """Nothing while none of its values is known."""
        samples = list(self.samples(readings))
        if not samples:
            return
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.type}"
        for suffix, labels, value in samples:
            shown = ",".join(f'{name}="{text}"' for name, text in labels.items())
            yield f"{self.name}{suffix}{{{shown}}} {value}" if shown else f"{self.name}{suffix} {value}"


METRICS = (
    Metric("headgate_pipelines", "gauge", "Pipelines by their observed state.", _pipelines),
    Metric("headgate_deliveries", "gauge", "Deliveries by their observed state.", _deliveries),
    Metric("headgate_connect_clusters", "gauge", "Connect clusters by their health.", _connect_clusters),
    Metric(
        "headgate_source_log_retained_bytes_max",
        "gauge",
        "Bytes of its log that a source keeps for a pipeline, of the one with most; left out when not known.",
        _log_bytes,
    ),
    Metric(
        "headgate_tick_age_seconds",
        "gauge",
        "Seconds since the last look at the Connect cluster that was not looked at for longest; 0 when there is none.",
        _tick_age,
    ),
    Metric("headgate_alerts_active", "gauge", "Alerts that are not resolved.", _active),
    Metric("headgate_alerts_total", "counter", "Alerts that were opened, by the severity that they had then.", _opened),
    Metric("headgate_notifications_sent_total", "counter", "Notifications that a provider has accepted.", _sent),
    Metric("headgate_notifications_failed_total", "counter", "Notifications that were given up.", _failed),
    Metric(
        "headgate_notification_delivery_seconds",
        "histogram",
        "Seconds from queueing a notification to its end.",
        _delivery_seconds,
    ),
    Metric(
        "headgate_notification_channels",
        "gauge",
        "Notification channels by how they send now: limited by the provider, down, or disabled.",
        _channels,
    ),
    Metric(
        "headgate_notifications_waiting_seconds",
        "gauge",
        "Seconds since the oldest notification that waits was queued; 0 when none waits.",
        _waiting,
    ),
    Metric(
        "headgate_notification_channels_overdue",
        "gauge",
        "Channels with a notification that should have been tried minutes ago, and no worker has done it.",
        _overdue,
    ),
)
"""The metrics of the wire contract, section 6; and of channels, how they send and how long messages wait."""
