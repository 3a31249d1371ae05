"""What `/metrics` says, in Prometheus' text format, version 0.0.4.

The numbers are those of durable counters and of the index of active alerts, never of one process's memory. Every series
exists from the beginning, with 0.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.kinds import AlertSeverity, EventKind
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.kit.clock import Deadline
from chalicelib.stores.alerts.alerts import Alerts
from chalicelib.stores.alerts.counters import AlertCounters, AlertNumbers

Labels = Mapping[str, str]
Sample = tuple[str, Labels, float]
"""What is added to the metric's name, the labels, the value."""


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
class MetricsService:
    """Reads the metrics."""

    counters: AlertCounters
    alerts: Alerts

    def text(self, deadline: Deadline) -> str:
        """All metrics. Its cost grows with the number of active alerts: one call for about 2,700. Raises TimedOut."""
        active = Counter((one.severity, one.kind) for one in self.alerts.facets(deadline, only_active=True))
        return "".join(f"{line}\n" for metric in metrics(self.counters.read(), active) for line in metric.lines())


def metrics(numbers: AlertNumbers, active: Mapping[tuple[AlertSeverity, EventKind], int]) -> Iterator[Metric]:
    """The metrics of the wire contract, section 6."""
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


def _by_kind(counts: Mapping[tuple[AlertSeverity, EventKind], int]) -> Iterator[Sample]:
    for severity, kind in product(AlertSeverity, EventKind):
        yield "", {"severity": severity, "event_type": kind}, counts.get((severity, kind), 0)


def _by_provider(numbers: AlertNumbers, end: NotificationStatus) -> Iterator[Sample]:
    for provider in ChannelProvider:
        yield "", {"provider": provider}, numbers.deliveries[provider, end].count


def _times(numbers: AlertNumbers) -> Iterator[Sample]:
    for (provider, end), times in numbers.deliveries.items():
        labels = {"provider": provider.value, "status": end.value}
        for bound, count in times.buckets.items():
            yield "_bucket", {**labels, "le": bound}, count
        yield "_sum", labels, times.seconds
        yield "_count", labels, times.count
