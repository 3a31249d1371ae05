"""The transition table of deliveries as pure functions: any order of outcomes keeps its invariants."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from chalicelib.domain.alerts.attempts import delivered, has_lapsed, lapsed, limited, put_off, refused
from chalicelib.domain.alerts.notification import (
    MAX_ATTEMPTS,
    Notification,
    NotificationError,
    NotificationStatus,
)
from tests.support.alerting.notifications import notification

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ERROR = NotificationError(code="server_error", message="The provider has an error of its own.")
MINUTE = timedelta(minutes=1)


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
