"""A delivery: topics of a pipeline, written to a destination by a sink connector."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, cast

from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.health import Failure
from chalicelib.domain.labels import Labelled
from chalicelib.domain.monitoring.metrics import Metrics
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.object_store import FileWriting, TopicMapping
from chalicelib.domain.observation import DesiredState, Observation
from chalicelib.domain.operation import OpenOperation
from chalicelib.domain.table import TableName
from chalicelib.errors import HeadgateError


class WriteMode(StrEnum):
    """Replace the row with the same key, or only add rows."""

    UPSERT = "upsert"
    INSERT = "insert"


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingInput:
    """A mapping as a request has it. The destination's provider knows what it takes, what has a default, and what
    must not be left out.
    """

    topic: str
    schema_name: str | None = None
    table_name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableMapping:
    """One topic and the target table that its rows go to."""

    topic: str
    schema_name: str
    table_name: str

    @property
    def target(self) -> TableName:
        return TableName(self.schema_name, self.table_name)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableWriting:
    """How topics are written to tables. `batch_size` is records per transaction."""

    mappings: tuple[TableMapping, ...]
    write_mode: WriteMode = WriteMode.UPSERT
    delete_enabled: bool = True
    auto_create: bool = True
    auto_evolve: bool = True
    batch_size: int = 500

    @property
    def targets(self) -> tuple[TableName, ...]:
        return tuple(mapping.target for mapping in self.mappings)

    @property
    def kept(self) -> Mapping[str, Any]:
        """What stays in the destination when the delivery goes, for its audit record."""
        return {"tables": [str(target) for target in self.targets]}

    @property
    def upserts(self) -> bool:
        """Whether rows are written by key."""
        return self.write_mode is WriteMode.UPSERT

    @property
    def evolves(self) -> bool:
        """Whether the sink makes missing tables and adds missing columns: it has one switch for both."""
        return self.auto_create or self.auto_evolve

    @property
    def deletes(self) -> bool:
        """Whether deletes are written. They name a row by its key, which only an upserting sink uses."""
        return self.upserts and self.delete_enabled


Writing = TableWriting | FileWriting
"""How a delivery writes, by the kind of its destination: each kind has `mappings`, `targets` and `kept`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery(Labelled):
    """A delivery. It exists once its sink connector does. `metrics` are null as stored."""

    id: str
    destination_id: str
    pipeline_id: str
    connect_cluster_id: str
    writing: Writing
    tasks_max: int = 1
    desired_state: DesiredState = DesiredState.DRAFT
    observation: Observation | None = None
    metrics: Metrics | None = None
    config_hash: str | None = None
    secrets_digest: str | None = None
    open_operation: OpenOperation | None = None
    last_error: Failure | None = None
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def connector_name(self) -> str:
        return connector_name(ConnectorKind.SINK, self.id)

    @property
    def expected_tasks(self) -> int:
        """How many tasks its connector has when all are there: a sink makes as many as it may."""
        return self.tasks_max

    @property
    def table_writing(self) -> TableWriting:
        """How it writes, for a delivery to a database."""
        return cast(TableWriting, self.writing)

    @property
    def mappings(self) -> tuple[TableMapping | TopicMapping, ...]:
        return self.writing.mappings

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(mapping.topic for mapping in self.mappings)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetStatement:
    """The statement that creates one target table."""

    table_name: str
    statement: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupDocument:
    """A text that somebody uses to set up the destination, such as a policy. `name` says which."""

    name: str
    document: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryVerdict:
    """Everything that forbids a delivery, the most basic first, and everything worth a warning."""

    problems: tuple[HeadgateError, ...]
    warnings: tuple[ConfigWarning, ...]

    def require(self) -> None:
        """Raise the first problem, if there is one."""
        if self.problems:
            raise self.problems[0]


@dataclass(frozen=True, slots=True)
class ClaimedTarget:
    """A target that at most one delivery writes: its name, such as that of a table, and the place where it lies."""

    place: tuple[object, ...]
    name: str
