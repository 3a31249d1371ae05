"""A pipeline with a delivery that runs, the faults that a test makes on its way, and the messages that follow."""

import itertools
import os
import re
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pymysql

from infra.local.doubles.notification_receivers import NotificationReceiver
from tests.support.apps.connector_in_connect import ConnectorInConnect
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.apps.real_mysql import RealMySQLDatabase, open_database
from tests.support.databases.mysql import MySQLServer
from tests.support.databases.mysql_target import SINK_RIGHTS
from tests.support.waiting import eventually

LOCKED_BY = "nightly report"
ROWS = 300
_numbers = itertools.count(1)
_names = {"postgresql": "shop.orders", "mysql": "orders"}


@dataclass(kw_only=True)
class Way:
    """The table `orders` of one kind of database, captured, and delivered to another database of that kind.

    `rows` is the key of the newest row; `open` are the sessions that hold a lock on the target.
    """

    headgate: RealHeadgate
    source: RealDatabase | RealMySQLDatabase
    target: RealDatabase | RealMySQLDatabase
    registered: Json
    destination: Json
    pipeline: Json
    delivery: Json
    rows: int = ROWS
    open: list[Any] = field(default_factory=list)

    @property
    def table(self) -> str:
        """The table in statements."""
        return _names[self.source.provider]

    @property
    def source_table(self) -> str:
        """The table as Headgate names it."""
        return f"{self.source.name}.orders" if isinstance(self.source, RealMySQLDatabase) else "shop.orders"

    @property
    def target_table(self) -> str:
        return f"{self.target.name}.orders" if isinstance(self.target, RealMySQLDatabase) else "shop.orders"

    @property
    def slot(self) -> str:
        return str(self.pipeline["options"].get("slot_name") or "")

    @property
    def capture(self) -> ConnectorInConnect:
        return ConnectorInConnect(self.headgate.stack.addresses.connect, str(self.pipeline["connector_name"]))

    def insert(self, note: str = "'a note'") -> None:
        self.rows += 1
        self.source.run(f"INSERT INTO {self.table} VALUES ({self.rows}, {note}, 1)")

    def arrived(self) -> bool:
        with suppress(psycopg.errors.UndefinedTable, pymysql.err.ProgrammingError):  # the sink has not made it yet
            return bool(self.target.run(f"SELECT 1 FROM {self.table} WHERE id = {self.rows}"))
        return False

    def until_arrived(self) -> None:
        self.insert()
        eventually(self.arrived, seconds=60)

    def until_tables_are_known(self) -> None:
        # MySQL does not count deleted rows: what was delivered since the last looks may have deleted as many.
        path = f"/deliveries/{self.delivery['id']}/status"
        eventually(lambda: (self.look(), self.headgate.get(path)["progress"] or {})[1].get("lag") == 0, seconds=120)
        if isinstance(self.target, RealMySQLDatabase):
            # InnoDB brings the number of rows in its statistics up to date some seconds later.
            self.target.run(f"ANALYZE TABLE {self.table}")
        self.headgate.until_tables_are_known(self.destination, self.delivery)

    def look(self) -> None:
        """What the schedule does once a minute, now."""
        self.headgate.tick()
        self.headgate.look_at(self.registered)
        self.headgate.look_at_destination(self.destination)
        time.sleep(3)

    def names(self) -> dict[str, str]:
        """What the words of a fault may refer to."""
        return {
            "delivery": self.delivery["name"],
            "pipeline": self.pipeline["name"],
            "source": self.registered["name"],
            "destination": self.destination["name"],
            "source_table": self.source_table,
            "target_table": self.target_table,
            "slot": self.slot,
        }


@dataclass(frozen=True, kw_only=True)
class Fault:
    """What somebody does, and words that the message must have. `{pipeline}` and others are the names of the way."""

    name: str
    happens: Callable[[Way], object]
    words: Sequence[str]
    ends: Callable[[Way], object] = lambda _way: None
    compares_tables: bool = False
    """Whether it shows only where looks know the rows of the target from before."""


def on_target(*statements: str, then_insert: bool = True) -> Callable[[Way], None]:
    """Statements in the target; `{table}` is the table. Then a row comes."""

    def happens(way: Way) -> None:
        way.target.run(*(statement.replace("{table}", way.table) for statement in statements))
        if then_insert:
            way.insert()

    return happens


