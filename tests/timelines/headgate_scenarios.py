"""What happens to Headgate itself, and what people do with it while something is broken."""

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
    tear_snapshot,
    unpublish,
)
from tests.timelines.script import CAPTURE, DELIVERY, Broken, Timeline, at, every

REFUSED = frozenset({"SOURCE_AUTH_FAILED"})
LOST = frozenset({"CHANGES_LOST"})

TIMELINES = (
    Timeline(
        name="no ticks for 10 minutes",
        lasts=900,
        without_ticks=((61, 661),),
    ),
    Timeline(
        name="no ticks for 10 minutes, in which a task fails",
        lasts=750,
        steps=at(71, fail_task(CAPTURE, traces.PASSWORD)),
        without_ticks=((61, 661),),
        broken=(Broken(of=CAPTURE, begins=71, codes=REFUSED, shown_within=600, opened_within=600),),
    ),
    Timeline(
        name="the clock jumps an hour ahead",
        lasts=200,
        steps=at(61, clock(3600)),
    ),
    Timeline(
        name="the clock goes back five minutes",
        lasts=420,
        tick_seconds=20,
        steps=at(61, clock(-300)),
    ),
    Timeline(
        name="the clock goes back five minutes, and then a task fails",
        lasts=160,
        steps=at(61, clock(-300)) + at(71, fail_task(CAPTURE, traces.PASSWORD)),
        broken=(Broken(of=CAPTURE, begins=71, codes=REFUSED),),
    ),
    Timeline(
        name="the process dies after every tick",
        lasts=150,
        steps=every(10, process_dies, start=5, end=145),
    ),
    Timeline(
        name="a snapshot is torn while all is well",
        lasts=150,
        steps=at(61, tear_snapshot),
    ),
    Timeline(
        name="a snapshot is torn while a task has failed",
        lasts=200,
        steps=at(61, fail_task(CAPTURE, traces.PASSWORD)) + at(101, tear_snapshot) + at(151, heal(CAPTURE)),
        broken=(Broken(of=CAPTURE, begins=61, ends=151, codes=REFUSED),),
    ),
    Timeline(
        name="a snapshot is torn in the moment in which a task recovers",
        lasts=180,
        steps=at(61, fail_task(CAPTURE, traces.PASSWORD)) + at(121, heal(CAPTURE), tear_snapshot),
        broken=(Broken(of=CAPTURE, begins=61, ends=121, codes=REFUSED),),
    ),
    Timeline(
        name="Kafka Connect goes away while a task has failed: that is no recovery",
        lasts=300,
        steps=at(61, fail_task(CAPTURE, traces.PASSWORD))
        + at(101, connect_unreachable)
        + at(131, connect_reachable)
        + at(231, heal(CAPTURE)),
        broken=(Broken(of=CAPTURE, begins=61, ends=231, codes=REFUSED),),
        harmless={"UNKNOWN"},
        also={"STREAM_CONNECT_UNAVAILABLE"},
    ),
    Timeline(
        name="an acknowledged incident is resolved by the recovery",
        lasts=200,
        steps=at(61, fail_task(CAPTURE, traces.PASSWORD))
        + at(91, move_incidents("ACKNOWLEDGED"))
        + at(151, heal(CAPTURE)),
        broken=(Broken(of=CAPTURE, begins=61, ends=151, codes=REFUSED),),
    ),
    Timeline(
        name="resolved by hand while it is broken: the state stays the truth",
        lasts=200,
        steps=at(61, fail_task(CAPTURE, traces.PASSWORD)) + at(91, move_incidents("RESOLVED")),
        broken=(Broken(of=CAPTURE, begins=61, codes=REFUSED, opened_within=None),),
    ),
    Timeline(
        name="a broken delivery is deleted",
        lasts=150,
        steps=at(61, fail_task(DELIVERY, traces.TARGET_GONE)) + at(101, delete(DELIVERY)),
        broken=(Broken(of=DELIVERY, begins=61, ends=101, codes={"DESTINATION_SCHEMA_ERROR"}, gone_within=10),),
    ),
    Timeline(
        name="a look at the source while a pause of the broken capture is open: that is no recovery",
        lasts=290,
        steps=at(61, server(identity="7999999999999999999"))
        + at(141, connect_answers(FaultEffect.LOSE_REPLY, path="/pause$"))
        + at(142, ask(CAPTURE, "pause"))
        + at(165, connect_is_well),
        desired={CAPTURE: "PAUSED"},
        broken=(Broken(of=CAPTURE, begins=0, codes=LOST, shown_within=100, opened_within=101),),
        also=LOST,
    ),
    Timeline(
        name="a look while a pause of a narrowed capture is open: that is no recovery",
        lasts=230,
        steps=at(31, unpublish())
        + at(141, connect_answers(FaultEffect.LOSE_REPLY, path="/pause$"))
        + at(142, ask(CAPTURE, "pause"))
        + at(165, connect_is_well),
        desired={CAPTURE: "PAUSED"},
        broken=(Broken(of=CAPTURE, begins=0, codes={"CAPTURE_NARROWED"}, shown_within=60, opened_within=60),),
    ),
    Timeline(
        name="both connectors lose their secrets when the worker starts",
        lasts=200,
        steps=at(61, fail_task(CAPTURE, traces.SECRET), fail_task(DELIVERY, traces.SECRET)),
        broken=(
            Broken(of=CAPTURE, begins=61, ends=80, codes={"CDC_CONNECTOR_FAILED"}),
            Broken(of=DELIVERY, begins=61, ends=80, codes={"DESTINATION_CONNECTOR_FAILED"}),
        ),
    ),
)
