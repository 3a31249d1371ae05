"""Faults of the source's server, its slot and its publication."""

from tests.timelines import traces
from tests.timelines.actions import (
    ask,
    drop_slot,
    fail_over,
    fail_task,
    only_snapshot_stored,
    publish,
    put_back,
    server,
    slot,
    traffic,
    unpublish,
)
from tests.timelines.script import CAPTURE, Action, Broken, Timeline, at, every
from tests.timelines.server import MEGABYTE

LOST = frozenset({"CHANGES_LOST"})
SLOT_LOSSES: dict[str, tuple[Action, ...]] = {
    "lost slot: the server has removed its log": (slot(wal_status="lost", reader=None),),
    "the slot is dropped": (drop_slot,),
    "the slot is dropped and made again later": (
        only_snapshot_stored,
        slot(position=90_000_000, log_end=90_000_000, retained=0, reader="8"),
    ),
    "database failover without its slot": (fail_over(keeps_slot=False),),
}

OLDER_SERVERS: dict[str, tuple[Action, ...]] = {
    "a standby is promoted whose log ends before the last change": (fail_over(lacks=50_000), traffic(captures=False)),
    "a standby is promoted without the last change, and has written more by now": (
        fail_over(lacks=3_000, writes=MEGABYTE),
        traffic(captures=False),
    ),
    "a standby is promoted without many changes, and is captured from": (fail_over(lacks=50_000, writes=MEGABYTE),),
    "the server's volume is put back": (put_back(by=900_000), traffic(captures=False)),
    "the server's volume is put back, and its log is as long again": (
        put_back(by=3_000, writes=MEGABYTE),
        traffic(captures=False),
    ),
}

TIMELINES = (
    *(
        Timeline(
            name=name,
            lasts=300,
            steps=at(21, *actions)
            # What was seen stays, when the log is as long again, and changes are captured.
            + at(101, slot(log_end=50 * MEGABYTE), traffic(captures=True))
            + at(201, ask(CAPTURE, "restart?accept_data_loss=true")),
            broken=(Broken(CAPTURE, 21, 201, codes=LOST, shown_within=60, opened_within=70, gone_within=70),),
            # It is also the other pipeline's server.
            also={"STALLED", *LOST},
        )
        for name, actions in OLDER_SERVERS.items()
    ),
    *(
        Timeline(
            name=name,
            lasts=220,
            steps=at(21, *actions, traffic(captures=False)),
            broken=(Broken(CAPTURE, 21, codes=LOST, shown_within=60, opened_within=70),),
            also={"STALLED"},
        )
        for name, actions in SLOT_LOSSES.items()
    ),
    Timeline(
        name="slot retained without bound, behind a long transaction",
        lasts=260,
        steps=at(21, slot(grows=400 * MEGABYTE)) + at(171, slot(grows=0, retained=MEGABYTE)),
        broken=(Broken(CAPTURE, 21, 171, codes={"LOG_AT_RISK"}, shown_within=120, opened_within=120, gone_within=80),),
    ),
    Timeline(
        name="the slot has used up what it may keep",
        lasts=200,
        steps=at(21, slot(limit=1000 * MEGABYTE, retained=980 * MEGABYTE)),
        broken=(Broken(CAPTURE, 21, codes={"LOG_AT_RISK"}, shown_within=60, opened_within=60),),
    ),
    Timeline(
        name="the next checkpoint may remove the slot's log",
        lasts=200,
        steps=at(21, slot(wal_status="unreserved")) + at(111, slot(wal_status="reserved")),
        broken=(Broken(CAPTURE, 21, 111, codes={"LOG_AT_RISK"}, shown_within=60, opened_within=60, gone_within=60),),
    ),
    Timeline(
        name="much log is kept for a while, and then read",
        lasts=300,
        steps=at(21, slot(grows=10 * MEGABYTE, limit=10_000 * MEGABYTE, wal_status="extended"))
        + at(141, slot(grows=0, retained=MEGABYTE, wal_status="reserved")),
    ),
    Timeline(
        name="nobody reads from the slot, behind RUNNING",
        lasts=260,
        steps=at(21, slot(reader=None), traffic(captures=False)) + at(181, slot(reader="9"), traffic(captures=True)),
        broken=(
            Broken(
                CAPTURE,
                21,
                181,
                codes={"CDC_REPLICATION_SLOT_ERROR", "STALLED", "LOG_AT_RISK"},
                shown_within=120,
                opened_within=120,
                gone_within=70,
            ),
        ),
    ),
    Timeline(
        name="a table left the publication",
        lasts=260,
        steps=at(21, unpublish()) + at(141, publish),
        broken=(
            Broken(CAPTURE, 21, 141, codes={"CAPTURE_NARROWED"}, shown_within=60, opened_within=70, gone_within=70),
        ),
    ),
    Timeline(
        name="the server is started again",
        lasts=220,
        steps=at(21, put_back(by=0, writes=MEGABYTE)),
    ),
    Timeline(
        name="database failover with its slot",
        lasts=220,
        steps=at(21, fail_over(writes=MEGABYTE)),
    ),
    Timeline(
        name="another server answers: a restored copy",
        lasts=160,
        steps=at(21, server(identity="7999999999999999999")),
        broken=(Broken(CAPTURE, 21, codes=LOST, shown_within=60, opened_within=70),),
        # It is also the other pipeline's server.
        also=LOST,
    ),
    Timeline(
        name="two connectors with the same slot take turns",
        lasts=360,
        steps=every(40, fail_task(CAPTURE, traces.SLOT_BUSY), start=21, end=340),
        broken=(
            Broken(
                CAPTURE,
                21,
                codes={"CDC_REPLICATION_SLOT_ERROR", "CONNECTOR_RESTART_LOOP"},
                shown_within=1000,
                opened_within=None,
                incidents=10,
            ),
        ),
    ),
    Timeline(
        name="the slot is gone and the task says so",
        lasts=160,
        steps=at(21, drop_slot, fail_task(CAPTURE, traces.SLOT_GONE)),
        broken=(Broken(CAPTURE, 21, codes={"CDC_REPLICATION_SLOT_ERROR", *LOST}),),
    ),
)
