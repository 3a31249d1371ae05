"""When a connector that reads RUNNING is said to stand still, and when not."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.metrics import NOT_KNOWN, Metrics
from chalicelib.domain.monitoring.progress import (
    Progress,
    ProgressLook,
    after_measurement,
    findings,
    is_known,
    measure_due,
    metrics,
    total_metrics,
)
from chalicelib.domain.monitoring.watched_connector import ProgressFacts, WatchedConnector
from chalicelib.domain.names import ConnectorKind
from chalicelib.domain.observation import Observation, ObservedState
from chalicelib.kit.clock import rfc3339

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
SOURCE = WatchedConnector(
    connector="source",
    kind=ConnectorKind.SOURCE,
    topics=("shop.public.orders",),
    heartbeat_topic="shop.headgate-heartbeat",
    quiet=timedelta(seconds=30),
)
SINK = WatchedConnector(
    connector="sink", kind=ConnectorKind.SINK, topics=("shop.public.orders",), quiet=timedelta(seconds=180)
)
UNREADABLE = None


def heartbeats(*positions: int) -> list[ProgressFacts]:
    return [ProgressFacts(position=one, records=0, end=0) for one in positions]


def commits(
    *committed: int, end: int | Sequence[int] = 100, members: int | None = 1, rebalancing: bool = False, lost: int = 0
) -> list[ProgressFacts]:
    """Measurements of a sink; `end` may differ from one to the next."""
    ends = [end] * len(committed) if isinstance(end, int) else end
    return [
        ProgressFacts(
            position=one,
            records=one,
            end=its_end,
            lag=its_end - one,
            behind=its_end - one > 1,
            members=members,
            rebalancing=rebalancing,
            lost=lost,
        )
        for one, its_end in zip(committed, ends, strict=True)
    ]


@dataclass
class Timeline:
    """Measurements that are half a minute apart."""

    watched: WatchedConnector
    now: datetime = START
    progress: Progress | None = None
    codes: list[str] = field(default_factory=list)

    def measure(
        self, facts: Sequence[ProgressFacts | None], *, running: bool | None = True, after: float = 30
    ) -> "Timeline":
        """Each adds to `codes` what is found then."""
        for one in facts:
            self.now += timedelta(seconds=after)
            self.progress = after_measurement(self.progress, self.watched, one, running, self.now)
            self.codes.append(" ".join(found.code for found in findings(self.progress, self.now)))
        return self


def timeline(
    watched: WatchedConnector, facts: Sequence[ProgressFacts | None], *, running: bool | None = True, after: float = 30
) -> Timeline:
    return Timeline(watched).measure(facts, running=running, after=after)


STALLED = "STALLED"


@pytest.mark.parametrize(
    ("watched", "facts", "running"),
    [
        (SOURCE, heartbeats(1, 2, 2, 2, 2, 2), True),
        (SOURCE, heartbeats(1, 1), False),
        (SINK, commits(0, 50, *[100] * 200), True),
        (SINK, commits(*[60] * 12), True),
        (SINK, commits(*[60] * 12, members=0), True),
        (SINK, commits(0, 50, 50), False),
        (SINK, [*commits(0, 50), *[UNREADABLE] * 20], True),
    ],
    ids=["standstill", "paused capture", "all delivered", "sink stands still", "no members", "paused sink", "denied"],
)
def test_where_nothing_has_changed_only_the_time_of_the_measurement_has(
    watched: WatchedConnector, facts: Sequence[ProgressFacts | None], running: bool
) -> None:
    seen = timeline(watched, facts, running=running)
    before = seen.progress
    after = seen.measure(facts[-1:], running=running).progress
    assert before
    assert after
    assert (replace(before, measured_at=seen.now), after.measured_at) == (after, seen.now)


# Sources


def test_a_capture_that_sends_heartbeats_moves() -> None:
    seen = timeline(SOURCE, heartbeats(*range(10)))
    assert not any(seen.codes)
    assert seen.progress
    assert seen.progress.moved_at == seen.now


def test_a_capture_that_is_quiet_for_longer_than_three_heartbeats_is_stalled_at_the_second_look() -> None:
    assert timeline(SOURCE, heartbeats(1, 2, 2, 2, 2)).codes == ["", "", "", STALLED, STALLED]


def test_a_standstill_ends_with_the_first_move() -> None:
    assert timeline(SOURCE, heartbeats(1, 2, 2, 2, 3, 3)).codes == ["", "", "", STALLED, "", ""]


def test_a_capture_with_rare_heartbeats_may_be_quiet_for_longer() -> None:
    rare = WatchedConnector(
        **{name: getattr(SOURCE, name) for name in ("connector", "kind", "topics", "heartbeat_topic")},
        quiet=timedelta(seconds=180),
    )
    assert timeline(rare, heartbeats(1, *[2] * 8)).codes == [""] * 8 + [STALLED]


def test_a_capture_that_does_not_run_is_not_stalled_and_has_time_when_it_runs_again() -> None:
    seen = timeline(SOURCE, heartbeats(*[1] * 9), running=False).measure(heartbeats(1, 1, 1, 2))
    assert not any(seen.codes)


def test_nobody_knows_whether_a_capture_without_heartbeats_stands_still() -> None:
    without = WatchedConnector(
        connector="source", kind=ConnectorKind.SOURCE, topics=("t",), quiet=timedelta(seconds=30), notice="No."
    )
    assert not any(timeline(without, heartbeats(*[1] * 20)).codes)


def test_before_its_first_heartbeat_a_capture_may_be_quiet_for_ten_minutes() -> None:
    snapshot = [ProgressFacts(position=5, records=5, end=5, begun=False)] * 24
    assert timeline(SOURCE, snapshot).codes == [""] * 23 + [STALLED]


# What cannot be read


def test_brokers_that_cannot_be_read_change_nothing() -> None:
    stalled = timeline(SOURCE, heartbeats(1, 2, 2, 2, 2))
    before = stalled.progress
    assert stalled.measure([UNREADABLE]).progress == before
    assert stalled.codes[-1] == STALLED


def test_after_an_outage_of_kafka_a_healthy_capture_is_not_stalled() -> None:
    seen = timeline(SOURCE, heartbeats(1, 2)).measure(heartbeats(2), after=600).measure(heartbeats(3, 4))
    assert not any(seen.codes)


def test_an_outage_of_kafka_is_no_recovery_from_a_standstill() -> None:
    seen = timeline(SOURCE, heartbeats(1, 2, 2, 2, 2)).measure(heartbeats(2), after=600)
    assert seen.codes[-1] == STALLED


def test_a_measurement_that_is_older_than_five_minutes_says_nothing() -> None:
    seen = timeline(SOURCE, heartbeats(1, 2, 2, 2, 2))
    assert findings(seen.progress, seen.now + timedelta(minutes=5, seconds=1)) == ()


def test_while_connect_cannot_be_read_no_standstill_begins_and_none_ends() -> None:
    assert timeline(SOURCE, heartbeats(1, 2, 2)).measure(heartbeats(*[2] * 9), running=None).codes == [""] * 12
    assert (
        timeline(SOURCE, heartbeats(1, 2, 2, 2, 2)).measure(heartbeats(2, 2), running=None).codes[-2:] == [STALLED] * 2
    )


def test_a_measurement_that_arrives_late_is_dropped() -> None:
    seen = timeline(SOURCE, heartbeats(1, 2, 3))
    assert after_measurement(seen.progress, SOURCE, heartbeats(1)[0], running=True, now=START) == seen.progress


# Sinks


def test_a_sink_that_commits_each_minute_moves() -> None:
    committed = sorted([*range(10), *range(10)])
    assert not any(timeline(SINK, commits(*committed, end=[one + 5 for one in committed])).codes)


def test_a_sink_that_commits_nothing_for_three_minutes_is_stalled_while_records_wait() -> None:
    seen = timeline(SINK, commits(4, *[5] * 9))
    assert seen.codes == [""] * 8 + [STALLED] * 2
    assert seen.progress
    assert "95 records" in seen.progress.findings[0].message


def test_a_sink_without_anything_to_deliver_may_be_quiet_for_ever() -> None:
    assert not any(timeline(SINK, commits(*[100] * 30)).codes)


def test_the_three_minutes_begin_with_the_first_record_that_waits() -> None:
    seen = timeline(SINK, commits(*[100] * 20)).measure(commits(*[100] * 7, end=200))
    assert seen.codes == [""] * 26 + [STALLED]


def test_a_sink_that_shows_a_lag_of_one_when_it_has_delivered_everything_is_not_stalled() -> None:
    assert not any(timeline(SINK, commits(99, *[99] * 20)).codes)
    assert not any(timeline(SINK, commits(10, 99, *[99] * 20, end=[11] + [100] * 21)).codes)


def test_a_sink_that_does_not_deliver_a_single_new_record_is_stalled() -> None:
    seen = timeline(SINK, commits(10, 100)).measure(commits(*[100] * 8, end=101))
    assert seen.codes[-1] == STALLED


def test_a_sink_that_was_resumed_has_time_to_commit() -> None:
    seen = timeline(SINK, commits(*[5] * 20), running=False).measure(commits(5, 5, 9))
    assert not any(seen.codes)


def test_a_rebalance_is_no_standstill_unless_it_does_not_end() -> None:
    assert not any(timeline(SINK, commits(*[5] * 20, rebalancing=True)).measure(commits(5, 5, 9)).codes)
    assert timeline(SINK, commits(*[5] * 30, rebalancing=True)).codes[-1] == STALLED


def test_a_running_sink_whose_group_has_no_members_for_a_minute_is_out_of_its_group() -> None:
    seen = timeline(SINK, commits(100, 100)).measure(commits(*[100] * 4, members=0))
    assert seen.codes == ["", "", "", "", STALLED, STALLED]
    assert seen.progress
    assert "no member" in seen.progress.findings[0].message


@pytest.mark.parametrize(("members", "running"), [(None, True), (0, False), (1, True)])
def test_a_group_that_cannot_be_described_or_whose_sink_does_not_run_is_not_empty(
    members: int | None, running: bool
) -> None:
    assert not any(timeline(SINK, commits(*[100] * 9, members=members), running=running).codes)


def test_retention_that_overtakes_a_paused_sink_is_found_at_once_and_keeps_its_time() -> None:
    seen = timeline(SINK, commits(5, 5)).measure(commits(5, 5, lost=7), running=False)
    assert seen.codes == ["", "", "CHANGES_LOST", "CHANGES_LOST"]
    assert seen.progress
    assert seen.progress.findings[0].since == START + timedelta(seconds=90)
    assert "7 records" in seen.progress.findings[0].message


def test_numbers_of_other_topics_are_not_compared() -> None:
    seen = timeline(SINK, commits(5, 6))
    seen.watched = WatchedConnector(connector="sink", kind=ConnectorKind.SINK, topics=("other",), quiet=SINK.quiet)
    seen.measure(commits(9_000))
    assert seen.progress
    assert (seen.progress.throughput, seen.progress.moved_at) == (None, None)


# What is shown


def shown(
    seen: Timeline, *, look: ProgressLook | None = None, later: float = 0
) -> tuple[float | None, int | None, str]:
    now = seen.now + timedelta(seconds=later)
    found = metrics(seen.progress, look or ProgressLook(at=now), now, is_sink=seen.watched.is_sink)
    return found.throughput, found.lag, found.notice or ""


def test_throughput_is_in_records_a_second_since_the_measurement_before() -> None:
    assert shown(timeline(SINK, commits(10, 40))) == (1.0, 60, "")


def test_a_pipeline_has_a_throughput_and_no_lag() -> None:
    facts = [ProgressFacts(position=one, records=one, end=one) for one in (0, 15)]
    throughput, lag, notice = shown(timeline(SOURCE, facts))
    assert (throughput, lag) == (0.5, None)
    assert "no lag" in notice


def test_after_one_measurement_the_throughput_is_not_known_yet() -> None:
    throughput, lag, notice = shown(timeline(SINK, commits(10)))
    assert (throughput, lag) == (None, 90)
    assert "second measurement" in notice


def test_what_was_measured_too_long_ago_is_null_with_the_reason() -> None:
    seen = timeline(SINK, commits(10, 40))
    at = seen.now + timedelta(minutes=6)
    throughput, lag, notice = shown(seen, look=ProgressLook(at=at, failure="The brokers do not answer."), later=360)
    assert (throughput, lag) == (None, None)
    assert notice.endswith("The brokers do not answer.")


def test_nothing_is_known_where_nothing_measures_it() -> None:
    assert metrics(None, None, START, is_sink=True).notice == NOT_KNOWN


def test_a_last_measurement_that_is_too_old_is_named_and_no_provider_is_said_to_be_missing() -> None:
    look, now = ProgressLook(at=START), START + timedelta(minutes=6)
    for found in (metrics(None, look, now, is_sink=True), total_metrics([look], now, clusters=1)):
        assert found.notice
        assert f"last asked for them at {rfc3339(START)}" in found.notice


def test_a_sum_of_everything_has_no_notice() -> None:
    assert total_metrics([ProgressLook(at=START, lag=1)], START, clusters=1) == Metrics(
        lag=1, measured=True, notice=None
    )


@pytest.mark.parametrize(
    ("looks", "clusters", "notice"),
    [
        ([ProgressLook(at=START, lag=1)], 3, "2 of 3 Connect clusters"),
        ([ProgressLook(at=START, lag=1), ProgressLook(at=START - timedelta(hours=1), lag=1)], 2, "1 of 2"),
        ([ProgressLook(at=START, lag=1, left_out=4)], 1, "4 connectors"),
    ],
)
def test_a_sum_of_only_some_says_how_many_are_not_included(
    looks: list[ProgressLook], clusters: int, notice: str
) -> None:
    found = total_metrics(looks, START, clusters=clusters)
    assert found.lag == 1
    assert found.notice
    assert notice in found.notice


def test_a_connector_that_was_not_measured_yet_says_so() -> None:
    notice = metrics(None, ProgressLook(at=START), START, is_sink=True).notice
    assert notice
    assert "not been measured yet" in notice


def test_a_connector_that_the_brokers_do_not_show_any_more_says_why_once_its_numbers_are_old() -> None:
    seen = timeline(SINK, commits(10, 40)).measure([UNREADABLE] * 10)
    assert shown(seen)[1] == 60
    seen.measure([UNREADABLE])
    assert seen.progress
    assert not is_known(seen.progress, seen.now)
    assert (shown(seen)[1], "describe" in shown(seen)[2]) == (None, True)


def test_what_the_brokers_do_not_show_is_null_with_the_reason() -> None:
    throughput, lag, notice = shown(timeline(SINK, [UNREADABLE]))
    assert (throughput, lag) == (None, None)
    assert "describe" in notice


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (ObservedState.RUNNING, ObservedState.DEGRADED),
        (ObservedState.DEGRADED, ObservedState.DEGRADED),
        (ObservedState.PAUSED, ObservedState.PAUSED),
    ],
)
def test_a_connector_that_runs_and_stands_still_is_degraded_and_one_that_was_paused_since_is_not_called_stalled(
    before: ObservedState, after: ObservedState
) -> None:
    seen = timeline(SOURCE, heartbeats(1, 2, 2, 2, 2))
    shown_metrics = metrics(seen.progress, ProgressLook(at=seen.now), seen.now, is_sink=False)
    explained = shown_metrics.explain(Observation(state=before, observed_at=seen.now))
    assert explained.state is after
    assert bool(explained.reasons) is (after is ObservedState.DEGRADED)


@pytest.mark.parametrize(
    ("last", "now", "due"), [(None, 0, True), (0, 10, False), (0, 29.9, False), (29, 30, True), (25, 95, True)]
)
def test_every_half_minute_one_tick_measures(last: float | None, now: float, due: bool) -> None:
    before = None if last is None else START + timedelta(seconds=last)
    assert measure_due(before, START + timedelta(seconds=now)) is due
