"""Deliveries to databases."""

from dataclasses import replace
from typing import Any

from pydantic import Field, StrictBool

from chalicelib.api.contract.common import ErrorOutput, FailureOutput, Input, Name, Output, StrictInt, Timestamp, Uuid
from chalicelib.api.contract.databases import Identifier
from chalicelib.api.contract.runtime import (
    DeliveryStatusOutput,
    MetricsOutput,
    OpenOperationOutput,
    TaskOutput,
    status_fields,
)
from chalicelib.domain.delivery import Delivery, DeliveryOptions, Mapping, WriteMode
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.services.deliveries import DeliveryInput, DeliveryOutcome, DeliveryPreview

OFFSETS_NOTICE = (
    "Offsets are kept and nothing is backfilled: rows that were read before the change stay where they are."
)
DEFAULT_SCHEMA = "public"


class MappingBody(Input):
    """A topic and the table that its rows go to."""

    topic: str = Field(min_length=1, max_length=249, pattern=r"^[A-Za-z0-9._-]+$")
    schema_name: Identifier | None = Field(default=None, description=f"{DEFAULT_SCHEMA} when left out.")
    table_name: Identifier

    def mapping(self) -> Mapping:
        """The mapping that the service works with."""
        return Mapping(topic=self.topic, schema_name=self.schema_name or DEFAULT_SCHEMA, table_name=self.table_name)


class MappingsBody(Input):
    """Other mappings for a delivery."""

    mappings: list[MappingBody] = Field(min_length=1, max_length=500)

    def given(self) -> tuple[Mapping, ...]:
        """What the service is told."""
        return tuple(mapping.mapping() for mapping in self.mappings)


class DeliveryBody(MappingsBody):
    """A delivery to preview or deploy."""

    pipeline_id: Uuid
    name: Name
    connect_cluster_id: Uuid | None = None
    write_mode: WriteMode = WriteMode.UPSERT
    delete_enabled: StrictBool | None = Field(default=None, description="Left out: true for upsert, false for insert.")
    auto_create: StrictBool = True
    auto_evolve: StrictBool = True
    batch_size: StrictInt = Field(default=500, ge=1, le=10000)
    tasks_max: StrictInt = Field(default=1, ge=1, le=64)

    def delivery(self) -> DeliveryInput:
        """What the service is told."""
        deletes = self.delete_enabled if self.delete_enabled is not None else self.write_mode is WriteMode.UPSERT
        return DeliveryInput(
            pipeline_id=self.pipeline_id,
            name=self.name,
            connect_cluster_id=self.connect_cluster_id,
            mappings=self.given(),
            options=DeliveryOptions(
                write_mode=self.write_mode,
                delete_enabled=deletes,
                auto_create=self.auto_create,
                auto_evolve=self.auto_evolve,
                batch_size=self.batch_size,
                tasks_max=self.tasks_max,
            ),
        )


class MappingOutput(Output):
    """A topic and its target table."""

    topic: str
    schema_name: str
    table_name: str

    @classmethod
    def all_of(cls, mappings: tuple[Mapping, ...]) -> "list[MappingOutput]":
        """The mappings as they are shown."""
        return [cls(topic=m.topic, schema_name=m.schema_name, table_name=m.table_name) for m in mappings]


class ConfigurationOutput(Output):
    """How rows are really written: with write_mode insert no delete is, whatever was asked for."""

    write_mode: WriteMode
    delete_enabled: bool
    auto_create: bool
    auto_evolve: bool
    batch_size: int
    tasks_max: int

    @classmethod
    def of(cls, options: DeliveryOptions) -> "ConfigurationOutput":
        """The options as they are shown."""
        return cls.model_validate(replace(options, delete_enabled=options.deletes), from_attributes=True)


