"""Faults of single connectors and tasks in the reports of Kafka Connect."""

from infra.local.doubles.connect_faults import FaultEffect
from tests.timelines import traces
from tests.timelines.actions import (
    ask,
    by_hand,
    connect_answers,
    connect_is_well,
    fail_task,
    heal,
    lose_tasks,
    restore_config,
    rewrite,
    show,
    vanish,
)
from tests.timelines.script import CAPTURE, DELIVERY, Broken, Timeline, at, every

LOOP = frozenset({"CONNECTOR_RESTART_LOOP"})
UNASSIGNED = frozenset({"CONNECTOR_UNASSIGNED"})
NEVER = 100_000
"""It is healthy in between: only the incident counts."""

TIMELINES = (
    Timeline(
        name="wrong password after a rotation",
        lasts=160,
        steps=at(21, fail_task(CAPTURE, traces.PASSWORD)) + at(111, heal(CAPTURE)),
        broken=(Broken(CAPTURE, 21, 111, codes={"SOURCE_AUTH_FAILED"}),),
    ),
    Timeline(
        name="a restart helps after the source has refused a connection",
        lasts=110,
        steps=at(21, fail_task(CAPTURE, traces.REFUSED)),
        broken=(Broken(CAPTURE, 21, 40, codes={"SOURCE_CONNECTION_FAILED"}),),
    ),
    Timeline(
        name="restarts that do not help: the sink's database is away",
        lasts=660,
        steps=at(21, fail_task(DELIVERY, traces.SINK_REFUSED, failing_restarts=100)) + at(581, heal(DELIVERY)),
        broken=(
            Broken(DELIVERY, 21, 581, codes={"DESTINATION_CONNECTION_FAILED"}),
            Broken(DELIVERY, 21, 581, opened_within=540, gone_within=700, codes=LOOP),
        ),
    ),
    Timeline(
        name="a task fails again after every restart, and runs in between",
        lasts=560,
        steps=every(70, fail_task(CAPTURE, traces.UNKNOWN), start=21, end=560),
        broken=(Broken(CAPTURE, 21, shown_within=NEVER, opened_within=400, codes=LOOP),),
        also={"CONNECT_TASK_FAILED"},
    ),
    Timeline(
        name="a trace that nobody has seen before",
        lasts=110,
        steps=at(21, fail_task(CAPTURE, traces.UNKNOWN, failing_restarts=100)),
        broken=(Broken(CAPTURE, 21, codes={"CONNECT_TASK_FAILED", "CDC_CONNECTOR_FAILED"}),),
    ),
    Timeline(
        name="a trace with secrets and rows",
        lasts=140,
        steps=at(21, fail_task(DELIVERY, traces.WITH_SECRETS)) + at(91, ask(DELIVERY, "restart")),
        broken=(Broken(DELIVERY, 21, 91, codes={"DESTINATION_WRITE_FAILED"}),),
    ),
    Timeline(
        name="the target table is gone",
        lasts=80,
        steps=at(21, fail_task(DELIVERY, traces.TARGET_GONE)),
        broken=(Broken(DELIVERY, 21, codes={"DESTINATION_SCHEMA_ERROR"}),),
    ),
    Timeline(
        name="the connector itself has failed",
        lasts=110,
        steps=at(21, show(CAPTURE, "FAILED")),
        broken=(Broken(CAPTURE, 21, 40, codes={"CONNECTOR_FAILED"}),),
    ),
    Timeline(
        name="zombie: RUNNING without tasks",
        lasts=450,
        steps=at(21, lose_tasks(CAPTURE)) + at(401, heal(CAPTURE)),
        broken=(Broken(CAPTURE, 21, 401, opened_within=360, codes=UNASSIGNED),),
        also={"STALLED"},
    ),
    *(
        Timeline(
            name=name,
            lasts=440,
            steps=at(21, action),
            broken=(Broken(resource, 21, opened_within=360, codes=UNASSIGNED),),
        )
        for name, resource, action in (
            ("fewer tasks than expected", DELIVERY, lose_tasks(DELIVERY, 1)),
            ("stale UNASSIGNED: the task works", CAPTURE, show(CAPTURE, "UNASSIGNED", works=True)),
            ("a task is UNASSIGNED while its connector runs", DELIVERY, show(DELIVERY, "UNASSIGNED", task=0)),
        )
    ),
    Timeline(
        name="UNASSIGNED for less than the rebalance delay",
        lasts=280,
        steps=at(21, show(CAPTURE, "UNASSIGNED"), show(DELIVERY, "UNASSIGNED"))
        + at(221, heal(CAPTURE), heal(DELIVERY)),
        harmless={"UNASSIGNED", "RESTARTING"},
    ),
    Timeline(
        name="UNASSIGNED for longer than the rebalance delay",
        lasts=450,
        steps=at(21, show(CAPTURE, "UNASSIGNED")) + at(401, heal(CAPTURE)),
        broken=(Broken(CAPTURE, 21, 401, opened_within=360, codes=UNASSIGNED),),
    ),
    Timeline(
        name="a restart that does not end",
        lasts=140,
        steps=at(21, show(CAPTURE, "RESTARTING", task=0)),
        broken=(Broken(CAPTURE, 21, 85, opened_within=None),),
    ),
    *(
        Timeline(
            name=name,
            lasts=110,
            steps=at(21, action),
            broken=(Broken(resource, 21, 40, opened_within=None),),
        )
        for name, resource, action in (
            ("paused by hand in Kafka Connect: resumed within two ticks", CAPTURE, by_hand(CAPTURE, "pause")),
            ("stopped by hand in Kafka Connect: resumed within two ticks", DELIVERY, by_hand(DELIVERY, "stop")),
            ("deleted by hand, made again", CAPTURE, vanish(CAPTURE)),
        )
    ),
    Timeline(
        name="paused by hand, and Kafka Connect refuses every change",
        lasts=200,
        steps=at(21, by_hand(CAPTURE, "pause"), connect_answers(FaultEffect.REBALANCE, method="PUT"))
        + at(131, connect_is_well),
        broken=(Broken(CAPTURE, 21, 131, opened_within=80, codes={"CONNECTOR_PAUSED"}),),
    ),
    Timeline(
        name="Strimzi-like: paused again and again",
        lasts=300,
        tick_seconds=10,
        steps=every(60, by_hand(CAPTURE, "pause"), start=21, end=300),
        broken=(
            Broken(CAPTURE, 21, shown_within=130, opened_within=130, codes={"CONNECTOR_PAUSED"}, live=False),
            Broken(CAPTURE, 21, 140, shown_within=NEVER, opened_within=None, gone_within=NEVER),
        ),
    ),
    Timeline(
        name="config changed by hand",
        lasts=1460,
        tick_seconds=50,
        steps=at(21, rewrite(CAPTURE, poll__interval__ms="1")) + at(1060, restore_config(CAPTURE)),
        broken=(
            Broken(
                CAPTURE,
                21,
                760,
                shown_within=700,
                opened_within=700,
                gone_within=1300,
                codes={"CONFIG_DRIFT"},
                live=False,
            ),
        ),
    ),
    Timeline(
        name="Strimzi-like: the connector is removed again and again",
        lasts=300,
        tick_seconds=10,
        steps=every(10, vanish(CAPTURE), start=25, end=295),
        # After a tick has just made it again it does exist, until it is removed.
        broken=(Broken(CAPTURE, 25, opened_within=100, codes={"CONNECTOR_FAILED"}, live=False),),
        also=LOOP,
    ),
    Timeline(
        name="Strimzi-like: the config is written again and again",
        lasts=1360,
        tick_seconds=50,
        steps=every(180, rewrite(CAPTURE, max__batch__size="17"), start=21, end=1350),
        broken=(Broken(CAPTURE, 21, shown_within=700, opened_within=700, codes={"CONFIG_DRIFT"}, live=False),),
    ),
)
