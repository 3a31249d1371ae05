"""When a delivery is said to be far behind: by the time that it needs to catch up, not by a number of records."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.progress import Progress, after_measurement
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.monitoring.watched_connector import ProgressFacts, WatchedConnector
from chalicelib.domain.names import ConnectorKind

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
SINK = WatchedConnector(
    connector="sink", kind=ConnectorKind.SINK, topics=("shop.public.orders",), quiet=timedelta(seconds=180)
)


class Delivery:
    """A sink that is measured each half a minute."""

    def __init__(self, *, lag: int = 0) -> None:
        self.now, self.delivered, self.end = START, 0, lag
        self.progress: Progress | None = None

    def run(
        self, minutes: float, *, per_second: float, arriving: float = 0, running: bool = True, every: int = 1
    ) -> list[str]:
        """The codes of each measurement. It commits at each `every`th one only."""
        codes, pending = [], 0.0
        for number in range(round(minutes * 2)):
            self.now += timedelta(seconds=30)
            self.end += round(arriving * 30)
            pending += per_second * 30
            if number % every == every - 1:
                self.delivered, pending = min(self.end, self.delivered + round(pending)), 0.0
            lag = self.end - self.delivered
            facts = ProgressFacts(
                position=self.delivered, records=self.delivered, end=self.end, lag=lag, behind=lag > 1, members=1
            )
            self.progress = after_measurement(self.progress, SINK, facts, running, self.now)
            codes.append(" ".join(finding.code for finding in self.progress.findings))
        return codes

    @property
    def found(self) -> Finding:
        """The only finding."""
        assert self.progress
        (finding,) = self.progress.findings
        return finding


HIGH = FindingCode.LAG_HIGH.value


def test_more_than_a_quarter_of_an_hour_to_catch_up_is_reported_after_five_minutes() -> None:
    codes = Delivery(lag=200_000).run(8, per_second=100)
    assert HIGH not in codes[:11]
    assert set(codes[12:]) == {HIGH}


def test_what_is_caught_up_with_in_a_quarter_of_an_hour_is_not_reported() -> None:
    assert set(Delivery(lag=85_000).run(20, per_second=100)) == {""}


def test_it_is_a_warning_that_says_how_much_waits_and_how_long_it_takes() -> None:
    delivery = Delivery(lag=200_000)
    delivery.run(6, per_second=100)
    found = delivery.found
    assert (found.severity, found.certain) == (Severity.WARNING, True)
    assert "About 160,000 records wait" in found.message
    assert "about 6,000 a minute" in found.message
    assert "about 27 minutes" in found.message


def test_it_ends_when_the_delivery_has_caught_up_most_of_it_and_does_not_flap_near_the_limit() -> None:
    delivery = Delivery(lag=200_000)
    codes = delivery.run(40, per_second=100)
    began, ended = codes.index(HIGH), len(codes) - codes[::-1].index(HIGH)
    assert set(codes[began:ended]) == {HIGH}
    assert set(codes[ended:]) == {""}
    lag_at_the_end = 200_000 - 100 * 30 * (ended + 1)
    assert 0 < lag_at_the_end <= 60_000


def test_commits_once_a_minute_look_no_different() -> None:
    assert set(Delivery(lag=85_000).run(20, per_second=100, every=2)) == {""}
    assert set(Delivery(lag=200_000).run(8, per_second=100, every=2)[13:]) == {HIGH}


def test_a_delivery_that_keeps_up_is_never_behind_however_little_it_delivers() -> None:
    assert set(Delivery().run(120, per_second=1000, arriving=0.1, every=2)) == {""}
    assert set(Delivery().run(60, per_second=1000, arriving=900, every=2)) == {""}


def test_a_burst_after_a_quiet_hour_is_worked_off_before_it_counts() -> None:
    delivery = Delivery()
    delivery.run(60, per_second=0)
    delivery.end += 50_000
    assert set(delivery.run(20, per_second=500)) == {""}


def test_a_delivery_that_does_not_move_at_all_stands_still_and_nothing_else() -> None:
    codes = Delivery(lag=200_000).run(10, per_second=0)
    assert set(codes) == {"", "STALLED"}


def test_what_is_paused_is_not_behind_and_begins_anew_when_it_runs_again() -> None:
    delivery = Delivery(lag=500_000)
    delivery.run(8, per_second=100)
    assert delivery.found.code is FindingCode.LAG_HIGH
    assert set(delivery.run(3, per_second=0, running=False)) == {""}
    assert HIGH not in delivery.run(5, per_second=100)
    assert set(delivery.run(2, per_second=100)[1:]) == {HIGH}


@pytest.mark.parametrize("lag", [10**12, 10**18])
def test_an_unlikely_number_is_no_error(lag: int) -> None:
    delivery = Delivery(lag=lag)
    delivery.run(8, per_second=0.1)
    assert delivery.found.code is FindingCode.LAG_HIGH
