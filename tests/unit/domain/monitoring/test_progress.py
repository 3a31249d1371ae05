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
    return [ProgressFacts(position=position, records=0, end=0) for position in positions]


def commits(
    *committed: int, end: int | Sequence[int] = 100, members: int | None = 1, rebalancing: bool = False, lost: int = 0
) -> list[ProgressFacts]:
    """Measurements of a sink; `end` may differ from one to the next."""
    ends = [end] * len(committed) if isinstance(end, int) else end
    return [
        ProgressFacts(
            position=offset,
            records=offset,
            end=its_end,
            lag=its_end - offset,
            behind=its_end - offset > 1,
            members=members,
            rebalancing=rebalancing,
            lost=lost,
        )
        for offset, its_end in zip(committed, ends, strict=True)
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
        for measured in facts:
            self.now += timedelta(seconds=after)
            self.progress = after_measurement(self.progress, self.watched, measured, running, self.now)
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


RARE = replace(SOURCE, quiet=timedelta(seconds=180))
WITHOUT_HEARTBEATS = WatchedConnector(
    connector="source", kind=ConnectorKind.SOURCE, topics=("t",), quiet=timedelta(seconds=30), notice="No."
)
SNAPSHOT = ProgressFacts(position=5, records=5, end=5, begun=False)
EACH_MINUTE = sorted([*range(10), *range(10)])

STANDSTILLS = {
    "three heartbeats late, at the second look": (SOURCE, heartbeats(1, 2, 2, 2, 2), [""] * 3 + [STALLED] * 2),
    "until the first move": (SOURCE, heartbeats(1, 2, 2, 2, 3, 3), ["", "", "", STALLED, "", ""]),
    "later with rare heartbeats": (RARE, heartbeats(1, *[2] * 8), [""] * 8 + [STALLED]),
    "ten minutes without a first heartbeat": (SOURCE, [SNAPSHOT] * 24, [""] * 23 + [STALLED]),
    "no commit for three minutes while records wait": (SINK, commits(4, *[5] * 9), [""] * 8 + [STALLED] * 2),
    "three minutes after the first record that waits": (
        SINK,
        commits(*[100] * 27, end=[100] * 20 + [200] * 7),
        [""] * 26 + [STALLED],
    ),
    "a single new record is not delivered": (
        SINK,
        commits(10, *[100] * 9, end=[100] * 2 + [101] * 8),
        [""] * 8 + [STALLED] * 2,
    ),
    "no members for a minute": (
        SINK,
        [*commits(100, 100), *commits(*[100] * 4, members=0)],
        [""] * 4 + [STALLED] * 2,
    ),
}


@pytest.mark.parametrize(("watched", "facts", "codes"), STANDSTILLS.values(), ids=STANDSTILLS)
def test_a_connector_stands_still(watched: WatchedConnector, facts: Sequence[ProgressFacts], codes: list[str]) -> None:
    assert timeline(watched, facts).codes == codes


MOVES = {
    "heartbeats": (SOURCE, heartbeats(*range(10))),
    "a capture without heartbeats, of which nobody knows": (WITHOUT_HEARTBEATS, heartbeats(*[1] * 20)),
    "a sink that commits each minute": (SINK, commits(*EACH_MINUTE, end=[number + 5 for number in EACH_MINUTE])),
    "a sink without anything to deliver": (SINK, commits(*[100] * 30)),
    "a lag of one when everything is delivered": (SINK, commits(99, *[99] * 20)),
    "a lag of one that was larger": (SINK, commits(10, 99, *[99] * 20, end=[11] + [100] * 21)),
    "a rebalance that ends": (SINK, [*commits(*[5] * 20, rebalancing=True), *commits(5, 5, 9)]),
    "a group that cannot be described": (SINK, commits(*[100] * 9, members=None)),
}


@pytest.mark.parametrize(("watched", "facts"), MOVES.values(), ids=MOVES)
def test_a_connector_does_not_stand_still(watched: WatchedConnector, facts: Sequence[ProgressFacts]) -> None:
    assert not any(timeline(watched, facts).codes)


@pytest.mark.parametrize(
    ("watched", "before", "after"),
    [
        pytest.param(SOURCE, heartbeats(*[1] * 9), heartbeats(1, 1, 1, 2), id="capture"),
        pytest.param(SINK, commits(*[5] * 20), commits(5, 5, 9), id="sink"),
        pytest.param(SINK, commits(*[100] * 9, members=0), [], id="sink without members"),
    ],
)
def test_what_does_not_run_is_not_stalled_and_has_time_when_it_runs_again(
    watched: WatchedConnector, before: Sequence[ProgressFacts], after: Sequence[ProgressFacts]
) -> None:
    assert not any(timeline(watched, before, running=False).measure(after).codes)


def test_a_move_has_its_time() -> None:
    seen = timeline(SOURCE, heartbeats(1, 2))
    assert seen.progress
    assert seen.progress.moved_at == seen.now


@pytest.mark.parametrize(
    ("facts", "message"),
    [(commits(4, *[5] * 8), "95 records"), (commits(*[100] * 4, members=0), "no member")],
)
def test_a_standstill_says_what_waits_or_is_missing(facts: Sequence[ProgressFacts], message: str) -> None:
    seen = timeline(SINK, facts)
    assert seen.progress
    assert message in seen.progress.findings[0].message


def test_a_rebalance_without_end_is_a_standstill() -> None:
    assert timeline(SINK, commits(*[5] * 30, rebalancing=True)).codes[-1] == STALLED


def test_brokers_that_cannot_be_read_change_nothing() -> None:
    stalled = timeline(SOURCE, heartbeats(1, 2, 2, 2, 2))
    before = stalled.progress
    assert stalled.measure([UNREADABLE]).progress == before
    assert stalled.codes[-1] == STALLED


def test_an_outage_of_kafka_is_neither_a_standstill_nor_a_recovery_from_one() -> None:
    healthy = timeline(SOURCE, heartbeats(1, 2)).measure(heartbeats(2), after=600).measure(heartbeats(3, 4))
    assert not any(healthy.codes)
    assert timeline(SOURCE, heartbeats(1, 2, 2, 2, 2)).measure(heartbeats(2), after=600).codes[-1] == STALLED


def test_a_measurement_that_is_older_than_five_minutes_says_nothing() -> None:
    seen = timeline(SOURCE, heartbeats(1, 2, 2, 2, 2))
    assert findings(seen.progress, seen.now + timedelta(minutes=5, seconds=1)) == ()


def test_while_connect_cannot_be_read_no_standstill_begins_and_none_ends() -> None:
    assert timeline(SOURCE, heartbeats(1, 2, 2)).measure(heartbeats(*[2] * 9), running=None).codes == [""] * 12
    stalled = timeline(SOURCE, heartbeats(1, 2, 2, 2, 2))
    assert stalled.measure(heartbeats(2, 2), running=None).codes[-2:] == [STALLED] * 2


def test_a_measurement_that_arrives_late_is_dropped() -> None:
    seen = timeline(SOURCE, heartbeats(1, 2, 3))
    assert after_measurement(seen.progress, SOURCE, heartbeats(1)[0], running=True, now=START) == seen.progress


def test_retention_that_overtakes_a_paused_sink_is_found_at_once_and_keeps_its_time() -> None:
    seen = timeline(SINK, commits(5, 5)).measure(commits(5, 5, lost=7), running=False)
    assert seen.codes == ["", "", "CHANGES_LOST", "CHANGES_LOST"]
    assert seen.progress
    assert seen.progress.findings[0].since == START + timedelta(seconds=90)
    assert "7 records" in seen.progress.findings[0].message


def test_numbers_of_other_topics_are_not_compared() -> None:
    seen = timeline(SINK, commits(5, 6))
    seen.watched = replace(SINK, topics=("other",))
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


WRITES = [ProgressFacts(position=records, records=records, end=records) for records in (0, 15)]


@pytest.mark.parametrize(
    ("watched", "facts", "throughput", "lag", "reason"),
    [
        pytest.param(SINK, commits(10, 40), 1.0, 60, "", id="records a second since the measurement before"),
        pytest.param(SOURCE, WRITES, 0.5, None, "no lag", id="a pipeline has no lag"),
        pytest.param(SINK, commits(10), None, 90, "second measurement", id="after one measurement"),
        pytest.param(SINK, [UNREADABLE], None, None, "describe", id="not shown by the brokers"),
    ],
)
def test_what_is_not_known_is_null_with_the_reason(
    watched: WatchedConnector,
    facts: Sequence[ProgressFacts | None],
    throughput: float | None,
    lag: int | None,
    reason: str,
) -> None:
    *numbers, notice = shown(timeline(watched, facts))
    assert numbers == [throughput, lag]
    assert reason in notice
    assert bool(reason) is bool(notice)


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
    total = total_metrics([ProgressLook(at=START, lag=1)], START, clusters=1)
    assert total == Metrics(lag=1, measured=True, notice=None)


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
