"""Which alerts a rule is about."""

from datetime import UTC, datetime
from typing import Any

import pytest

from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.rule import DEFAULT_RULE_KINDS, AlertRule
from chalicelib.domain.event_kind import EventKind

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def event(kind: EventKind, **more: Any) -> AlertEvent:
    return AlertEvent(
        kind=kind,
        severity=AlertSeverity.CRITICAL,
        emitter=Emitter(type="destination", id="d", name="d"),
        error="It has failed.",
        hint=None,
        condition_key="delivery/x",
        **more,
    )


def rule(**more: Any) -> AlertRule:
    return AlertRule(id="r", name="r", created_at=NOW, updated_at=NOW, **more)


@pytest.mark.parametrize(
    ("kind", "connector", "task", "matched"),
    [
        (EventKind.CONNECT_TASK_FAILED, "c", 0, True),
        (EventKind.DESTINATION_WRITE_FAILED, "c", 0, True),
        (EventKind.CDC_WAL_ERROR, "c", None, True),
        (EventKind.SOURCE_AUTH_FAILED, "c", 0, True),
        (EventKind.CDC_WAL_ERROR, None, None, False),
        (EventKind.PIPELINE_DEGRADED, "c", None, False),
        (EventKind.CONNECTOR_UNASSIGNED, "c", 0, False),
    ],
)
def test_a_failed_connector_or_task_is_one_whatever_its_cause(
    kind: EventKind, connector: str | None, task: int | None, matched: bool
) -> None:
    default = rule(event_types=DEFAULT_RULE_KINDS, severities=(AlertSeverity.CRITICAL,))
    assert default.matches(event(kind, connector_name=connector, task_id=task)) is matched


def test_a_rule_about_a_cause_does_not_match_other_failures_of_tasks() -> None:
    about_writes = rule(event_types=(EventKind.DESTINATION_WRITE_FAILED,))
    assert about_writes.matches(event(EventKind.DESTINATION_WRITE_FAILED, connector_name="c", task_id=0))
    assert not about_writes.matches(event(EventKind.CONNECT_TASK_FAILED, connector_name="c", task_id=0))
