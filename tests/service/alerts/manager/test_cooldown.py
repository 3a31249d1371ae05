"""Which episodes are sent, by the cooldown policy of the rule: every row of the table of the alerting contract.

The timeline: t=0 fails; 60 still failing; 120 healthy; 300 fails; 360 healthy; 900 fails; 960 healthy.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.alerts.alert import AlertStatus
from chalicelib.domain.alerts.notification import MessageKind, NotificationStatus
from chalicelib.domain.alerts.rule import CooldownPolicy
from tests.support.alerting.manager import Alerting, warning
from tests.support.apps.in_process_app import START_TIME
from tests.support.stored import remove

AFTER, EVERY, FIRST = CooldownPolicy
F, R = MessageKind.FIRING, MessageKind.RESOLVED
TIMELINE = ((0, True), (60, True), (120, False), (300, True), (360, False), (900, True), (960, False))


def at(alerting: Alerting, seconds: float, *, failing: bool) -> None:
    """A report at that time; a worker delivers what it has queued."""
    alerting.clock.now = START_TIME + timedelta(seconds=seconds)
    conditions = [alerting.task_failed()] if failing else []
    alerting.report(*conditions, after=0)
    alerting.settle()


def sent(alerting: Alerting) -> list[tuple[int, MessageKind]]:
    """When which messages were queued, in seconds from the beginning."""
    return sorted((int((row.created_at - START_TIME).total_seconds()), row.kind) for row in alerting.rows())


@pytest.mark.parametrize(
    ("policy", "recovery", "expected"),
    [
        (AFTER, True, [(0, F), (120, R), (900, F), (960, R)]),
        (AFTER, False, [(0, F), (900, F)]),
        (EVERY, True, [(0, F), (120, R), (300, F), (360, R), (900, F), (960, R)]),
        (EVERY, False, [(0, F), (300, F), (900, F)]),
        (FIRST, True, [(0, F), (120, R)]),
        (FIRST, False, [(0, F)]),
    ],
)
def test_the_messages_of_the_timeline(
    alerting: Alerting, policy: CooldownPolicy, recovery: bool, expected: list[tuple[int, MessageKind]]
) -> None:
    alerting.rule(alerting.channel(), cooldown_policy=policy, cooldown_seconds=900, send_recovery=recovery)
    for seconds, failing in TIMELINE:
        at(alerting, seconds, failing=failing)
    assert sent(alerting) == expected
    assert len(alerting.alerts()) == 3
    assert len({alert.id for alert in alerting.alerts()}) == 3


def test_the_next_message_says_how_many_episodes_were_muted(alerting: Alerting) -> None:
    alerting.rule(alerting.channel(), cooldown_seconds=900)
    for seconds in (0, 300, 600, 899, 900):
        at(alerting, seconds, failing=True)
        at(alerting, seconds + 0.5, failing=False)
    assert [row.content.muted_before for row in alerting.firing()] == [0, 3]
    assert alerting.alert().muted_before == 3


def test_a_raise_in_a_muted_episode_counts_the_earlier_ones_only(alerting: Alerting) -> None:
    alerting.rule(alerting.channel(), cooldown_seconds=900)
    for _ in range(3):
        alerting.report(warning(alerting.task_failed()))
        alerting.report()
    alerting.report(warning(alerting.task_failed()))
    alerting.report(alerting.task_failed())
    assert [row.content.muted_before for row in alerting.firing()] == [0, 2]


def test_a_message_that_has_reached_nobody_starts_no_cooldown(alerting: Alerting) -> None:
    alerting.rule(alerting.channel(), alerting.channel())
    alerting.report(alerting.task_failed())
    alerting.settle(NotificationStatus.FAILED)
    alerting.report()
    alerting.report(alerting.task_failed(), after=300)
    assert len(alerting.firing()) == 4


def test_a_failure_that_nobody_reports_for_an_hour_is_the_same_alert(alerting: Alerting) -> None:
    alerting.rule(alerting.channel(), cooldown_policy=EVERY)
    alerting.report(alerting.task_failed())
    alerting.report(alerting.task_failed(), after=3600)
    assert (len(alerting.alerts()), len(alerting.rows())) == (1, 1)


def test_two_rules_with_one_channel_make_one_message_that_names_both(alerting: Alerting) -> None:
    channel = alerting.channel()
    rules = [alerting.rule(channel, cooldown_seconds=seconds) for seconds in (900, 300)]
    alerting.report(alerting.task_failed())
    (row,) = alerting.rows()
    assert set(row.rule_ids) == {rule.id for rule in rules}
    alerting.report()
    alerting.report(alerting.task_failed(), after=300)
    assert [row.rule_ids for row in alerting.firing()[1:]] == [(rules[1].id,)]


def test_a_recovery_names_the_rules_that_want_it(alerting: Alerting) -> None:
    channel = alerting.channel()
    alerting.rule(channel, send_recovery=False)
    wants = alerting.rule(channel)
    alerting.report(alerting.task_failed())
    alerting.report()
    assert [row.rule_ids for row in alerting.recoveries()] == [(wants.id,)]


@pytest.mark.parametrize("enabled_later", [False, True])
def test_a_rule_that_comes_later_waits_for_the_next_episode_or_a_raise(alerting: Alerting, enabled_later: bool) -> None:
    channel = alerting.channel()
    rule = alerting.rule(channel, enabled=False) if enabled_later else None
    alerting.report(warning(alerting.task_failed()))
    if rule:
        alerting.stores.rules.save_alone(replace(rule, enabled=True))
    else:
        alerting.rule(channel)
    alerting.report(warning(alerting.task_failed()))
    assert alerting.rows() == []
    alerting.report(alerting.task_failed())
    assert len(alerting.rows()) == 1


def test_a_disabled_channel_gets_nothing_and_the_others_do(alerting: Alerting) -> None:
    on = alerting.channel()
    alerting.rule(alerting.channel(enabled=False), on)
    alerting.report(alerting.task_failed())
    assert [row.channel_id for row in alerting.rows()] == [on.id]


@pytest.mark.parametrize(
    "change", ["rule deleted", "rule disabled", "no recovery", "channel deleted", "channel disabled"]
)
def test_a_recovery_goes_only_where_rule_and_channel_still_want_it(alerting: Alerting, change: str) -> None:
    channel, kept = alerting.channel(), alerting.channel()
    rule, stores = alerting.rule(channel), alerting.stores
    alerting.rule(kept)
    alerting.report(alerting.task_failed())
    match change:
        case "rule deleted":
            remove(stores.rules, rule.id)
        case "rule disabled":
            stores.rules.save_alone(replace(rule, enabled=False))
        case "no recovery":
            stores.rules.save_alone(replace(rule, send_recovery=False))
        case "channel deleted":
            remove(stores.channels, channel.id)
        case "channel disabled":
            stores.channels.save_alone(replace(channel, enabled=False))
    alerting.report()
    assert alerting.alert().status is AlertStatus.RESOLVED
    assert [row.channel_id for row in alerting.recoveries()] == [kept.id]


def test_a_muted_episode_recovers_silently(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    for _ in range(2):
        alerting.report(alerting.task_failed())
        alerting.report()
    assert [row.alert_id for row in alerting.recoveries()] == [alerting.alerts()[0].id]


def test_the_first_occurrence_is_forgotten_after_thirty_days(alerting: Alerting) -> None:
    alerting.rule(alerting.channel(), cooldown_policy=FIRST)
    for days, expected in ((0, 1), (29, 1), (30, 2)):
        alerting.report(alerting.task_failed(), after=days * 86_400)
        alerting.report(after=0.001)
        assert len(alerting.firing()) == expected


def test_a_rule_that_is_created_again_begins_again(alerting: Alerting) -> None:
    channel = alerting.channel()
    rule = alerting.rule(channel, cooldown_policy=FIRST)
    alerting.report(alerting.task_failed())
    alerting.report()
    remove(alerting.stores.rules, rule.id)
    again = alerting.rule(channel, cooldown_policy=FIRST)
    alerting.report(alerting.task_failed())
    assert [row.rule_ids for row in alerting.firing()] == [(rule.id,), (again.id,)]
    (track,) = alerting.stores.tracks.all()
    assert set(track.rules) == {again.id}
