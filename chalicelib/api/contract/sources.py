"""Sources, their tables, and how ready they are."""

from pydantic import Field

from chalicelib.api.contract.common import Input, Integer, Output, Timestamp, Uuid
from chalicelib.api.contract.databases import ConnectedDatabaseInput, DatabaseConfig
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.live_reads import FreshQuery
from chalicelib.api.contract.options import SourceOptions, SourceOptionsOutput
from chalicelib.api.contract.systems import SystemFields, SystemOutput, system_definition
from chalicelib.api.contract.views import Definition
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.readiness import CheckOutcome, ReadinessStatus
from chalicelib.domain.source import MAX_DISCOVERY_BOUND, Source
from chalicelib.domain.table import IssueCode, IssueSeverity
from chalicelib.services.sources import SourceInput, TableFilter


class SourceBody(ConnectedDatabaseInput, SystemFields):
    """A database to register for capture."""

    options: SourceOptions | None = None

    def to_input(self) -> SourceInput:
        options = self.options.model_dump(exclude_unset=True) if self.options else {}
        return SourceInput(**self.system_fields(), address=self.address(), secrets=self.secrets(), options=options)


class SourceOutput(SystemOutput[DatabaseProvider, DatabaseConfig]):
    """A registered source."""

    options: SourceOptionsOutput
    last_discovery_at: Timestamp | None
    tables: int | None
    cdc_ready_tables: int | None


class ColumnOutput(Output):
    """A column. `type` is the database's own spelling."""

    name: str
    type: str
    nullable: bool
    ordinal: int


class IssueOutput(Output):
    """What would go wrong with a capture of the table."""

    code: IssueCode
    severity: IssueSeverity
    column: str | None
    message: str


class SourceTableOutput(Output):
    """A discovered table."""

    id: str
    source_id: str
    schema_name: str
    table_name: str
    primary_key_columns: list[str]
    columns: list[ColumnOutput]
    estimated_rows: int | None
    estimated_size_bytes: int | None
    replica_identity: str | None
    cdc_ready: bool
    cdc_issues: list[IssueOutput] = Field(validation_alias="issues")


class DiscoveryQuery(Input):
    """How much a discovery reads."""

    max_tables: Integer | None = Field(default=None, ge=1, le=MAX_DISCOVERY_BOUND)


class TablesQuery(ListQuery):
    """Filters of a source's tables."""

    search: str | None = Field(default=None, max_length=200, description="Part of `schema.table`, in any case.")
    schema_: str | None = Field(default=None, alias="schema", max_length=64, description="Exactly this schema.")
    cdc_ready: bool | None = None
    has_primary_key: bool | None = None
    min_size: Integer | None = Field(default=None, ge=0, le=2**63 - 1, description="Bytes.")

    def to_input(self) -> TableFilter:
        return TableFilter(**self.model_dump(by_alias=True, exclude={"limit", "cursor"}))


class ReadinessQuery(FreshQuery):
    """The pipeline whose options are checked; without it the server is."""

    pipeline_id: Uuid | None = None


class ReadinessCheckOutput(Output):
    """One check, with what to do about it."""

    key: str
    name: str
    status: CheckOutcome
    severity: IssueSeverity
    description: str
    current_value: str | None
    expected_value: str | None
    recommended_action: str | None


class ReadinessOutput(Output):
    """Whether capture will really work."""

    status: ReadinessStatus
    checked_at: Timestamp
    checks: list[ReadinessCheckOutput]


def source_definition(source: Source) -> Definition:
    return system_definition(source, SourceOutput.of(source), "options")
