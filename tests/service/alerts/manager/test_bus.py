"""Publishing hands a report to the incidents and what goes on to alerting, and never fails."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.monitoring.episodes import Episodes
from chalicelib.domain.monitoring.own_metrics import OwnMetric
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import log_context
from chalicelib.services.alerts.bus import InProcessBus, Record

REPORT = MonitorReport(origin="operations", at=datetime(2026, 1, 31, 12, tzinfo=UTC))
EPISODES = Episodes(report=REPORT, going_on={})


def broken(*_arguments: object) -> bool:
    raise StoreUnavailable("The store did not answer.")


def nothing(_origin: str) -> Sequence[Alert]:
    return ()


def published(episodes: Episodes, *, recorded: bool) -> tuple[bool, list[Episodes]]:
    """What publishing returns, and what alerting was given."""
    followed: list[Episodes] = []

    def follow(given: Episodes, _active: Sequence[Alert], _deadline: Deadline) -> bool:
        followed.append(given)
        return recorded

    bus = InProcessBus(record=lambda *_: episodes, active=nothing, follow=follow, measure=lambda _: None)
    return bus.publish(REPORT, Deadline.after(1)), followed


def test_alerting_is_given_what_goes_on() -> None:
    assert published(EPISODES, recorded=True) == (True, [EPISODES])


@pytest.mark.parametrize(("complete", "recorded"), [(True, False), (False, True)])
def test_publishing_says_whether_everything_was_recorded(complete: bool, recorded: bool) -> None:
    episodes = replace(EPISODES, complete=complete)
    assert published(episodes, recorded=recorded) == (False, [episodes])


@pytest.mark.parametrize("record", [broken, lambda *_: EPISODES])
def test_what_fails_is_logged_and_measured(record: Record, caplog: pytest.LogCaptureFixture) -> None:
    measured: list[Mapping[OwnMetric, float]] = []
    with caplog.at_level(logging.ERROR):
        assert not InProcessBus(record, nothing, broken, measured.append).publish(REPORT, Deadline.after(1))
    assert "a report was not recorded" in caplog.text
    assert measured == [{OwnMetric.REPORTS_NOT_RECORDED: 1}]


def test_a_report_has_the_correlation_id_of_the_message_that_it_comes_from() -> None:
    recorded: list[MonitorReport] = []

    def record(report: MonitorReport, _deadline: Deadline) -> Episodes:
        recorded.append(report)
        return EPISODES

    with log_context(correlation_id="of-the-tick"):
        InProcessBus(record, nothing, lambda *_: True, lambda _: None).publish(REPORT, Deadline.after(1))
    assert recorded[0].correlation_id == "of-the-tick"


def test_incidents_are_recorded_although_no_alert_can_be_read() -> None:
    recorded: list[MonitorReport] = []

    def unreadable(_origin: str) -> Sequence[Alert]:
        raise StoreUnavailable("The store did not answer.")

    def record(report: MonitorReport, _deadline: Deadline) -> Episodes:
        recorded.append(report)
        return EPISODES

    assert not InProcessBus(record, unreadable, lambda *_: True, lambda _: None).publish(REPORT, Deadline.after(1))
    assert [report.origin for report in recorded] == [REPORT.origin]
