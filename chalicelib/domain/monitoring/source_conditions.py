"""What is wrong with a source or a destination, as a look or a test has found it."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from chalicelib.domain.health import Health, HealthStatus
from chalicelib.domain.monitoring.incident import (
    CAPTURE_NARROWED,
    CHANGES_LOST,
    LOG_AT_RISK,
    STALLED,
    Condition,
    Signal,
)
from chalicelib.domain.monitoring.source_state import Finding, FindingCode, SourceState

CODES: Mapping[FindingCode, str] = {
    FindingCode.OTHER_SERVER: CHANGES_LOST,
    FindingCode.LOG_POSITION_MISSING: "CDC_REPLICATION_SLOT_ERROR",
    FindingCode.LOG_POSITION_LOST: CHANGES_LOST,
    FindingCode.NOT_READ: "CDC_REPLICATION_SLOT_ERROR",
    FindingCode.TABLES_NOT_PUBLISHED: CAPTURE_NARROWED,
    FindingCode.LOG_AT_RISK: LOG_AT_RISK,
    FindingCode.STALLED: STALLED,
    FindingCode.LAG_HIGH: "PIPELINE_LAG_HIGH",
    FindingCode.CHANGES_LOST: CHANGES_LOST,
}
"""The codes of findings about a capture, and of those about the progress of any connector."""

_AUTH_FAILED, _CONNECTION_FAILED, _UNAVAILABLE = "AUTH_FAILED", "CONNECTION_FAILED", "DATABASE_UNAVAILABLE"

_FAILURES: Mapping[str, Mapping[str, str]] = {
    "source": {
        "AUTHENTICATION_FAILED": _AUTH_FAILED,
        "AUTHENTICATION_NOT_SAFE": _AUTH_FAILED,
        "ACCESS_NOT_ALLOWED": _AUTH_FAILED,
        "DATABASE_NOT_FOUND": _UNAVAILABLE,
        "TOO_MANY_CONNECTIONS": _UNAVAILABLE,
        "NOT_ACCEPTING_CONNECTIONS": _UNAVAILABLE,
    },
    "destination": {
        "AUTHENTICATION_FAILED": _AUTH_FAILED,
        "AUTHENTICATION_NOT_SAFE": _AUTH_FAILED,
        "ACCESS_NOT_ALLOWED": _AUTH_FAILED,
    },
}
"""The end of a code by the code of a failed connection; every other one is CONNECTION_FAILED."""

_HINTS = {
    "source": "Nothing is captured while this lasts. Test the source: its checks say which step fails.",
    "destination": "Nothing is delivered while this lasts. Test the destination: its checks say which step fails.",
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
    seen: set[str] = set()
    for finding in findings:
        code = CODES[finding.code]
        if code not in seen:
            seen.add(code)
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
    ending = _FAILURES[resource_type].get(failure_code, _CONNECTION_FAILED)
    return Condition(
        code=f"{resource_type.upper()}_{ending}",
        resource_type=resource_type,
        resource_id=resource_id,
        message=f'The {resource_type} "{name}": {message}',
        hint=_HINTS[resource_type],
        pipeline_id=pipeline_id,
    )


def health_signals(
    resource_type: str, resource_id: str, name: str, before: Health, after: Health, correlation_id: str
) -> tuple[Signal, ...]:
    """What the health that a test or a job has found means; nothing when it was and is good."""
    at = after.checked_at
    if at is None or after.status is HealthStatus.UNKNOWN or before.status is after.status is HealthStatus.HEALTHY:
        return ()
    failed = after.last_error
    found = connection_condition(resource_type, resource_id, name, failed.code, failed.message) if failed else None
    every = [
        connection_condition(resource_type, resource_id, name, code, "It can be reached.")
        for code in ("", *_FAILURES[resource_type])
    ]
    ended = {one.code: one for one in every if found is None or one.code != found.code}
    signals = [Signal(condition=one, began=False, at=at, correlation_id=correlation_id) for one in ended.values()]
    if found:
        signals.append(Signal(condition=found, began=True, at=at, correlation_id=correlation_id))
    return tuple(signals)
