"""What a provider decides: a kind of database as a source of captures, and a kind of destination as a target.

Facts are what a client of the same provider has read. Only the provider knows their types; all others pass them on.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from chalicelib.domain.addresses import DatabaseAddress, SystemAddress
from chalicelib.domain.cluster import StreamCluster, TopicFacts
from chalicelib.domain.connector_config import BuiltConfig, ConfigWarning
from chalicelib.domain.debezium import AllowedProperties
from chalicelib.domain.delivery import (
    ClaimedTarget,
    Delivery,
    DeliveryVerdict,
    MappingInput,
    SetupDocument,
    TableWriting,
    TargetStatement,
    Writing,
)
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.monitoring.source_state import CaptureState, Finding
from chalicelib.domain.object_store import FileWriting, ObjectStoreAddress, SinkPlugin
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.readiness import ReadinessReport
from chalicelib.domain.release import ReleaseResult, SourceRelease
from chalicelib.domain.schema.table_schema import DiscoveredSchema
from chalicelib.domain.schema.type_order import TypeOrder
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.domain.topic import RequiredTopic, TopicSettings
from chalicelib.errors import HeadgateError


class CaptureProvider(Protocol):
    # What a capture may choose, and the connector config that follows from it.

    @property
    def allowed_properties(self) -> AllowedProperties:
        """The connector keys that a pipeline's `properties` may set."""

    @property
    def refused_properties(self) -> Mapping[str, str]:
        """Known keys that may not be set, or not to every value: why, and what to do instead."""

    @property
    def property_options(self) -> Mapping[str, str]:
        """Connector keys by the field of a pipeline's body that sets them."""

    def source_options(self, sent: Mapping[str, Any]) -> Mapping[str, Any]:
        """All options of a source that only this provider has: those that were sent, and the defaults of the others.
        Raises Invalid for options of another provider, as for unknown fields of a body.
        """

    def own_options(self, sent: Mapping[str, Any], of_source: Mapping[str, Any]) -> Mapping[str, Any]:
        """The same of a pipeline, as `Capture.provider_options` keeps them. `of_source` are the options of its source,
        which may say what counts for its pipelines where nothing was sent.
        """

    def effective_options(self, pipeline: Pipeline) -> Mapping[str, Any]:
        """The same of a pipeline, with what is derived where nothing was chosen."""

    def check_options(self, capture: Capture, tables: Mapping[TableName, SourceTable]) -> None:
        """Raise Invalid for options that do not fit. `tables` are the discovered ones of all that is captured."""

    def preview_warnings(self, pipeline: Pipeline, tables: Sequence[SourceTable]) -> Sequence[ConfigWarning]:
        """What is worth knowing before the capture is created. `tables` as in `check_options`."""

    def snapshot_notice(self, pipeline: Pipeline, source: Source) -> str | None:
        """What the snapshot locks in the source; None where it locks nothing."""

    def internal_topics(self, pipeline: Pipeline) -> Sequence[str]:
        """What the connector writes for itself, beside `Capture.internal_topics`."""

    @property
    def signs_in_to_brokers(self) -> bool:
        """Whether the connector has Kafka clients of its own, which need the credentials of the stream cluster."""

    def required_topics(self, pipeline: Pipeline) -> Sequence[RequiredTopic]:
        """Those of `internal_topics` without which the connector cannot run, as they have to be."""

    def unique_claims(self, pipeline: Pipeline, source: Source) -> Sequence[str]:
        """Keys of what only one pipeline may use on the server, each `<what>/<where>/<name>`."""

    @property
    def claim_codes(self) -> Mapping[str, str]:
        """The error codes for claiming what another pipeline has, by `<what>`; NAME_CONFLICT where there is none."""

    def build_config(self, pipeline: Pipeline, source: Source, stream_cluster: StreamCluster) -> BuiltConfig:
        """The config of the source connector. A function of its arguments alone."""

    # Whether a source and its tables can be captured.

    def source_tables(self, tables: Sequence[Any], source_id: str, now: datetime) -> Sequence[SourceTable]:
        """The tables that discovery has read, with what would go wrong in a capture: columns, topic collisions, all."""

    def table_schemas(self, tables: Sequence[Any]) -> Sequence[DiscoveredSchema]:
        """The schemas of the same tables."""

    @property
    def type_order(self) -> TypeOrder:
        """Which of its types take the values of others."""

    def judge_readiness(
        self, facts: Any, pipeline: Pipeline | None, now: datetime, *, deployed: bool, server: str | None = None
    ) -> ReadinessReport:
        """Whether a capture will work: for a pipeline's own choices, or in general.

        `facts` were read for the pipeline's tables. `deployed`: its connector exists and may be running now.
        `server` identifies the one that it was captured from, where that is known.
        """

    def judge_topics(
        self, topics: Mapping[str, TopicSettings] | None, pipeline: Pipeline, now: datetime, *, deployed: bool
    ) -> ReadinessReport:
        """Whether the required topics are as they have to be: `topics` are those that exist, None when the brokers
        could not be asked. Before the first deploy they may be missing.
        """

    def unreachable_readiness(self, error: HeadgateError, now: datetime) -> ReadinessReport:
        """The verdict on a source that could not be read; `error` says why, in our own words."""

    # Whether deployed captures still work. Findings are codes of ours with sentences of the provider.

    @property
    def paused_notice(self) -> str:
        """What goes on in the source while a pipeline is paused."""

    def capture_plan(self, pipeline: Pipeline, before: CaptureState | None = None) -> Any:
        """What a client of the same provider reads about a deployed capture: see `Database.capture_facts`. `before` is
        what the last look has seen of it.
        """

    def capture_state(self, facts: Any, pipeline: Pipeline, before: CaptureState | None, now: datetime) -> CaptureState:
        """The capture as the server shows it now, with the log that is kept for it; `before` is the last such state.

        Log that may be lost soon is a finding LOG_AT_RISK.
        """

    def needs_offset(self, before: CaptureState | None, state: CaptureState) -> bool:
        """Whether what Connect has stored for the connector can change the state that the server shows now."""

    def must_read_again(
        self, facts: Any, pipeline: Pipeline, before: CaptureState | None, offset: StoredOffset
    ) -> bool:
        """Whether the facts seem not to have what the offset says: it was read after them, and may be newer."""

    def read_again(self, facts: Any, later: Any) -> Any:
        """The facts with what others, read later, say about the end of the log, and about what was confirmed."""

    def with_offset(
        self,
        facts: Any,
        pipeline: Pipeline,
        before: CaptureState | None,
        state: CaptureState,
        offset: StoredOffset,
        now: datetime,
    ) -> CaptureState:
        """The state with what Connect has stored for the connector."""

    def lost_changes(
        self,
        facts: Any,
        pipeline: Pipeline,
        before: CaptureState | None,
        offset: StoredOffset,
        *,
        reads_on: bool = False,
    ) -> Finding | None:
        """Whether changes were lost between that offset and what the server has. `before` is the last state.

        `reads_on`: a session in which the connector reads now is not ended.
        """

    def lost_by_failure(self, diagnosis: Diagnosis) -> Finding | None:
        """What a failure of the connector says about where it goes on; None: going on elsewhere would not end it."""

    def begins_anew(self, offset: StoredOffset) -> bool:
        """Whether the connector takes its snapshot when it starts with this offset: nothing is missing then."""

    @property
    def new_snapshot(self) -> str:
        """The calls that make a new snapshot, in a sentence."""

    @property
    def in_use(self) -> str:
        """Why a capture cannot go on when `Database.continue_capture` gives no position."""

    def going_on(self, pipeline: Pipeline) -> Pipeline:
        """The pipeline as it goes on after lost changes, where its connector needs another config for that."""

    def offset_after_gap(self, pipeline: Pipeline, position: Any) -> tuple[Mapping[str, Any], Mapping[str, Any] | None]:
        """Partition and offset with which the connector goes on at a position of the log, without a snapshot. None:
        without an offset.
        """

    # What a pipeline keeps in its source, and what becomes of it when the pipeline is deleted.

    def beginning(self, facts: Any, pipeline: Pipeline) -> Pipeline:
        """The draft when its deploy begins: with what its connector makes in the source, because it does not exist
        there (`Pipeline.making`). `facts` are those of `capture_plan`.
        """

    def source_release(self, pipeline: Pipeline) -> SourceRelease | None:
        """What a deletion can release there, because only this pipeline uses it; None when there is no such thing."""

    def kept_in_source(self, pipeline: Pipeline) -> Sequence[str]:
        """What stays there whatever a deletion is asked to release, in words."""

    def deletion_details(self, pipeline: Pipeline, result: ReleaseResult | None) -> Mapping[str, Any]:
        """What the audit record of a deletion says about the source: how the release ended (None: nothing was to be
        released), and as `kept` what stays there.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class DatabaseDefaults:
    """What requests may leave out for a kind of database; `title` is its name for people.

    `schema` is None where a mapping without one means the database of the address.
    """

    title: str
    port: int
    schema: str | None


A_contra = TypeVar("A_contra", bound=SystemAddress, contravariant=True)
W = TypeVar("W", bound=Writing)


class TargetProvider(Protocol[A_contra, W]):
    """How a kind of destination is delivered to. `A_contra` is its kind of address, `W` how a delivery writes there.

    `mappings` are those of a request, `options` its fields that not every kind of destination takes. `tables` are
    source tables with the columns that arrive.
    """

    @property
    def dialect(self) -> str | None:
        """The dialect of SQL of its sinks, where they disturb sinks of other dialects that start beside them."""

    def writing(self, mappings: Sequence[MappingInput], options: Mapping[str, Any], address: A_contra, /) -> W:
        """What a request asks for, with defaults for what it leaves out. Raises Invalid for what is not taken."""

    def remapped(self, writing: W, mappings: Sequence[MappingInput], address: A_contra, /) -> W:
        """The same with other mappings."""

    def completed(self, writing: W, pipeline: Pipeline, installed: Callable[[], Collection[SinkPlugin]], /) -> W:
        """The same with what follows from its pipeline, and with the plug-in that is to write it, where there is a
        choice and none was made. `installed` asks the workers. Raises PLUGIN_MISSING when they have none of them.
        """

    def check_mappings(
        self,
        pipeline: Pipeline,
        tables: Mapping[TableName, SourceTable],
        writing: W,
        tasks_max: int,
        topics: TopicFacts | None,
    ) -> DeliveryVerdict:
        """Judge a delivery as far as nothing has to be read from the target.

        `tables` are the discovered tables of the pipeline's source; `topics` those of its stream cluster, or None when
        they could not be read, which becomes a warning. `details` of problems name mappings by their index.
        """

    def judge_target(
        self, writing: W, tasks_max: int, tables: Mapping[str, SourceTable], facts: Any
    ) -> DeliveryVerdict:
        """Whether the targets can take what the topics bring. `facts` were read for the targets of all mappings.

        `tables` are by topic.
        """

    def destination_warnings(self, writing: W, address: A_contra, /) -> Iterable[ConfigWarning]:
        """What to know about the way of writing, whatever the topics hold."""

    def setup_documents(self, writing: W, address: A_contra, /) -> Sequence[SetupDocument]:
        """What somebody uses to set up the destination for the delivery."""

    def target_statements(self, writing: W, tables: Mapping[str, SourceTable]) -> Iterable[TargetStatement]:
        """The statements that create targets in which everything arrives equal. `tables` are by topic."""

    def server_identity(self, facts: Any) -> str | None:
        """What the server is under each of its names and addresses; None when it cannot be known."""

    def claimed_targets(self, writing: W, address: A_contra, server_identity: str | None) -> Iterable[ClaimedTarget]:
        """What no other delivery may write, at each place under which the destination is known."""

    def build_config(self, delivery: Delivery, writing: W, endpoint: Endpoint[A_contra]) -> BuiltConfig:
        """The config of the sink connector. A function of its arguments alone. Raises Invalid.

        `writing` is the delivery's, in its own type.
        """


DatabaseTarget = TargetProvider[DatabaseAddress, TableWriting]
ObjectStoreTarget = TargetProvider[ObjectStoreAddress, FileWriting]
