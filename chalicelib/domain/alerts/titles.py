"""The titles of alerts: which resource, what stands, and why, in one line.

`Delivery 'orders to the lake' is stopped: lake.public.orders refuses a row (check constraint total_max)`. A name in it
is one that people have given here, or one of a `Cause`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain.alerts.kinds import TITLES
from chalicelib.domain.diagnosis.cause import Cause
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import ConditionCode

MAX_TITLE = 300


@dataclass(frozen=True, slots=True)
class Subject:
    """A pipeline, delivery, source, destination or connect_cluster, by its name."""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type.replace('_', ' ').capitalize()} '{self.name}'"


_C = ConditionCode

_OF_CAPTURES: Mapping[str, str] = {
    _C.STALLED: "captures nothing although it runs",
    _C.PIPELINE_NO_EVENTS: "captures nothing although it runs",
    _C.PIPELINE_LAG_HIGH: "is behind",
    _C.CHANGES_LOST: "has lost changes",
    _C.LOG_AT_RISK: "may lose changes soon: the source may remove log that it still needs",
    _C.CAPTURE_NARROWED: "captures less than it should",
    _C.PIPELINE_FAILED: "failed: an operation on it did not succeed",
}
_OF_DELIVERIES: Mapping[str, str] = {
    _C.STALLED: "delivers nothing although records wait",
    _C.PIPELINE_NO_EVENTS: "delivers nothing although records wait",
    _C.PIPELINE_LAG_HIGH: "is behind",
    _C.CHANGES_LOST: "has lost records that were removed from their topic",
    _C.TARGET_REPLACED: "lacks rows in its target: somebody else has removed them",
    _C.SCHEMA_CHANGED: "may not fit any more: the definition of a captured table has changed",
    _C.PIPELINE_FAILED: "failed: an operation on it did not succeed",
    _C.DESTINATION_CONNECTOR_FAILED: "failed: an operation on it did not succeed",
}
_OF_CONNECTORS: Mapping[str, str] = {
    _C.CONNECTOR_FAILED: "is stopped: its connector does not run",
    _C.CONNECTOR_UNASSIGNED: "is stopped: no Connect worker has taken up its connector",
    _C.CONNECTOR_PAUSED: "was paused in Kafka Connect by something else",
    _C.CONNECTOR_RESTART_LOOP: "has to be restarted again and again",
    _C.PIPELINE_DEGRADED: "is not in the state in which it should be",
    _C.CONFIG_DRIFT: "runs with a config that something else has changed",
    _C.CONNECTOR_NAME_CONFLICT: "cannot run: another connector has its name",
    _C.UNREADABLE_ROW: "is left alone: its stored row cannot be read",
}
_OF_OTHERS: Mapping[str, str] = {
    _C.SOURCE_CONNECTION_FAILED: "cannot be reached",
    _C.SOURCE_DATABASE_UNAVAILABLE: "is not available",
    _C.SOURCE_AUTH_FAILED: "refuses the login",
    _C.CDC_PERMISSION_ERROR: "cannot be read: a right is missing",
    _C.DESTINATION_CONNECTION_FAILED: "cannot be reached",
    _C.DESTINATION_AUTH_FAILED: "refuses the login",
    _C.DESTINATION_WRITE_FAILED: "refuses what is written",
    _C.STREAM_CONNECT_UNAVAILABLE: "cannot be read: Kafka Connect does not answer as it should",
    _C.CONNECT_NOT_OBSERVED: "is not looked at any more",
    _C.KAFKA_CLUSTER_CHANGED: "has other workers than before",
    _C.CREATIONS_PENDING: "misses many connectors at once",
}
_PREDICATES: Mapping[str, Mapping[str, str]] = {
    "pipeline": {**_OF_CONNECTORS, **_OF_CAPTURES},
    "delivery": {**_OF_CONNECTORS, **_OF_DELIVERIES},
}
"""By the type of the resource; `_OF_OTHERS` for every other type."""

_WHY: Mapping[EventKind, str] = {
    EventKind.CONNECTOR_FAILED: "its connector has failed",
    EventKind.CONNECT_TASK_FAILED: "its connector has failed",
    EventKind.SOURCE_CONNECTION_FAILED: "the source cannot be reached",
    EventKind.SOURCE_DATABASE_UNAVAILABLE: "the source database is not available",
    EventKind.SOURCE_AUTH_FAILED: "the source refuses the login",
    EventKind.CDC_PERMISSION_ERROR: "a right is missing in the source",
    EventKind.CDC_CONNECTOR_FAILED: "the capture has failed",
    EventKind.DESTINATION_CONNECTION_FAILED: "the destination cannot be reached",
    EventKind.DESTINATION_AUTH_FAILED: "the destination refuses the login",
    EventKind.DESTINATION_WRITE_FAILED: "the destination refuses rows",
    EventKind.DESTINATION_SCHEMA_ERROR: "the rows do not fit the target",
    EventKind.DESTINATION_CONNECTOR_FAILED: "the sink connector has failed",
}
"""Why a failed connector or task has failed; the title of the kind for every other one."""

_WHERE: Mapping[EventKind, str] = {
    EventKind.DESTINATION_WRITE_FAILED: "{place} refuses a row",
    EventKind.DESTINATION_SCHEMA_ERROR: "the rows do not fit {place}",
    EventKind.CDC_PERMISSION_ERROR: "a right on {place} is missing",
}
"""The same where the table is known."""


def title_of(
    subject: Subject,
    *,
    kind: EventKind,
    code: str,
    diagnosis: Diagnosis | None,
    cause: Cause | None,
    task_id: int | None,
    database: str | None,
) -> str:
    """`diagnosis` and `cause` are those of a failed connector or task. `task_id` is null where there is only one task.
    `database` is the one that the table is in, where names of tables do not say it.
    """
    if diagnosis:
        part = "" if task_id is None else f" in part (task {task_id})"
        return f"{subject} is stopped{part}: {_why(kind, diagnosis, cause, database)}"[:MAX_TITLE]
    predicate = _PREDICATES.get(subject.type, _OF_OTHERS).get(code)
    return f"{subject} {predicate}"[:MAX_TITLE] if predicate else f"{subject}: {TITLES[kind]}"[:MAX_TITLE]


def _why(kind: EventKind, diagnosis: Diagnosis, cause: Cause | None, database: str | None) -> str:
    if not cause or not (cause.place or cause.detail):
        return "a right is missing in the destination" if _is_right(kind, diagnosis) else _reason(kind)
    if cause.place is None:
        return f"{_reason(kind)} ({cause.detail})"
    place = f"{database}.{cause.place}" if database else cause.place
    detail = f" ({cause.detail})" if cause.detail else ""
    if _is_right(kind, diagnosis):
        return f"a right on {place} is missing{detail}"
    if kind in _WHERE:
        return _WHERE[kind].format(place=place) + detail
    return f"{_reason(kind)} ({', '.join(filter(None, (place, cause.detail)))})"


def _reason(kind: EventKind) -> str:
    return _WHY.get(kind) or TITLES[kind][:1].lower() + TITLES[kind][1:]


def _is_right(kind: EventKind, diagnosis: Diagnosis) -> bool:
    return kind is EventKind.DESTINATION_WRITE_FAILED and diagnosis is Diagnosis.PERMISSION
