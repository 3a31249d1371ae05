"""The decision of one rule: every combination of policy, occasion and what was sent before."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.alerts.cooldown import (
    Audience,
    Fanout,
    NotificationRequest,
    NotSentReason,
    Occasion,
    cooldown,
    fan_out,
    reached_nobody,
)
from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.alerts.rule import AlertRule, CooldownPolicy
from chalicelib.domain.alerts.track import RuleLedger
from tests.support.alerting.notifications import notification
from tests.support.entities import make_rule
from tests.unit.domain.alerts.test_transitions import EVENT

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
AFTER, EVERY, FIRST = CooldownPolicy
OPENED, RAISED, LATE = Occasion
DELIVERED, FAILED = NotificationStatus.DELIVERED, NotificationStatus.FAILED


def rule(number: int = 1, policy: CooldownPolicy = AFTER, channels: tuple[str, ...] = ("a",)) -> AlertRule:
    return make_rule(id=str(number), cooldown_policy=policy, cooldown_seconds=900, channel_ids=channels)


def request(occasion: Occasion = OPENED, **fields: object) -> NotificationRequest:
    given = {"alert_id": "alert", "episode": 2, "sequence": 1, "at": NOW, **fields}
    return NotificationRequest(occasion=occasion, **given)  # type: ignore[arg-type]


def sent(seconds: float) -> RuleLedger:
    return RuleLedger(anchor_at=NOW - timedelta(seconds=seconds), anchor_rows=("row",))


@pytest.mark.parametrize(
    ("policy", "occasion", "ledger", "void", "reason"),
    [
        *((policy, occasion, RuleLedger(), False, None) for policy in CooldownPolicy for occasion in Occasion),
        *((policy, RAISED, sent(1), False, None) for policy in CooldownPolicy),
        *((policy, occasion, sent(1), True, None) for policy in CooldownPolicy for occasion in Occasion),
        *((EVERY, occasion, sent(0), False, None) for occasion in Occasion),
        *((FIRST, occasion, sent(10**6), False, NotSentReason.FIRST_OCCURRENCE_ONLY) for occasion in (OPENED, LATE)),
        *((AFTER, occasion, sent(899.999), False, NotSentReason.COOLDOWN) for occasion in (OPENED, LATE)),
        *((AFTER, occasion, sent(900), False, None) for occasion in (OPENED, LATE)),
    ],
)
def test_why_a_message_is_held_back(
    policy: CooldownPolicy, occasion: Occasion, ledger: RuleLedger, void: bool, reason: NotSentReason | None
) -> None:
    assert cooldown(rule(policy=policy), ledger, request(occasion, void={"1"} if void else ())) is reason


def fanned(*rules: AlertRule, ledgers: dict[str, RuleLedger] | None = None, **fields: object) -> Fanout:
    return fan_out(EVENT, Audience(rules=rules, channel_ids=frozenset("abc")), ledgers or {}, request(**fields))  # type: ignore[arg-type]


def test_each_channel_is_there_once_with_all_of_its_rules() -> None:
    result = fanned(rule(1, channels=("a", "b")), rule(2, channels=("b", "gone")))
    assert result.channels == {"a": ("1",), "b": ("1", "2")}
    assert {one: len(ledger.anchor_rows) for one, ledger in result.ledgers.items()} == {"1": 2, "2": 1}


def test_only_an_episode_that_begins_counts_as_muted() -> None:
    ledgers = {"1": sent(10)}
    assert fanned(rule(), ledgers=ledgers).ledgers["1"].muted == 1
    assert fanned(rule(), ledgers=ledgers, occasion=LATE).ledgers["1"].muted == 0


def test_a_muted_message_moves_no_anchor() -> None:
    result = fanned(rule(channels=("a", "b")), muted=("a", "b"))
    assert (set(result.channels), result.ledgers) == ({"a", "b"}, {})
    partly = fanned(rule(channels=("a", "b")), muted=("a",))
    assert len(partly.ledgers["1"].anchor_rows) == 1


def test_a_deleted_rule_is_forgotten_and_one_without_channels_remembers_nothing() -> None:
    result = fanned(rule(2, channels=()), rule(3, channels=("gone",)), ledgers={"1": sent(10)})
    assert (result.channels, result.ledgers) == ({}, {})


@pytest.mark.parametrize(
    ("statuses", "nobody"),
    [
        pytest.param((), False, id="nothing was sent"),
        pytest.param((FAILED,), True, id="failed"),
        pytest.param((FAILED, NotificationStatus.CANCELLED, NotificationStatus.SUPPRESSED), True, id="all have failed"),
        *(((FAILED, status), False) for status in (DELIVERED, NotificationStatus.QUEUED, NotificationStatus.PENDING)),
        pytest.param((FAILED, None), False, id="forgotten"),
    ],
)
def test_a_message_that_may_have_reached_somebody_counts(
    statuses: tuple[NotificationStatus | None, ...], nobody: bool
) -> None:
    assert reached_nobody([status and notification(status=status) for status in statuses]) is nobody


@pytest.mark.parametrize(
    ("rules", "ledgers", "muted", "reason"),
    [
        ([], {}, (), NotSentReason.NO_RULE),
        ([rule(channels=())], {}, (), NotSentReason.NO_CHANNEL),
        ([rule(channels=()), rule(2, channels=("gone",))], {}, (), NotSentReason.DISABLED),
        ([rule(1), rule(2, channels=())], {"1": sent(10)}, (), NotSentReason.COOLDOWN),
        ([rule(1, FIRST)], {"1": sent(10**6)}, (), NotSentReason.FIRST_OCCURRENCE_ONLY),
        ([rule(channels=("a", "b"))], {}, ("a", "b"), NotSentReason.INHIBITED),
        ([rule(channels=("a", "b"))], {}, ("a",), None),
        ([rule(1), rule(2)], {"1": sent(10)}, (), None),
    ],
)
def test_the_reason_why_nobody_is_notified(
    rules: list[AlertRule], ledgers: dict[str, RuleLedger], muted: tuple[str, ...], reason: NotSentReason | None
) -> None:
    assert fanned(*rules, ledgers=ledgers, muted=muted).not_sent is reason
