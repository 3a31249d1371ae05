"""The store of every table."""

from collections.abc import Mapping
from typing import Any

from chalicelib.secrets.sealer import Sealer
from chalicelib.stores.accounts.api_tokens import ApiTokens
from chalicelib.stores.accounts.login_tries import LoginTries
from chalicelib.stores.accounts.refusals import RefusalCounts
from chalicelib.stores.accounts.sessions import Sessions
from chalicelib.stores.accounts.users import Users
from chalicelib.stores.alerts.alerts import Alerts
from chalicelib.stores.alerts.channels import Channels
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


class Stores:
    """The store of every table."""

    def __init__(self, sealer: Sealer) -> None:
        """`sealer` seals the answers that are kept for an `Idempotency-Key`."""
        self.alerts = Alerts()
        self.alert_rules = AlertRules()
        self.alert_tracks = Tracks()
        self.audit = Audit()
        self.audit_chain = AuditChain()
        self.channel_gates = ChannelGates()
        self.channels = Channels()
        self.claims = Claims()
        self.connects = ConnectClusters()
        self.counts = Counts()
        self.deliveries = Deliveries()
        self.destinations = Destinations()
        self.findings = CaptureFindings()
        self.idempotency = IdempotencyKeys(sealer)
        self.incidents = Incidents()
        self.jobs = Jobs()
        self.notifications = Notifications()
        self.observations = Observations()
        self.operations = Operations()
        self.pipelines = Pipelines()
        self.progress = ProgressStore()
        self.refusals = RefusalCounts()
        self.secrets = SealedSecrets()
        self.sources = Sources()
        self.source_states = SourceStates()
        self.streams = StreamClusters()
        self.tables = SourceTables(self.sources)
        self.targets = Targets()
        self.transitions = Transitions()
        self.users = Users(self.claims)
        self.sessions = Sessions(self.users)
        self.api_tokens = ApiTokens(self.users)
        self.login_tries = LoginTries()

    @property
    def resources(self) -> Mapping[str, Documents[Any]]:
        """The stores of what incidents and alerts may be about, by type: `source`, `pipeline`, ..."""
        every: tuple[Documents[Any], ...] = (
            *(self.sources, self.destinations, self.streams, self.connects),
            *(self.pipelines, self.deliveries),
        )
        return {one.noun: one for one in every}
