"""How reports are stored: bounded transactions, conflicts, lost replies, deadlines, and processes that die."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError

from chalicelib.domain.alerts.alert import AlertStatus
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.rule import MAX_CHANNELS
from chalicelib.domain.alerts.transitions import acknowledged
from chalicelib.domain.monitoring.condition import Severity
from chalicelib.errors import StoreUnavailable
from tests.service.stores.conftest import Storage
from tests.service.stores.test_transaction import refused
from tests.support.alerting.manager import CLUSTER_ORIGIN, SOURCE_ORIGIN, Alerting, warning
from tests.support.apps.call_interceptor import CallInterceptor, InterceptedCall, Point

COMMIT = "TransactWriteItems"


@dataclass
class PassesAfter:
    """A deadline that passes when it was asked so often."""

    questions: int
    asked: int = field(default=0)

    @property
    def passed(self) -> bool:
        self.asked += 1
        return self.asked > self.questions


def at_commit(number: int, act: Callable[[InterceptedCall], object]) -> Callable[[Point, InterceptedCall], object]:
    """Runs instead of the transaction with this number, from 0."""
    commits = iter(range(1_000_000))

    def mode(point: Point, call: InterceptedCall) -> object:
        return act(call) if point.operation == COMMIT and next(commits) == number else call()

    return mode


def watched(storage: Storage, mode: Any, run: Callable[[], Any]) -> Any:
    storage.interceptor.watch(mode)
    try:
        return run()
    finally:
        storage.interceptor.unwatch()


def first(storage: Storage, act: Callable[[], object], run: Callable[[], Any]) -> Any:
    """Run it; `act` happens just before its first transaction."""

    def mode(call: InterceptedCall) -> object:
        with storage.interceptor.unrecorded():
            act()
        return call()

    return watched(storage, at_commit(0, mode), run)


def unavailable(_call: InterceptedCall) -> object:
    raise ReadTimeoutError(endpoint_url="http://127.0.0.1")


def items_of(point: Point) -> list[Any]:
    """What a transaction writes."""
    request: Any = point.request
    items: list[Any] = request.body["TransactItems"]
    return items


def overtaken(point: Point) -> object:
    """The store's answer to a transaction whose rows others have changed."""
    return refused("TransactionCanceledException", *["ConditionalCheckFailed"] * len(items_of(point)))


def acknowledge(alerting: Alerting) -> None:
    alerting.change(acknowledged(alerting.alert(), "a@example.com", alerting.clock()))


def sizes(storage: Storage, run: Callable[[], Any]) -> list[int]:
    """How many items each transaction has."""
    counts: list[int] = []

    def mode(point: Point, call: InterceptedCall) -> object:
        if point.operation == COMMIT:
            counts.append(len(items_of(point)))
        return call()

    watched(storage, mode, run)
    return counts


def test_a_large_report_is_stored_in_few_transactions_of_at_most_a_hundred_items(
    alerting: Alerting, storage: Storage
) -> None:
    alerting.rule(alerting.channel())
    failures = [alerting.task_failed(number) for number in range(110)]
    assert max(sizes(storage, lambda: alerting.report(*failures))) <= 100
    counted = sizes(storage, lambda: alerting.report(*failures))
    assert counted == [99, 11]
    healed = sizes(storage, alerting.report)
    assert sum(healed) == 110 * 4  # alert, track, message and event
    assert max(healed) <= 100
    assert {alert.status for alert in alerting.alerts()} == {AlertStatus.RESOLVED}
    assert {alert.occurrence_count for alert in alerting.alerts()} == {2}


def test_an_alert_to_every_channel_that_there_may_be_is_one_transaction(alerting: Alerting, storage: Storage) -> None:
    channels = [alerting.channel() for _ in range(MAX_CHANNELS)]
    for start in range(0, MAX_CHANNELS, 20):
        alerting.rule(*channels[start : start + 20])
    assert sizes(storage, lambda: alerting.report(alerting.task_failed())) == [MAX_CHANNELS + 4]
    assert len(alerting.rows()) == len(alerting.woken) == MAX_CHANNELS


def test_a_report_without_anything_wrong_costs_one_query(alerting: Alerting, storage: Storage) -> None:
    storage.interceptor.watch()
    alerting.report()
    assert [point.operation for point in storage.interceptor.unwatch()] == ["Query"]


def test_a_repeated_failure_costs_one_query_and_one_write(failing: Alerting, storage: Storage) -> None:
    storage.interceptor.watch()
    failing.report(failing.task_failed())
    assert [point.operation for point in storage.interceptor.unwatch()] == ["Query", COMMIT]


def test_what_has_no_time_left_is_recorded_by_the_next_report(alerting: Alerting) -> None:
    alerting.rule(alerting.channel())
    failures = [alerting.task_failed(number) for number in range(105)]
    deadline: Any = PassesAfter(2)
    alerting.clock.advance(60)
    assert not alerting.follow(alerting.report_now(*failures), deadline)
    recorded = len(alerting.alerts())
    assert 0 < recorded < 105
    assert alerting.woken
    alerting.report(*failures)
    assert (len(alerting.alerts()), len(alerting.rows())) == (105, 105)
    assert sorted(alert.occurrence_count for alert in alerting.alerts()) == [1] * (105 - recorded) + [2] * recorded


