"""Publishing hands a report to the incidents and what goes on to alerting, and never fails."""

import logging
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.monitoring.episodes import Episodes
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.services.alerts.bus import InProcessBus

REPORT = MonitorReport(origin="operations", at=datetime(2026, 1, 31, 12, tzinfo=UTC))
EPISODES = Episodes(report=REPORT, going_on={})


def broken(*_arguments: object) -> bool:
    raise StoreUnavailable("The store did not answer.")


def published(episodes: Episodes, *, recorded: bool) -> tuple[bool, list[Episodes]]:
    """What publishing returns, and what alerting was given."""
    followed: list[Episodes] = []

    def follow(given: Episodes, _deadline: Deadline) -> bool:
        followed.append(given)
        return recorded

    return InProcessBus(record=lambda *_: episodes, follow=follow).publish(REPORT, Deadline.after(1)), followed


def test_alerting_is_given_what_goes_on() -> None:
    assert published(EPISODES, recorded=True) == (True, [EPISODES])


@pytest.mark.parametrize(("complete", "recorded"), [(True, False), (False, True)])
def test_publishing_says_whether_everything_was_recorded(complete: bool, recorded: bool) -> None:
    episodes = replace(EPISODES, complete=complete)
    assert published(episodes, recorded=recorded) == (False, [episodes])


@pytest.mark.parametrize("bus", [InProcessBus(broken, broken), InProcessBus(lambda *_: EPISODES, broken)])  # type: ignore[arg-type]
def test_what_fails_is_logged(bus: InProcessBus, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        assert not bus.publish(REPORT, Deadline.after(1))
    assert "a report was not recorded" in caplog.text
