"""Which alerts a rule is about."""

from dataclasses import asdict, replace

import pytest

from chalicelib.domain.alerts.event import AlertEvent
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import DESCRIPTIONS, WITHOUT_ALERTS, Category, ConditionCode
from chalicelib.services.alerts.rules import DEFAULT_RULE
from tests.support.entities import make_rule
from tests.unit.domain.alerts.test_transitions import EVENT


def event(kind: EventKind, connector_name: str | None = "c", task_id: int | None = 0) -> AlertEvent:
    return replace(EVENT, kind=kind, severity=AlertSeverity.CRITICAL, connector_name=connector_name, task_id=task_id)


@pytest.mark.parametrize("code", [code for code in ConditionCode if code not in WITHOUT_ALERTS])
def test_whatever_costs_changes_is_in_the_default_rule(code: ConditionCode) -> None:
    default = make_rule(**asdict(DEFAULT_RULE))
    critical = event(code.event_kind, "c" if DESCRIPTIONS[code].category is Category.CONNECT else None, None)
    assert default.matches(critical)
    assert not default.matches(replace(critical, severity=AlertSeverity.WARNING))


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
    failures = make_rule(event_types=(EventKind.CONNECTOR_FAILED, EventKind.CONNECT_TASK_FAILED))
    assert failures.matches(event(kind, connector, task)) is matched


def test_a_rule_about_a_cause_does_not_match_other_failures_of_tasks() -> None:
    about_writes = make_rule(event_types=(EventKind.DESTINATION_WRITE_FAILED,))
    assert about_writes.matches(event(EventKind.DESTINATION_WRITE_FAILED))
    assert not about_writes.matches(event(EventKind.CONNECT_TASK_FAILED))