def test_reports_that_are_late_before_they_store_anything_record_all_alerts_in_the_end(alerting: Alerting) -> None:
    """Listing ten thousand alerts may take longer than a report may."""
    alerting.rule(alerting.channel())
    failures = [alerting.task_failed(number) for number in range(250)]
    recorded = []
    for _ in range(3):
        deadline: Any = PassesAfter(0)
        alerting.clock.advance(60)
        recorded.append(alerting.follow(alerting.report_now(*failures), deadline))
    assert (recorded, len(alerting.alerts()), len(alerting.rows())) == ([False, False, True], 250, 250)


def test_a_late_report_counts_although_it_has_not_recorded_all_that_is_new(alerting: Alerting) -> None:
    known = [alerting.task_failed(number) for number in range(5)]
    alerting.report(*known)
    deadline: Any = PassesAfter(0)
    alerting.clock.advance(60)
    report = alerting.report_now(*known, *(alerting.task_failed(number) for number in range(5, 155)))
    assert not alerting.follow(report, deadline)
    assert Counter(alert.occurrence_count for alert in alerting.alerts()) == {2: 5, 1: 99}


def test_a_late_report_ends_although_others_are_faster_each_time(alerting: Alerting, storage: Storage) -> None:
    """It asks the store no more for 300 alerts than for 150."""

    def calls(failures: int) -> int:
        deadline: Any = PassesAfter(0)
        alerting.clock.advance(60)
        report = alerting.report_now(*(alerting.task_failed(number) for number in range(failures)))
        storage.interceptor.watch(lambda point, call: overtaken(point) if point.operation == COMMIT else call())
        assert not alerting.follow(report, deadline)
        return len(storage.interceptor.unwatch())

    assert calls(150) == calls(300)
    assert alerting.alerts() == []


def test_what_is_only_counted_is_counted_in_turn_and_repeats_no_report(alerting: Alerting) -> None:
    """With time for one transaction of 99 in each report."""
    failures = [alerting.task_failed(number) for number in range(250)]
    alerting.report(*failures)
    for _ in range(3):
        deadline: Any = PassesAfter(2)
        alerting.clock.advance(60)
        assert alerting.follow(alerting.report_now(*failures), deadline)
    counts = [alert.occurrence_count for alert in alerting.alerts()]
    assert (min(counts), max(counts), sum(counts)) == (2, 3, 250 + 3 * 99)


def test_what_may_be_sent_comes_before_what_is_only_counted(alerting: Alerting) -> None:
    alerting.rule(alerting.channel(), severities=(AlertSeverity.WARNING,))
    counted = [alerting.task_failed(number) for number in range(199)]
    alerting.report(*counted, replace(alerting.task_failed(199), severity=Severity.INFO))
    deadline: Any = PassesAfter(2)
    alerting.clock.advance(60)
    report = alerting.report_now(*counted, warning(alerting.task_failed(199)))
    alerting.follow(report, deadline)
    assert [row.content.task_id for row in alerting.rows()] == [199]


def test_a_child_whose_cause_is_still_active_costs_no_more_than_counting(alerting: Alerting, storage: Storage) -> None:
    alerting.rule(alerting.channel())
    storm = [alerting.connector_failed(), *(alerting.task_failed(number) for number in range(50))]
    alerting.report(*storm)
    storage.interceptor.watch()
    alerting.report(*storm)
    assert [point.operation for point in storage.interceptor.unwatch()] == ["Query", COMMIT, COMMIT]


def test_an_acknowledgement_at_the_same_moment_is_kept_and_the_observation_counts(
    alerting: Alerting, storage: Storage
) -> None:
    alerting.report(alerting.task_failed())

    first(storage, lambda: acknowledge(alerting), lambda: alerting.report(alerting.task_failed()))
    alert = alerting.alert()
    assert (alert.status, alert.occurrence_count) == (AlertStatus.ACKNOWLEDGED, 2)


def test_an_acknowledgement_just_before_the_recovery_is_kept(failing: Alerting, storage: Storage) -> None:

    first(storage, lambda: acknowledge(failing), failing.report)
    alert = failing.alert()
    assert (alert.status, alert.acknowledged_by) == (AlertStatus.RESOLVED, "a@example.com")
    assert len(failing.recoveries()) == 1


@pytest.mark.parametrize("later", [0, 1])
def test_two_managers_with_the_first_failure_open_one_alert(alerting: Alerting, storage: Storage, later: float) -> None:
    alerting.rule(alerting.channel())
    report = alerting.report_now(alerting.task_failed())
    alerting.clock.advance(later)
    other, manager = alerting.report_now(alerting.task_failed()), alerting.new_manager()

    def faster() -> None:
        assert alerting.receive(other, manager=manager)

    assert first(storage, faster, lambda: alerting.receive(report))
    assert [alert.occurrence_count for alert in alerting.alerts()] == [1]
    assert len(alerting.rows()) == 1