class DeliveryOutput(Output):
    """A delivery."""

    id: str
    destination_id: str
    pipeline_id: str
    name: str
    connector_name: str
    connect_cluster_id: str
    mappings: list[MappingOutput]
    configuration: ConfigurationOutput
    topics: list[str]
    desired_state: DesiredState
    observed_state: ObservedState
    observed_at: Timestamp | None
    reasons: list[str]
    tasks: list[TaskOutput]
    open_operation: OpenOperationOutput | None
    last_error: FailureOutput | None
    metrics: MetricsOutput
    notice: str | None = None
    version: int
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of(cls, delivery: Delivery, *, notice: str | None = None) -> "DeliveryOutput":
        """The delivery as it is shown."""
        fields = status_fields(delivery)
        del fields["connector"]
        return cls(
            id=delivery.id,
            destination_id=delivery.destination_id,
            pipeline_id=delivery.pipeline_id,
            name=delivery.name,
            connector_name=delivery.connector_name,
            connect_cluster_id=delivery.connect_cluster_id,
            mappings=MappingOutput.all_of(delivery.mappings),
            configuration=ConfigurationOutput.of(delivery.options),
            topics=list(delivery.topics),
            open_operation=OpenOperationOutput.of(delivery.open_operation),
            last_error=FailureOutput.of(delivery.last_error),
            metrics=MetricsOutput(),
            notice=notice,
            version=delivery.version,
            created_at=delivery.created_at,
            updated_at=delivery.updated_at,
            **fields,
        )


class ValidationOutput(Output):
    """What Connect has against a config, in our words."""

    error_count: int
    errors: list[dict[str, Any]]


class WarningOutput(Output):
    """Worth knowing beforehand. It blocks nothing."""

    code: str
    message: str


class DeliveryPreviewOutput(Output):
    """What would be deployed: references and masks instead of secrets."""

    connector_name: str
    config: dict[str, str]
    topics: list[str]
    validation: ValidationOutput
    warnings: list[WarningOutput]

    @classmethod
    def of(cls, preview: DeliveryPreview) -> "DeliveryPreviewOutput":
        """The preview as it is shown."""
        return cls(
            connector_name=preview.connector_name,
            config=dict(preview.config),
            topics=list(preview.topics),
            validation=ValidationOutput(
                error_count=preview.validation.error_count, errors=[dict(e) for e in preview.validation.errors]
            ),
            warnings=[WarningOutput(code=w.code, message=w.message) for w in preview.warnings],
        )


class DeliveryMappingsOutput(Output):
    """One delivery's mappings."""

    delivery_id: str
    name: str
    pipeline_id: str
    mappings: list[MappingOutput]

    @classmethod
    def of(cls, delivery: Delivery) -> "DeliveryMappingsOutput":
        """The mappings as they are shown."""
        return cls(
            delivery_id=delivery.id,
            name=delivery.name,
            pipeline_id=delivery.pipeline_id,
            mappings=MappingOutput.all_of(delivery.mappings),
        )


class DestinationStatusOutput(Output):
    """All deliveries of a destination, each observed by itself; the states are the worst of theirs."""

    destination_id: str
    desired_state: DesiredState
    observed_state: ObservedState
    deliveries: list[DeliveryStatusOutput]

    @classmethod
    def of(cls, destination_id: str, deliveries: tuple[Delivery, ...]) -> "DestinationStatusOutput":
        """The deliveries side by side."""
        shown = [DeliveryStatusOutput.of(delivery) for delivery in deliveries]
        return cls(
            destination_id=destination_id,
            desired_state=_together([s.desired_state for s in shown], list(DesiredState), DesiredState.DRAFT),
            observed_state=_together([s.observed_state for s in shown], _WORST_FIRST, ObservedState.NOT_DEPLOYED),
            deliveries=shown,
        )


class DeliveryOutcomeOutput(Output):
    """What became of one delivery."""

    id: str
    desired_state: DesiredState
    observed_state: ObservedState
    error: ErrorOutput | None

    @classmethod
    def of(cls, steered: DeliveryOutcome) -> "DeliveryOutcomeOutput":
        """The delivery after the attempt."""
        fields = status_fields(steered.delivery)
        failed = steered.error
        return cls(
            id=steered.delivery.id,
            desired_state=fields["desired_state"],
            observed_state=fields["observed_state"],
            error=ErrorOutput(code=failed.code, message=failed.message) if failed else None,
        )


class DeliveryOutcomesOutput(Output):
    """What became of each delivery of a destination."""

    deliveries: list[DeliveryOutcomeOutput]


_WORST_FIRST = [
    ObservedState.FAILED,
    ObservedState.DEGRADED,
    ObservedState.UNKNOWN,
    ObservedState.RESTARTING,
    ObservedState.UNASSIGNED,
    ObservedState.NOT_DEPLOYED,
    ObservedState.STOPPED,
    ObservedState.PAUSED,
    ObservedState.RUNNING,
]


def _together(states: list[Any], order: list[Any], empty: Any) -> Any:
    return min(states, key=order.index) if states else empty
