"""Pipelines and deliveries as rows of a list: the few fields of each that its row shows, and that lists sort by."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, NamedTuple, TypeVar

from chalicelib.domain.delivery import Delivery
from chalicelib.domain.health import Failure
from chalicelib.domain.names import comparable
from chalicelib.domain.observation import DesiredState, Observation
from chalicelib.domain.operation import OpenOperation
from chalicelib.domain.pipeline import Pipeline


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorRow:
    """What both have in common. `observation` is that of the last operation."""

    id: str
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    connect_cluster_id: str
    connector_name: str
    desired_state: DesiredState
    tables: int
    observation: Observation | None = None
    open_operation: OpenOperation | None = None
    updated_at: datetime

    last_error: ClassVar[Failure | None] = None
    """It would add to the reasons of a state; a row shows the first reason only, which never is that."""

    @property
    def comparable_name(self) -> str:
        """The name as lists sort and search by it."""
        return comparable(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRow(ConnectorRow):
    """A pipeline; `tables` is how many it captures."""

    source_id: str

    @classmethod
    def of(cls, pipeline: Pipeline) -> "PipelineRow":
        return cls(
            id=pipeline.id,
            name=pipeline.name,
            labels=pipeline.labels,
            connect_cluster_id=pipeline.connect_cluster_id,
            connector_name=pipeline.connector_name,
            desired_state=pipeline.desired_state,
            tables=len(pipeline.capture.tables),
            observation=_without_names(pipeline.observation),
            open_operation=pipeline.open_operation,
            updated_at=pipeline.updated_at,
            source_id=pipeline.source_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRow(ConnectorRow):
    """A delivery; `tables` is how many mappings it has."""

    destination_id: str
    pipeline_id: str

    @classmethod
    def of(cls, delivery: Delivery) -> "DeliveryRow":
        return cls(
            id=delivery.id,
            name=delivery.name,
            labels=delivery.labels,
            connect_cluster_id=delivery.connect_cluster_id,
            connector_name=delivery.connector_name,
            desired_state=delivery.desired_state,
            tables=len(delivery.mappings),
            observation=_without_names(delivery.observation),
            open_operation=delivery.open_operation,
            updated_at=delivery.updated_at,
            destination_id=delivery.destination_id,
            pipeline_id=delivery.pipeline_id,
        )


class ObservedRow(NamedTuple):
    """A stored row, with what was looked up of it: its newest observation, how many records a delivery has not
    delivered yet, and how long the source of a pipeline still keeps the log that it needs.
    """

    row: ConnectorRow
    observation: Observation | None
    lag: int | None = None
    seconds_to_loss: int | None = None


def _without_names(observation: Observation | None) -> Observation | None:
    """The observation without the names of the connector and of its workers, which would be half of a stored row."""
    if observation is None or observation.connector is None:
        return observation
    tasks = tuple(replace(task, worker_id=None) for task in observation.connector.tasks)
    return replace(observation, connector=replace(observation.connector, name="", worker_id=None, tasks=tasks))


AnyListed = Pipeline | Delivery | ConnectorRow
"""What lists show: each owns a connector, with a desired and an observed state."""

Listed = TypeVar("Listed", Pipeline, Delivery)


def is_sink(listed: AnyListed) -> bool:
    return isinstance(listed, Delivery | DeliveryRow)