def on_source(*statements: str) -> Callable[[Way], None]:
    def happens(way: Way) -> None:
        way.source.run(
            *(statement.replace("{table}", way.table).replace("{slot}", way.slot) for statement in statements)
        )

    return happens


def locked(way: Way) -> None:
    """A session that somebody has left open holds a lock on the whole table."""
    if isinstance(way.target, RealDatabase):
        session: Any = psycopg.connect(
            way.target.superuser, dbname=way.target.name, application_name=LOCKED_BY, connect_timeout=10
        )
        session.execute(f"LOCK TABLE {way.table} IN ACCESS EXCLUSIVE MODE".encode())
    else:
        session = way.target.server.connect(database=way.target.name, program_name=LOCKED_BY)
        session.cursor().execute(f"LOCK TABLES {way.table} WRITE")
    way.open.append(session)
    way.insert()


def unlocked(way: Way) -> None:
    for session in way.open:
        session.close()


def connect_freezes(way: Way) -> None:
    os.kill(way.headgate.stack.connect.pid, signal.SIGSTOP)


def connect_goes_on(way: Way) -> None:
    os.kill(way.headgate.stack.connect.pid, signal.SIGCONT)


def slot_is_dropped(way: Way) -> None:
    """While nobody reads, so that no error of the task says more."""
    way.capture.stop()
    active = f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{way.slot}' AND active"
    eventually(lambda: way.source.run(active), lambda rows: not rows)
    way.insert()
    way.source.run(f"SELECT pg_drop_replication_slot('{way.slot}')")


def log_is_purged(way: Way) -> None:
    assert isinstance(way.source, RealMySQLDatabase)
    way.capture.stop()
    way.source.server.until_unread(way.source.username)
    way.insert()
    way.source.server.purge_log()


def log_is_full(way: Way) -> None:
    """On a server that keeps 96 MB for a slot: nobody reads, and more than that is written."""
    way.capture.stop()
    active = f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{way.slot}' AND active"
    eventually(lambda: way.source.run(active), lambda rows: not rows)
    way.source.run(f"SELECT pg_logical_emit_message(false, 'test', repeat('x', {120 * 1024**2}))")


def right_is_revoked(way: Way) -> None:
    """A session keeps what it may do in its database, so that those of the sink are ended."""
    assert isinstance(way.target, RealMySQLDatabase)
    way.target.run(f"REVOKE INSERT, UPDATE ON `{way.target.name}`.* FROM {{role}}")
    sessions = f"SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '{way.target.username}'"
    for (session,) in way.target.run(sessions):
        way.target.run(f"KILL {session}")
    way.insert()


CONSTRAINT = "ALTER TABLE {table} ADD CONSTRAINT small CHECK (id < 302)"
OF_BOTH = (
    Fault(
        name="a truncated target",
        happens=on_target("TRUNCATE TABLE {table}"),
        compares_tables=True,
        words=("{delivery}", "{target_table}"),
    ),
    Fault(
        name="a dropped target",
        happens=on_target("DROP TABLE {table}"),
        compares_tables=True,
        words=("{delivery}", "{target_table}"),
    ),
    Fault(name="a locked table", happens=locked, words=("{delivery}", "{target_table}", "wait"), ends=unlocked),
    Fault(name="a frozen Kafka Connect", happens=connect_freezes, words=("connect",), ends=connect_goes_on),
)
OF_POSTGRESQL = (
    Fault(
        name="a constraint",
        happens=on_target(CONSTRAINT),
        words=("{delivery}", "{target_table}", "small", "wait"),
    ),
    *OF_BOTH,
    Fault(
        name="a right",
        happens=on_target("REVOKE INSERT, UPDATE ON {table} FROM {role}"),
        words=("{delivery}", "{target_table}", "wait"),
    ),
    Fault(
        name="a refused password of the source",
        happens=on_source("ALTER ROLE {role} PASSWORD 'another'"),
        words=("{source}", "{pipeline}"),
    ),
    Fault(
        name="a refused password of the destination",
        happens=on_target("ALTER ROLE {role} PASSWORD 'another'"),
        words=("{destination}", "{delivery}"),
    ),
    Fault(
        name="a narrowed publication",
        happens=lambda way: way.source.run(
            f"ALTER PUBLICATION {way.pipeline['options']['publication_name']} DROP TABLE shop.orders"
        ),
        words=("{pipeline}", "{source_table}"),
    ),
    Fault(name="a lost slot", happens=slot_is_dropped, words=("{pipeline}", "{slot}")),
    Fault(
        name="a poison value",
        happens=lambda way: way.source.run("INSERT INTO shop.orders VALUES (1000, 'poison', 'NaN')"),
        words=("{pipeline}", "{source_table}", "on_conversion_error"),
    ),
)
FULL_LOG = Fault(name="a full log", happens=log_is_full, words=("{pipeline}", "{slot}"))
OF_MYSQL = (
    # MySQL checks no CHECK before 8.0.16, and names no foreign key to a user without a right on its parent.
    Fault(
        name="a constraint",
        happens=on_target("ALTER TABLE {table} ADD COLUMN required int NOT NULL"),
        words=("{delivery}", "{target_table}", "required", "wait"),
    ),
    *OF_BOTH,
    Fault(
        name="a right",
        happens=right_is_revoked,
        words=("{delivery}", "{target_table}", "wait"),
    ),
    Fault(
        name="a refused password of the source",
        happens=on_source("ALTER USER {role} IDENTIFIED BY 'another'"),
        words=("{source}", "{pipeline}"),
    ),
    Fault(name="a purged log", happens=log_is_purged, words=("{pipeline}",)),
)


