"""Every table, for what creates them: a local run, and the data stack on AWS (`infra/aws/data_stack.py`)."""

from pynamodb.models import Model

from chalicelib.stores.accounts.api_tokens import ApiTokenRows
from chalicelib.stores.accounts.claims import AccountClaimRow
from chalicelib.stores.accounts.login_tries import LoginTryRow
from chalicelib.stores.accounts.sessions import SessionRow
from chalicelib.stores.accounts.users import UserRows
from chalicelib.stores.alerts.alerts import AlertRows
from chalicelib.stores.alerts.channels import ChannelRows
from chalicelib.stores.alerts.maintenance import MaintenanceRows
from chalicelib.stores.alerts.notifications import ChannelGateRows, NotificationRows
from chalicelib.stores.alerts.rules import AlertRuleRows
from chalicelib.stores.alerts.tracks import AlertTrackRows
from chalicelib.stores.audit.chain import ChainRow
from chalicelib.stores.audit.records import AuditRow
from chalicelib.stores.claims import ClaimRow
from chalicelib.stores.clusters import ConnectClusterRows, StreamClusterRows
from chalicelib.stores.connections import ConnectionRows
from chalicelib.stores.connectors.observations import ObservationRow
from chalicelib.stores.connectors.operations import OperationRows
from chalicelib.stores.counts import CountRow
from chalicelib.stores.deliveries import DeliveryRows
from chalicelib.stores.destinations import DestinationRows
from chalicelib.stores.idempotency import IdempotencyRow
from chalicelib.stores.jobs import JobRows
from chalicelib.stores.live_reads import LiveReadRow
from chalicelib.stores.monitoring.histories import HistoryRow
from chalicelib.stores.monitoring.incidents import IncidentRows
from chalicelib.stores.monitoring.progress import ProgressRow
from chalicelib.stores.monitoring.source_states import SourceStateRows
from chalicelib.stores.monitoring.target_tables import TargetLossRows, TargetTableRows
from chalicelib.stores.pipelines import PipelineRows
from chalicelib.stores.schema_versions import SchemaVersionRow
from chalicelib.stores.secrets import SecretRows
from chalicelib.stores.source_tables import SourceTableRow
from chalicelib.stores.sources import SourceRows
from chalicelib.stores.timeline import TimelineRow

ALL_TABLES: tuple[type[Model], ...] = (
    AccountClaimRow,
    AlertRows,
    AlertRuleRows,
    AlertTrackRows,
    ApiTokenRows,
    AuditRow,
    ChainRow,
    ChannelGateRows,
    ChannelRows,
    ClaimRow,
    ConnectClusterRows,
    ConnectionRows,
    CountRow,
    DeliveryRows,
    DestinationRows,
    HistoryRow,
    IdempotencyRow,
    IncidentRows,
    JobRows,
    LiveReadRow,
    LoginTryRow,
    MaintenanceRows,
    NotificationRows,
    ObservationRow,
    OperationRows,
    PipelineRows,
    ProgressRow,
    SchemaVersionRow,
    SecretRows,
    SessionRow,
    SourceRows,
    SourceStateRows,
    SourceTableRow,
    StreamClusterRows,
    TargetLossRows,
    TargetTableRows,
    TimelineRow,
    UserRows,
)
