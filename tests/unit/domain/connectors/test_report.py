"""What a tick reports, and when."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory
from chalicelib.domain.connectors.report import cluster_report, has_changed, report_due
from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity
from chalicelib.domain.observation import Observation, ObservedState
from tests.support.connectors import reported

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FAILED = Condition(
    code=ConditionCode.CONNECT_TASK_FAILED, resource_type="pipeline", resource_id="p", message="It has failed."
)
SEEN = Observation(
    state=ObservedState.DEGRADED,
    observed_at=NOW,
    connector=reported("c", "RUNNING", "RUNNING", "RUNNING"),
)


def view(*conditions: Condition) -> ClusterView:
    """A view of two connectors: one with these conditions, and one that is missing."""
    connectors = {"c": ConnectorMemory(observation=SEEN, conditions=conditions), "gone": ConnectorMemory()}
    return ClusterView(observed_at=NOW, reported_at=NOW, memory=ClusterMemory(connectors=connectors))


VIEW = view(FAILED)


@pytest.mark.parametrize(
    ("seconds", "due"), [(10, False), (54, False), (55, True), (-4, False), (-3600, True)], ids=str
)
def test_a_report_is_due_once_a_minute_also_when_the_clock_was_set_back(seconds: int, due: bool) -> None:
    assert report_due(VIEW, NOW + timedelta(seconds=seconds)) is due


def test_a_report_is_due_at_once_when_the_last_one_was_not_recorded() -> None:
    assert report_due(replace(VIEW, reported_at=None), NOW)


def test_something_has_changed_when_a_condition_begins_gets_worse_or_ends() -> None:
    warning = view(replace(FAILED, severity=Severity.WARNING))
    for before, after in ((view(), VIEW), (VIEW, view()), (warning, VIEW)):
        assert has_changed("k", before, after)
    assert not has_changed("k", VIEW, replace(VIEW, observed_at=NOW + timedelta(seconds=10)))


def test_a_cluster_that_cannot_be_read_has_changed_when_that_lasts() -> None:
    away = replace(VIEW, unreadable="It does not answer.", unreadable_since=NOW)
    views = [VIEW, *(replace(away, observed_at=NOW + timedelta(seconds=10 * number)) for number in range(5)), VIEW]
    changes = [has_changed("k", before, after) for before, after in pairwise(views)]
    assert changes == [False, False, False, True, False, True]


def test_a_report_has_all_that_is_wrong_and_the_tasks_that_exist() -> None:
    report = cluster_report("k", VIEW)
    assert (report.origin, report.at, report.looked_at) == ("connect_cluster/k", NOW, None)
    assert report.conditions == (FAILED,)
    assert report.tasks == {"c": frozenset({0, 1})}


def test_while_connect_cannot_be_read_a_report_says_only_that_and_nothing_about_connectors() -> None:
    since = NOW - timedelta(minutes=2)
    report = cluster_report("k", replace(VIEW, unreadable="It does not answer.", unreadable_since=since))
    assert [one.code for one in report.conditions] == ["STREAM_CONNECT_UNAVAILABLE"]
    assert (report.looked_at, report.tasks) == ({"k"}, {})


def test_what_was_not_readable_for_a_moment_is_no_condition_yet_and_no_recovery_either() -> None:
    report = cluster_report("k", replace(VIEW, unreadable="It does not answer.", unreadable_since=NOW))
    assert (report.conditions, report.looked_at) == ((), {"k"})
