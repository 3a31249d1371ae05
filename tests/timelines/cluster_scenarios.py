"""Faults of Kafka Connect, Kafka and Headgate as a whole."""

from infra.local.doubles.connect_faults import FaultEffect
from tests.timelines import traces
from tests.timelines.actions import (
    connect_answers,
    connect_down,
    connect_hangs,
    connect_is_well,
    connect_lists_nothing,
    connect_reachable,
    connect_shows_the_past,
    connect_unreachable,
    connect_up,
    fail_task,
    heal,
    kafka_reachable,
    kafka_unreachable,
    other_workers_answer,
    own_workers_answer,
    show,
    traffic,
)
from tests.timelines.script import CAPTURE, CLUSTER, DELIVERY, Broken, Timeline, at

UNAVAILABLE = frozenset({"STREAM_CONNECT_UNAVAILABLE"})

TIMELINES = (
    Timeline(
        name="Kafka Connect away for 10 s",
        lasts=110,
        steps=at(15, connect_unreachable) + at(25, connect_reachable),
        harmless={"UNKNOWN"},
    ),
    Timeline(
        name="Kafka Connect away for 60 s",
        lasts=160,
        steps=at(21, connect_unreachable) + at(81, connect_reachable),
        broken=(Broken(CLUSTER, 21, 81, codes=UNAVAILABLE, opened_within=50, gone_within=60),),
    ),
    Timeline(
        name="Kafka Connect away for 10 minutes",
        lasts=740,
        steps=at(21, connect_unreachable) + at(621, connect_reachable),
        broken=(Broken(CLUSTER, 21, 621, codes=UNAVAILABLE, opened_within=60, gone_within=60),),
    ),
    Timeline(
        name="the only worker is killed and started again",
        lasts=200,
        steps=at(21, connect_down) + at(111, connect_up),
        broken=(Broken(CLUSTER, 21, 111, codes=UNAVAILABLE, opened_within=60, gone_within=80),),
    ),
    Timeline(
        name="one of several workers is killed: its statuses stay RUNNING until the rebalance delay is over",
        lasts=380,
        steps=at(21, show(CAPTURE, "RUNNING"), show(DELIVERY, "RUNNING")) + at(321, heal(CAPTURE), heal(DELIVERY)),
        broken=(
            Broken(CAPTURE, 21, 321, codes={"STALLED"}, shown_within=90, opened_within=120),
            Broken(DELIVERY, 21, 321, codes={"STALLED"}, shown_within=300, opened_within=None),
        ),
    ),
    Timeline(
        name="workers that hang",
        lasts=260,
        steps=at(21, connect_hangs) + at(181, connect_is_well),
        broken=(Broken(CLUSTER, 21, 181, codes=UNAVAILABLE, opened_within=70, gone_within=70),),
    ),
    Timeline(
        name="a worker that starts: HTML 404 for 20 s",
        lasts=110,
        steps=at(15, connect_answers(FaultEffect.NOT_READY)) + at(35, connect_is_well),
        harmless={"UNKNOWN"},
    ),
    *(
        Timeline(
            name=name,
            lasts=170,
            steps=at(21, connect_answers(effect)) + at(91, connect_is_well),
            broken=(Broken(CLUSTER, 21, 91, codes=UNAVAILABLE, opened_within=50, gone_within=60),),
        )
        for name, effect in (
            ("answers that cannot be read", FaultEffect.GARBAGE),
            ("409 storm: every call is refused for a minute", FaultEffect.REBALANCE),
        )
    ),
    Timeline(
        name="409 storm: only changes are refused, and a task needs a restart",
        lasts=260,
        steps=at(21, connect_answers(FaultEffect.REBALANCE, method="POST"), fail_task(CAPTURE, traces.REFUSED))
        + at(151, connect_is_well),
        broken=(Broken(CAPTURE, 21, 151, codes={"SOURCE_CONNECTION_FAILED"}, gone_within=100),),
        also={"CONNECTOR_RESTART_LOOP"},
    ),
    Timeline(
        name="rebalance of 20 s: connectors are UNASSIGNED and calls are refused",
        lasts=110,
        steps=at(
            21,
            show(CAPTURE, "UNASSIGNED"),
            show(DELIVERY, "UNASSIGNED"),
            connect_answers(FaultEffect.REBALANCE, method="PUT"),
        )
        + at(41, connect_is_well, heal(CAPTURE), heal(DELIVERY)),
        harmless={"UNASSIGNED", "RESTARTING"},
    ),
    Timeline(
        name="one look at a worker that lists nothing yet",
        lasts=110,
        steps=at(15, connect_lists_nothing) + at(25, connect_is_well),
        harmless={"NOT_DEPLOYED"},
    ),
    Timeline(
        name="a worker that lists nothing for five minutes",
        lasts=420,
        steps=at(21, connect_lists_nothing) + at(321, connect_is_well),
        broken=tuple(
            Broken(resource, 21, 321, opened_within=100, codes={"CONNECTOR_FAILED"}, live=False)
            for resource in (CAPTURE, DELIVERY)
        ),
        # It is also the other pipeline's.
        also={"CONNECTOR_FAILED", "CONNECTOR_RESTART_LOOP"},
    ),
    Timeline(
        name="workers of another Kafka cluster answer for three minutes",
        lasts=290,
        steps=at(21, other_workers_answer) + at(201, own_workers_answer),
        broken=(Broken(CLUSTER, 21, 201, codes={"KAFKA_CLUSTER_CHANGED"}, opened_within=45, gone_within=45),),
        also={"CONNECTOR_FAILED"},
    ),
    Timeline(
        name="a stale worker: it lists the past while the capture's task has failed",
        lasts=290,
        steps=at(21, connect_shows_the_past, fail_task(CAPTURE, traces.PASSWORD)) + at(171, connect_is_well),
        broken=(
            Broken(CAPTURE, 21, 261, codes={"STALLED"}, shown_within=90, opened_within=None),
            Broken(CAPTURE, 171, codes={"SOURCE_AUTH_FAILED"}),
        ),
    ),
    Timeline(
        name="brokers restart one after the other",
        lasts=220,
        steps=at(21, kafka_unreachable, traffic(captures=False, delivers=False))
        + at(41, kafka_reachable, traffic(captures=True, delivers=True))
        + at(81, kafka_unreachable)
        + at(101, kafka_reachable),
    ),
    Timeline(
        name="Kafka cannot be read by Headgate for 10 minutes",
        lasts=740,
        tick_seconds=30,
        steps=at(21, kafka_unreachable) + at(621, kafka_reachable),
    ),
)
