"""Pipelines."""

from dataclasses import asdict, replace
from typing import Annotated, Any, Self

from pydantic import Field, StringConstraints

from chalicelib.api.contract.clusters import ConnectClusterOutput, StreamClusterOutput
from chalicelib.api.contract.common import Input, Name, Uuid
from chalicelib.api.contract.deliveries import DeliveryOutput, PreviewOutput, WarningOutput
from chalicelib.api.contract.labels import LABELS, Labels
from chalicelib.api.contract.options import PipelineOptionsBody, PipelineOptionsOutput, TableBody, TableOutput
from chalicelib.api.contract.runtime import ConnectorOwnerOutput, TaskQuery, observed_fields
from chalicelib.api.contract.sources import SourceOutput
from chalicelib.api.contract.views import Definition
from chalicelib.domain.pipeline import (
    Capture,
    CaptureOptions,
    Converter,
    Pipeline,
    Representation,
    SnapshotMode,
)
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.table import TableName
from chalicelib.errors import Invalid
from chalicelib.kit.adapters import adapter
from chalicelib.services.pipelines import PipelineDetail, PipelineInput

TopicPrefix = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=r"^[A-Za-z0-9._-]+$")]
PropertyKey = Annotated[str, StringConstraints(min_length=1, max_length=200)]
PropertyValue = Annotated[str, StringConstraints(max_length=2000)]


class ContinueQuery(Input):
    """How a capture continues."""

    accept_data_loss: bool = Field(
        default=False,
        description="Go on after changes that were lost, without them and without a snapshot: without it that is "
        "refused (409 `DATA_LOSS`). Needs Kafka Connect 3.6 or later.",
    )


class ContinueTaskQuery(ContinueQuery, TaskQuery):
    """Which task, and how its capture continues."""


class PipelineBody(Input):
    """A pipeline to preview or create."""

    name: Name
    labels: Labels = LABELS
    source_id: Uuid
    stream_cluster_id: Uuid
    connect_cluster_id: Uuid
    topic_prefix: TopicPrefix
    tables: list[TableBody] = Field(min_length=1, max_length=500)
    snapshot_mode: SnapshotMode = SnapshotMode.INITIAL
    converter: Converter = Converter.JSON_SCHEMA
    representation: Representation | None = Field(default=None, description="The same as `options.representation`.")
    options: PipelineOptionsBody | None = None
    properties: dict[PropertyKey, PropertyValue] = Field(default_factory=dict, max_length=100)

    def to_input(self) -> PipelineInput:
        # A table that is listed twice counts once.
        tables = dict.fromkeys(TableName(table.schema_name, table.table_name) for table in self.tables)
        options = self.options or PipelineOptionsBody()
        capture = Capture(
            **self.model_dump(include={"topic_prefix", "snapshot_mode", "converter", "properties"}),
            tables=tuple(tables),
            options=self._options(options),
            provider_options=options.to_provider_options(),
        )
        fields = self.model_dump(include={"name", "labels", "source_id", "stream_cluster_id", "connect_cluster_id"})
        return PipelineInput(**fields, capture=capture)

    def _options(self, sent: PipelineOptionsBody) -> CaptureOptions:
        """Raises Invalid when the representation is given twice, and not the same."""
        options = sent.to_options()
        chosen = self.representation or options.representation
        if "representation" in sent.model_fields_set and chosen is not options.representation:
            message = "options.representation has another value. Give the representation once."
            raise Invalid.at("body", "representation", type_="given_twice", message=message)
        return replace(options, representation=chosen)


class PipelineOutput(ConnectorOwnerOutput):
    """A pipeline."""

    source_id: str
    stream_cluster_id: str
    connect_cluster_id: str
    topic_prefix: str
    tables: list[TableOutput]
    snapshot_mode: SnapshotMode
    converter: Converter
    representation: Representation
    options: PipelineOptionsOutput
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
        "representation": capture.options.representation,
        "options": {**asdict(capture.options), **provider.effective_options(pipeline)},
    }


def pipeline_definition(pipeline: Pipeline) -> Definition:
    """With the options that were chosen, where the other view shows those that count."""
    capture = pipeline.capture
    fields = PipelineBody.model_fields.keys() - {"options", "representation"}
    options = adapter(CaptureOptions).dump_python(capture.options, mode="json", exclude_none=True)
    own = {name: value for name, value in capture.provider_options.items() if value is not None}
    return Definition.of(PipelineOutput.of(pipeline), fields, options={**options, **own})
