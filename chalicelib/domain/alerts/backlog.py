"""What a condition means for the changes: whether they wait, where, since when, and whether any are lost."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto

from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity
from chalicelib.domain.monitoring.progress import Progress, is_known
from chalicelib.domain.monitoring.source_state import VALID_FOR, SourceState
from chalicelib.kit.readable import readable_size


class Changes(Enum):
    """What becomes of the changes. `WAIT`: where depends on the resource. `UNCONCERNED`: the condition keeps none
    of them.
    """

    WAIT = auto()
    LOST = auto()
    NOT_CAPTURED = auto()
    REMOVED_LATER = auto()
    UNKNOWN = auto()
    UNCONCERNED = auto()


_CODE = ConditionCode
CHANGES_BY_CODE: Mapping[ConditionCode, Changes] = {
    **dict.fromkeys(
        (
            *(_CODE.CONNECTOR_FAILED, _CODE.CONNECTOR_UNASSIGNED, _CODE.CONNECTOR_PAUSED, _CODE.CONNECT_TASK_FAILED),
            *(_CODE.CONNECTOR_RESTART_LOOP, _CODE.STREAM_CONNECT_UNAVAILABLE, _CODE.SOURCE_CONNECTION_FAILED),
            *(_CODE.SOURCE_DATABASE_UNAVAILABLE, _CODE.SOURCE_AUTH_FAILED, _CODE.CDC_PERMISSION_ERROR),
            *(_CODE.CDC_CONNECTOR_FAILED, _CODE.DESTINATION_CONNECTION_FAILED, _CODE.DESTINATION_AUTH_FAILED),
            *(_CODE.DESTINATION_WRITE_FAILED, _CODE.DESTINATION_SCHEMA_ERROR, _CODE.DESTINATION_CONNECTOR_FAILED),
            *(_CODE.PIPELINE_FAILED, _CODE.PIPELINE_NO_EVENTS, _CODE.PIPELINE_LAG_HIGH, _CODE.STALLED),
            *(_CODE.LOG_AT_RISK, _CODE.CREATIONS_PENDING),
        ),
        Changes.WAIT,
    ),
    _CODE.CHANGES_LOST: Changes.LOST,
    _CODE.CAPTURE_NARROWED: Changes.NOT_CAPTURED,
    _CODE.TARGET_REPLACED: Changes.REMOVED_LATER,
    **dict.fromkeys(
        (
            *(_CODE.CDC_REPLICATION_SLOT_ERROR, _CODE.CDC_BINLOG_ERROR, _CODE.CDC_WAL_ERROR),
            *(_CODE.CONNECT_NOT_OBSERVED, _CODE.KAFKA_CLUSTER_CHANGED, _CODE.CONNECTOR_NAME_CONFLICT),
        ),
        Changes.UNKNOWN,
    ),
    **dict.fromkeys(
        (
            *(_CODE.PIPELINE_DEGRADED, _CODE.CONFIG_DRIFT, _CODE.SCHEMA_CHANGED, _CODE.UNREADABLE_ROW),
            _CODE.AUDIT_TRAIL_CHANGED,
        ),
        Changes.UNCONCERNED,
    ),
}

_AT_SOURCE = "Nothing is lost: the changes wait in the log of the source{room}."
_IN_KAFKA = "Nothing is lost: the records wait in Kafka until the retention of their topics removes them."
_AT_BOTH = (
    "Nothing is lost: changes wait in the logs of their sources, and records in Kafka until the retention of their "
    "topics removes them."
)
_PLACES: Mapping[str, str] = {
    "pipeline": _AT_SOURCE,
    "source": _AT_SOURCE,
    "delivery": _IN_KAFKA,
    "destination": _IN_KAFKA,
    "connect_cluster": _AT_BOTH,
}
"""Where changes wait, by the type of the resource that stands."""

_SENTENCES: Mapping[Changes, str] = {
    Changes.LOST: "Changes are lost: they stay missing in the target until the tables are copied again.",
    Changes.NOT_CAPTURED: ("Changes of the tables that it names are lost while this lasts: nobody captures them."),
    Changes.REMOVED_LATER: "Rows are lost in the target: somebody else has removed them.",
    Changes.UNKNOWN: "Whether changes are lost is not known: the status of the pipeline says what its source has.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What waits because of a condition, as it was when the alert began. Null is what was not measured.

    `records` are in Kafka and were not delivered; `retained_bytes` of its log the source keeps for the capture, and
    `safe_bytes` may still be written before it removes what is needed. `since` is when the connector stopped moving.
    """

    records: int | None = None
    retained_bytes: int | None = None
    safe_bytes: int | None = None
    since: datetime | None = None

    def __str__(self) -> str:
        parts = (
            f"{self.records:,} {'record' if self.records == 1 else 'records'}" if self.records is not None else "",
            f"{readable_size(self.retained_bytes)} of the log" if self.retained_bytes is not None else "",
        )
        return ", ".join(filter(None, parts)) or "not measured"


def backlog_of(
    progress: Progress | None, source: SourceState | None, pipeline_id: str | None, now: datetime
) -> Backlog:
    """What waits by the last measurements: of a delivery its `progress`; of the pipeline (its id, None for a delivery)
    also the last look at its `source`. What is too old says nothing.
    """
    known = progress if progress and is_known(progress, now) else None
    since = min(known.quiet_since, now) if known and known.quiet_since else None
    if pipeline_id is None:
        # Something stands, so that a measurement of nothing was made before.
        return Backlog(records=(known.lag or None) if known else None, since=since)
    capture = source.captures.get(pipeline_id) if source and now - source.checked_at <= VALID_FOR else None
    log = capture.log if capture else None
    if log is None:
        return Backlog(since=since)
    return Backlog(retained_bytes=log.retained_bytes, safe_bytes=log.safe_bytes, since=since)


def waiting_since(backlog: Backlog | None, first_seen_at: datetime) -> datetime | None:
    """None where nothing is said about what waits."""
    return min(backlog.since or first_seen_at, first_seen_at) if backlog else None


def lost_sentence(condition: Condition, backlog: Backlog | None) -> str | None:
    """Whether anything is lost, in a sentence; None where the condition concerns no changes."""
    if condition.severity is Severity.INFO:
        return None
    changes = CHANGES_BY_CODE[condition.code]
    if changes is not Changes.WAIT:
        return _SENTENCES.get(changes)
    place = _PLACES.get(condition.resource_type)
    return place.format(room=_room(backlog)) if place else None


def _room(backlog: Backlog | None) -> str:
    if backlog is None or backlog.safe_bytes is None:
        return ", as long as it keeps it"
    return f", which takes {readable_size(backlog.safe_bytes)} more before it removes them"
