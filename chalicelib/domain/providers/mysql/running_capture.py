"""Whether a deployed capture from a MySQL server still works."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib.domain.monitoring.source_state import CaptureState, Finding
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Pipeline

PAUSED_NOTICE = (
    "Pausing stops what reaches Kafka, not the capture itself: the connector keeps its session and goes on reading the "
    "binary log. A pause that is longer than the server keeps its binary log is safe only while the worker runs."
)
IN_USE = "The position at which the pipeline could go on cannot be read from the server: it is not known."


@dataclass(frozen=True, slots=True, kw_only=True)
class MySQLCaptureFacts:
    """What was read about the binary log of a server."""

    server_uuid: str | None


def capture_state(
    facts: MySQLCaptureFacts, pipeline: Pipeline, before: CaptureState | None, now: datetime
) -> CaptureState:
    return CaptureState(server=facts.server_uuid)


def needs_offset(before: CaptureState | None, state: CaptureState) -> bool:
    """Always: only what Connect has stored says which part of the binary log is still needed."""
    return True


def must_read_again(
    facts: MySQLCaptureFacts, pipeline: Pipeline, before: CaptureState | None, offset: StoredOffset
) -> bool:
    return False


def read_again(facts: MySQLCaptureFacts, later: MySQLCaptureFacts) -> MySQLCaptureFacts:
    return later


def with_offset(
    facts: MySQLCaptureFacts,
    pipeline: Pipeline,
    before: CaptureState | None,
    state: CaptureState,
    offset: StoredOffset,
) -> CaptureState:
    return state


def lost_changes(
    facts: MySQLCaptureFacts, pipeline: Pipeline, before: CaptureState | None, offset: StoredOffset
) -> Finding | None:
    return None


def begins_anew(offset: StoredOffset) -> bool:
    """Whether Debezium takes its snapshot when it starts with this offset, as it does until one is complete."""
    values = offset.values
    return values is None or ("snapshot" in values and values.get("snapshot_completed") is not True)


def offset_after_gap(pipeline: Pipeline, position: int) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return {"server": pipeline.capture.topic_prefix}, {}
