"""Faults of progress: Kafka Connect reports RUNNING all the time."""

from tests.timelines.actions import ask, backlog, database, move_incidents, retention_deletes, traffic
from tests.timelines.script import CAPTURE, DELIVERY, SOURCE, Broken, Timeline, at, every

STALLED = frozenset({"STALLED"})

TIMELINES = (
    Timeline(
        name="endless retries behind RUNNING",
        lasts=290,
        steps=at(21, traffic(captures=False)) + at(211, traffic(captures=True)),
        broken=(Broken(CAPTURE, 21, 211, codes=STALLED, shown_within=90, opened_within=100, gone_within=60),),
    ),
    Timeline(
        name="the source's database is away, behind RUNNING",
        lasts=320,
        steps=at(21, database(reachable=False)) + at(211, database(reachable=True)),
        broken=(
            Broken(
                SOURCE,
                21,
                211,
                codes={"SOURCE_CONNECTION_FAILED"},
                shown_within=120,
                opened_within=120,
                gone_within=100,
            ),
        ),
        also=STALLED,
    ),
    Timeline(
        name="the source's database is away for a single look",
        lasts=170,
        steps=at(50, database(reachable=False)) + at(60, database(reachable=True)),
    ),
    Timeline(
        name="the source's database restarts within 10 s",
        lasts=110,
        steps=at(21, database(reachable=False)) + at(31, database(reachable=True)),
    ),
    Timeline(
        name="the sink is out of its group",
        lasts=360,
        steps=at(21, traffic(in_group=False)) + at(291, traffic(in_group=True)),
        broken=(Broken(DELIVERY, 21, 291, codes=STALLED, shown_within=180, opened_within=180),),
    ),
    Timeline(
        name="S3 denied behind RUNNING: the sink commits nothing more",
        lasts=400,
        steps=at(21, traffic(delivers=False)) + at(331, traffic(delivers=True)),
        broken=(Broken(DELIVERY, 21, 331, codes=STALLED, shown_within=250, opened_within=250),),
    ),
    Timeline(
        name="retention overtook a paused sink",
        lasts=360,
        steps=at(21, ask(DELIVERY, "pause")) + at(81, retention_deletes),
        desired={DELIVERY: "PAUSED"},
        harmless={"RUNNING"},
        broken=(Broken(DELIVERY, 81, codes={"CHANGES_LOST"}, shown_within=90, opened_within=90),),
    ),
    Timeline(
        name="retention overtook a paused sink that goes on, twice",
        lasts=600,
        steps=at(21, ask(DELIVERY, "pause"))
        + at(81, retention_deletes)
        + at(161, ask(DELIVERY, "resume"))
        + at(301, move_incidents("RESOLVED"))
        + at(321, ask(DELIVERY, "pause"))
        + at(381, retention_deletes)
        + at(461, ask(DELIVERY, "resume")),
        harmless={"PAUSED", "UNASSIGNED"},
        broken=(
            Broken(
                DELIVERY,
                81,
                161,
                codes={"CHANGES_LOST"},
                shown_within=90,
                opened_within=90,
                gone_within=60,
                resolved=301,
            ),
            Broken(
                DELIVERY,
                381,
                461,
                codes={"CHANGES_LOST"},
                shown_within=90,
                opened_within=90,
                gone_within=60,
                resolved=600,
            ),
        ),
    ),
    Timeline(
        name="retention overtook a sink that is too slow",
        lasts=360,
        steps=at(21, traffic(rows_per_second=100, delivery_rate=1))
        + at(81, retention_deletes, traffic(delivers=False)),
        broken=(Broken(DELIVERY, 81, codes={"CHANGES_LOST", "STALLED"}, shown_within=180, opened_within=180),),
    ),
    Timeline(
        name="a stall that comes and goes",
        lasts=600,
        steps=every(300, traffic(captures=False), start=21, end=360)
        + every(300, traffic(captures=True), start=171, end=480),
        broken=(
            Broken(CAPTURE, 21, 171, codes=STALLED, shown_within=90, opened_within=100, gone_within=60),
            Broken(CAPTURE, 321, 471, codes=STALLED, shown_within=90, opened_within=100, gone_within=60),
        ),
    ),
    *(
        Timeline(name=name, lasts=360, steps=at(11, action))
        for name, action in (
            (
                "a snapshot that takes long: no heartbeats, growing topics",
                traffic(heartbeats=False, rows_per_second=500),
            ),
            ("an idle database: only heartbeats", traffic(rows_per_second=0)),
            ("a very slow sink that still commits", traffic(rows_per_second=0.6, delivery_rate=0.5)),
        )
    ),
    Timeline(
        name="a sink that is too slow for what is written",
        lasts=760,
        steps=at(11, traffic(rows_per_second=200, delivery_rate=0.5)),
        broken=(Broken(DELIVERY, 11, codes={"PIPELINE_LAG_HIGH"}, shown_within=450, opened_within=450),),
    ),
    Timeline(
        name="a sink with lag 1 for ever",
        lasts=460,
        steps=at(11, traffic(delivery_stops_before=1)) + at(61, traffic(rows_per_second=0)),
    ),
    Timeline(
        name="a sink just resumed with a large backlog",
        lasts=360,
        steps=at(11, ask(DELIVERY, "pause"), backlog(1_000_000))
        + at(61, ask(DELIVERY, "resume"), traffic(delivery_rate=200)),
        harmless={"PAUSED", "UNASSIGNED"},
    ),
)