@pytest.mark.parametrize(
    ("older_is_faster", "status"),
    [
        pytest.param(True, AlertStatus.RESOLVED, id="the newer one says nothing new, so nothing is late for it"),
        pytest.param(False, AlertStatus.FIRING, id="all before the newer one is late"),
    ],
)
def test_of_two_managers_that_see_nothing_the_faster_one_decides_what_is_late(
    failing: Alerting, storage: Storage, status: AlertStatus, *, older_is_faster: bool
) -> None:
    reports = []
    for complete in (False, True, False):
        failing.clock.advance(1)
        reports.append(failing.report_now(complete=complete))
    (older, healthy, newer), manager = reports, failing.new_manager()
    faster, slower = (older, newer) if older_is_faster else (newer, older)

    first(
        storage,
        lambda: failing.receive(faster, manager=manager),
        lambda: failing.receive(slower),
    )
    assert (failing.alert().stale, failing.alert().watermark) == (True, faster.at)
    assert failing.receive(healthy)
    assert failing.alert().status is status


def test_an_alert_that_others_change_all_the_time_holds_up_only_itself(alerting: Alerting, storage: Storage) -> None:
    failures = [alerting.task_failed(number) for number in range(20)]
    alerting.report(*failures)
    busy = alerting.alerts()[7].id

    def mode(point: Point, call: InterceptedCall) -> object:
        if point.operation == COMMIT:
            with storage.interceptor.unrecorded():
                alerting.change(alerting.stores.alerts.get(busy))
        return call()

    alerting.clock.advance(60)
    report = alerting.report_now(*failures)
    assert not watched(storage, mode, lambda: alerting.receive(report))
    counts = {alert.id: alert.occurrence_count for alert in alerting.alerts()}
    assert counts.pop(busy) == 1
    assert set(counts.values()) == {2}


def test_a_reply_that_was_lost_counts_nothing_twice(alerting: Alerting, storage: Storage) -> None:
    alerting.rule(alerting.channel())

    def lost(call: InterceptedCall) -> object:
        call()
        raise ReadTimeoutError(endpoint_url="http://127.0.0.1")

    watched(storage, at_commit(0, lost), lambda: alerting.report(alerting.task_failed()))
    watched(storage, at_commit(0, lost), lambda: alerting.report(alerting.task_failed()))
    assert [alert.occurrence_count for alert in alerting.alerts()] == [2]
    assert len(alerting.rows()) == 1


def test_what_was_queued_before_the_store_failed_wakes_its_workers(alerting: Alerting, storage: Storage) -> None:
    channel = alerting.channel()
    alerting.rule(channel)
    failures = [alerting.task_failed(number) for number in range(60)]
    commits = iter(range(1_000))

    def mode(point: Point, call: InterceptedCall) -> object:
        return call() if point.operation != COMMIT or next(commits) == 0 else unavailable(call)

    alerting.clock.advance(60)
    report = alerting.report_now(*failures)
    with pytest.raises(StoreUnavailable):
        watched(storage, mode, lambda: alerting.receive(report))
    assert alerting.woken == [channel.id]
    assert alerting.receive(report)
    assert [alert.occurrence_count for alert in alerting.alerts()] == [1] * 60
    assert len(alerting.rows()) == 60


def test_a_worker_that_cannot_be_woken_changes_nothing(alerting: Alerting) -> None:
    def refuses(_channel_id: str) -> None:
        raise StoreUnavailable("The queue did not take the message.")

    alerting.rule(alerting.channel(), alerting.channel())
    alerting.wake = refuses
    alerting.manager = alerting.new_manager()
    alerting.report(alerting.task_failed())
    assert len(alerting.rows()) == 2


def test_an_alert_that_is_too_large_does_not_stop_the_parts_of_a_report_behind_it(alerting: Alerting) -> None:
    huge = [replace(alerting.task_failed(number), message="x" * 450_000) for number in range(2)]
    alerting.clock.advance(60)
    report = alerting.report_now(*huge, *(alerting.task_failed(number) for number in range(2, 220)))
    assert not alerting.receive(report, seconds=120)
    assert len(alerting.alerts()) == 218


@pytest.mark.parametrize("shown", [CLUSTER_ORIGIN, SOURCE_ORIGIN])
def test_an_index_that_lags_does_not_open_a_second_alert(
    alerting: Alerting, storage: Storage, interceptor: CallInterceptor, shown: str
) -> None:
    alerting.rule(alerting.channel())
    before = storage.tables.snapshot()
    alerting.report(alerting.task_failed(), origin=shown)
    lagging = {name: rows for name, rows in before.items() if name.endswith("alerts")}

    def mode(point: Point, call: InterceptedCall) -> object:
        if point.operation == "Query":
            with storage.tables.showing(lagging):
                return call()
        return call()

    interceptor.watch(mode)
    alerting.report(alerting.task_failed())
    interceptor.unwatch()
    assert [alert.occurrence_count for alert in alerting.alerts()] == [2]
    assert len(alerting.rows()) == 1
