"""The store of every table, in groups: a service takes those that it needs."""

from chalicelib.domain.idempotency import TextSealer
from chalicelib.stores.accounts.group import AccountStores
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.audit.group import AuditStores
from chalicelib.stores.connectors.group import ConnectorStores
from chalicelib.stores.idempotency import IdempotencyKeys
from chalicelib.stores.live_reads import LiveAnswers
from chalicelib.stores.monitoring.group import MonitoringStores
from chalicelib.stores.resources import ResourceStores


class Stores:
    """The store of every table. `sealer` seals the answers that are kept for an `Idempotency-Key`."""

    def __init__(self, sealer: TextSealer) -> None:
        self.resources = ResourceStores()
        self.connectors = ConnectorStores()
        self.monitoring = MonitoringStores()
        self.alerts = AlertStores()
        self.accounts = AccountStores()
        self.audit = AuditStores()
        self.idempotency = IdempotencyKeys(sealer)
        self.live_answers = LiveAnswers()
