"""Captures from MySQL: faults of the server, of its binary log, and of the schema history."""

from collections.abc import Callable

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.database import DatabaseProvider
from tests.timelines import traces
from tests.timelines.actions import ask, database, fail_task, heal, server, traffic
from tests.timelines.mysql_server import MySQLServer
from tests.timelines.script import CAPTURE, SOURCE, Action, Broken, Step, Timeline, at, every
from tests.timelines.world import World

MYSQL = DatabaseProvider.MYSQL
LOST = frozenset({"CHANGES_LOST"})
BINLOG = frozenset({"CDC_BINLOG_ERROR"})
STALLED = frozenset({"STALLED"})
NARROWED = frozenset({"CAPTURE_NARROWED"})


def mysql(change: Callable[[MySQLServer], None]) -> Action:
    return lambda world: change(world.server)


def lose_history(world: World) -> None:
    """The topic of the schema history is deleted."""
    config = world.app.connect.config_of(world.pipeline.connector_name)
    world.app.kafka.state.delete_topic(config["schema.history.internal.kafka.topic"])


def drop_table(world: World) -> None:
    world.server.dropped = frozenset(world.pipeline.capture.captured_tables[:1])


ROTATE = mysql(MySQLServer.rotate)
PURGE = mysql(MySQLServer.purge)
NOT_ROW = server(settings={"log_bin": "ON", "binlog_format": "MIXED"})
ACCEPTED = ask(CAPTURE, "restart?accept_data_loss=true")

LOSSES: dict[str, tuple[Step, ...]] = {
    "MySQL: the worker is started again after the log was purged": at(
        21, PURGE, fail_task(CAPTURE, traces.BINLOG_GONE)
    ),
    "MySQL: the schema history is deleted, and the worker started again": at(
        21, lose_history, fail_task(CAPTURE, traces.HISTORY_GONE)
    ),
    "MySQL: failover to a replica without the last transactions": at(
        21, mysql(lambda replica: replica.become_replica(lacks=9, has_gtids=True)), traffic(captures=False)
    ),
    "MySQL: failover to a replica, without GTIDs": at(1, server(uses_gtids=False))
    + at(21, mysql(lambda replica: replica.become_replica(lacks=0, has_gtids=False)), traffic(captures=False)),
    "MySQL: an older copy of the server is restored": at(
        21, mysql(lambda copy: copy.put_back(lacks=90)), traffic(captures=False)
    ),
    "MySQL: the log is begun anew": at(21, mysql(MySQLServer.reset_log), traffic(captures=False)),
    "MySQL: the log is begun anew, without GTIDs, behind RUNNING": at(1, server(uses_gtids=False))
    + at(21, mysql(MySQLServer.reset_log)),
}
"""What loses changes, by name: the restart that accepts this ends it."""

TIMELINES = (
    *(
        Timeline(
            name=name,
            lasts=280,
            provider=MYSQL,
            steps=steps + at(181, traffic(captures=True), ACCEPTED),
            broken=(Broken(CAPTURE, 21, 181, codes=LOST | BINLOG, shown_within=60, opened_within=70, gone_within=70),),
            # It is also the other pipeline's server.
            also=LOST | BINLOG | STALLED,
        )
        for name, steps in LOSSES.items()
    ),
    Timeline(
        name="MySQL: the log is purged behind a running connector, whose position moves on",
        lasts=200,
        provider=MYSQL,
        steps=at(21, ROTATE) + at(61, PURGE) + at(101, ROTATE),
    ),
    Timeline(
        name="MySQL: the log is purged behind a paused connector, which reads on",
        lasts=200,
        provider=MYSQL,
        steps=at(1, ask(CAPTURE, "pause")) + at(21, PURGE),
        desired={CAPTURE: "PAUSED"},
        broken=(Broken(CAPTURE, 21, codes=BINLOG, shown_within=120, opened_within=120),),
    ),
    Timeline(
        name="MySQL: failover with GTIDs",
        lasts=220,
        provider=MYSQL,
        steps=at(21, mysql(lambda replica: replica.become_replica(lacks=0, has_gtids=True))),
    ),
    Timeline(
        name="MySQL: two connectors with the same server id take turns",
        lasts=360,
        provider=MYSQL,
        steps=every(40, fail_task(CAPTURE, traces.SERVER_ID), start=21, end=340),
        broken=(Broken(CAPTURE, 21, codes=BINLOG),),
    ),
    Timeline(
        name="MySQL: nobody reads the log, behind RUNNING",
        lasts=260,
        provider=MYSQL,
        steps=at(21, server(refuses_readers=True), traffic(captures=False))
        + at(181, server(refuses_readers=False), traffic(captures=True)),
        broken=(Broken(CAPTURE, 21, 181, codes=BINLOG | STALLED, shown_within=90, opened_within=100, gone_within=70),),
        also=BINLOG | STALLED,
    ),
    Timeline(
        name="MySQL: the log that is still needed is soon purged",
        lasts=580,
        provider=MYSQL,
        steps=at(1, server(retention_seconds=600))
        + at(21, traffic(captures=False))
        + at(31, ROTATE)
        + at(501, traffic(captures=True)),
        broken=(
            Broken(CAPTURE, 21, 501, codes=STALLED, shown_within=90, opened_within=100, gone_within=70),
            # From the middle of the time for which the server keeps a file.
            Broken(CAPTURE, 21, 501, codes=BINLOG, shown_within=90, opened_within=430, gone_within=70),
        ),
    ),
    Timeline(
        name="MySQL: the database is away, behind RUNNING",
        lasts=320,
        provider=MYSQL,
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
        name="MySQL: the password is changed, and the worker started again later",
        lasts=320,
        provider=MYSQL,
        # Sessions that are open go on.
        steps=at(21, database(reachable=False, sessions=True, refusal=FailureCode.AUTHENTICATION_FAILED))
        + at(161, fail_task(CAPTURE, traces.MYSQL_PASSWORD))
        + at(221, database(reachable=True), heal(CAPTURE)),
        broken=(
            Broken(SOURCE, 21, 221, codes={"SOURCE_AUTH_FAILED"}, shown_within=120, opened_within=120, gone_within=80),
        ),
        also={"SOURCE_AUTH_FAILED"},
    ),
    *(
        Timeline(
            name=name,
            lasts=220,
            provider=MYSQL,
            steps=at(21, action) + at(141, back),
            broken=(Broken(CAPTURE, 21, 141, codes=codes, shown_within=within, opened_within=within, gone_within=70),),
            # It is also the other pipeline's server.
            also=codes,
        )
        for name, action, back, codes, within in (
            ("MySQL: binlog_format is not ROW any more", NOT_ROW, server(settings={}), BINLOG, 60),
            ("MySQL: a captured table is dropped", drop_table, server(dropped=frozenset()), NARROWED, 120),
        )
    ),
)
