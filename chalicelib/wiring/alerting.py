"""Builds what alerting consists of."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from chalicelib.clients.cloudwatch import measure
from chalicelib.clients.queue import NOTIFICATIONS, Queues
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.kit.clock import Clock
from chalicelib.kit.recent import Recent
from chalicelib.notify.contract import Sender
from chalicelib.services.alerts.alerts import AlertService
from chalicelib.services.alerts.attempt import Attempts
from chalicelib.services.alerts.backlogs import Backlogs
from chalicelib.services.alerts.bus import EventBus, InProcessBus
from chalicelib.services.alerts.channels import ChannelService
from chalicelib.services.alerts.delivery import NotificationDelivery
from chalicelib.services.alerts.event_names import EventNames
from chalicelib.services.alerts.maintenance import MaintenanceService
from chalicelib.services.alerts.manager import AlertManager
from chalicelib.services.alerts.rules import AlertRuleService
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.services.registry import Registry
from chalicelib.services.user_limits import UserLimits
from chalicelib.stores.groups import Stores

_WINDOWS_READ_FOR = timedelta(seconds=5)
"""Maintenance windows are read once in this time, however many reports there are."""


class Alerting:
    """Everything about alerts that routes, monitors and workers may call."""

    def __init__(
        self,
        *,
        stores: Stores,
        registry: Registry,
        senders: Mapping[ChannelProvider, Sender],
        queues: Queues,
        limits: UserLimits,
        public_url: str | None,
        clock: Clock,
        sleep: Callable[[float], None],
    ) -> None:
        self._queues, audit = queues, registry.audit
        self.maintenance = _maintenance(stores, audit, clock)
        self.manager = AlertManager(
            stores=stores.alerts,
            timeline=stores.timeline,
            windows=self.maintenance.active,
            names=lambda: EventNames(stores.resources.by_type(), Backlogs(monitoring=stores.monitoring, clock=clock)),
            wake=self.wake,
            public_url=public_url,
            clock=clock,
        )
        self.bus: EventBus = InProcessBus(
            record=registry.incidents.record, active=self.manager.active, follow=self.manager.follow, measure=measure
        )
        self.alerts = AlertService(stores=stores.alerts, timeline=stores.timeline, audit=audit, clock=clock)
        self.rules = AlertRuleService(stores=stores.alerts, resources=stores.resources, registry=registry, clock=clock)
        self.channels = ChannelService(
            stores=stores.alerts, registry=registry, senders=senders, limits=limits, clock=clock
        )
        self._build_delivery(stores, registry, senders, clock, sleep)

    def _build_delivery(
        self,
        stores: Stores,
        registry: Registry,
        senders: Mapping[ChannelProvider, Sender],
        clock: Clock,
        sleep: Callable[[float], None],
    ) -> None:
        """What sends the messages."""
        attempts = Attempts(
            stores=stores.alerts,
            vault=registry.vault,
            senders=senders,
            replace_secrets=self.channels.replace_secrets,
            clock=clock,
            sleep=sleep,
            measure=measure,
        )
        self.delivery = NotificationDelivery(
            stores=stores.alerts, attempts=attempts, wake=self.wake, clock=clock, sleep=sleep
        )

    def wake(self, channel_id: str, delay_seconds: int = 0) -> None:
        """Wake the worker of a channel. Raises StoreUnavailable: then the schedule wakes it."""
        self._queues.send(NOTIFICATIONS, {"channel_id": channel_id}, delay_seconds=delay_seconds)


def _maintenance(stores: Stores, audit: AuditTrail, clock: Clock) -> MaintenanceService:
    return MaintenanceService(
        stores=stores.alerts,
        resources=stores.resources,
        audit=audit,
        recent=Recent(_WINDOWS_READ_FOR, clock),
        clock=clock,
    )
