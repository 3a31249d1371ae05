"""A pipeline from a real MySQL whose log or schema history is lost, over HTTP: it is told, refused, and goes on."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

from infra.local.doubles.kafka_state import BrokerState
from tests.integration.api.test_mysql_pipelines import discovered, history_of, pipeline_body, source_body
from tests.support.api_assertions import assert_error
from tests.support.apps.connector_in_connect import ConnectorInConnect
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.databases.mysql import MySQLServer, MySQLShop, mysql_or_skip, open_mysql_shop
from tests.support.waiting import eventually

HISTORY = "schema.history.internal.kafka.topic"


@dataclass
class Captured:
    """A pipeline over the orders of the shop, which runs and whose position Connect has stored."""

    sandbox: Sandbox
    shop: MySQLShop
    pipeline: Json
    rows: int = 10

    @property
    def path(self) -> str:
        return f"/pipelines/{self.pipeline['id']}"

    @property
    def connector(self) -> ConnectorInConnect:
        return ConnectorInConnect(self.sandbox.doubles.connect, str(self.pipeline["connector_name"]))

    def post(self, action: str) -> httpx.Response:
        return self.sandbox.admin.post(f"{self.path}/{action}")

    def insert(self) -> None:
        self.rows += 1
        self.shop.run(f"INSERT INTO orders VALUES ({self.rows}, 'a', 1)")

    def until_captured(self) -> None:
        """Insert a row once the connector reads, and wait until Connect has stored a position in its transaction."""
        eventually(self.connector.stored, seconds=60)
        end = self.end()
        self.insert()
        eventually(
            self.connector.stored,
            lambda found: "row" in found and (found["file"], found["pos"]) >= end,
            seconds=60,
        )

    def end(self) -> tuple[str, int]:
        """Where the log ends."""
        file, position, *_ = self.shop.server.run("SHOW MASTER STATUS")[0]
        return file, position

    def purge(self) -> None:
        """The log with everything so far is purged."""
        self.shop.server.purge_log()

    def until_unread(self) -> None:
        self.shop.server.until_unread(self.shop.role)

    def look_until_read(self) -> None:
        """Let Headgate look until it sees the session that reads for the pipeline."""

        def log() -> Json:
            self.sandbox.fire("dispatch")
            return self.sandbox.admin.get_ok(f"{self.path}/status")["log"] or {}

        eventually(log, lambda seen: seen.get("active") is True, seconds=60)

    def look_until(self, reason: str) -> Json:
        """Let Headgate look until the pipeline shows a reason with this text."""

        def shown() -> Json:
            self.sandbox.fire("dispatch")
            return dict(self.sandbox.admin.get_ok(self.path))

        return eventually(shown, lambda seen: reason in " ".join(seen["reasons"]), seconds=60)


@pytest.fixture(scope="module")
def server() -> Iterator[MySQLServer]:
    """A server whose log may be purged: nobody else uses it."""
    with mysql_or_skip() as started:
        yield started


@pytest.fixture
def captured(sandbox: Sandbox, server: MySQLServer) -> Iterator[Captured]:
    with open_mysql_shop(server) as shop:
        source = discovered(sandbox, source_body(sandbox, shop))
        pipeline = sandbox.admin.post_ok("/pipelines", pipeline_body(sandbox, source))
        deployed = sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/deploy", status=200)
        one = Captured(sandbox, shop, deployed)
        one.until_captured()
        yield one
        assert sandbox.admin.delete(one.path).status_code == 204


def test_a_log_that_is_purged_while_the_connector_stands_still_is_told_and_passed(captured: Captured) -> None:
    captured.connector.stop()
    captured.insert()
    captured.purge()
    shown = captured.look_until("purged its binary log")
    status = captured.sandbox.admin.get_ok(f"{captured.path}/status?fresh=true")
    assert (status["log"]["kind"], status["log"]["status"]) == ("binlog", "purged")
    assert shown["desired_state"] == "RUNNING"
    refused = captured.post("restart")
    assert_error(refused, 409, "DATA_LOSS")
    message = refused.json()["error"]["message"]
    assert all(call in message for call in ("restart?accept_data_loss=true", "DELETE /pipelines/ID"))
    captured.shop.run("ALTER TABLE orders ADD COLUMN since_the_gap int")
    went_on = captured.post("restart?accept_data_loss=true")
    assert went_on.status_code == 200, went_on.text
    assert captured.connector.config["snapshot.mode"] == "no_data"
    assert captured.connector.config[HISTORY] == f"{history_of(captured.pipeline)}-1"
    captured.shop.run("ALTER TABLE orders DROP COLUMN since_the_gap")
    captured.until_captured()
    assert captured.sandbox.audit_records(captured.pipeline["id"])[0]["action"] == "pipeline.restart"


def test_a_paused_capture_reads_on_behind_the_purge_and_is_resumed_without_a_loss(captured: Captured) -> None:
    captured.look_until_read()
    assert captured.post("pause").status_code == 200
    captured.insert()
    captured.purge()
    assert captured.post("resume").status_code == 200
    captured.until_captured()
    assert captured.connector.config["snapshot.mode"] == "initial"


def test_a_paused_capture_whose_worker_was_started_again_is_not_resumed_behind_the_purge(captured: Captured) -> None:
    captured.look_until_read()
    assert captured.post("pause").status_code == 200
    captured.connector.start_again()
    captured.until_unread()
    captured.insert()
    captured.purge()
    assert_error(captured.post("resume"), 409, "DATA_LOSS")
    assert captured.post("resume?accept_data_loss=true").status_code == 200
    captured.until_captured()


def delete(topics: BrokerState, history: str) -> None:
    topics.delete_topic(history)


def cut(topics: BrokerState, history: str) -> None:
    topics.lose_beginning(history, 1)


@pytest.mark.parametrize(("lose", "named"), [(delete, "was deleted"), (cut, "were removed")])
def test_a_schema_history_that_is_lost_is_refused_by_name_and_passed(
    captured: Captured, lose: Callable[[BrokerState, str], None], named: str
) -> None:
    lost = history_of(captured.pipeline)
    lose(captured.sandbox.doubles.kafka_double.state, lost)
    refused = captured.post("restart")
    assert_error(refused, 409, "DATA_LOSS")
    message = refused.json()["error"]["message"]
    assert all(word in message for word in (lost, named, "restart?accept_data_loss=true"))
    assert captured.post("restart?accept_data_loss=true").status_code == 200
    captured.until_captured()
    assert captured.connector.config[HISTORY] == f"{lost}-1"
