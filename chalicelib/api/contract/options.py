"""Options of sources and pipelines: those that every provider has, and those of one kind of database alone."""

from typing import Any

from pydantic import ConfigDict, Field, StrictBool

from chalicelib.api.contract.common import Input, Integer, Output
from chalicelib.api.contract.databases import Identifier
from chalicelib.api.contract.mysql import (
    MySQLOptionsBody,
    MySQLOptionsOutput,
    MySQLSourceOptions,
    MySQLSourceOptionsOutput,
)
from chalicelib.api.contract.postgresql import PostgreSQLOptionsBody, PostgreSQLOptionsOutput
from chalicelib.domain.pipeline import CaptureOptions, OnConversionError, Representation
from chalicelib.domain.table import ColumnName, TableName


class SourceOptions(MySQLSourceOptions):
    """Options of a source. PostgreSQL has none."""


class NoSourceOptions(Output):
    """The options of a source whose provider has none."""

    model_config = ConfigDict(extra="forbid")


SourceOptionsOutput = NoSourceOptions | MySQLSourceOptionsOutput


class TableBody(Input):
    """A table, as the database spells it."""

    schema_name: Identifier
    table_name: Identifier


class ColumnBody(TableBody):
    """A column, as the database spells it."""

    column_name: Identifier


class CaptureOptionsBody(Input):
    """Options that every provider has."""

    heartbeat_interval_ms: Integer | None = Field(default=None, ge=0, le=3_600_000)
    max_batch_size: Integer | None = Field(default=None, ge=1, le=1_000_000)
    max_queue_size: Integer | None = Field(default=None, ge=2, le=10_000_000)
    poll_interval_ms: Integer | None = Field(default=None, ge=1, le=3_600_000)
    tombstones_on_delete: StrictBool = True
    on_conversion_error: OnConversionError = OnConversionError.FAIL
    max_message_bytes: Integer | None = Field(default=None, ge=1024 * 1024, le=64 * 1024 * 1024)
    heartbeat_table: TableBody | None = None
    exclude_columns: list[ColumnBody] = Field(default_factory=list, max_length=500)
    representation: Representation = Field(
        default=Representation.EXACT,
        description="readable: numbers and times as text, for files. No delivery to a database takes it.",
    )

    def to_options(self) -> CaptureOptions:
        fields = self.model_dump(include=_SHARED_OPTIONS, exclude={"heartbeat_table", "exclude_columns"})
        heartbeat, columns = self.heartbeat_table, self.exclude_columns
        # A column that is listed twice counts once.
        return CaptureOptions(
            **fields,
            heartbeat_table=TableName(**heartbeat.model_dump()) if heartbeat else None,
            exclude_columns=tuple(dict.fromkeys(ColumnName(**column.model_dump()) for column in columns)),
        )


_SHARED_OPTIONS = set(CaptureOptionsBody.model_fields)


class PipelineOptionsBody(PostgreSQLOptionsBody, MySQLOptionsBody, CaptureOptionsBody):
    """Options of a capture. Debezium's defaults apply to what is left out."""

    def to_provider_options(self) -> dict[str, Any]:
        """Those that were sent and not every provider has: the source's own refuses what it does not have."""
        return self.model_dump(exclude=_SHARED_OPTIONS, exclude_unset=True)


class TableOutput(Output):
    """A captured table."""

    schema_name: str
    table_name: str


class CapturedColumnOutput(TableOutput):
    """A column of a captured table."""

    column_name: str


class CaptureOptionsOutput(Output):
    """Options that every provider has."""

    heartbeat_interval_ms: int | None
    max_batch_size: int | None
    max_queue_size: int | None
    poll_interval_ms: int | None
    tombstones_on_delete: bool
    on_conversion_error: OnConversionError
    max_message_bytes: int | None
    heartbeat_table: TableOutput | None
    exclude_columns: list[CapturedColumnOutput]
    representation: Representation


class PostgreSQLPipelineOptionsOutput(PostgreSQLOptionsOutput, CaptureOptionsOutput):
    """Options of a capture from PostgreSQL, with the names that the server has."""


class MySQLPipelineOptionsOutput(MySQLOptionsOutput, CaptureOptionsOutput):
    """Options of a capture from MySQL."""


PipelineOptionsOutput = PostgreSQLPipelineOptionsOutput | MySQLPipelineOptionsOutput
