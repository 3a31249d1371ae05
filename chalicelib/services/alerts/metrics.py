"""What `/metrics` says, in Prometheus' text format, version 0.0.4.

The numbers are those of durable counters and of the index of active alerts, never of one process's memory. Every series
exists from the beginning, with 0.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product

from chalicelib.domain.alerts.channel import Channel, ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity, EventKind
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.alerts.pacing import ChannelGate
from chalicelib.errors import TimedOut
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.stores.alerts.alerts import Alerts
from chalicelib.stores.alerts.channels import Channels
from chalicelib.stores.alerts.counters import AlertCounters, AlertNumbers
from chalicelib.stores.alerts.notifications import ChannelGates, Notifications
from chalicelib.stores.documents import find_together

Labels = Mapping[str, str]
Sample = tuple[str, Labels, float]
"""What is added to the metric's name, the labels, the value."""

CHANNEL_STATUSES = ("open", "limited", "down", "disabled")
"""`limited`: the provider asked to wait; `down`: it fails, and one message a minute is tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric with all of its series. No label value needs escaping: they are words of ours."""

    name: str
    type: str
    help: str
    samples: Iterable[Sample]

    def lines(self) -> Iterator[str]:
        """Its part of the text."""
        yield f"# HELP {self.name} {self.help}"
        yield f"# TYPE {self.name} {self.type}"
        for suffix, labels, value in self.samples:
            shown = ",".join(f'{name}="{text}"' for name, text in labels.items())
            yield f"{self.name}{suffix}{{{shown}}} {value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """How a channel sends now, and how long its oldest notification waits, in seconds."""

    provider: ChannelProvider
    status: str
    waiting_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsService:
    """Reads the metrics."""

    counters: AlertCounters
    alerts: Alerts
    channels: Channels
    gates: ChannelGates
    notifications: Notifications
    clock: Clock

    def text(self, deadline: Deadline) -> str:
        """All metrics. Its cost grows with the number of active alerts: one call for about 2,700; and with that of
        channels: three calls for each. Raises TimedOut.
        """
        active = Counter((one.severity, one.kind) for one in self.alerts.facets(deadline, only_active=True))
        found = metrics(self.counters.read(), active, self._channel_states(deadline))
        return "".join(f"{line}\n" for metric in found for line in metric.lines())

    def _channel_states(self, deadline: Deadline) -> list[ChannelState]:
        channels, now = list(self.channels.all()), self.clock()
        gates = find_together(*((self.gates, channel.id) for channel in channels))
        return [self._channel_state(one, gate, now, deadline) for one, gate in zip(channels, gates, strict=True)]

    def _channel_state(
        self, channel: Channel, gate: ChannelGate | None, now: datetime, deadline: Deadline
    ) -> ChannelState:
        if deadline.passed:
            raise TimedOut("The store did not list everything in time.")
        since = self.notifications.waiting_since(channel.id)
        seconds = max(0.0, (now - since).total_seconds()) if since else 0.0
        return ChannelState(provider=channel.provider, status=_status(channel, gate, now), waiting_seconds=seconds)


def _status(channel: Channel, gate: ChannelGate | None, now: datetime) -> str:
    if not channel.enabled:
        return "disabled"
    if gate and gate.is_probing:
        return "down"
    return "limited" if gate and gate.not_before and gate.not_before > now else "open"


def metrics(
    numbers: AlertNumbers, active: Mapping[tuple[AlertSeverity, EventKind], int], channels: Sequence[ChannelState]
) -> Iterator[Metric]:
    """The metrics of the wire contract, section 6; and of channels, how they send and how long messages wait."""
    yield Metric(
        name="headgate_alerts_active",
        type="gauge",
        help="Alerts that are not resolved.",
        samples=_by_kind(active),
    )
    yield Metric(
        name="headgate_alerts_total",
        type="counter",
        help="Alerts that were opened, by the severity that they had then.",
        samples=_by_kind(numbers.alerts),
    )
    yield Metric(
        name="headgate_notifications_sent_total",
        type="counter",
        help="Notifications that a provider has accepted.",
        samples=_by_provider(numbers, NotificationStatus.DELIVERED),
    )
    yield Metric(
        name="headgate_notifications_failed_total",
        type="counter",
        help="Notifications that were given up.",
        samples=_by_provider(numbers, NotificationStatus.FAILED),
    )
    yield Metric(
        name="headgate_notification_delivery_seconds",
        type="histogram",
        help="Seconds from queueing a notification to its end.",
        samples=_times(numbers),
    )
    yield Metric(
        name="headgate_notification_channels",
        type="gauge",
        help="Notification channels by how they send now: limited by the provider, down, or disabled.",
        samples=_statuses(channels),
    )
    yield Metric(
        name="headgate_notifications_waiting_seconds",
        type="gauge",
        help="Seconds since the oldest notification that waits was queued; 0 when none waits.",
        samples=_waiting(channels),
    )


def _by_kind(counts: Mapping[tuple[AlertSeverity, EventKind], int]) -> Iterator[Sample]:
    for severity, kind in product(AlertSeverity, EventKind):
        yield "", {"severity": severity, "event_type": kind}, counts.get((severity, kind), 0)


def _by_provider(numbers: AlertNumbers, end: NotificationStatus) -> Iterator[Sample]:
    for provider in ChannelProvider:
        yield "", {"provider": provider}, numbers.deliveries[provider, end].count


def _statuses(channels: Sequence[ChannelState]) -> Iterator[Sample]:
    counts = Counter((one.provider, one.status) for one in channels)
    for provider, status in product(ChannelProvider, CHANNEL_STATUSES):
        yield "", {"provider": provider, "status": status}, counts[provider, status]


def _waiting(channels: Sequence[ChannelState]) -> Iterator[Sample]:
    for provider in ChannelProvider:
        seconds = (one.waiting_seconds for one in channels if one.provider is provider)
        yield "", {"provider": provider}, max(seconds, default=0)


def _times(numbers: AlertNumbers) -> Iterator[Sample]:
    for (provider, end), times in numbers.deliveries.items():
        labels = {"provider": provider.value, "status": end.value}
        for bound, count in times.buckets.items():
            yield "_bucket", {**labels, "le": bound}, count
        yield "_sum", labels, times.seconds
        yield "_count", labels, times.count
