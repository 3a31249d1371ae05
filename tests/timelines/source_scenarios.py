"""What happens to the source's server, its slot and its publication."""

from tests.timelines import traces
from tests.timelines.actions import drop_slot, fail_over, fail_task, publish, server, slot, traffic, unpublish
from tests.timelines.script import CAPTURE, Broken, Timeline, at, every

LOST = frozenset({"CHANGES_LOST"})

TIMELINES = (
    Timeline(
        name="lost slot: the server has removed its log",
        lasts=240,
        steps=at(61, slot(wal_status="lost", reader=None), traffic(captures=False)),
        broken=(Broken(of=CAPTURE, begins=61, codes=LOST, shown_within=60, opened_within=70),),
        also={"STALLED"},
    ),
    Timeline(
        name="the slot is dropped",
        lasts=240,
        steps=at(61, drop_slot, traffic(captures=False)),
        broken=(Broken(of=CAPTURE, begins=61, codes=LOST, shown_within=60, opened_within=70),),
        also={"STALLED"},
    ),
    Timeline(
        name="the slot is dropped and made again later",
        lasts=240,
        steps=at(61, slot(position=90_000_000, reader="8"), traffic(captures=False)),
        broken=(Broken(of=CAPTURE, begins=61, codes=LOST, shown_within=60, opened_within=70),),
    ),
    Timeline(
        name="nobody reads from the slot, behind RUNNING",
        lasts=300,
        steps=at(61, slot(reader=None), traffic(captures=False)) + at(221, slot(reader="9"), traffic()),
        broken=(
            Broken(
                of=CAPTURE,
                begins=61,
                ends=221,
                codes={"CDC_REPLICATION_SLOT_ERROR", "STALLED", "LOG_AT_RISK"},
                shown_within=90,
                opened_within=120,
                gone_within=70,
            ),
        ),
    ),
    Timeline(
        name="a table left the publication",
        lasts=300,
        steps=at(61, unpublish()) + at(181, publish),
        broken=(
            Broken(
                of=CAPTURE,
                begins=61,
                ends=181,
                codes={"CAPTURE_NARROWED"},
                shown_within=60,
                opened_within=70,
                gone_within=70,
            ),
        ),
    ),
    Timeline(
        name="database failover with its slot",
        lasts=260,
        steps=at(61, fail_over(keeps_slot=True)),
    ),
    Timeline(
        name="database failover without its slot",
        lasts=260,
        steps=at(61, fail_over(keeps_slot=False), traffic(captures=False)),
        broken=(Broken(of=CAPTURE, begins=61, codes=LOST, shown_within=60, opened_within=70),),
        also={"STALLED"},
    ),
    Timeline(
        name="another server answers: a restored copy",
        lasts=200,
        steps=at(61, server(identity="7999999999999999999")),
        broken=(Broken(of=CAPTURE, begins=61, codes=LOST, shown_within=60, opened_within=70),),
    ),
    Timeline(
        name="two connectors with the same server id take turns",
        lasts=400,
        tick_seconds=20,
        steps=every(40, fail_task(CAPTURE, traces.SERVER_ID), start=61, end=380),
        broken=(Broken(of=CAPTURE, begins=61, codes={"CDC_BINLOG_ERROR"}),),
    ),
    Timeline(
        name="two connectors with the same slot take turns",
        lasts=400,
        steps=every(40, fail_task(CAPTURE, traces.SLOT_BUSY), start=61, end=380),
        broken=(
            Broken(
                of=CAPTURE,
                begins=61,
                codes={"CDC_REPLICATION_SLOT_ERROR", "CONNECTOR_RESTART_LOOP"},
                shown_within=1000,
                opened_within=None,
            ),
        ),
    ),
    Timeline(
        name="the slot is gone and the task says so",
        lasts=200,
        steps=at(61, drop_slot, fail_task(CAPTURE, traces.SLOT_GONE)),
        broken=(Broken(of=CAPTURE, begins=61, codes={"CDC_REPLICATION_SLOT_ERROR", *LOST}),),
    ),
)
