"""Pipelines."""

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import Field, StrictBool, StringConstraints

from chalicelib.api.contract.clusters import ConnectClusterOutput, StreamClusterOutput
from chalicelib.api.contract.common import FailureOutput, Input, Name, Output, StrictInt, Timestamp, Uuid
from chalicelib.api.contract.databases import Identifier
from chalicelib.api.contract.deliveries import DeliveryOutput, ValidationOutput
from chalicelib.api.contract.runtime import MetricsOutput, OpenOperationOutput, TaskOutput, status_fields
from chalicelib.api.contract.sources import SourceOutput
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.pipeline import Capture, CaptureOptions, Converter, Pipeline, PublicationMode, SnapshotMode
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.table import TableName
from chalicelib.services.pipelines import PipelineDetail, PipelineInput, PipelinePreview

TopicPrefix = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=r"^[A-Za-z0-9._-]+$")]
SlotName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_]{1,63}$")]
PropertyKey = Annotated[str, StringConstraints(min_length=1, max_length=200)]
PropertyValue = Annotated[str, StringConstraints(max_length=2000)]


class TableBody(Input):
    """A table, as the database spells it."""

    schema_name: Identifier
    table_name: Identifier


class PipelineOptionsBody(Input):
    """Options of a capture. What is left out is Debezium's default."""

    heartbeat_interval_ms: StrictInt | None = Field(default=None, ge=0, le=3_600_000)
    max_batch_size: StrictInt | None = Field(default=None, ge=1, le=1_000_000)
    max_queue_size: StrictInt | None = Field(default=None, ge=2, le=10_000_000)
    poll_interval_ms: StrictInt | None = Field(default=None, ge=1, le=3_600_000)
    tombstones_on_delete: StrictBool = True
    publication_mode: PublicationMode = PublicationMode.FILTERED
    publication_name: SlotName | None = None
    slot_name: SlotName | None = None


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

    def given(self) -> PipelineInput:
        """What the service is told. A table named twice counts once."""
        tables = dict.fromkeys(TableName(table.schema_name, table.table_name) for table in self.tables)
        return PipelineInput(
            name=self.name,
            source_id=self.source_id,
            stream_cluster_id=self.stream_cluster_id,
            connect_cluster_id=self.connect_cluster_id,
            capture=Capture(
                topic_prefix=self.topic_prefix,
                tables=tuple(tables),
                snapshot_mode=self.snapshot_mode,
                converter=self.converter,
                options=CaptureOptions(**(self.options or PipelineOptionsBody()).model_dump()),
                properties=self.properties,
            ),
        )


class TableOutput(Output):
    """A captured table."""

    schema_name: str
    table_name: str


class PipelineOptionsOutput(Output):
    """Options of a capture, with the names that slot and publication really have."""

    heartbeat_interval_ms: int | None
    max_batch_size: int | None
    max_queue_size: int | None
    poll_interval_ms: int | None
    tombstones_on_delete: bool
    publication_mode: PublicationMode
    publication_name: str
    slot_name: str


class PipelineOutput(Output):
    """A pipeline."""

    id: str
    name: str
    source_id: str
    stream_cluster_id: str
    connect_cluster_id: str
    topic_prefix: str
    tables: list[TableOutput]
    snapshot_mode: SnapshotMode
    converter: Converter
    options: PipelineOptionsOutput
    properties: dict[str, str]
    connector_name: str
    desired_state: DesiredState
    observed_state: ObservedState
    observed_at: Timestamp | None
    reasons: list[str]
    tasks: list[TaskOutput]
    topics: list[str]
    open_operation: OpenOperationOutput | None
    last_error: FailureOutput | None
    metrics: MetricsOutput
    version: int
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of(cls, pipeline: Pipeline) -> "PipelineOutput":
        """The pipeline as it is shown."""
        return cls(**pipeline_fields(pipeline))


class PipelineDetailOutput(PipelineOutput):
    """A pipeline with everything around it. `config` holds references and masks only."""

    source: SourceOutput
    stream_cluster: StreamClusterOutput
    connect_cluster: ConnectClusterOutput
    config: dict[str, str]
    destinations: list[DeliveryOutput]

    @classmethod
    def of_detail(cls, detail: PipelineDetail) -> "PipelineDetailOutput":
        """The detail as it is shown."""
        return cls(
            source=SourceOutput.of(detail.source),
            stream_cluster=StreamClusterOutput.of(detail.stream_cluster),
            connect_cluster=ConnectClusterOutput.of(detail.connect_cluster),
            config=dict(detail.config),
            destinations=[DeliveryOutput.of(delivery) for delivery in detail.deliveries],
            **pipeline_fields(detail.pipeline),
        )


class PipelinePreviewOutput(Output):
    """What would be created: references and masks instead of secrets."""

    connector_name: str
    config: dict[str, str]
    topics: list[str]
    validation: ValidationOutput

    @classmethod
    def of(cls, preview: PipelinePreview) -> "PipelinePreviewOutput":
        """The preview as it is shown."""
        return cls(
            connector_name=preview.connector_name,
            config=dict(preview.config),
            topics=list(preview.topics),
            validation=ValidationOutput(
                error_count=preview.validation.error_count, errors=[dict(e) for e in preview.validation.errors]
            ),
        )


def pipeline_fields(pipeline: Pipeline) -> dict[str, Any]:
    """The fields of a pipeline, with or without what is around it."""
    capture, status = pipeline.capture, status_fields(pipeline)
    del status["connector"]
    options = asdict(capture_provider(pipeline.provider).effective_options(pipeline))
    return {
        "id": pipeline.id,
        "name": pipeline.name,
        "source_id": pipeline.source_id,
        "stream_cluster_id": pipeline.stream_cluster_id,
        "connect_cluster_id": pipeline.connect_cluster_id,
        "topic_prefix": capture.topic_prefix,
        "tables": [TableOutput(schema_name=t.schema_name, table_name=t.table_name) for t in capture.tables],
        "snapshot_mode": capture.snapshot_mode,
        "converter": capture.converter,
        "options": PipelineOptionsOutput(**options),
        "properties": dict(capture.properties),
        "connector_name": pipeline.connector_name,
        "topics": list(capture.topics),
        "open_operation": OpenOperationOutput.of(pipeline.open_operation),
        "last_error": FailureOutput.of(pipeline.last_error),
        "metrics": MetricsOutput(),
        "version": pipeline.version,
        "created_at": pipeline.created_at,
        "updated_at": pipeline.updated_at,
    } | status
