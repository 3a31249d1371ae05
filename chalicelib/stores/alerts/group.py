"""The stores of alerts."""

from dataclasses import dataclass, field

from chalicelib.stores.alerts.alerts import Alerts
from chalicelib.stores.alerts.channels import Channels
from chalicelib.stores.alerts.counters import AlertCounters
from chalicelib.stores.alerts.maintenance import MaintenanceWindows
from chalicelib.stores.alerts.notifications import ChannelGates, Notifications
from chalicelib.stores.alerts.rules import AlertRules
from chalicelib.stores.alerts.tracks import Tracks


@dataclass(frozen=True, slots=True)
class AlertStores:
    """Alerts, and who is notified of them."""

    alerts: Alerts = field(default_factory=Alerts)
    channels: Channels = field(default_factory=Channels)
    counters: AlertCounters = field(default_factory=AlertCounters)
    gates: ChannelGates = field(default_factory=ChannelGates)
    maintenance: MaintenanceWindows = field(default_factory=MaintenanceWindows)
    notifications: Notifications = field(default_factory=Notifications)
    rules: AlertRules = field(default_factory=AlertRules)
    tracks: Tracks = field(default_factory=Tracks)
