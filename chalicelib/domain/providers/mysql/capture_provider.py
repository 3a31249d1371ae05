"""MySQL as a source of captures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.diagnosis.new_snapshot import NEW_SNAPSHOT
from chalicelib.domain.monitoring.source_state import CaptureState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.mysql import capture_options, capture_tables, capture_warnings, running_capture
from chalicelib.domain.providers.mysql.capture_options import SnapshotLocking, snapshot_locking
from chalicelib.domain.providers.mysql.capture_plan import MySQLCapturePlan
from chalicelib.domain.providers.mysql.facts import MySQLServerFacts
from chalicelib.domain.providers.mysql.properties import ALLOWED_PROPERTIES, PROPERTY_OPTIONS, REFUSED_PROPERTIES
from chalicelib.domain.providers.mysql.readiness.checks import CHECKS
from chalicelib.domain.providers.mysql.schema_history import (
    HistoryFacts,
    history_check,
    history_topic,
    required_history_topic,
)
from chalicelib.domain.providers.mysql.source_config import build_source_config
from chalicelib.domain.providers.mysql.table_schemas import TYPE_ORDER, schemas_of
from chalicelib.domain.readiness import ReadinessReport, judge, unreachable
from chalicelib.domain.release import ReleaseResult, ReleaseState, SourceRelease
from chalicelib.domain.source import Source
from chalicelib.domain.topic import RequiredTopic, TopicSettings
from chalicelib.errors import HeadgateError

_SERVER_ID = "server id"


class MySQLCapture:
    """A CaptureProvider."""

    allowed_properties = ALLOWED_PROPERTIES
    refused_properties = REFUSED_PROPERTIES
    property_options = PROPERTY_OPTIONS
    source_options = staticmethod(capture_options.source_options)
    own_options = staticmethod(capture_options.own_options)
    effective_options = staticmethod(capture_options.effective_options)
    check_options = staticmethod(capture_options.check_options)
    preview_warnings = staticmethod(capture_warnings.preview_warnings)
    source_tables = staticmethod(capture_tables.source_tables)
    table_schemas = staticmethod(schemas_of)
    type_order = TYPE_ORDER
    capture_state = staticmethod(running_capture.capture_state)
    needs_offset = staticmethod(running_capture.needs_offset)
    with_offset = staticmethod(running_capture.with_offset)
    lost_changes = staticmethod(running_capture.lost_changes)
    must_read_again = staticmethod(running_capture.must_read_again)
    read_again = staticmethod(running_capture.read_again)
    lost_by_failure = staticmethod(running_capture.lost_by_failure)
    begins_anew = staticmethod(running_capture.begins_anew)
    offset_after_gap = staticmethod(running_capture.offset_after_gap)
    signs_in_to_brokers = True
    claim_codes: Mapping[str, str] = {_SERVER_ID: "SERVER_ID_CONFLICT"}
    in_use = running_capture.IN_USE
    new_snapshot = NEW_SNAPSHOT
    paused_notice = running_capture.PAUSED_NOTICE

    def snapshot_notice(self, pipeline: Pipeline, source: Source) -> str | None:
        if snapshot_locking(pipeline, source) is SnapshotLocking.NONE:
            return None
        return (
            "The snapshot begins with the global read lock, which blocks all writes for a moment. Where the server "
            "refuses that, and the account may lock tables, the captured tables are locked until they are read."
        )

    def internal_topics(self, pipeline: Pipeline) -> tuple[str, ...]:
        """The schema history, after those that were left behind."""
        return tuple(history_topic(replace(pipeline, gaps_passed=gaps)) for gaps in range(pipeline.gaps_passed + 1))

    def required_topics(self, pipeline: Pipeline) -> tuple[RequiredTopic, ...]:
        return (required_history_topic(pipeline),)

    def judge_topics(
        self, topics: Mapping[str, TopicSettings] | None, pipeline: Pipeline, now: datetime, *, deployed: bool
    ) -> ReadinessReport:
        return judge((history_check,), HistoryFacts(history_topic(pipeline), topics, deployed), None, now)

    def unique_claims(self, pipeline: Pipeline, source: Source) -> tuple[str, ...]:
        # By the server's own id where discovery has read it: one server may be registered under two names.
        host, port, _ = source.address.identity
        places = (f"{host}:{port}", *([source.server_identity] if source.server_identity else []))
        return tuple(f"{_SERVER_ID}/{place}/{capture_options.server_id(pipeline)}" for place in places)

    def capture_plan(self, pipeline: Pipeline, before: CaptureState | None = None) -> MySQLCapturePlan:
        return MySQLCapturePlan.of(pipeline)

    def going_on(self, pipeline: Pipeline) -> Pipeline:
        """With a new schema history, and without a snapshot of rows: its definitions are those of now."""
        return replace(pipeline, gaps_passed=pipeline.gaps_passed + 1)

    def judge_readiness(
        self,
        facts: MySQLServerFacts,
        pipeline: Pipeline | None,
        now: datetime,
        *,
        deployed: bool,
        server: str | None = None,
    ) -> ReadinessReport:
        plan = replace(MySQLCapturePlan.of(pipeline, server=server), deployed=deployed) if pipeline else None
        return judge(CHECKS, facts, plan, now)

    def unreachable_readiness(self, error: HeadgateError, now: datetime) -> ReadinessReport:
        return unreachable(CHECKS, error, now)

    def beginning(self, facts: Any, pipeline: Pipeline) -> Pipeline:
        """A capture makes nothing in its source."""
        return pipeline.making((), ())

    def kept_in_source(self, pipeline: Pipeline) -> Sequence[str]:
        return ()

    def source_release(self, pipeline: Pipeline) -> SourceRelease | None:
        """A server keeps its binary log for nobody: there is nothing to release."""
        return None

    def deletion_details(self, pipeline: Pipeline, result: ReleaseResult | None) -> Mapping[str, Any]:
        if result and result.state is ReleaseState.RELEASED:
            return {"history_topic_deleted": True, "kept": {}}
        kept = {"history_topic": history_topic(pipeline)}
        if result is None:
            return {"kept": kept}
        message = f"Headgate does not know whether the schema history was deleted. {result.error}".strip()
        return {"history_topic_deleted": False, "history_message": message, "kept": kept}

    def build_config(self, pipeline: Pipeline, source: Source, stream_cluster: StreamCluster) -> BuiltConfig:
        """The connector itself writes and reads its schema history, with the credentials of the brokers."""
        lines = build_source_config(pipeline, source, stream_cluster)
        return BuiltConfig(lines, (source.credentials, stream_cluster.credentials))
