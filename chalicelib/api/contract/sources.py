"""Sources, their tables, and how ready they are."""

from pydantic import Field

from chalicelib.api.contract.common import Input, Output, StrictInt, Timestamp, Uuid
from chalicelib.api.contract.lists import ListQuery
from chalicelib.api.contract.systems import LookOutput, SystemBody, SystemOutput, system_fields
from chalicelib.domain.readiness import CheckOutcome, Readiness, ReadinessStatus
from chalicelib.domain.source import Source
from chalicelib.domain.table import IssueCode, Severity, SourceTable
from chalicelib.services.sources import TableFilter


class SourceOptions(Input):
    """Options of a source. PostgreSQL has none."""


class SourceBody(SystemBody):
    """A database to register for capture."""

    options: SourceOptions | None = None


class _OptionsOutput(SystemOutput):
    options: SourceOptions = SourceOptions()


class SourceOutput(LookOutput, _OptionsOutput):
    """A registered source."""

    last_discovery_at: Timestamp | None
    tables: int | None
    cdc_ready_tables: int | None
    version: int
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of(cls, source: Source) -> "SourceOutput":
        """The source as it is shown."""
        return cls(
            **system_fields(source),
            last_discovery_at=source.last_discovery_at,
            tables=source.tables,
            cdc_ready_tables=source.cdc_ready_tables,
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
    min_size: StrictInt | None = Field(default=None, ge=0, le=2**63 - 1, description="Bytes.")

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
    checked_at: Timestamp
    checks: list[ReadinessCheckOutput]

    @classmethod
    def of(cls, readiness: Readiness) -> "ReadinessOutput":
        """The verdict as it is shown."""
        checks = [ReadinessCheckOutput.model_validate(check, from_attributes=True) for check in readiness.checks]
        return cls(status=readiness.status, checked_at=readiness.checked_at, checks=checks)
