"""PostgreSQL as a source of captures."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.new_snapshot import NEW_SNAPSHOT_AND_SLOT
from chalicelib.domain.monitoring.source_state import CaptureState, Finding
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql import (
    capture_options,
    capture_tables,
    capture_warnings,
    replication,
    running_capture,
)
from chalicelib.domain.providers.postgresql.facts import PostgreSQLServerFacts
from chalicelib.domain.providers.postgresql.properties import ALLOWED_PROPERTIES, PROPERTY_OPTIONS, REFUSED_PROPERTIES
from chalicelib.domain.providers.postgresql.readiness.checks import CHECKS
from chalicelib.domain.providers.postgresql.source_config import build_source_config
from chalicelib.domain.providers.postgresql.table_schemas import TYPE_ORDER, schemas_of
from chalicelib.domain.readiness import ReadinessReport, judge, unreachable
from chalicelib.domain.source import Source
from chalicelib.domain.topic import RequiredTopic, TopicSettings
from chalicelib.errors import HeadgateError


class PostgreSQLCapture:
    """A CaptureProvider."""

    allowed_properties = ALLOWED_PROPERTIES
    refused_properties = REFUSED_PROPERTIES
    property_options = PROPERTY_OPTIONS
    source_options = staticmethod(capture_options.source_options)
    own_options = staticmethod(capture_options.own_options)
    check_options = staticmethod(capture_options.check_options)
    preview_warnings = staticmethod(capture_warnings.preview_warnings)
    source_tables = staticmethod(capture_tables.source_tables)
    table_schemas = staticmethod(schemas_of)
    type_order = TYPE_ORDER
    effective_options = staticmethod(replication.effective_options)
    capture_state = staticmethod(running_capture.capture_state)
    needs_offset = staticmethod(running_capture.needs_offset)
    with_offset = staticmethod(running_capture.with_offset)
    lost_changes = staticmethod(running_capture.lost_changes)
    must_read_again = staticmethod(running_capture.must_read_again)
    read_again = staticmethod(running_capture.read_again)
    begins_anew = staticmethod(running_capture.begins_anew)
    offset_after_gap = staticmethod(running_capture.offset_after_gap)
    in_use = running_capture.IN_USE
    new_snapshot = NEW_SNAPSHOT_AND_SLOT
    paused_notice = running_capture.PAUSED_NOTICE
    signs_in_to_brokers = False
    claim_codes: Mapping[str, str] = {}
    unique_claims = staticmethod(replication.unique_claims)
    source_release = staticmethod(replication.source_release)
    kept_in_source = staticmethod(replication.kept_in_source)
    deletion_details = staticmethod(replication.deletion_details)

    def snapshot_notice(self, _pipeline: Pipeline, _source: Source) -> str | None:
        return None

    def internal_topics(self, _pipeline: Pipeline) -> tuple[str, ...]:
        return ()

    def required_topics(self, _pipeline: Pipeline) -> tuple[RequiredTopic, ...]:
        return ()

    def judge_topics(
        self, topics: Mapping[str, TopicSettings] | None, _pipeline: Pipeline, now: datetime, *, deployed: bool
    ) -> ReadinessReport:
        return judge((), topics, deployed, now)

    def capture_plan(self, pipeline: Pipeline, before: CaptureState | None = None) -> replication.PostgreSQLCapturePlan:
        deployed = pipeline.desired_state is not DesiredState.DRAFT
        plan = replication.PostgreSQLCapturePlan.of(pipeline, deployed=deployed)
        return replace(plan, timeline=before.captured.timeline) if before else plan

    def beginning(self, facts: running_capture.PostgreSQLCaptureFacts, pipeline: Pipeline) -> Pipeline:
        plan = self.capture_plan(pipeline)
        existing = {
            *({replication.SLOT} if plan.slot_name in facts.slots else ()),
            *({replication.PUBLICATION} if plan.publication_name in facts.published else ()),
        }
        return pipeline.making((replication.SLOT, replication.PUBLICATION), existing)

    def lost_by_failure(self, _diagnosis: Diagnosis) -> Finding | None:
        """Nothing: the slot itself tells what it has lost."""
        return None

    def going_on(self, pipeline: Pipeline) -> Pipeline:
        """As it is: the offset alone moves to where its slot begins."""
        return pipeline

    def judge_readiness(
        self,
        facts: PostgreSQLServerFacts,
        pipeline: Pipeline | None,
        now: datetime,
        *,
        deployed: bool,
        server: str | None = None,
    ) -> ReadinessReport:
        plan = replication.PostgreSQLCapturePlan.of(pipeline, deployed=deployed, server=server) if pipeline else None
        if plan and facts.publication(plan.publication_name):
            plan = plan.leaving_publication()
        return judge(CHECKS, facts, plan, now)

    def unreachable_readiness(self, error: HeadgateError, now: datetime) -> ReadinessReport:
        return unreachable(CHECKS, error, now)

    def build_config(self, pipeline: Pipeline, source: Source, stream_cluster: StreamCluster) -> BuiltConfig:
        """Debezium's PostgreSQL connector needs nothing of Kafka beyond what its worker has."""
        return BuiltConfig(build_source_config(pipeline, source), (source.credentials,))
