"""What Kafka Connect says about single connectors and tasks."""

from tests.timelines import traces
from tests.timelines.actions import (
    also,
    ask,
    by_hand,
    fail_task,
    heal,
    lose_tasks,
    restore_config,
    rewrite,
    show,
    vanish,
)
from tests.timelines.script import CAPTURE, DELIVERY, Broken, Timeline, at, every

TIMELINES = (
    Timeline(
        name="wrong password after a rotation",
        lasts=200,
        steps=at(61, fail_task(CAPTURE, traces.PASSWORD)) + at(151, heal(CAPTURE)),
        broken=(Broken(of=CAPTURE, begins=61, ends=151, codes={"SOURCE_AUTH_FAILED"}),),
    ),
    Timeline(
        name="a restart helps after the source has refused a connection",
        lasts=150,
        steps=at(61, fail_task(CAPTURE, traces.REFUSED)),
        broken=(Broken(of=CAPTURE, begins=61, ends=80, codes={"SOURCE_CONNECTION_FAILED"}),),
    ),
    Timeline(
        name="restarts that do not help: the sink's database is away",
        lasts=700,
        tick_seconds=20,
        steps=at(61, fail_task(DELIVERY, traces.SINK_REFUSED, failing_restarts=100)) + at(621, heal(DELIVERY)),
        broken=(
            Broken(
                of=DELIVERY,
                begins=61,
                ends=621,
                shown_within=30,
                codes={"DESTINATION_CONNECTION_FAILED", "CONNECTOR_RESTART_LOOP"},
            ),
            Broken(
                of=DELIVERY,
                begins=61,
                ends=621,
                shown_within=30,
                opened_within=540,
                codes={"CONNECTOR_RESTART_LOOP"},
            ),
        ),
    ),
    Timeline(
        name="a task fails again after every restart, and runs in between",
        lasts=600,
        steps=every(70, fail_task(CAPTURE, traces.UNKNOWN), start=61, end=600),
        broken=(
            Broken(
                of=CAPTURE,
                begins=61,
                shown_within=1000,
                opened_within=540,
                codes={"CONNECTOR_RESTART_LOOP"},
            ),
        ),
        also={"CONNECT_TASK_FAILED", "CDC_CONNECTOR_FAILED"},
    ),
    Timeline(
        name="a trace that nobody has seen before",
        lasts=150,
        steps=at(61, fail_task(CAPTURE, traces.UNKNOWN, failing_restarts=1)),
        broken=(Broken(of=CAPTURE, begins=61, codes={"CONNECT_TASK_FAILED", "CDC_CONNECTOR_FAILED"}),),
    ),
    Timeline(
        name="a trace with secrets and rows",
        lasts=180,
        steps=at(61, fail_task(DELIVERY, traces.WITH_SECRETS)) + at(131, ask(DELIVERY, "restart")),
        broken=(Broken(of=DELIVERY, begins=61, ends=131, codes={"DESTINATION_WRITE_FAILED"}),),
    ),
    Timeline(
        name="the target table is gone",
        lasts=120,
        steps=at(61, fail_task(DELIVERY, traces.TARGET_GONE)),
        broken=(Broken(of=DELIVERY, begins=61, codes={"DESTINATION_SCHEMA_ERROR"}),),
    ),
    Timeline(
        name="the connector itself has failed",
        lasts=150,
        steps=at(61, show(CAPTURE, "FAILED")),
        broken=(Broken(of=CAPTURE, begins=61, ends=80, codes={"CONNECTOR_FAILED"}),),
    ),
    Timeline(
        name="zombie: RUNNING without tasks",
        lasts=460,
        steps=at(61, lose_tasks(CAPTURE)) + at(421, heal(CAPTURE)),
        broken=(Broken(of=CAPTURE, begins=61, ends=421, opened_within=320, codes={"CONNECTOR_UNASSIGNED", "STALLED"}),),
    ),
    Timeline(
        name="UNASSIGNED for less than the rebalance delay",
        lasts=320,
        tick_seconds=20,
        steps=at(61, show(CAPTURE, "UNASSIGNED"), show(DELIVERY, "UNASSIGNED"))
        + at(261, heal(CAPTURE), heal(DELIVERY)),
        harmless={"UNASSIGNED", "RESTARTING"},
    ),
    Timeline(
        name="UNASSIGNED for longer than the rebalance delay",
        lasts=460,
        tick_seconds=20,
        steps=at(61, show(CAPTURE, "UNASSIGNED")) + at(421, heal(CAPTURE)),
        broken=(
            Broken(
                of=CAPTURE,
                begins=61,
                ends=421,
                shown_within=20,
                opened_within=330,
                codes={"CONNECTOR_UNASSIGNED"},
            ),
        ),
    ),
    Timeline(
        name="stale UNASSIGNED: the task works",
        lasts=460,
        tick_seconds=20,
        steps=at(61, show(CAPTURE, "UNASSIGNED", works=True)),
        broken=(Broken(of=CAPTURE, begins=61, opened_within=330, codes={"CONNECTOR_UNASSIGNED"}),),
    ),
    Timeline(
        name="a task is UNASSIGNED while its connector runs",
        lasts=460,
        tick_seconds=20,
        steps=at(61, show(DELIVERY, "UNASSIGNED", task=0)),
        broken=(Broken(of=DELIVERY, begins=61, opened_within=330, codes={"CONNECTOR_UNASSIGNED"}),),
    ),
    Timeline(
        name="a restart that does not end",
        lasts=180,
        steps=at(61, show(CAPTURE, "RESTARTING", task=0)),
        broken=(
            Broken(
                of=CAPTURE,
                begins=61,
                ends=141,
                opened_within=None,
                codes={"CONNECTOR_FAILED", "CONNECT_TASK_FAILED"},
            ),
        ),
    ),
    Timeline(
        name="paused by hand in Kafka Connect",
        lasts=150,
        steps=at(61, by_hand(CAPTURE, "pause")),
        broken=(Broken(of=CAPTURE, begins=61, ends=80, codes={"CONNECTOR_PAUSED"}),),
    ),
    Timeline(
        name="stopped by hand in Kafka Connect",
        lasts=150,
        steps=at(61, by_hand(DELIVERY, "stop")),
        broken=(Broken(of=DELIVERY, begins=61, ends=80, codes={"CONNECTOR_PAUSED"}),),
    ),
    Timeline(
        name="paused by somebody again and again",
        lasts=300,
        steps=every(30, by_hand(CAPTURE, "pause"), start=61, end=240),
        broken=(
            Broken(of=CAPTURE, begins=61, ends=241, shown_within=1000, codes={"CONNECTOR_PAUSED"}, opened_within=None),
        ),
    ),
    Timeline(
        name="config changed by hand",
        lasts=1500,
        tick_seconds=50,
        steps=at(61, rewrite(CAPTURE, poll__interval__ms="1")) + at(1100, restore_config(CAPTURE)),
        broken=(
            Broken(
                of=CAPTURE,
                begins=61,
                ends=800,
                shown_within=700,
                opened_within=700,
                gone_within=1300,
                codes={"CONFIG_DRIFT"},
                live=False,
            ),
        ),
    ),
    Timeline(
        name="deleted by hand, made again",
        lasts=150,
        steps=at(61, vanish(CAPTURE)),
        broken=(Broken(of=CAPTURE, begins=61, ends=80, opened_within=None),),
    ),
    Timeline(
        name="Strimzi-like: the connector is removed again and again",
        lasts=600,
        steps=every(10, vanish(CAPTURE), start=65, end=595),
        broken=(
            Broken(
                of=CAPTURE,
                begins=65,
                codes={"CONNECTOR_FAILED", "CONNECTOR_RESTART_LOOP"},
                opened_within=200,
            ),
        ),
    ),
    Timeline(
        name="Strimzi-like: the config is written again and again",
        lasts=1400,
        tick_seconds=50,
        steps=every(180, also(rewrite(CAPTURE, max__batch__size="17")), start=61, end=1390),
        broken=(
            Broken(
                of=CAPTURE,
                begins=61,
                shown_within=700,
                opened_within=700,
                codes={"CONFIG_DRIFT"},
                live=False,
            ),
        ),
    ),
)
