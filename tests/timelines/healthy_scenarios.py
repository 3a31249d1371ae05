"""Nothing is wrong: requests of people, and time that passes."""

from infra.local.doubles.connect_faults import FaultEffect
from tests.timelines.actions import ask, connect_answers, connect_is_well, deploy_another, traffic
from tests.timelines.script import CAPTURE, DELIVERY, Timeline, at

DAY = 24 * 3600
_SAMPLES = range(0, DAY, 3 * 3600)
"""Ticks come for a minute from each of these seconds on; in between time only passes."""

TIMELINES = (
    Timeline(
        name="a day, looked at for a while every three hours",
        lasts=DAY,
        tick_seconds=10,
        steps=at(11, traffic(rows_per_second=3)),
        without_ticks=tuple((start + 60, start + 3 * 3600) for start in _SAMPLES),
    ),
    Timeline(
        name="a restart that somebody asks for",
        lasts=110,
        steps=at(21, ask(CAPTURE, "restart"), ask(DELIVERY, "restart")),
        harmless={"RESTARTING", "UNASSIGNED"},
    ),
    Timeline(
        name="paused for five minutes and resumed",
        lasts=440,
        steps=at(21, ask(CAPTURE, "pause"), ask(DELIVERY, "pause"))
        + at(321, ask(CAPTURE, "resume"), ask(DELIVERY, "resume")),
        harmless={"PAUSED", "UNASSIGNED"},
    ),
    Timeline(
        name="deployed again, which changes nothing",
        lasts=110,
        steps=at(21, ask(CAPTURE, "deploy")),
    ),
    Timeline(
        name="another pipeline is deployed",
        lasts=110,
        steps=at(21, deploy_another),
    ),
    Timeline(
        name="a deploy is in progress: its reply was lost",
        lasts=160,
        steps=at(21, connect_answers(FaultEffect.LOSE_REPLY, method="POST", path="/connectors$"))
        + at(22, deploy_another)
        + at(25, connect_is_well),
    ),
    Timeline(
        name="a restart is in progress: its reply was lost",
        lasts=160,
        steps=at(21, connect_answers(FaultEffect.LOSE_REPLY, method="POST", path="/restart$"))
        + at(22, ask(CAPTURE, "restart"))
        + at(45, connect_is_well),
        harmless={"RESTARTING", "UNASSIGNED", "UNKNOWN"},
    ),
)
