"""The state of a connector: desired and observed, with its tasks, reasons and open operation."""

from enum import StrEnum
from typing import Annotated, Any, Self, TypedDict

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from chalicelib.api.contract.common import FailureOutput, Input, Integer, Output, Timestamp
from chalicelib.api.contract.labels import ShownLabels
from chalicelib.domain.connector_row import ObservedRow
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.metrics import NOT_READ, OF_DRAFT, Metrics
from chalicelib.domain.observation import ConnectorStatus, DesiredState, ObservedState, ReportedState, TaskStatus
from chalicelib.domain.operation import OperationKind, OperationStep
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reasons import explanation, first_reason
from chalicelib.kit.clock import rfc3339


class TaskQuery(Input):
    """Which task."""

    task: Integer = Field(ge=0)


class DeletionQuery(Input):
    """How a pipeline or a delivery is deleted."""

    forget: bool = Field(
        default=False,
        description="Remove Headgate's records and touch no connector. Only while Kafka Connect cannot be read, or an "
        "operation has been open for ten minutes.",
    )


class PipelineDeletionQuery(DeletionQuery):
    """How a pipeline is deleted."""

    drop_slot: bool = Field(
        default=False, description="Drop the pipeline's replication slot too, once nothing reads from it."
    )
    drop_history: bool = Field(
        default=False,
        description="Delete the topic too in which the connector keeps its schema history, where it has one.",
    )

    @model_validator(mode="after")
    def _not_both(self) -> Self:
        if self.forget and (self.drop_slot or self.drop_history):
            raise PydanticCustomError(
                "not_together", "forget=true touches no server: leave drop_slot and drop_history out"
            )
        return self


class CauseOutput(Output):
    """What a failure is about: each name only where Headgate knows it itself, from the mappings or the tables of the
    pipeline, or from the catalogue of the server. Nothing else of a trace is shown.
    """

    schema_: str | None = Field(serialization_alias="schema", validation_alias="schema")
    table: str | None
    constraint: str | None
    column: str | None
    sqlstate: str | None


class HintOutput(Output):
    """What the error means, and its cause. The trace itself is withheld."""

    event_type: str
    message: str
    cause: CauseOutput | None


class TaskOutput(Output):
    """One task, without its trace."""

    id: int
    state: str
    worker_id: str | None
    hint: HintOutput | None


class ConnectorStateOutput(Output):
    """The connector itself. `state` is as Kafka Connect reports it."""

    state: str
    worker_id: str | None


class OpenOperationOutput(Output):
    """The operation that is not finished yet."""

    id: str
    kind: OperationKind
    step: OperationStep
    started_at: Timestamp


class MetricsOutput(Output):
    """Null means not known; nothing is inferred."""

    throughput: float | None = Field(default=None, description="Records a second, written or delivered.")
    lag: int | None = Field(default=None, description="Records that a delivery has not delivered yet.")
    seconds_behind: int | None = Field(
        default=None, description="How long ago the record was written that a delivery has to deliver next."
    )
    notice: str | None = None


class ProgressOutput(Output):
    """`moved_at` is null when the connector has not moved since it was first measured, the rest for pipelines.

    `seconds_behind` is 0 when nothing waits, and null until it is known when the oldest record that waits was written.
    """

    moved_at: Timestamp | None
    lag: int | None
    seconds_behind: int | None


class ConnectorOwnerOutput(Output):
    """What pipelines and deliveries have in common: each owns a connector."""

    id: str
    name: str
    labels: ShownLabels
    connector_name: str
    topics: list[str]
    desired_state: DesiredState
    observed_state: ObservedState
    observed_at: Timestamp | None
    reasons: list[str] = Field(description="What is wrong; empty where nothing is.")
    notices: list[str] = Field(description="What is good to know though nothing is wrong.")
    tasks: list[TaskOutput]
    open_operation: OpenOperationOutput | None
    last_error: FailureOutput | None
    metrics: MetricsOutput
    version: int
    created_at: Timestamp
    updated_at: Timestamp


class TaskCountsOutput(TypedDict):
    """The tasks of a connector, as numbers."""

    running: Annotated[int, Field(description="Tasks that were RUNNING when they were last observed.")]
    total: Annotated[int, Field(description="All tasks that Kafka Connect has shown then.")]


