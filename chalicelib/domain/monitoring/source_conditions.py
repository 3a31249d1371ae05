"""What is wrong with a source or a destination, as a look or a test has found it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from chalicelib.domain.health import HealthRecord, HealthStatus
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.source_state import Finding, FindingCode, SourceState

CODES: Mapping[FindingCode, ConditionCode] = {
    FindingCode.OTHER_SERVER: ConditionCode.CHANGES_LOST,
    FindingCode.LOG_POSITION_LOST: ConditionCode.CHANGES_LOST,
    FindingCode.TABLES_NOT_PUBLISHED: ConditionCode.CAPTURE_NARROWED,
    FindingCode.LOG_AT_RISK: ConditionCode.LOG_AT_RISK,
    FindingCode.STALLED: ConditionCode.STALLED,
    FindingCode.LAG_HIGH: ConditionCode.PIPELINE_LAG_HIGH,
    FindingCode.CHANGES_LOST: ConditionCode.CHANGES_LOST,
}
"""The codes of findings about a capture, but for those that name their own, and about the progress of any connector."""

_REFUSED_LOGIN = ("AUTHENTICATION_FAILED", "AUTHENTICATION_NOT_SAFE", "ACCESS_NOT_ALLOWED")
_REFUSED_KEY = ("ACCESS_KEY_UNKNOWN", "SECRET_KEY_WRONG", "SESSION_TOKEN_EXPIRED", "SESSION_TOKEN_INVALID")
_REFUSED_WRITE = (
    *("PUT_DENIED", "MULTIPART_DENIED", "ABORT_DENIED", "KMS_DENIED", "KMS_KEY_UNUSABLE"),
    "STORE_FULL",
)
_NO_RIGHT = ("PERMISSION_DENIED",)
_NO_DATABASE = ("DATABASE_NOT_FOUND", "TOO_MANY_CONNECTIONS", "NOT_ACCEPTING_CONNECTIONS")

_FAILURES: Mapping[str, Mapping[str, ConditionCode]] = {
    "source": {
        **dict.fromkeys(_REFUSED_LOGIN, ConditionCode.SOURCE_AUTH_FAILED),
        **dict.fromkeys(_NO_RIGHT, ConditionCode.CDC_PERMISSION_ERROR),
        **dict.fromkeys(_NO_DATABASE, ConditionCode.SOURCE_DATABASE_UNAVAILABLE),
    },
    "destination": {
        **dict.fromkeys((*_REFUSED_LOGIN, *_REFUSED_KEY), ConditionCode.DESTINATION_AUTH_FAILED),
        **dict.fromkeys((*_REFUSED_WRITE, *_NO_RIGHT), ConditionCode.DESTINATION_WRITE_FAILED),
    },
}
"""By the code of a failed connection; every other one is in `_OTHER_FAILURES`."""

_OTHER_FAILURES: Mapping[str, ConditionCode] = {
    "source": ConditionCode.SOURCE_CONNECTION_FAILED,
    "destination": ConditionCode.DESTINATION_CONNECTION_FAILED,
}


def source_conditions(
    source_id: str, name: str, state: SourceState, failure_code: str | None, pipelines: Sequence[str], now: datetime
) -> list[Condition]:
    """What the looks at a source say now about it and its deployed pipelines (their ids).

    `failure_code` is that of the last look, None when it could read the source.
    """
    conditions: list[Condition] = []
    if failure_code and state.unreachable and state.is_confirmed(state.unreachable):
        alone = pipelines[0] if len(pipelines) == 1 else None
        conditions.append(
            connection_condition("source", source_id, name, failure_code, state.unreachable.message, pipeline_id=alone)
        )
    for pipeline_id in pipelines:
        conditions += capture_conditions(pipeline_id, state.capture_findings(pipeline_id, now))
    return conditions


def capture_conditions(pipeline_id: str, findings: Sequence[Finding]) -> Iterator[Condition]:
    """One for each code: of several findings with one code the first."""
    by_code: dict[ConditionCode, Finding] = {}
    for finding in findings:
        by_code.setdefault(finding.condition or CODES[finding.code], finding)
    for code, finding in by_code.items():
        yield Condition(
            code=code,
            resource_type="pipeline",
            resource_id=pipeline_id,
            message=finding.message,
            severity=finding.severity,
        )


def connection_condition(
    resource_type: str, resource_id: str, name: str, failure_code: str, message: str, *, pipeline_id: str | None = None
) -> Condition:
    """A source or a destination that does not let Headgate in. `message` says why, in our own words."""
    code = _FAILURES[resource_type].get(failure_code, _OTHER_FAILURES[resource_type])
    return Condition(
        code=code,
        resource_type=resource_type,
        resource_id=resource_id,
        message=f'The {resource_type} "{name}": {message}',
        pipeline_id=pipeline_id,
    )


def health_conditions(resource_type: str, resource_id: str, name: str, health: HealthRecord) -> tuple[Condition, ...]:
    """What is wrong by the health of a source or a destination."""
    error = health.last_error
    if error is None:
        return ()
    return (connection_condition(resource_type, resource_id, name, error.code, error.message),)


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthChange:
    """What the health of a system that a test or a job has found `at` a time begins, and what it may have ended."""

    at: datetime
    began: tuple[Condition, ...]
    ended: tuple[Condition, ...]


def health_change(
    resource_type: str, resource_id: str, name: str, before: HealthRecord, after: HealthRecord
) -> HealthChange | None:
    """What this health means for the incidents of a system; None when it was and is good, or is not known, and for a
    connection: what uses it has incidents.
    """
    if resource_type not in _FAILURES:
        return None
    healthy = before.status is after.status is HealthStatus.HEALTHY
    if after.checked_at is None or after.status is HealthStatus.UNKNOWN or healthy:
        return None
    began = health_conditions(resource_type, resource_id, name, after)
    every = [
        connection_condition(resource_type, resource_id, name, code, "It can be reached.")
        for code in ("", *_FAILURES[resource_type])
    ]
    begun = {condition.code for condition in began}
    # Several failure codes are one condition, and it ends once.
    over = {condition.code: condition for condition in every if condition.code not in begun}
    return HealthChange(at=after.checked_at, began=began, ended=tuple(over.values()))
