"""The transition table of deliveries as pure functions: any order of outcomes keeps its invariants."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from chalicelib.domain.alerts.alert import Alert, Resolution
from chalicelib.domain.alerts.attempts import delivered, has_lapsed, lapsed, limited, put_off, refused, unsendable
from chalicelib.domain.alerts.channel import Channel
from chalicelib.domain.alerts.notification import (
    MAX_ATTEMPTS,
    EndReason,
    MessageKind,
    Notification,
    NotificationError,
    NotificationStatus,
)
from chalicelib.domain.alerts.transitions import opened, resolved, silenced, without_expired_silence
from tests.support.alerting.notifications import content, notification
from tests.support.entities import make_channel
from tests.unit.domain.alerts.test_transitions import EVENT, TRACK

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ERROR = NotificationError(code="server_error", message="The provider has an error of its own.")
MINUTE = timedelta(minutes=1)


FIRING = opened(EVENT, TRACK, "origin", NOW)
SILENCED = silenced(FIRING, "ann@example.com", NOW + MINUTE, None, NOW)
FIRING_ROW = notification()
RECOVERY_ROW = replace(notification(content(kind=MessageKind.RESOLVED)), after_id=FIRING_ROW.id)


def ended(alert: Alert, resolution: Resolution = Resolution.RECOVERED, now: datetime = NOW) -> Alert:
    return resolved(alert, TRACK.ended(now), now, resolution, now)


def claimed(one: Notification, now: datetime) -> Notification:
    return replace(one, claim="claim", lease_until=now + timedelta(seconds=20), attempts=one.attempts + 1)


@pytest.mark.parametrize(("attempts", "seconds"), [(1, 5), (2, 30), (3, 120)])
def test_the_delays_are_exact_and_retry_after_makes_them_longer_only(attempts: int, seconds: int) -> None:
    tried = replace(notification(), attempts=attempts, claim="claim")
    assert put_off(tried, ERROR, NOW).next_attempt_at == NOW + timedelta(seconds=seconds)
    assert put_off(tried, ERROR, NOW, retry_after=timedelta(seconds=1)).next_attempt_at == NOW + timedelta(
        seconds=seconds
    )
    assert put_off(tried, ERROR, NOW, retry_after=MINUTE * 5).next_attempt_at == NOW + MINUTE * 5
    assert put_off(tried, ERROR, NOW, retry_after=MINUTE * 500).next_attempt_at == NOW + MINUTE * 60


def test_a_claim_lapses_when_its_lease_ends() -> None:
    one = claimed(notification(), NOW)
    assert [has_lapsed(one, NOW + timedelta(seconds=after)) for after in (19, 20)] == [False, True]
    again = lapsed(one, NOW + MINUTE)
    assert (again.status, again.next_attempt_at, again.claim) == (NotificationStatus.PENDING, NOW + MINUTE, None)


@pytest.mark.parametrize("seed", range(200))
def test_any_order_of_outcomes_ends_after_four_attempts_at_most_and_leaves_no_claim(seed: int) -> None:
    random, now, one, failures = Random(seed), NOW, notification(), 0
    while one.status.is_open:
        now = max(now, one.next_attempt_at)
        one = claimed(one, now)
        assert one.attempts <= MAX_ATTEMPTS
        match random.choice(["transient", "unknown", "limited", "lapsed", "refused", "delivered"]):
            case "transient":
                one, failures = put_off(one, ERROR, now), failures + 1
            case "unknown":
                one, failures = put_off(one, ERROR, now, unknown=True), failures + 1
            case "limited":
                one = limited(one, ERROR, MINUTE, now)
            case "lapsed":
                now += timedelta(seconds=20)
                one, failures = lapsed(one, now), failures + 1
            case "refused":
                one = refused(one, ERROR)
            case "delivered":
                one = delivered(one, now)
        assert (one.claim, one.lease_until) == (None, None)
        assert failures <= MAX_ATTEMPTS
    assert (one.sent_at is not None) == (one.status is NotificationStatus.DELIVERED)
    assert (one.reason is None) == (one.status is NotificationStatus.DELIVERED)


REMOVED = ended(FIRING, Resolution.ENTITY_REMOVED)
OVER = ended(without_expired_silence(SILENCED, NOW + MINUTE), now=NOW + MINUTE)


@pytest.mark.parametrize(
    ("row", "alert", "channel", "after", "reason"),
    [
        pytest.param(FIRING_ROW, FIRING, make_channel(), 0, None, id="nothing prevents it"),
        pytest.param(FIRING_ROW, SILENCED, make_channel(), 59, EndReason.SILENCED, id="silenced"),
        pytest.param(FIRING_ROW, SILENCED, make_channel(), 60, None, id="the silence is over"),
        pytest.param(FIRING_ROW, ended(SILENCED), make_channel(), 120, EndReason.SILENCED, id="resolved in silence"),
        pytest.param(FIRING_ROW, OVER, make_channel(), 120, None, id="resolved after the silence"),
        pytest.param(FIRING_ROW, REMOVED, make_channel(), 0, EndReason.ENTITY_REMOVED, id="its entity was removed"),
        pytest.param(RECOVERY_ROW, REMOVED, make_channel(), 0, None, id="the recovery of a removed entity"),
        pytest.param(FIRING_ROW, FIRING, None, 0, EndReason.CHANNEL_DELETED, id="channel deleted"),
        pytest.param(FIRING_ROW, FIRING, make_channel(enabled=False), 0, EndReason.CHANNEL_DISABLED, id="disabled"),
    ],
)
def test_what_must_not_be_sent_any_more(
    row: Notification, alert: Alert, channel: Channel | None, after: int, reason: EndReason | None
) -> None:
    outcome = unsendable(row, alert, channel, None, NOW + timedelta(seconds=after))
    assert (outcome and outcome.reason) == reason
    assert outcome is None or not outcome.status.is_open


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (NotificationStatus.DELIVERED, None),
        (NotificationStatus.FAILED, None),
        (NotificationStatus.SUPPRESSED, EndReason.FIRING_NOT_SENT),
        (NotificationStatus.CANCELLED, EndReason.FIRING_NOT_SENT),
    ],
)
def test_a_recovery_follows_a_firing_message_that_was_sent(status: NotificationStatus, reason: str | None) -> None:
    outcome = unsendable(RECOVERY_ROW, ended(FIRING), make_channel(), replace(FIRING_ROW, status=status), NOW)
    assert (outcome and outcome.reason) == reason


def test_after_four_unknown_outcomes_it_says_that_nobody_knows() -> None:
    tried = replace(FIRING_ROW, attempts=MAX_ATTEMPTS, claim="claim")
    assert put_off(tried, ERROR, NOW, unknown=True).reason is EndReason.OUTCOME_UNKNOWN
    assert put_off(tried, ERROR, NOW).reason is EndReason.ATTEMPTS_EXHAUSTED
