"""Builds what alerting consists of."""

from collections.abc import Mapping

from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.kit.clock import Clock
from chalicelib.notify.contract import Sender
from chalicelib.services.alerts.alerts import AlertService
from chalicelib.services.alerts.channels import ChannelService
from chalicelib.services.alerts.metrics import MetricsService
from chalicelib.services.alerts.rules import AlertRuleService
from chalicelib.services.audit import AuditTrail
from chalicelib.services.registry import Registry
from chalicelib.stores.alerts.counters import AlertCounters
from chalicelib.wiring.stores import Stores


class Alerting:
    """Everything about alerts that routes, monitors and workers may call."""

    def __init__(
        self,
        stores: Stores,
        registry: Registry,
        audit: AuditTrail,
        senders: Mapping[ChannelProvider, Sender],
        clock: Clock,
    ) -> None:
        self.alerts = AlertService(store=stores.alerts, notifications=stores.notifications, audit=audit, clock=clock)
        self.rules = AlertRuleService(
            store=stores.alert_rules,
            channels=stores.channels,
            sources=stores.sources,
            pipelines=stores.pipelines,
            claims=stores.claims,
            registry=registry,
            clock=clock,
        )
        self.metrics = MetricsService(counters=AlertCounters(), alerts=stores.alerts)
        self.channels = ChannelService(
            store=stores.channels, gates=stores.channel_gates, registry=registry, senders=senders, clock=clock
        )
