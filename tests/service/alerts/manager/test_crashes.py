"""The process dies at any store call of a report, before or after it was carried out: the next report heals it.

What is stored in the end is what would be stored if nothing had happened.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from chalicelib.domain.alerts.notification import NotificationStatus
from chalicelib.domain.alerts.transitions import silenced
from chalicelib.domain.monitoring.condition import Condition
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.stores.alerts.counters import AlertCounters
from tests.service.stores.conftest import Storage
from tests.support.alerting.manager import Alerting, warning
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point

pytestmark = pytest.mark.thorough

Conditions = Callable[[Alerting], list[Condition]]


@dataclass(frozen=True)
class Case:
    """`before` happens first, then comes a report of `conditions`."""

    before: Callable[[Alerting], object]
    conditions: Conditions


def nothing(_alerting: Alerting) -> list[Condition]:
    return []


def one(alerting: Alerting) -> list[Condition]:
    return [alerting.task_failed()]


def storm(alerting: Alerting) -> list[Condition]:
    return [alerting.connector_failed(), *(alerting.task_failed(number) for number in range(40))]


def lowered(alerting: Alerting) -> list[Condition]:
    return [warning(alerting.task_failed())]


def failed(
    *cycles: Conditions, status: NotificationStatus = NotificationStatus.DELIVERED
) -> Callable[[Alerting], None]:
    """Reports of before, each of whose messages has ended so."""

    def happen(alerting: Alerting) -> None:
        for conditions in cycles:
            alerting.report(*conditions(alerting))
            alerting.settle(status)

    return happen


def silenced_for_a_minute(alerting: Alerting) -> None:
    alerting.report(alerting.task_failed())
    alerting.settle(NotificationStatus.SUPPRESSED)
    until = alerting.clock() + timedelta(seconds=60)
    alerting.change(silenced(alerting.alert(), "a@example.com", until, None, alerting.clock()))


CASES = {
    "a failure": Case(failed(), one),
    "a storm": Case(failed(), storm),
    "a repetition": Case(failed(one), one),
    "a raise": Case(failed(lowered), one),
    "a recovery": Case(failed(one), nothing),
    "a storm that is over": Case(failed(storm), nothing),
    "a recurrence inside the cooldown": Case(failed(one, nothing), one),
    "a recurrence after nobody was reached": Case(failed(one, nothing, status=NotificationStatus.FAILED), one),
    "a silence that has expired": Case(silenced_for_a_minute, one),
    "children after their cause": Case(
        failed(storm, lambda alerting: storm(alerting)[1:], lambda alerting: storm(alerting)[1:]),
        lambda alerting: storm(alerting)[1:],
    ),
}


def first_report(alerting: Alerting, storage: Storage, case: Case) -> tuple[MonitorReport, Any, int]:
    """A report that was received; what was stored before it, and how many store calls it has made."""
    alerting.rule(alerting.channel(), alerting.channel())
    case.before(alerting)
    alerting.clock.advance(60)
    report, before = alerting.report_now(*case.conditions(alerting)), storage.tables.snapshot()
    storage.interceptor.watch()
    assert alerting.receive(report)
    return report, before, len(storage.interceptor.unwatch())


def crash(alerting: Alerting, storage: Storage, report: MonitorReport, number: int, *, carried_out: bool) -> None:
    """The process that receives the report dies at the store call with this number."""

    def mode(point: Point, call: InterceptedCall) -> object:
        if point.number != number:
            return call()
        if carried_out:
            call()
        raise Crash

    storage.interceptor.watch(mode)
    with pytest.raises(Crash):
        alerting.receive(report)
    storage.interceptor.unwatch()


def summary(alerting: Alerting) -> Any:
    """Everything that is stored, without random ids."""
    names = {alert.id: f"{alert.fingerprint[:8]} {alert.episode}" for alert in alerting.alerts()}
    alerts = [
        (
            names[alert.id], alert.status, alert.severity, alert.max_severity, alert.occurrence_count, alert.sequence,
            alert.first_seen_at, alert.last_seen_at, alert.muted_before, names.get(alert.inhibited_by or ""),
            alert.inhibited_cycles, sorted(alert.sent_to), [entry.reason for entry in alert.history],
        )
        for alert in alerting.alerts()
    ]  # fmt: skip
    rows = [(names[row.alert_id], row.channel_id, row.kind, row.sequence, row.status) for row in alerting.rows()]
    tracks = [
        (track.id, names.get(track.alert_id or ""), track.episode, track.changes, len(track.rules))
        for track in alerting.stores.tracks.all()
    ]
    return sorted(alerts), sorted(rows), sorted(tracks), AlertCounters.read()


@pytest.mark.parametrize("name", CASES)
def test_the_same_report_again_after_a_crash_leaves_what_it_would_have_left(
    alerting: Alerting, storage: Storage, name: str
) -> None:
    report, before, calls = first_report(alerting, storage, CASES[name])
    expected = summary(alerting)
    assert calls
    for number, carried_out in product(range(calls), (False, True)):
        storage.tables.restore(before)
        crash(alerting, storage, report, number, carried_out=carried_out)
        assert alerting.receive(report)
        assert summary(alerting) == expected, (number, carried_out)


@pytest.mark.parametrize("name", CASES)
def test_the_next_report_after_a_crash_leaves_the_same_states_and_messages(
    alerting: Alerting, storage: Storage, name: str
) -> None:
    """The cycle that died may or may not have counted; nothing else differs."""
    report, before, calls = first_report(alerting, storage, CASES[name])
    expected = states(alerting)
    for number in range(calls):
        storage.tables.restore(before)
        alerting.clock.now = report.at
        crash(alerting, storage, report, number, carried_out=False)
        alerting.report(*CASES[name].conditions(alerting), after=10)
        assert states(alerting) == expected, number


def states(alerting: Alerting) -> Any:
    """States, and which messages there are."""
    alerts = {alert.id: (alert.fingerprint, alert.episode, alert.status) for alert in alerting.alerts()}
    rows = [(alerts[row.alert_id][:2], row.channel_id, row.kind, row.status) for row in alerting.rows()]
    return sorted(alerts.values()), sorted(rows)
