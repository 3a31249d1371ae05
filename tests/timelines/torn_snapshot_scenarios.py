"""The memory of ticks is lost, as when its writer dies in between. That is no recovery of any fault."""

from tests.timelines import traces
from tests.timelines.actions import (
    by_hand,
    connect_is_well,
    connect_lists_nothing,
    fail_task,
    heal,
    kafka_reachable,
    kafka_unreachable,
    restore_config,
    rewrite,
    tear_snapshot,
    traffic,
    vanish,
)
from tests.timelines.script import CAPTURE, DELIVERY, Broken, Timeline, at, every

REFUSED = frozenset({"SOURCE_AUTH_FAILED"})
STALLED = frozenset({"STALLED"})
LOOP = frozenset({"CONNECTOR_RESTART_LOOP"})
NEVER = 100_000.0

TIMELINES = (
    Timeline(
        name="a snapshot is torn while all is well",
        lasts=110,
        steps=at(21, tear_snapshot),
    ),
    Timeline(
        name="a snapshot is torn while a task has failed",
        lasts=160,
        steps=at(21, fail_task(CAPTURE, traces.PASSWORD)) + at(61, tear_snapshot) + at(111, heal(CAPTURE)),
        broken=(Broken(CAPTURE, 21, 111, codes=REFUSED),),
    ),
    Timeline(
        name="a snapshot is torn in the moment in which a task recovers",
        lasts=140,
        steps=at(21, fail_task(CAPTURE, traces.PASSWORD)) + at(81, heal(CAPTURE), tear_snapshot),
        broken=(Broken(CAPTURE, 21, 81, codes=REFUSED),),
    ),
    Timeline(
        name="a snapshot is torn while a task has failed, and the next look finds no connector",
        lasts=160,
        steps=at(21, fail_task(CAPTURE, traces.PASSWORD))
        + at(65, tear_snapshot, connect_lists_nothing)
        + at(75, connect_is_well)
        + at(111, heal(CAPTURE)),
        harmless={"NOT_DEPLOYED"},
        broken=(Broken(CAPTURE, 21, 111, codes=REFUSED),),
    ),
    Timeline(
        name="a snapshot is torn while a capture stands still",
        lasts=330,
        tick_seconds=10,
        steps=at(21, traffic(captures=False)) + at(163, tear_snapshot) + at(251, traffic(captures=True)),
        broken=(Broken(CAPTURE, 21, 251, codes=STALLED, shown_within=90, opened_within=100, gone_within=60),),
    ),
    Timeline(
        name="a snapshot is torn while a delivery stands still, and Kafka cannot be reached",
        lasts=480,
        steps=at(21, traffic(in_group=False))
        + at(241, tear_snapshot, kafka_unreachable)
        + at(301, kafka_reachable)
        + at(401, traffic(in_group=True)),
        broken=(Broken(DELIVERY, 21, 401, codes=STALLED, shown_within=180, opened_within=180),),
    ),
    Timeline(
        name="a snapshot is torn while a task fails again after every restart, and runs in between",
        lasts=700,
        steps=every(70, fail_task(CAPTURE, traces.UNKNOWN), start=21, end=700) + at(501, tear_snapshot),
        broken=(Broken(CAPTURE, 21, shown_within=NEVER, opened_within=400, codes=LOOP),),
        also={"CONNECT_TASK_FAILED"},
    ),
    Timeline(
        name="a snapshot is torn while a config is another one",
        lasts=1460,
        tick_seconds=50,
        steps=at(21, rewrite(CAPTURE, poll__interval__ms="1"))
        + at(860, tear_snapshot)
        + at(1060, restore_config(CAPTURE)),
        broken=(
            Broken(
                CAPTURE,
                21,
                1060,
                shown_within=700,
                opened_within=700,
                gone_within=700,
                codes={"CONFIG_DRIFT"},
                live=False,
            ),
        ),
    ),
    Timeline(
        name="a snapshot is torn while something else pauses the connector again and again",
        lasts=300,
        tick_seconds=10,
        steps=every(60, by_hand(CAPTURE, "pause"), start=21, end=300) + at(205, tear_snapshot),
        broken=(
            Broken(CAPTURE, 21, shown_within=130, opened_within=130, codes={"CONNECTOR_PAUSED"}, live=False),
            Broken(CAPTURE, 21, 140, shown_within=NEVER, opened_within=None, gone_within=NEVER),
        ),
    ),
    Timeline(
        name="a snapshot is torn while something else removes the connector again and again",
        lasts=400,
        tick_seconds=10,
        steps=every(60, vanish(CAPTURE), start=25, end=400) + at(303, tear_snapshot),
        broken=(
            Broken(CAPTURE, 25, opened_within=250, shown_within=NEVER, codes={"CONNECTOR_FAILED"}),
            Broken(CAPTURE, 25, opened_within=150, shown_within=NEVER, codes=LOOP),
        ),
    ),
)