@contextmanager
def way_of_postgresql(headgate: RealHeadgate, server: str | None = None) -> Iterator[Way]:
    """A pipeline and a delivery that run; the first row has arrived."""
    source = headgate.database(
        "night",
        "CREATE TABLE shop.orders (id int PRIMARY KEY, note text, amount numeric(10, 2))",
        "ALTER TABLE shop.orders OWNER TO {role}",
        f"INSERT INTO shop.orders SELECT n, 'a note', 1 FROM generate_series(1, {ROWS}) AS n",
        server=server,
    )
    with _running(headgate, source, headgate.database("night_target"), "shop", "shop") as way:
        yield way


@contextmanager
def way_of_mysql(headgate: RealHeadgate, server: MySQLServer) -> Iterator[Way]:
    """The same from one database of the server to another one."""
    rows = ", ".join(f"({number}, 'a note', 1)" for number in range(1, ROWS + 1))
    source = open_database(
        server,
        "night",
        "CREATE TABLE orders (id int PRIMARY KEY, note varchar(100), amount decimal(10, 2))",
        f"INSERT INTO orders VALUES {rows}",
    )
    target = open_database(server, "night_target", rights=SINK_RIGHTS)
    with _running(headgate, source, target, source.name, target.name) as way:
        yield way


@contextmanager
def _running(headgate: RealHeadgate, source: Any, target: Any, schema: str, target_schema: str) -> Iterator[Way]:
    number = next(_numbers)
    registered = headgate.source(source)
    headgate.discover(registered)
    pipeline = headgate.pipeline(registered, [(schema, "orders")], name=f"night pipeline {number}")
    headgate.deploy(pipeline)
    destination = headgate.destination(target)
    body = headgate.delivery_body(pipeline, {pipeline["topics"][0]: "orders"}, target_schema)
    delivery = headgate.deliver(destination, {**body, "name": f"night delivery {number}"})
    way = Way(
        headgate=headgate,
        source=source,
        target=target,
        registered=registered,
        destination=destination,
        pipeline=pipeline,
        delivery=delivery,
    )
    way.until_arrived()
    yield way
    headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.call("DELETE", f"/pipelines/{pipeline['id']}?drop_slot=true", expect=(204, 202))
    gone = f"/pipelines/{pipeline['id']}"
    eventually(lambda: headgate.client.get(gone).status_code, lambda status: status == 404)
    # With them their alerts end.
    headgate.delete(f"/destinations/{destination['id']}")
    headgate.delete(f"/sources/{registered['id']}")


def firing(chat: NotificationReceiver) -> list[str]:
    """The texts of the messages that say that something is wrong, without the characters that keep names from becoming
    links.
    """
    texts = [re.sub("[\u200b\u2060]", "", str(one.json["text"])) for one in chat.received]
    return [text for text in texts if "[RESOLVED]" not in text]
