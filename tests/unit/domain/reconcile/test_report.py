"""What a tick reports to alerting, and when."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.incident import Condition, Signal
from chalicelib.domain.observation import ConnectorStatus, Observation, ObservedState, TaskStatus
from chalicelib.domain.reconcile.report import REPORT_EVERY, cluster_report, report_due
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FAILED = Condition(code="CONNECT_TASK_FAILED", resource_type="pipeline", resource_id="p", message="It has failed.")
TASKS = tuple(TaskStatus(id=number, state="RUNNING", worker_id="w") for number in (0, 1))
SEEN = Observation(
    state=ObservedState.DEGRADED,
    observed_at=NOW,
    connector=ConnectorStatus(name="c", state="RUNNING", worker_id="w", tasks=TASKS),
)
VIEW = ClusterView(
    observed_at=NOW,
    reported_at=NOW,
    snapshot=ClusterSnapshot(
        observed={"c": SEEN, "gone": Observation(state=ObservedState.NOT_DEPLOYED, observed_at=NOW)},
        conditions={"c": (FAILED,)},
    ),
)


@pytest.mark.parametrize(("after", "due"), [(timedelta(seconds=10), False), (REPORT_EVERY, True)])
def test_a_report_is_due_once_a_minute_also_when_nothing_has_changed(after: timedelta, due: bool) -> None:
    assert report_due(VIEW, NOW + after) is due


def test_a_report_is_due_at_once_when_something_begins_or_ends_or_nothing_is_known_of_an_earlier_one() -> None:
    for began in (True, False):
        assert report_due(replace(VIEW, signals=(Signal(condition=FAILED, began=began, at=NOW),)), NOW)
    assert report_due(replace(VIEW, reported_at=None), NOW)


def test_a_report_has_all_that_is_wrong_and_the_tasks_that_exist() -> None:
    report = cluster_report("k", VIEW)
    assert (report.origin, report.at, report.complete) == ("connect_cluster/k", NOW, True)
    assert report.conditions == (FAILED,)
    assert report.tasks == {"c": frozenset({0, 1})}


def test_while_connect_cannot_be_read_a_report_says_only_that_and_nothing_about_connectors() -> None:
    since = NOW - timedelta(minutes=2)
    report = cluster_report("k", replace(VIEW, unreadable="It does not answer.", unreadable_since=since))
    assert [one.code for one in report.conditions] == ["STREAM_CONNECT_UNAVAILABLE"]
    assert (report.complete, report.tasks) == (False, {})


def test_what_was_not_readable_for_a_moment_is_no_condition_yet_and_no_recovery_either() -> None:
    report = cluster_report("k", replace(VIEW, unreadable="It does not answer.", unreadable_since=NOW))
    assert (report.conditions, report.complete) == ((), False)
