"""What operators do to an alert, and what becomes of it by reports, without any store."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.domain.alerts.alert import MAX_HISTORY, Alert, AlertStatus, Resolution
from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.track import FLAPPING_CHANGES, Track
from chalicelib.domain.alerts.transitions import (
    acknowledged,
    is_late,
    not_visible,
    observed,
    opened,
    resolved,
    silenced,
    unsilenced,
    with_history,
    without_expired_silence,
)
from chalicelib.domain.event_kind import EventKind
from chalicelib.errors import Conflict

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=10)
ANN, BOB = "ann@example.com", "bob@example.com"
FIRING, ACKNOWLEDGED, SILENCED, RESOLVED = AlertStatus
EVENT = AlertEvent(
    kind=EventKind.CONNECT_TASK_FAILED, severity=AlertSeverity.WARNING, connector_name="c", connect_cluster_id="k",
    emitter=Emitter(type="source", id="s", name="shop"), pipeline_id="p", task_id=0, error="It has failed.", hint=None,
    condition_key="pipeline/p/c/0/CONNECT_TASK_FAILED",
)  # fmt: skip
TRACK = Track(id=EVENT.fingerprint, created_at=NOW).began("alert", NOW)


@pytest.fixture
def alert() -> Alert:
    """An alert that fires."""
    return opened(EVENT, TRACK, "origin", NOW)


def ended(alert: Alert) -> Alert:
    return resolved(alert, TRACK.ended(LATER), LATER, Resolution.RECOVERED, LATER)


def test_the_first_who_acknowledges_stays_and_both_are_in_the_history(alert: Alert) -> None:
    twice = acknowledged(acknowledged(alert, ANN, NOW), BOB, LATER, "me too")
    assert (twice.status, twice.acknowledged_by, twice.acknowledged_at) == (ACKNOWLEDGED, ANN, NOW)
    assert [(entry.actor, entry.reason) for entry in twice.history[1:]] == [(ANN, "acknowledged"), (BOB, "me too")]


def test_an_acknowledgement_ends_a_silence(alert: Alert) -> None:
    after = acknowledged(silenced(alert, ANN, LATER, "work", NOW), BOB, NOW)
    assert (after.status, after.silenced_until, after.silenced_by, after.silence_reason) == (ACKNOWLEDGED, *[None] * 3)


def test_a_silence_names_who_until_when_and_why(alert: Alert) -> None:
    after = silenced(acknowledged(alert, BOB, NOW), ANN, LATER, "work", NOW)
    assert (after.status, after.silenced_at, after.silenced_until) == (SILENCED, NOW, LATER)
    assert (after.silenced_by, after.silence_reason, after.acknowledged_by) == (ANN, "work", BOB)


@pytest.mark.parametrize("until", [None, LATER + timedelta(hours=1)])
def test_the_newest_silence_counts(alert: Alert, until: datetime | None) -> None:
    after = silenced(silenced(alert, ANN, LATER, None, NOW), BOB, until, None, NOW)
    assert (after.silenced_until, after.silenced_by) == (until, BOB)


def test_the_end_of_a_silence_returns_to_what_was_decided_before(alert: Alert) -> None:
    assert unsilenced(silenced(alert, ANN, None, None, NOW), ANN, NOW).status is FIRING
    taken = acknowledged(alert, ANN, NOW)
    assert unsilenced(silenced(taken, ANN, None, None, NOW), ANN, NOW).status is ACKNOWLEDGED


def test_without_a_silence_there_is_nothing_to_end(alert: Alert) -> None:
    taken = acknowledged(alert, ANN, NOW)
    assert unsilenced(alert, ANN, NOW) == alert
    assert unsilenced(taken, ANN, NOW) == taken


def test_a_silence_is_over_at_its_end_and_not_before(alert: Alert) -> None:
    quiet = silenced(alert, ANN, LATER, None, NOW)
    assert without_expired_silence(quiet, LATER - timedelta(milliseconds=1)) == quiet
    over = without_expired_silence(quiet, LATER)
    assert (over.status, over.history[-1].actor, over.silenced_until) == (FIRING, "system", None)
    assert quiet.status_at(LATER) is FIRING


def test_an_operator_moves_what_people_see(alert: Alert) -> None:
    over = unsilenced(silenced(alert, ANN, LATER, None, NOW), BOB, LATER)
    assert [entry.actor for entry in over.history] == ["system", ANN, "system"]


def test_a_resolved_alert_moves_no_more(alert: Alert) -> None:
    over = ended(alert)
    moves = (
        lambda: acknowledged(over, ANN, LATER),
        lambda: silenced(over, ANN, None, None, LATER),
        lambda: unsilenced(over, ANN, LATER),
        lambda: without_expired_silence(over, LATER),
    )
    for move in moves:
        with pytest.raises(Conflict) as conflict:
            move()
        assert conflict.value.code == "STATE_CONFLICT"


def test_a_recovery_never_takes_less_than_no_time(alert: Alert) -> None:
    assert ended(alert).recovery_seconds == 600
    early = NOW - timedelta(seconds=1)
    assert resolved(alert, TRACK.ended(early), early, Resolution.RECOVERED, NOW).recovery_seconds == 0


def test_a_long_history_keeps_its_beginning_and_its_end(alert: Alert) -> None:
    for number in range(300):
        alert = with_history(alert, NOW, FIRING, "system", str(number))
    assert len(alert.history) == MAX_HISTORY
    assert [entry.reason for entry in alert.history[:3]] == ["observed", "0", "1"]
    assert [entry.reason for entry in alert.history[-2:]] == ["298", "299"]


def test_a_report_that_is_not_newer_is_late(alert: Alert) -> None:
    assert is_late(NOW, alert.watermark, NOW)
    assert not is_late(LATER, alert.watermark, LATER)
    assert is_late(LATER, not_visible(alert, LATER).watermark, LATER)


def test_no_report_is_late_after_a_clock_that_was_ahead(alert: Alert) -> None:
    minute = timedelta(minutes=1)
    assert not is_late(NOW - minute, alert.watermark, NOW - minute)
    assert is_late(NOW - minute, alert.watermark, NOW - minute / 2)


def test_what_cannot_be_seen_is_marked_once(alert: Alert) -> None:
    unseen = not_visible(alert, LATER)
    assert unseen.stale
    assert not_visible(unseen, LATER + timedelta(minutes=1)) is unseen


@given(severities=st.lists(st.sampled_from(AlertSeverity), max_size=12), operator=st.sampled_from(AlertStatus))
def test_no_observation_changes_what_an_operator_has_decided(
    severities: list[AlertSeverity], operator: AlertStatus
) -> None:
    alert = opened(EVENT, TRACK, "origin", NOW)
    match operator:
        case AlertStatus.ACKNOWLEDGED:
            alert = acknowledged(alert, ANN, NOW)
        case AlertStatus.SILENCED:
            alert = silenced(alert, ANN, None, "work", NOW)
    after = alert
    for number, severity in enumerate(severities, 1):
        after = observed(after, replace(EVENT, severity=severity), "origin", NOW + timedelta(seconds=number))
    decided = ("status", "acknowledged_at", "acknowledged_by", "silenced_at", "silenced_until", "silenced_by")
    assert [getattr(after, name) for name in decided] == [getattr(alert, name) for name in decided]
    assert after.occurrence_count == 1 + len(severities)
    assert after.max_severity is min((AlertSeverity.WARNING, *severities), key=lambda one: one.rank)


def test_a_track_counts_only_the_changes_of_the_last_half_hour() -> None:
    track, at = Track(id="f", created_at=NOW), NOW
    for _ in range(FLAPPING_CHANGES // 2):
        track = track.began("a", at).ended(at + timedelta(minutes=6))
        at += timedelta(minutes=12)
    assert track.changes[-1] - track.changes[0] == timedelta(minutes=30)
    assert track.flapping
    assert not track.began("a", at + timedelta(seconds=1)).flapping
