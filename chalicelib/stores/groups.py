"""The store of every table, in groups: a service takes those that it needs."""

from collections.abc import Sequence
from typing import Any

from chalicelib.domain.idempotency import TextSealer
from chalicelib.stores.accounts.group import AccountStores
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.audit.group import AuditStores
from chalicelib.stores.connectors.group import ConnectorStores
from chalicelib.stores.documents import Documents
from chalicelib.stores.idempotency import IdempotencyKeys
from chalicelib.stores.live_reads import LiveAnswers
from chalicelib.stores.monitoring.group import MonitoringStores
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.timeline import Timeline


class Stores:
    """The store of every table. `sealer` seals the answers that are kept for an `Idempotency-Key`."""

    def __init__(self, sealer: TextSealer) -> None:
        self.resources = ResourceStores()
        self.connectors = ConnectorStores()
        self.monitoring = MonitoringStores()
        self.alerts = AlertStores()
        self.accounts = AccountStores()
        self.audit = AuditStores()
        self.timeline = Timeline()
        self.idempotency = IdempotencyKeys(sealer)
        self.live_answers = LiveAnswers()

    @property
    def documents(self) -> Sequence[Documents[Any]]:
        """Every store of documents."""
        resources, alerts, accounts = self.resources, self.alerts, self.accounts
        return (
            *resources.by_type().values(),
            *(resources.connections, resources.jobs, resources.secrets, self.connectors.operations),
            *(self.monitoring.incidents, self.monitoring.source_states),
            *(self.monitoring.target_tables, self.monitoring.target_losses),
            *(alerts.alerts, alerts.tracks, alerts.rules, alerts.channels, alerts.gates, alerts.notifications),
            alerts.maintenance,
            *(accounts.users, accounts.api_tokens),
        )

    @property
    def read_by_the_schedule(self) -> Sequence[Documents[Any]]:
        """Those that the schedule may read: no people, and no secrets, although these are sealed."""
        private = {self.resources.secrets.noun, self.accounts.users.noun, self.accounts.api_tokens.noun}
        return [store for store in self.documents if store.noun not in private]
