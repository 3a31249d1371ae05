"""Publishing reaches every subscriber and never fails."""

import logging
from datetime import UTC, datetime

import pytest

from chalicelib.alerting.bus import InProcessBus
from chalicelib.domain.alerts.event import MonitorReport
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Deadline

REPORT = MonitorReport(origin="operations", at=datetime(2026, 1, 31, 12, tzinfo=UTC), conditions=())


def broken(_report: MonitorReport, _deadline: Deadline) -> bool:
    raise StoreUnavailable("The store did not answer.")


def test_a_report_reaches_every_subscriber() -> None:
    received: list[MonitorReport] = []
    bus = InProcessBus([lambda report, _: received.append(report) or True] * 2)  # type: ignore[func-returns-value]
    assert bus.publish(REPORT, Deadline.after(1))
    assert received == [REPORT, REPORT]


def test_publishing_says_whether_everything_was_recorded() -> None:
    received: list[MonitorReport] = []
    bus = InProcessBus([lambda *_: False, lambda report, _: received.append(report) or True])  # type: ignore[func-returns-value]
    assert not bus.publish(REPORT, Deadline.after(1))
    assert received == [REPORT]


def test_a_subscriber_that_fails_is_logged_and_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    received: list[MonitorReport] = []
    bus = InProcessBus([broken, lambda report, _: received.append(report) or True])  # type: ignore[func-returns-value]
    with caplog.at_level(logging.ERROR):
        assert not bus.publish(REPORT, Deadline.after(1))
    assert received == [REPORT]
