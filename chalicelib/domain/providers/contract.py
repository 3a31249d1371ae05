"""What a kind of database decides: as a source of captures, and as a target of deliveries.

Facts are what a client of the same provider has read. Only the provider knows their types; all others pass them on.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import BuiltConfig, ConfigWarning
from chalicelib.domain.debezium import AllowedProperties
from chalicelib.domain.delivery import Delivery, DeliveryOptions, DeliveryVerdict, NameRule
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.destination import Destination
from chalicelib.domain.monitoring.source_state import CaptureState, Finding
from chalicelib.domain.pipeline import Capture, CaptureOptions, Pipeline
from chalicelib.domain.readiness import Readiness
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import HeadgateError


class CaptureProvider(Protocol):
    """How a kind of database is captured from."""

    @property
    def allowed_properties(self) -> AllowedProperties:
        """The connector keys that a pipeline's `properties` may set."""

    @property
    def refused_properties(self) -> Mapping[str, str]:
        """Known keys that may not be set, or not to every value: why, and what to do instead."""

    def check_options(self, capture: Capture, tables: Mapping[TableName, SourceTable]) -> None:
        """Raise Invalid for options that do not fit. `tables` are the discovered ones of all that is captured."""

    def preview_warnings(self, pipeline: Pipeline, tables: Sequence[SourceTable]) -> Sequence[ConfigWarning]:
        """What is worth knowing before the capture is created. `tables` as in `check_options`."""

    def source_tables(self, found: Sequence[Any], source_id: str, now: datetime) -> Sequence[SourceTable]:
        """The tables that discovery has read, with what would go wrong in a capture: columns, topic collisions, all."""

    def judge_readiness(
        self, facts: Any, pipeline: Pipeline | None, now: datetime, *, deployed: bool, server: str | None = None
    ) -> Readiness:
        """Whether a capture will work: for a pipeline's own choices, or in general.

        `facts` were read for the pipeline's tables. `deployed`: its connector exists and may be running now.
        `server` identifies the one that it was captured from, where that is known.
        """

    def unreachable_readiness(self, error: HeadgateError, now: datetime) -> Readiness:
        """The verdict on a source that could not be read; `error` says why, in our own words."""

    def build_config(self, pipeline: Pipeline, source: Source, stream_cluster: StreamCluster) -> BuiltConfig:
        """The config of the source connector. A function of its arguments alone."""

    def effective_options(self, pipeline: Pipeline) -> CaptureOptions:
        """The pipeline's options, with what is derived where nothing was chosen."""

    def capture_plan(self, pipeline: Pipeline) -> Any:
        """What a client of the same provider reads about a deployed capture: see `Database.capture_facts`."""

    def look(self, facts: Any, pipeline: Pipeline, before: CaptureState | None, now: datetime) -> CaptureState:
        """The capture as the server shows it now, with the log that is kept for it; `before` is what the last look
        found. Log that may be lost soon is a finding LOG_AT_RISK.
        """

    def lost_changes(self, facts: Any, pipeline: Pipeline, offset: Mapping[str, Any] | None) -> Finding | None:
        """Whether changes were lost after what Connect has stored for the connector (`offset`; None: nothing)."""

    def in_snapshot(self, offset: Mapping[str, Any] | None) -> bool:
        """Whether the stored offset says that the connector is still taking its snapshot."""

    def unique_claims(self, pipeline: Pipeline, source: Source) -> Sequence[str]:
        """Keys of what only one pipeline may use on the server, each `<what>/<where>/<name>`."""

    def own_slot(self, pipeline: Pipeline) -> str | None:
        """The replication slot that only this pipeline reads from; None where a source keeps no position for it."""

    def deletion_details(self, pipeline: Pipeline, *, slot_dropped: bool) -> Mapping[str, str]:
        """What stays in the source when the pipeline goes, by field, for its audit record."""


class TargetProvider(Protocol):
    """How a kind of database is delivered to."""

    @property
    def name_rules(self) -> Sequence[NameRule]:
        """What names of schemas and tables must not be, in the order in which it is said."""

    def unsupported_columns(self, table: SourceTable) -> Sequence[str]:
        """The columns at which every delivery of the table to such a target stops."""

    def judge_target(
        self, mappings: Sequence[tuple[TopicMapping, SourceTable]], options: DeliveryOptions, facts: Any
    ) -> DeliveryVerdict:
        """Whether the targets can take what the topics bring. `facts` were read for the targets of all mappings."""

    def server_identity(self, facts: Any) -> str | None:
        """What the server is under each of its names and addresses; None when the role may not read it."""

    def target_statement(self, mapping: TopicMapping, source: SourceTable, options: DeliveryOptions) -> str:
        """The statement that creates a target in which everything arrives equal."""

    def build_config(self, delivery: Delivery, destination: Destination) -> BuiltConfig:
        """The config of the sink connector. A function of its arguments alone. Raises Invalid."""
