"""A pipeline: tables of a source, captured into topics."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.health import Failure
from chalicelib.domain.labels import Labelled
from chalicelib.domain.monitoring.metrics import Metrics
from chalicelib.domain.monitoring.source_log import LogState
from chalicelib.domain.names import ConnectorKind, connector_name, topic_name
from chalicelib.domain.observation import DesiredState, Observation
from chalicelib.domain.operation import OpenOperation
from chalicelib.domain.table import ColumnName, SourceTable, TableName


class SnapshotMode(StrEnum):
    """Debezium's snapshot modes that the contract offers."""

    INITIAL = "initial"
    INITIAL_ONLY = "initial_only"
    NO_DATA = "no_data"
    WHEN_NEEDED = "when_needed"
    ALWAYS = "always"


class Converter(StrEnum):
    """How records are written: JSON with its schema beside it, or bare JSON."""

    JSON_SCHEMA = "json_schema"
    JSON = "json"


class Representation(StrEnum):
    """How values are written that JSON has no type for: so that sinks can restore them exactly, or as text that people
    read.
    """

    EXACT = "exact"
    READABLE = "readable"


class OnConversionError(StrEnum):
    """What becomes of a value that Debezium cannot convert: the task fails, or the value is written as null."""

    FAIL = "fail"
    NULL = "null"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions:
    """Options that every provider has. Null means Debezium's own default; times are milliseconds, sizes are records.

    `max_message_bytes` is the size of the largest record; null leaves the limits of the brokers as they are.
    `heartbeat_table` is written to at each heartbeat, so that the stored position of an idle database moves on.
    """

    heartbeat_interval_ms: int | None = None
    max_batch_size: int | None = None
    max_queue_size: int | None = None
    poll_interval_ms: int | None = None
    tombstones_on_delete: bool = True
    on_conversion_error: OnConversionError = OnConversionError.FAIL
    max_message_bytes: int | None = None
    heartbeat_table: TableName | None = None
    exclude_columns: tuple[ColumnName, ...] = ()
    representation: Representation = Representation.EXACT


TRANSACTIONS_PROPERTY = "provide.transaction.metadata"
"""With this property the connector also writes where transactions begin and end, to a topic of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """What to capture and how: with source and stream cluster, all that decides the source connector's config.

    `provider_options` are those that the source's provider alone has: only it reads them, as a type of its own.
    """

    topic_prefix: str
    tables: tuple[TableName, ...]
    snapshot_mode: SnapshotMode = SnapshotMode.INITIAL
    converter: Converter = Converter.JSON_SCHEMA
    options: CaptureOptions = field(default_factory=CaptureOptions)
    provider_options: Mapping[str, Any] = field(default_factory=dict)
    properties: Mapping[str, str] = field(default_factory=dict)

    def topic(self, table: TableName) -> str:
        return topic_name(self.topic_prefix, table.schema_name, table.table_name)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that can be delivered."""
        return tuple(self.topic(table) for table in self.tables)

    @property
    def captured_tables(self) -> tuple[TableName, ...]:
        """Every table that the connector reads: those of `tables`, then the heartbeat table."""
        heartbeat = self.options.heartbeat_table
        return (*self.tables, heartbeat) if heartbeat and heartbeat not in self.tables else self.tables

    @property
    def heartbeat_topic(self) -> str | None:
        """Where heartbeats are written: below the prefix, so that rights on the prefix are enough."""
        return None if self.options.heartbeat_interval_ms == 0 else f"{self.topic_prefix}.headgate-heartbeat"

    @property
    def internal_topics(self) -> tuple[str, ...]:
        """What every connector writes beside `topics`; a provider may add some. None of it can be delivered."""
        of_tables = [self.topic(table) for table in self.captured_tables[len(self.tables) :]]
        transactions = self.properties.get(TRANSACTIONS_PROPERTY) == "true"
        of_transactions = [f"{self.topic_prefix}.transaction"] if transactions else []
        return (*([self.heartbeat_topic] if self.heartbeat_topic else []), *of_tables, *of_transactions)

    def as_captured(self, table: SourceTable) -> SourceTable:
        """The discovered table without the columns that this capture leaves out: the only ones that can arrive."""
        left_out = {one.column_name for one in self.options.exclude_columns if one.table == table.name}
        return table.without(left_out) if left_out else table


MAX_ADDRESS_CLAIMS = 16
"""Claims of one pipeline on what it uses alone in its source, at all addresses that the source has had."""

_PREFIX = "prefix/"


def prefix_claim(place: str, topic_prefix: str) -> str:
    """The claim on a topic prefix. `place` is Kafka's id of its cluster, or the id of a registered one.

    Two pipelines with one prefix would mix the rows of two databases in their topics.
    """
    return f"{_PREFIX}{place}/{topic_prefix}"


def claimed_thing(claim: str) -> str:
    """What a claim is on, in a sentence."""
    return "topic prefix on the same Kafka cluster" if claim.startswith(_PREFIX) else claim.partition("/")[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pipeline(Labelled):
    """A pipeline. Desired and observed state are two things.

    `log` is what the source keeps for it: like `observation` it is added when the pipeline is read, and never stored,
    as `metrics` are.
    `made_in_source` names, in the words of the provider, what its connector makes in the source: it did not exist there
    when a deploy began. What else the connector uses there was adopted, and is never dropped nor altered. None: no
    deploy has begun that could read the source.
    `gaps_passed` is how often its connector began anew after changes that were lost, without a snapshot.
    `provider` is its source's. `claims` are the keys that it holds beside its name, so that no other pipeline uses the
    same thing on its server. `version` counts what people changed, `revision` every write.
    """

    id: str
    source_id: str
    provider: DatabaseProvider
    stream_cluster_id: str
    connect_cluster_id: str
    capture: Capture
    desired_state: DesiredState = DesiredState.DRAFT
    observation: Observation | None = None
    metrics: Metrics | None = None
    log: LogState | None = None
    config_hash: str | None = None
    secrets_digest: str | None = None
    claims: tuple[str, ...] = ()
    made_in_source: tuple[str, ...] | None = None
    gaps_passed: int = 0
    open_operation: OpenOperation | None = None
    last_error: Failure | None = None
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def snapshot_mode(self) -> SnapshotMode:
        return self.capture.snapshot_mode

    @property
    def connector_name(self) -> str:
        return connector_name(ConnectorKind.SOURCE, self.id)

    @property
    def expected_tasks(self) -> int:
        """How many tasks its connector has: a log is read by one."""
        return 1

    def making(self, things: Collection[str], existing: Collection[str]) -> "Pipeline":
        """The pipeline when a deploy begins: of the `things` that a capture uses in the source it makes those that do
        not exist there, and those that an earlier deploy may have made.
        """
        made = {*(self.made_in_source or ()), *(thing for thing in things if thing not in existing)}
        return replace(self, made_in_source=tuple(sorted(made)))

    def with_claims(self, added: Sequence[str], *, released: Collection[str]) -> "Pipeline":
        """The pipeline with claims at a new address, the newest first; those at its oldest addresses go."""
        kept = [key for key in self.claims if key not in released]
        prefixes = [key for key in kept if key.startswith(_PREFIX)]
        at_addresses = dict.fromkeys((*added, *(key for key in kept if not key.startswith(_PREFIX))))
        return replace(self, claims=(*prefixes, *list(at_addresses)[:MAX_ADDRESS_CLAIMS]))
