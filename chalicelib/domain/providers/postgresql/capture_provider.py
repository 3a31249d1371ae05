"""PostgreSQL as a source of captures."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.debezium import AllowedProperties
from chalicelib.domain.pipeline import CaptureOptions, Pipeline
from chalicelib.domain.providers.postgresql import capture_tables, readiness, replication
from chalicelib.domain.providers.postgresql.facts import RawTable, ServerFacts
from chalicelib.domain.providers.postgresql.properties import ALLOWED_PROPERTIES
from chalicelib.domain.providers.postgresql.source_config import build_source_config
from chalicelib.domain.readiness import Readiness
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable
from chalicelib.errors import HeadgateError


class PostgreSQLCapture:
    """A CaptureProvider."""

    allowed_properties: AllowedProperties = ALLOWED_PROPERTIES

    def source_tables(self, found: Sequence[RawTable], source_id: str, now: datetime) -> Sequence[SourceTable]:
        """See `capture_tables`."""
        return capture_tables.source_tables(found, source_id, now)

    def judge_readiness(
        self, facts: ServerFacts, pipeline: Pipeline | None, now: datetime, *, deployed: bool
    ) -> Readiness:
        """For the pipeline's tables, slot and publication."""
        plan = replication.CapturePlan.of(pipeline, deployed=deployed) if pipeline else None
        return readiness.judge_readiness(facts, plan, now)

    def unreachable_readiness(self, error: HeadgateError, now: datetime) -> Readiness:
        """Every check unknown but the connection's."""
        return readiness.unreachable_readiness(error, now)

    def build_config(self, pipeline: Pipeline, source: Source, stream_cluster: StreamCluster) -> BuiltConfig:
        """Debezium's PostgreSQL connector needs nothing of Kafka beyond what its worker has."""
        return BuiltConfig(build_source_config(pipeline, source), (source.credentials,))

    def effective_options(self, pipeline: Pipeline) -> CaptureOptions:
        """With the names of slot and publication."""
        return replication.effective_options(pipeline)

    def unique_claims(self, pipeline: Pipeline, source: Source) -> Sequence[str]:
        """Its slot and its publication."""
        return replication.unique_claims(pipeline, source)

    def deletion_details(self, pipeline: Pipeline) -> Mapping[str, str]:
        """Its slot and its publication."""
        return replication.deletion_details(pipeline)
