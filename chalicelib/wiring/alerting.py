"""Alerts, and the messages about them."""

from chalicelib.alerting.bus import EventBus, InProcessBus


class Alerting:
    """Everything of alerting that routes, monitors and workers may call."""

    def __init__(self) -> None:
        self.bus: EventBus = InProcessBus(())
