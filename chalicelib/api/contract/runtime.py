"""What is seen of a connector: states, tasks, reasons, the operation that holds it."""

from typing import Any

from chalicelib.api.contract.common import Output, Timestamp
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import ConnectorStatus, DesiredState, Hint, Observation, ObservedState
from chalicelib.domain.operation import OpenOperation, OperationKind, OperationStep
from chalicelib.domain.pipeline import Pipeline

METRICS_NOTICE = "No metrics provider is installed, so throughput and lag are not known."


class HintOutput(Output):
    """What a withheld trace means."""

    event_type: str
    message: str

    @classmethod
    def of(cls, hint: Hint | None) -> "HintOutput | None":
        """The hint, if there is one."""
        return cls(event_type=hint.event_type, message=hint.message) if hint else None


class TaskOutput(Output):
    """One task, its trace withheld."""

    id: int
    state: str
    worker_id: str | None
    hint: HintOutput | None

    @classmethod
    def all_of(cls, observation: Observation | None) -> "list[TaskOutput]":
        """The tasks that were seen."""
        tasks = observation.connector.tasks if observation and observation.connector else ()
        return [cls(id=t.id, state=t.state, worker_id=t.worker_id, hint=HintOutput.of(t.hint)) for t in tasks]


class ConnectorStateOutput(Output):
    """The connector itself, in Connect's own word."""

    state: str
    worker_id: str | None

    @classmethod
    def of(cls, status: ConnectorStatus | None) -> "ConnectorStateOutput | None":
        """The connector, if it was seen."""
        return cls(state=status.state, worker_id=status.worker_id) if status else None


class OpenOperationOutput(Output):
    """The operation that is not settled yet."""

    id: str
    kind: OperationKind
    step: OperationStep
    started_at: Timestamp

    @classmethod
    def of(cls, operation: OpenOperation | None) -> "OpenOperationOutput | None":
        """The operation, if one is open."""
        if operation is None:
            return None
        return cls(id=operation.id, kind=operation.kind, step=operation.step, started_at=operation.started_at)


class MetricsOutput(Output):
    """Null means not known; nothing is inferred."""

    throughput: float | None = None
    lag: int | None = None
    notice: str | None = METRICS_NOTICE


class StatusOutput(Output):
    """Desired and observed state, side by side."""

    desired_state: DesiredState
    observed_state: ObservedState
    observed_at: Timestamp | None
    connector: ConnectorStateOutput | None
    tasks: list[TaskOutput]
    reasons: list[str]


class PipelineStatusOutput(StatusOutput):
    """A pipeline, looked at now."""

    pipeline_id: str

    @classmethod
    def of(cls, pipeline: Pipeline) -> "PipelineStatusOutput":
        """The pipeline's two states."""
        return cls(pipeline_id=pipeline.id, **status_fields(pipeline))


class DeliveryStatusOutput(StatusOutput):
    """A delivery, looked at now."""

    id: str
    delivery_id: str
    name: str
    connector_name: str

    @classmethod
    def of(cls, delivery: Delivery) -> "DeliveryStatusOutput":
        """The delivery's two states."""
        return cls(
            id=delivery.id,
            delivery_id=delivery.id,
            name=delivery.name,
            connector_name=delivery.connector_name,
            **status_fields(delivery),
        )


def status_fields(resource: Pipeline | Delivery) -> dict[str, Any]:
    """The fields that say how it is. Without an observation it is UNKNOWN, which says just that."""
    seen = resource.observation
    return {
        "desired_state": resource.desired_state,
        "observed_state": seen.state if seen else ObservedState.UNKNOWN,
        "observed_at": seen.observed_at if seen else None,
        "connector": ConnectorStateOutput.of(seen.connector if seen else None),
        "tasks": TaskOutput.all_of(seen),
        "reasons": list(seen.reasons) if seen else ["It has not been looked at yet."],
    }