class RowOutput(TypedDict):
    """A pipeline or a delivery as a row of a table."""

    # Not an `Output`: there are ten thousand in a list, and Pydantic's models would take as long as all else together.
    id: str
    name: str
    desired_state: DesiredState
    observed_state: ObservedState
    observed_at: str | None
    reason: Annotated[
        str | None, Field(description="The first of its `reasons`: what is wrong; null where nothing is.")
    ]
    tasks: TaskCountsOutput
    tables: Annotated[
        int, Field(description="How many tables a pipeline captures, and how many mappings a delivery has.")
    ]
    lag: Annotated[int | None, Field(description="Records that a delivery has not delivered yet. Null: not measured.")]
    seconds_to_loss: Annotated[
        int | None,
        Field(
            description="Until the source removes log that a pipeline still needs. Null: not known, or it comes no "
            "nearer."
        ),
    ]
    labels: ShownLabels


def row_output(shown: ObservedRow) -> RowOutput:
    row, observation = shown.row, shown.observation
    tasks = observation.connector.tasks if observation and observation.connector else ()
    return {
        "id": row.id,
        "name": row.name,
        "desired_state": row.desired_state,
        "observed_state": observation.state if observation else ObservedState.UNKNOWN,
        "observed_at": rfc3339(observation.observed_at) if observation else None,
        "reason": first_reason(row.desired_state, observation),
        "tasks": {"running": [task.state for task in tasks].count(ReportedState.RUNNING), "total": len(tasks)},
        "tables": row.tables,
        "lag": shown.lag,
        "seconds_to_loss": shown.seconds_to_loss,
        "labels": dict(row.labels),
    }


class StatusOutput(Output):
    """Desired and observed state."""

    desired_state: DesiredState
    observed_state: ObservedState
    observed_at: Timestamp | None
    connector: ConnectorStateOutput | None
    tasks: list[TaskOutput]
    reasons: list[str] = Field(description="What is wrong; empty where nothing is.")
    notices: list[str] = Field(description="What is good to know though nothing is wrong.")
    progress: ProgressOutput | None


class LogKind(StrEnum):
    """What keeps the log for a capture: a replication slot, or the retention of the server's binlog."""

    SLOT = "slot"
    BINLOG = "binlog"


class LogOutput(Output):
    """The log that the source keeps for a pipeline, from a look once a minute. Null: not known, or nothing bounds it.

    `safe_bytes` may still be written before changes are lost; `seconds_to_loss` is null while that comes no nearer.
    """

    kind: LogKind
    name: str
    active: bool | None
    retained_bytes: int | None
    safe_bytes: int | None
    status: str | None
    seconds_to_loss: int | None
    observed_at: Timestamp


class PipelineStatusOutput(StatusOutput):
    """A pipeline, observed now. `log` is null when no look of the last five minutes has read it."""

    pipeline_id: str
    log: LogOutput | None

    @classmethod
    def of(cls, pipeline: Pipeline) -> Self:
        return cls._read(pipeline, pipeline_id=pipeline.id, **_fields_with_progress(pipeline))


class DeliveryStatusOutput(StatusOutput):
    """A delivery, observed now."""

    id: str
    delivery_id: str
    name: str
    connector_name: str

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        return cls._read(delivery, delivery_id=delivery.id, **_fields_with_progress(delivery))


def observed_fields(resource: Pipeline | Delivery) -> dict[str, Any]:
    """What is known of the connector. Without an observation its state is UNKNOWN."""
    observation = resource.observation
    connector = observation.connector if observation else None
    is_draft, explained = resource.desired_state is DesiredState.DRAFT, explanation(resource)
    return {
        "observed_state": observation.state if observation else ObservedState.UNKNOWN,
        "observed_at": observation.observed_at if observation else None,
        "connector": connector,
        "tasks": [_task(connector, task) for task in connector.tasks] if connector else (),
        "reasons": explained.reasons,
        "notices": explained.notices,
        "metrics": resource.metrics or Metrics(notice=OF_DRAFT if is_draft else NOT_READ),
    }


def _task(connector: ConnectorStatus, task: TaskStatus) -> dict[str, Any]:
    hint = connector.hint(task)
    return {"id": task.id, "state": task.state, "worker_id": task.worker_id, "hint": hint}


def _fields_with_progress(resource: Pipeline | Delivery) -> dict[str, Any]:
    """With `progress`, null where nothing measures it."""
    fields = observed_fields(resource)
    return {**fields, "progress": fields["metrics"] if fields["metrics"].measured else None}
