"""The store of every table, in groups: one for each family of stores."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib.domain.idempotency import TextSealer
from chalicelib.stores.accounts.api_tokens import ApiTokens
from chalicelib.stores.accounts.login_tries import LoginTries, RefusalCounts
from chalicelib.stores.accounts.sessions import Sessions
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.alerts.alerts import Alerts
from chalicelib.stores.alerts.channels import Channels
from chalicelib.stores.alerts.counters import AlertCounters
from chalicelib.stores.alerts.notifications import ChannelGates, Notifications
from chalicelib.stores.alerts.rules import AlertRules
from chalicelib.stores.alerts.tracks import Tracks
from chalicelib.stores.audit.chain import AuditChain
from chalicelib.stores.audit.records import Audit
from chalicelib.stores.claims import Claims, Targets
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.connectors.observations import Observations
from chalicelib.stores.connectors.operations import Operations
from chalicelib.stores.connectors.transitions import Transitions
from chalicelib.stores.counts import Counts
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.documents import Documents
from chalicelib.stores.idempotency import IdempotencyKeys
from chalicelib.stores.jobs import Jobs
from chalicelib.stores.monitoring.findings import CaptureFindings
from chalicelib.stores.monitoring.incidents import Incidents
from chalicelib.stores.monitoring.progress import ProgressStore
from chalicelib.stores.monitoring.source_states import SourceStates
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.sources import Sources


class ResourceStores:
    """What people register, and what belongs to it."""

    def __init__(self) -> None:
        self.claims = Claims()
        self.connects = ConnectClusters()
        self.deliveries = Deliveries()
        self.destinations = Destinations()
        self.jobs = Jobs()
        self.pipelines = Pipelines()
        self.secrets = SealedSecrets()
        self.sources = Sources()
        self.streams = StreamClusters()
        self.tables = SourceTables(self.sources)
        self.targets = Targets()

    def by_type(self) -> Mapping[str, Documents[Any]]:
        """The stores of what incidents and alerts may be about, by type: `source`, `pipeline`, ..."""
        stores: tuple[Documents[Any], ...] = (
            *(self.sources, self.destinations, self.streams, self.connects),
            *(self.pipelines, self.deliveries),
        )
        return {store.noun: store for store in stores}


@dataclass(frozen=True, slots=True)
class ConnectorStores:
    """What is done to connectors, and how they were observed."""

    observations: Observations = field(default_factory=Observations)
    operations: Operations = field(default_factory=Operations)
    transitions: Transitions = field(default_factory=Transitions)


@dataclass(frozen=True, slots=True)
class MonitoringStores:
    """What monitors have measured, and the incidents."""

    counts: Counts = field(default_factory=Counts)
    findings: CaptureFindings = field(default_factory=CaptureFindings)
    incidents: Incidents = field(default_factory=Incidents)
    progress: ProgressStore = field(default_factory=ProgressStore)
    source_states: SourceStates = field(default_factory=SourceStates)


@dataclass(frozen=True, slots=True)
class AlertStores:
    """Alerts, and who is notified of them."""

    alerts: Alerts = field(default_factory=Alerts)
    channels: Channels = field(default_factory=Channels)
    counters: AlertCounters = field(default_factory=AlertCounters)
    gates: ChannelGates = field(default_factory=ChannelGates)
    notifications: Notifications = field(default_factory=Notifications)
    rules: AlertRules = field(default_factory=AlertRules)
    tracks: Tracks = field(default_factory=Tracks)


class AccountStores:
    """People and their programs."""

    def __init__(self, claims: Claims) -> None:
        self.users = Users(claims)
        self.api_tokens = ApiTokens(self.users)
        self.login_tries = LoginTries()
        self.sessions = Sessions(self.users)


@dataclass(frozen=True, slots=True)
class AuditStores:
    """The audit trail."""

    chain: AuditChain = field(default_factory=AuditChain)
    records: Audit = field(default_factory=Audit)
    refusals: RefusalCounts = field(default_factory=RefusalCounts)


class Stores:
    """The store of every table. `sealer` seals the answers that are kept for an `Idempotency-Key`."""

    def __init__(self, sealer: TextSealer) -> None:
        self.resources = ResourceStores()
        self.connectors = ConnectorStores()
        self.monitoring = MonitoringStores()
        self.alerts = AlertStores()
        self.accounts = AccountStores(self.resources.claims)
        self.audit = AuditStores()
        self.idempotency = IdempotencyKeys(sealer)
