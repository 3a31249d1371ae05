"""Pipelines."""

from dataclasses import asdict
from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, StringConstraints

from chalicelib.api.contract.clusters import ConnectClusterOutput, StreamClusterOutput
from chalicelib.api.contract.common import Input, Integer, Name, Output, Uuid
from chalicelib.api.contract.databases import Identifier
from chalicelib.api.contract.deliveries import DeliveryOutput, PreviewOutput, WarningOutput
from chalicelib.api.contract.mysql import MySQLOptionsBody, MySQLOptionsOutput
from chalicelib.api.contract.postgresql import PostgreSQLOptionsBody, PostgreSQLOptionsOutput
from chalicelib.api.contract.runtime import ConnectorOwnerOutput, TaskQuery, observed_fields
from chalicelib.api.contract.sources import SourceOutput
from chalicelib.domain.pipeline import (
    Capture,
    CaptureOptions,
    Converter,
    OnConversionError,
    Pipeline,
    SnapshotMode,
)
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.table import ColumnName, TableName
from chalicelib.services.pipelines import PipelineDetail, PipelineInput

TopicPrefix = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=r"^[A-Za-z0-9._-]+$")]
PropertyKey = Annotated[str, StringConstraints(min_length=1, max_length=200)]
PropertyValue = Annotated[str, StringConstraints(max_length=2000)]


class TableBody(Input):
    """A table, as the database spells it."""

    schema_name: Identifier
    table_name: Identifier


class ColumnBody(TableBody):
    """A column, as the database spells it."""

    column_name: Identifier


class ContinueQuery(Input):
    """How a capture continues."""

    accept_data_loss: bool = Field(
        default=False,
        description="Go on after changes that were lost, without them and without a snapshot: without it that is "
        "refused (409 `DATA_LOSS`). Needs Kafka Connect 3.6 or later.",
    )


class ContinueTaskQuery(ContinueQuery, TaskQuery):
    """Which task, and how its capture continues."""


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


class PipelineBody(Input):
    """A pipeline to preview or create."""

    name: Name
    source_id: Uuid
    stream_cluster_id: Uuid
    connect_cluster_id: Uuid
    topic_prefix: TopicPrefix
    tables: list[TableBody] = Field(min_length=1, max_length=500)
    snapshot_mode: SnapshotMode = SnapshotMode.INITIAL
    converter: Converter = Converter.JSON_SCHEMA
    options: PipelineOptionsBody | None = None
    properties: dict[PropertyKey, PropertyValue] = Field(default_factory=dict, max_length=100)

    def to_input(self) -> PipelineInput:
        # A table that is listed twice counts once.
        tables = dict.fromkeys(TableName(table.schema_name, table.table_name) for table in self.tables)
        options = self.options or PipelineOptionsBody()
        capture = Capture(
            **self.model_dump(include={"topic_prefix", "snapshot_mode", "converter", "properties"}),
            tables=tuple(tables),
            options=options.to_options(),
            provider_options=options.to_provider_options(),
        )
        fields = self.model_dump(include={"name", "source_id", "stream_cluster_id", "connect_cluster_id"})
        return PipelineInput(**fields, capture=capture)


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


class PostgreSQLPipelineOptionsOutput(PostgreSQLOptionsOutput, CaptureOptionsOutput):
    """Options of a capture from PostgreSQL, with the real names of slot and publication."""


class MySQLPipelineOptionsOutput(MySQLOptionsOutput, CaptureOptionsOutput):
    """Options of a capture from MySQL."""


class PipelineOutput(ConnectorOwnerOutput):
    """A pipeline."""

    source_id: str
    stream_cluster_id: str
    connect_cluster_id: str
    topic_prefix: str
    tables: list[TableOutput]
    snapshot_mode: SnapshotMode
    converter: Converter
    options: PostgreSQLPipelineOptionsOutput | MySQLPipelineOptionsOutput
    properties: dict[str, str]

    @classmethod
    def of(cls, pipeline: Pipeline) -> Self:
        return cls._read(pipeline, **_computed(pipeline))


class PipelineDetailOutput(PipelineOutput):
    """A pipeline with its source, clusters and deliveries. `config` contains references and masks only."""

    source: SourceOutput
    stream_cluster: StreamClusterOutput
    connect_cluster: ConnectClusterOutput
    config: dict[str, str]
    destinations: list[DeliveryOutput]

    @classmethod
    def of_detail(cls, detail: PipelineDetail) -> Self:
        """The pipeline with what it depends on, without its deliveries."""
        return cls._read(
            detail.pipeline,
            **_computed(detail.pipeline),
            source=detail.source,
            stream_cluster=detail.stream_cluster,
            connect_cluster=detail.connect_cluster,
            config=detail.config,
            destinations=[],
        )


class PipelinePreviewOutput(PreviewOutput):
    """What would be created: references and masks instead of secrets.

    `internal_topics` are written by the connector for itself and cannot be delivered.
    """

    internal_topics: list[str]
    warnings: list[WarningOutput]


def _computed(pipeline: Pipeline) -> dict[str, Any]:
    capture, provider = pipeline.capture, capture_provider(pipeline.provider)
    return {
        **observed_fields(pipeline),
        **{name: getattr(capture, name) for name in ("topic_prefix", "tables", "topics", "converter", "properties")},
        "options": {**asdict(capture.options), **provider.effective_options(pipeline)},
    }
