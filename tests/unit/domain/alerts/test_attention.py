"""In which order alerts need a person, and what the reader may do about them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.access import GRANTS, Role
from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.attention import MAX_ENTRIES, actions, most_urgent, one_of_each_resource
from chalicelib.domain.alerts.cooldown import NotSentReason
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.listing import FACETS, Facets
from chalicelib.domain.alerts.transitions import opened
from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from tests.support.entities import make_pipeline
from tests.unit.domain.alerts.test_transitions import EVENT, NOW, TRACK

CRITICAL, WARNING, INFO = AlertSeverity
FIRING, ACKNOWLEDGED, SILENCED, _ = AlertStatus


def alert(name: str, severity: AlertSeverity = CRITICAL, **fields: Any) -> Alert:
    """An alert about a pipeline of this name."""
    event = replace(EVENT, severity=severity, condition_key=f"pipeline/{name}/CODE")
    return replace(opened(event, TRACK, "origin", NOW), id=name, **fields)


ORDERED = [
    alert("nobody was notified", not_sent=NotSentReason.NO_CHANNEL),
    alert("somebody was notified"),
    alert("in maintenance", not_sent=NotSentReason.MAINTENANCE),
    alert("acknowledged", status=ACKNOWLEDGED, acknowledged_at=NOW),
    alert("warning to nobody", WARNING, not_sent=NotSentReason.NO_RULE),
    alert("warning", WARNING),
    alert("silenced warning", WARNING, status=SILENCED),
]


def facets(alert: Alert) -> Facets:
    return Facets(id=alert.id, **{name: getattr(alert, name) for name in FACETS})


def test_the_worst_comes_first_and_of_equals_what_nobody_was_notified_of() -> None:
    mixed = [facets(one) for one in (alert("information", INFO), *reversed(ORDERED))]
    assert most_urgent(mixed, NOW) == [one.id for one in ORDERED]


def test_a_silence_that_has_expired_makes_an_alert_no_less_urgent() -> None:
    silenced = alert("silenced", status=SILENCED, silenced_until=NOW)
    assert most_urgent([facets(alert("acknowledged", status=ACKNOWLEDGED)), facets(silenced)], NOW) == [
        "silenced",
        "acknowledged",
    ]


def test_a_resource_is_named_once_by_its_worst_alert_and_the_oldest_of_equals_comes_first() -> None:
    older = alert("older", first_seen_at=NOW - timedelta(minutes=1))
    twice = alert("newer", WARNING), alert("newer")
    assert one_of_each_resource([*twice, older], NOW) == [older, twice[1]]


def test_at_most_50_resources_are_named() -> None:
    many = [alert(f"pipeline {number}") for number in range(MAX_ENTRIES + 1)]
    assert len(one_of_each_resource(many, NOW)) == MAX_ENTRIES


@pytest.mark.parametrize(
    ("role", "status", "expected"),
    [
        (Role.VIEWER, FIRING, ()),
        (Role.OPS, FIRING, ("acknowledge", "silence", "restart")),
        (Role.ADMIN, ACKNOWLEDGED, ("silence", "restart")),
        (Role.ADMIN, SILENCED, ("acknowledge", "unsilence", "restart")),
    ],
)
def test_a_reader_sees_what_they_may_do(role: Role, status: AlertStatus, expected: tuple[str, ...]) -> None:
    pipeline = make_pipeline(desired_state=DesiredState.RUNNING, observation=seen(ObservedState.FAILED))
    assert actions(pipeline, "pipeline", status, GRANTS[role].__contains__) == expected


def test_who_may_write_may_test_a_source() -> None:
    assert actions(object(), "source", FIRING, GRANTS[Role.OPS].__contains__) == ("acknowledge", "silence", "test")


def seen(state: ObservedState) -> Observation:
    return Observation(state=state, observed_at=NOW, reasons=())
