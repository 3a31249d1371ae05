"""Sources, their tables, and how ready they are."""

from pydantic import Field

from chalicelib.api.contract.common import (
    CredentialsOutput,
    FailureOutput,
    Input,
    Line,
    Moment,
    Name,
    NotYet,
    Output,
    Uuid,
    secrets_of,
)
from chalicelib.api.contract.databases import DatabaseConfig, DatabaseCredentials, LastTest
from chalicelib.api.contract.lists import ListQuery
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.provider import DatabaseProvider
from chalicelib.domain.readiness import CheckOutcome, Readiness, ReadinessStatus
from chalicelib.domain.source import Source
from chalicelib.domain.table import IssueCode, Severity, SourceTable
from chalicelib.services.sources import SourceInput, TableFilter


class SourceOptions(Input):
    """Options of a source. PostgreSQL has none."""


class SourceBody(Input):
    """A database to register for capture."""

    name: Name
    description: Line | None = None
    environment: Line | None = Field(default=None, max_length=64)
    provider: DatabaseProvider
    connection_id: NotYet = None
    config: DatabaseConfig
    credentials: DatabaseCredentials = DatabaseCredentials()
    options: SourceOptions = SourceOptions()

    def given(self) -> SourceInput:
        """What the service is told."""
        return SourceInput(
            name=self.name,
            description=self.description,
            environment=self.environment,
            address=self.config.address(self.provider),
            secrets=secrets_of(self.credentials),
        )


class SourceOutput(Output):
    """A registered source."""

    id: str
    name: str
    description: str | None
    environment: str | None
    provider: DatabaseProvider
    connection_id: str | None = None
    config: DatabaseConfig
    credentials: CredentialsOutput
    options: SourceOptions = SourceOptions()
    status: HealthStatus
    last_error: FailureOutput | None
    last_tested_at: Moment | None
    last_test: LastTest | None
    last_health_check_at: Moment | None
    last_discovery_at: Moment | None
    tables: int | None
    cdc_ready_tables: int | None
    version: int
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, source: Source) -> "SourceOutput":
        """The source as it is shown."""
        return cls(
            id=source.id,
            name=source.name,
            description=source.description,
            environment=source.environment,
            provider=source.address.provider,
            config=DatabaseConfig.of(source.address),
            credentials=CredentialsOutput.of(source.credentials),
            status=source.health.status,
            last_error=FailureOutput.of(source.health.last_error),
            last_tested_at=source.last_tested_at,
            last_test=LastTest.of(source.last_test),
            last_health_check_at=source.health.checked_at,
            last_discovery_at=source.last_discovery_at,
            tables=source.tables,
            cdc_ready_tables=source.cdc_ready_tables,
            version=source.version,
            created_at=source.created_at,
            updated_at=source.updated_at,
        )


class ColumnOutput(Output):
    """A column. `type` is the database's own spelling."""

    name: str
    type: str
    nullable: bool
    ordinal: int


class IssueOutput(Output):
    """What a capture of the table would stumble over."""

    code: IssueCode
    severity: Severity
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
    cdc_issues: list[IssueOutput]

    @classmethod
    def of(cls, table: SourceTable) -> "SourceTableOutput":
        """The table as it is shown."""
        return cls(
            id=table.id,
            source_id=table.source_id,
            schema_name=table.schema_name,
            table_name=table.table_name,
            primary_key_columns=list(table.primary_key_columns),
            columns=[
                ColumnOutput(name=c.name, type=c.type, nullable=c.nullable, ordinal=c.ordinal) for c in table.columns
            ],
            estimated_rows=table.estimated_rows,
            estimated_size_bytes=table.estimated_size_bytes,
            replica_identity=table.replica_identity,
            cdc_ready=table.cdc_ready,
            cdc_issues=[
                IssueOutput(code=i.code, severity=i.severity, column=i.column, message=i.message) for i in table.issues
            ],
        )


class TablesQuery(ListQuery):
    """Filters of a source's tables."""

    search: str | None = Field(default=None, max_length=200, description="Part of `schema.table`, in any case.")
    schema_: str | None = Field(default=None, alias="schema", max_length=63, description="Exactly this schema.")
    cdc_ready: bool | None = None
    has_primary_key: bool | None = None
    min_size: int | None = Field(default=None, ge=0, le=2**63 - 1, description="Bytes.")

    def wanted(self) -> TableFilter:
        """What the service is told."""
        return TableFilter(
            search=self.search,
            schema=self.schema_,
            cdc_ready=self.cdc_ready,
            has_primary_key=self.has_primary_key,
            min_size=self.min_size,
        )


class ReadinessQuery(Input):
    """For whose choices to judge."""

    pipeline_id: Uuid | None = None


class ReadinessCheckOutput(Output):
    """One check, with what to do about it."""

    key: str
    name: str
    status: CheckOutcome
    severity: Severity
    description: str
    current_value: str | None
    expected_value: str | None
    recommended_action: str | None


class ReadinessOutput(Output):
    """Whether capture will really work."""

    status: ReadinessStatus
    checked_at: Moment
    checks: list[ReadinessCheckOutput]

    @classmethod
    def of(cls, readiness: Readiness) -> "ReadinessOutput":
        """The verdict as it is shown."""
        checks = [ReadinessCheckOutput.model_validate(check, from_attributes=True) for check in readiness.checks]
        return cls(status=readiness.status, checked_at=readiness.checked_at, checks=checks)
