"""Deliveries."""

from collections.abc import Sequence
from typing import Any, Self

from pydantic import AliasPath, Field, StrictBool

from chalicelib.api.contract.common import ErrorOutput, Input, Integer, Line, Name, Output, Uuid
from chalicelib.api.contract.databases import Identifier
from chalicelib.api.contract.labels import LABELS, Labels
from chalicelib.api.contract.runtime import ConnectorOwnerOutput, DeliveryStatusOutput, observed_fields
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import Delivery, MappingInput, WriteMode
from chalicelib.domain.object_store import (
    DEFAULT_TEMPLATE,
    MAX_TEMPLATE_CHARACTERS,
    Compression,
    FileFormat,
    FileShape,
    FileWriting,
)
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.providers.registry import database_defaults
from chalicelib.services.deliveries import DeliveryInput, DeliveryOutcome

OFFSETS_NOTICE = (
    "Offsets are kept and nothing is backfilled: rows that were read before the change stay where they are."
)
_DEFAULT_SCHEMAS = ", ".join(
    database_defaults(provider).schema or "the name of the database" for provider in DatabaseProvider
)
_WORST_FIRST = (
    ObservedState.FAILED,
    ObservedState.DEGRADED,
    ObservedState.UNKNOWN,
    ObservedState.RESTARTING,
    ObservedState.UNASSIGNED,
    ObservedState.NOT_DEPLOYED,
    ObservedState.STOPPED,
    ObservedState.PAUSED,
    ObservedState.RUNNING,
)


class DeliveryQuery(Input):
    """Which delivery; all of the destination's when left out."""

    delivery_id: Uuid | None = None


class MappingBody(Input):
    """A topic, and for a database the table that its rows are written to."""

    topic: str = Field(min_length=1, max_length=249, pattern=r"^[A-Za-z0-9._-]+$")
    schema_name: Identifier | None = Field(default=None, description=f"{_DEFAULT_SCHEMAS} when left out.")
    table_name: Identifier | None = Field(default=None, description="Required for databases, absent for files.")


class MappingsBody(Input):
    """New mappings of a delivery."""

    mappings: list[MappingBody] = Field(min_length=1, max_length=500)

    def to_mappings(self) -> tuple[MappingInput, ...]:
        return tuple(MappingInput(**mapping.model_dump()) for mapping in self.mappings)


_FILES = "For object storage only."
_COMMON = {"pipeline_id", "name", "labels", "connect_cluster_id", "tasks_max"}
"""What a body says about a delivery to any kind of destination, besides its mappings."""


class DeliveryBody(MappingsBody):
    """A delivery to preview or deploy."""

    pipeline_id: Uuid
    name: Name
    labels: Labels = LABELS
    connect_cluster_id: Uuid | None = None
    write_mode: WriteMode = WriteMode.UPSERT
    delete_enabled: StrictBool | None = Field(default=None, description="Left out: true for upsert, false for insert.")
    auto_create: StrictBool = True
    auto_evolve: StrictBool = True
    batch_size: Integer = Field(default=500, ge=1, le=10000)
    format: FileFormat = Field(default=FileFormat.JSONL, description=_FILES)
    shape: FileShape = Field(
        default=FileShape.ENVELOPE, description=f"{_FILES} A line is the whole change, or the row after it."
    )
    compression: Compression = Field(default=Compression.GZIP, description=_FILES)
    file_name_template: Line = Field(
        default=DEFAULT_TEMPLATE,
        min_length=1,
        max_length=MAX_TEMPLATE_CHARACTERS,
        description=f"{_FILES} Below the prefix of the destination; the extension is added.",
    )
    max_records_per_file: Integer | None = Field(
        default=None, ge=0, le=10_000_000, description=f"{_FILES} 0: no limit. Left out: what suits the sink."
    )
    tasks_max: Integer = Field(default=1, ge=1, le=64)

    def to_input(self) -> DeliveryInput:
        # Of the options only what was sent: the destination's provider has the defaults, and refuses what it lacks.
        return DeliveryInput(
            **self.model_dump(include=_COMMON),
            mappings=self.to_mappings(),
            options=self.model_dump(exclude={*_COMMON, "mappings"}, exclude_unset=True, exclude_none=True),
        )


class MappingOutput(Output):
    """A topic and its target table."""

    topic: str
    schema_name: str
    table_name: str


