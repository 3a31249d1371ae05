"""Faults of Headgate itself, and actions of people while something is broken."""

from infra.local.doubles.connect_faults import FaultEffect
from tests.timelines import traces
from tests.timelines.actions import (
    ask,
    clock,
    connect_answers,
    connect_is_well,
    connect_reachable,
    connect_unreachable,
    delete,
    fail_task,
    heal,
    move_incidents,
    process_dies,
    server,
    unpublish,
)
from tests.timelines.script import CAPTURE, DELIVERY, Broken, Timeline, at, every

REFUSED = frozenset({"SOURCE_AUTH_FAILED"})
LOST = frozenset({"CHANGES_LOST"})

TIMELINES = (
    Timeline(
        name="no ticks for 10 minutes",
        lasts=740,
        without_ticks=((21, 621),),
    ),
    Timeline(
        name="no ticks for 10 minutes, in which a task fails",
        lasts=710,
        steps=at(31, fail_task(CAPTURE, traces.PASSWORD)),
        without_ticks=((21, 621),),
        broken=(Broken(CAPTURE, 31, codes=REFUSED, shown_within=600, opened_within=600),),
    ),
    Timeline(
        name="the clock jumps an hour ahead",
        lasts=160,
        steps=at(21, clock(3600)),
    ),
    Timeline(
        name="the clock goes back five minutes",
        lasts=380,
        steps=at(21, clock(-300)),
    ),
    Timeline(
        name="the clock goes back five minutes, and then a task fails",
        lasts=120,
        steps=at(21, clock(-300)) + at(31, fail_task(CAPTURE, traces.PASSWORD)),
        broken=(Broken(CAPTURE, 31, codes=REFUSED),),
    ),
    Timeline(
        name="a task fails, the clock goes back five minutes, and the task recovers",
        lasts=140,
        steps=at(31, fail_task(CAPTURE, traces.PASSWORD)) + at(51, clock(-300)) + at(81, heal(CAPTURE)),
        broken=(Broken(CAPTURE, 31, 81, codes=REFUSED),),
    ),
    Timeline(
        name="the process dies after every tick",
        lasts=110,
        steps=every(10, process_dies, start=5, end=105),
    ),
    Timeline(
        name="Kafka Connect goes away while a task has failed: that is no recovery",
        lasts=260,
        steps=at(21, fail_task(CAPTURE, traces.PASSWORD))
        + at(61, connect_unreachable)
        + at(91, connect_reachable)
        + at(191, heal(CAPTURE)),
        broken=(Broken(CAPTURE, 21, 191, codes=REFUSED),),
        harmless={"UNKNOWN"},
        also={"STREAM_CONNECT_UNAVAILABLE"},
    ),
    Timeline(
        name="an acknowledged incident is resolved by the recovery",
        lasts=160,
        steps=at(21, fail_task(CAPTURE, traces.PASSWORD))
        + at(51, move_incidents("ACKNOWLEDGED"))
        + at(111, heal(CAPTURE)),
        broken=(Broken(CAPTURE, 21, 111, codes=REFUSED),),
    ),
    Timeline(
        name="resolved by hand while it is broken: the state stays the truth",
        lasts=160,
        steps=at(21, fail_task(CAPTURE, traces.PASSWORD)) + at(51, move_incidents("RESOLVED")),
        broken=(Broken(CAPTURE, 21, codes=REFUSED, opened_within=None),),
    ),
    Timeline(
        name="a broken delivery is deleted",
        lasts=110,
        steps=at(21, fail_task(DELIVERY, traces.TARGET_GONE)) + at(61, delete(DELIVERY)),
        broken=(Broken(DELIVERY, 21, 61, codes={"DESTINATION_SCHEMA_ERROR"}, gone_within=10),),
    ),
    Timeline(
        name="a look at the source while a pause of the broken capture is open: that is no recovery",
        lasts=250,
        steps=at(21, server(identity="7999999999999999999"))
        + at(101, connect_answers(FaultEffect.LOSE_REPLY, path="/pause$"))
        + at(102, ask(CAPTURE, "pause"))
        + at(125, connect_is_well),
        desired={CAPTURE: "PAUSED"},
        broken=(Broken(CAPTURE, 0, codes=LOST, shown_within=100, opened_within=101),),
        also=LOST,
    ),
    Timeline(
        name="a look while a pause of a narrowed capture is open: that is no recovery",
        lasts=190,
        steps=at(31, unpublish())
        + at(101, connect_answers(FaultEffect.LOSE_REPLY, path="/pause$"))
        + at(102, ask(CAPTURE, "pause"))
        + at(125, connect_is_well),
        desired={CAPTURE: "PAUSED"},
        broken=(Broken(CAPTURE, 0, codes={"CAPTURE_NARROWED"}, shown_within=80, opened_within=80),),
    ),
    Timeline(
        name="both connectors lose their secrets when the worker starts",
        lasts=160,
        steps=at(21, fail_task(CAPTURE, traces.SECRET), fail_task(DELIVERY, traces.SECRET)),
        broken=(
            Broken(CAPTURE, 21, 40, codes={"CDC_CONNECTOR_FAILED"}),
            Broken(DELIVERY, 21, 40, codes={"DESTINATION_CONNECTOR_FAILED"}),
        ),
    ),
)
