"""A deployed pipeline from a MySQL server that a test breaks: what the test does to it, and what a user sees of it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from tests.support.apps.connector_in_connect import ConnectorInConnect
from tests.support.apps.real_headgate import Json, RealHeadgate
from tests.support.apps.real_mysql import RealMySQLDatabase, open_database
from tests.support.databases.mysql import MySQLServer
from tests.support.waiting import eventually

ACCEPTED = "restart?accept_data_loss=true"
HISTORY = "schema.history.internal.kafka.topic"


@dataclass(kw_only=True)
class Captured:
    """A pipeline over the table `orders`, which runs. `rows` is how many were inserted."""

    headgate: RealHeadgate
    database: RealMySQLDatabase
    source: Json
    pipeline: Json
    rows: int = 1

    @property
    def path(self) -> str:
        return f"/pipelines/{self.pipeline['id']}"

    @property
    def topic(self) -> str:
        return str(self.pipeline["topics"][0])

    @property
    def connector(self) -> ConnectorInConnect:
        return ConnectorInConnect(self.headgate.stack.addresses.connect, str(self.pipeline["connector_name"]))

    def until_unread(self) -> None:
        self.database.server.until_unread(self.database.username)

    # rows

    def insert(self) -> None:
        self.rows += 1
        self.database.run(f"INSERT INTO orders VALUES ({self.rows}, 'n{self.rows}')")

    def until_captured(self) -> None:
        """Inserts a row, and waits until its record is in the topic and Connect has stored a position."""
        before = self.headgate.records(self.topic)
        self.insert()
        eventually(lambda: self.headgate.records(self.topic), lambda count: count > before, seconds=90)
        eventually(self.connector.stored)

    def until_last_position_is_seen(self) -> None:
        """Connect stores a position every two seconds. Waits until it stores no other one, and looks at that."""

        def is_last() -> bool:
            stored = self.connector.stored()
            time.sleep(3)  # long enough to store another one
            return bool(stored) and self.connector.stored() == stored

        eventually(is_last)
        self.shown()

    def records(self) -> int:
        return self.headgate.records(self.topic)

    # what is lost

    def purge(self) -> None:
        """The server removes all of its binary log but a new file."""
        self.database.server.purge_log()

    @property
    def history(self) -> str:
        """The topic of the schema history that the connector has now."""
        return self.connector.config[HISTORY]

    def delete_history(self) -> None:
        topic, admin = self.history, self._admin()
        admin.delete_topics([topic])[topic].result(10)
        eventually(lambda: topic not in admin.list_topics(timeout=10).topics)

    def empty_history(self) -> None:
        """As a retention does that is too short."""
        partition, admin = TopicPartition(self.history, 0, self.headgate.records(self.history)), self._admin()
        admin.delete_records([partition])[partition].result(10)

    def _admin(self) -> AdminClient:
        return AdminClient({"bootstrap.servers": self.headgate.stack.addresses.kafka, "log_level": 0})

    # what a user sees

    def shown(self) -> Json:
        """The pipeline's status after another look at its source and another tick."""
        self.headgate.look_at(self.source)
        self.headgate.tick()
        time.sleep(1)
        return dict(self.headgate.get(f"{self.path}/status?fresh=true"))

    def until_shown(self, *words: str) -> Json:
        """Looks until its status is not RUNNING, with all these words."""
        return eventually(
            self.shown,
            lambda seen: seen["observed_state"] != "RUNNING" and all(word in said(seen) for word in words),
            seconds=90,
        )

    def until_healthy(self) -> None:
        eventually(
            self.shown,
            lambda seen: seen["observed_state"] == "RUNNING" and not seen["reasons"],
            seconds=120,
        )

    def incidents(self) -> dict[str, Json]:
        """Active ones of the pipeline, by code."""
        active = self.headgate.get(f"/operations/errors?active=true&pipeline_id={self.pipeline['id']}")
        return {one["code"]: one for one in active}

    def until_incident(self, code: str) -> Json:
        def found() -> Json | None:
            self.shown()
            return self.incidents().get(code)

        return eventually(found, seconds=90) or {}

    def until_resolved(self) -> None:
        """Looks until none of its incidents is active."""
        eventually(lambda: (self.shown(), self.incidents())[1], lambda active: not active, seconds=90)

    def refused(self, action: str = "restart") -> str:
        """The message with which that is refused because changes were lost."""
        error = self.headgate.refused(f"{self.path}/{action}", status=409)
        assert error["code"] == "DATA_LOSS"
        return str(error["message"])

    def readiness(self, check: str) -> Json:
        """A check of readiness for the deployed pipeline."""
        path = f"/sources/{self.source['id']}/cdc-readiness?pipeline_id={self.pipeline['id']}&fresh=true"
        return {one["key"]: one for one in self.headgate.get(path)["checks"]}[check]

    def post(self, action: str) -> None:
        self.headgate.post(f"{self.path}/{action}")


def said(status: Json) -> str:
    """The sentences of a status, with those about its tasks."""
    hints = [task["hint"]["message"] for task in status["tasks"] if task["hint"]]
    return " ".join([*status["reasons"], *hints])


ORDERS = "CREATE TABLE orders (id INT PRIMARY KEY, customer VARCHAR(100))"
FIRST_ROW = "INSERT INTO orders VALUES (1, 'n1')"


@contextmanager
def captured_from(
    headgate: RealHeadgate, server: MySQLServer, *, port: int | None = None, **more: Any
) -> Iterator[Captured]:
    """A pipeline that has captured the first row and one more; its source is registered with `port`, where given."""
    database = open_database(server, "watched", ORDERS, FIRST_ROW)
    source = headgate.source(database, **({"port": port} if port else {}))
    headgate.discover(source)
    pipeline = headgate.pipeline(source, [(database.name, "orders")], **more)
    headgate.deploy(pipeline)
    one = Captured(headgate=headgate, database=database, source=source, pipeline=pipeline)
    headgate.until_records(one.topic, 1)
    one.until_captured()
    yield one
    headgate.call("DELETE", f"{one.path}?drop_history=true", expect=(204, 202))