class ConfigurationOutput(Output):
    """How rows are really written: with write_mode insert no row is deleted, whatever `delete_enabled` was."""

    write_mode: WriteMode = Field(validation_alias=AliasPath("writing", "write_mode"))
    delete_enabled: bool = Field(validation_alias=AliasPath("writing", "deletes"))
    auto_create: bool = Field(validation_alias=AliasPath("writing", "auto_create"))
    auto_evolve: bool = Field(validation_alias=AliasPath("writing", "auto_evolve"))
    batch_size: int = Field(validation_alias=AliasPath("writing", "batch_size"))
    tasks_max: int


class TopicMappingOutput(Output):
    """A topic that is written to files."""

    topic: str


class FileConfigurationOutput(Output):
    """How files are written."""

    format: FileFormat = Field(validation_alias=AliasPath("writing", "format"))
    shape: FileShape = Field(validation_alias=AliasPath("writing", "shape"))
    compression: Compression = Field(validation_alias=AliasPath("writing", "compression"))
    file_name_template: str = Field(validation_alias=AliasPath("writing", "file_name_template"))
    max_records_per_file: int | None = Field(validation_alias=AliasPath("writing", "max_records_per_file"))
    tasks_max: int


class PluginChoiceOutput(Output):
    """The plug-in that was chosen at the deployment."""

    class_: str = Field(serialization_alias="class", validation_alias="class_name")
    version: str | None


class DeliveryOutput(ConnectorOwnerOutput):
    """A delivery."""

    destination_id: str
    pipeline_id: str
    connect_cluster_id: str
    mappings: list[MappingOutput | TopicMappingOutput]
    configuration: ConfigurationOutput | FileConfigurationOutput
    plugin: PluginChoiceOutput | None
    notice: str | None = None

    @classmethod
    def of(cls, delivery: Delivery, *, notice: str | None = None) -> Self:
        writing = delivery.writing
        to_files = isinstance(writing, FileWriting)
        return cls._read(
            delivery,
            **observed_fields(delivery),
            configuration=(FileConfigurationOutput if to_files else ConfigurationOutput).of(delivery),
            plugin=writing.plugin if isinstance(writing, FileWriting) else None,
            notice=notice,
        )


class ValidationOutput(Output):
    """The errors that Kafka Connect finds in a config, in our words."""

    error_count: int
    errors: list[dict[str, Any]]


class PreviewOutput(Output):
    """What would be created: references and masks instead of secrets."""

    connector_name: str
    config: dict[str, str]
    topics: list[str]
    validation: ValidationOutput


class WarningOutput(ErrorOutput):
    """Something to know beforehand. It does not prevent the deployment."""


class TargetStatementOutput(Output):
    """The statement that creates one target table."""

    table_name: str
    statement: str


class SetupDocumentOutput(Output):
    """A text to set up the destination with; `name` is its kind."""

    name: str
    document: str


class DeliveryPreviewOutput(PreviewOutput):
    """What would be deployed: references and masks instead of secrets.

    `target_ddl`: the target tables in which everything arrives equal, for somebody to create before the delivery.
    `setup`: for object storage, an IAM policy and a lifecycle configuration, for somebody to set.
    """

    warnings: list[WarningOutput]
    setup: list[SetupDocumentOutput]
    target_ddl: list[TargetStatementOutput]


class DeliveryMappingsOutput(Output):
    """The mappings of one delivery."""

    delivery_id: str = Field(validation_alias="id")
    name: str
    pipeline_id: str
    mappings: list[MappingOutput | TopicMappingOutput]


class DestinationStatusOutput(Output):
    """The deliveries of a destination, each observed separately; the states are the worst of all of theirs."""

    destination_id: str
    desired_state: DesiredState
    observed_state: ObservedState
    deliveries: list[DeliveryStatusOutput]

    @classmethod
    def of_statuses(cls, destination_id: str, statuses: Sequence[DeliveryStatusOutput]) -> Self:
        """The worst states. A destination without deliveries is a DRAFT that is NOT_DEPLOYED."""
        desired = {status.desired_state for status in statuses}
        observed = {status.observed_state for status in statuses}
        return cls(
            destination_id=destination_id,
            desired_state=next((state for state in DesiredState if state in desired), DesiredState.DRAFT),
            observed_state=next((state for state in _WORST_FIRST if state in observed), ObservedState.NOT_DEPLOYED),
            deliveries=[],
        )


class DeliveryOutcomeOutput(Output):
    """The result for one delivery."""

    id: str
    desired_state: DesiredState
    observed_state: ObservedState
    error: ErrorOutput | None

    @classmethod
    def of(cls, outcome: DeliveryOutcome) -> Self:
        """The delivery after the attempt."""
        return cls._read(outcome.delivery, **observed_fields(outcome.delivery), error=outcome.error)


class DeliveryOutcomesOutput(Output):
    """The result for each delivery of a destination."""

    deliveries: list[DeliveryOutcomeOutput]
