"""What is read about a deployed capture from a real MySQL, and what a look makes of it and of a stored offset."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest

from chalicelib.clients.databases.errors import DatabaseFailure
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.monitoring.source_state import CaptureState
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.providers.mysql.gtid_set import GtidSet
from chalicelib.domain.providers.mysql.running_capture import (
    MySQLCaptureFacts,
    capture_state,
    lost_changes,
    with_offset,
)
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline, utc_now
from tests.support.databases.mysql import MySQLServer, MySQLShop, mysql_or_skip, open_mysql_shop
from tests.support.databases.mysql_capture import SERVER_ID, client_of, endpoint_of, orders, plan_of
from tests.support.entities import make_pipeline

NO_GTIDS = {"gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"}


@dataclass
class Watched:
    """A capture of the shop's orders, and what looks at it have seen."""

    shop: MySQLShop
    desired: DesiredState = DesiredState.RUNNING
    state: CaptureState | None = None
    now: datetime = field(default_factory=utc_now)
    status: str = "MASTER"

    @property
    def pipeline(self) -> Pipeline:
        capture = Capture(topic_prefix="p", tables=(orders(self.shop),))
        return make_pipeline(provider=DatabaseProvider.MYSQL, desired_state=self.desired, capture=capture)

    def facts(self) -> MySQLCaptureFacts:
        return client_of(endpoint_of(self.shop)).capture_facts([plan_of(self.shop)], Deadline.after(15))

    def offset(self) -> dict[str, Any]:
        """What Debezium stores where the log ends now."""
        status = self.shop.server.run(f"SHOW {self.status} STATUS")[0]
        gtids = {"gtids": status[4].replace("\n", "")} if status[4] else {}
        return {"ts_sec": int(self.now.timestamp()), "file": status[0], "pos": status[1], **gtids, "server_id": 1}

    def look(self, offset: Mapping[str, Any]) -> list[str]:
        """The codes of what a look finds."""
        facts, stored, before = self.facts(), StoredOffset(offset), self.state
        state = capture_state(facts, self.pipeline, before, self.now)
        self.state = with_offset(facts, self.pipeline, before, state, stored, self.now)
        return [finding.code.value for finding in self.state.findings]

    def lost(self, offset: Mapping[str, Any], *, reads_on: bool = False) -> str | None:
        found = lost_changes(self.facts(), self.pipeline, self.state, StoredOffset(offset), reads_on=reads_on)
        return found.code.value if found else None

    def write(self, rows: int = 1) -> None:
        for _ in range(rows):
            self.shop.run("INSERT INTO orders SELECT COALESCE(MAX(id), 0) + 1, 'a', 1 FROM orders")

    def purge(self) -> None:
        """All files but the newest go."""
        self.shop.server.purge_log()


@pytest.fixture
def watched(mysql_shop: MySQLShop) -> Watched:
    return Watched(mysql_shop)


@pytest.fixture(scope="module")
def own_server() -> Iterator[MySQLServer]:
    """A server whose log may be begun anew: nobody else uses it."""
    with mysql_or_skip() as server:
        yield server


@pytest.fixture
def own(own_server: MySQLServer) -> Iterator[Watched]:
    with open_mysql_shop(own_server) as shop:
        yield Watched(shop)


def test_the_log_of_the_server_is_read(watched: Watched) -> None:
    facts, server = watched.facts(), watched.shop.server
    assert facts.server_uuid == server.value("@@server_uuid")
    assert dict(facts.binlog.files or {}) == {row[0]: row[1] for row in server.run("SHOW BINARY LOGS")}
    assert facts.binlog.executed == GtidSet.parse(server.value("@@gtid_executed"))
    assert facts.binlog.uses_gtids
    assert facts.binlog.retention_seconds == server.value("@@binlog_expire_logs_seconds")
    assert facts.settings == {
        "log_bin": "ON", "binlog_format": "ROW", "binlog_row_image": "FULL", "binlog_row_value_options": "",
    }  # fmt: skip
    assert (facts.dropped, facts.hidden) == (frozenset(), frozenset())


def test_a_session_of_the_account_that_reads_the_log_is_seen(watched: Watched) -> None:
    assert watched.facts().readers == frozenset()
    assert watched.look(watched.offset()) == ["NOT_READ"]
    with watched.shop.reading(SERVER_ID) as reader:
        assert watched.facts().readers == {str(reader.thread_id())}
        assert watched.look(watched.offset()) == []
        assert watched.state is not None
        assert watched.state.log is not None
        assert (watched.state.log.active, watched.state.log.retained_bytes) == (True, 0)


def test_sessions_of_another_account_are_not_ours(watched: Watched) -> None:
    """With PROCESS the account sees them."""
    watched.shop.run("GRANT PROCESS ON *.* TO {role}")
    with open_mysql_shop(watched.shop.server) as other, other.reading(SERVER_ID + 1):
        assert watched.facts().readers == frozenset()


def test_a_log_that_is_purged_while_nobody_reads_has_lost_changes(watched: Watched) -> None:
    offset = watched.offset()
    assert watched.lost(offset) is None
    watched.write()
    watched.purge()
    assert watched.lost(offset) == "LOG_POSITION_LOST"
    assert watched.look(offset) == ["LOG_POSITION_LOST", "NOT_READ"]
    assert watched.look(watched.offset()) == ["NOT_READ"]


def test_a_session_that_reads_on_behind_a_purged_position_has_lost_nothing(watched: Watched) -> None:
    watched.desired = DesiredState.PAUSED
    with watched.shop.reading(SERVER_ID):
        offset = watched.offset()
        assert watched.look(offset) == []
        watched.write()
        watched.purge()
        assert watched.look(offset) == ["LOG_AT_RISK"]
        assert watched.lost(offset, reads_on=True) is None
        assert watched.lost(offset) == "LOG_POSITION_LOST"
    assert watched.lost(offset, reads_on=True) == "LOG_POSITION_LOST"


def test_a_log_that_was_begun_anew_is_noticed_with_gtids(own: Watched) -> None:
    own.write(3)
    offset = own.offset()
    own.look(offset)
    own.shop.server.run("RESET MASTER")
    assert own.look(offset) == ["LOG_POSITION_LOST", "NOT_READ"]


def test_a_log_that_was_begun_anew_and_is_as_long_again_is_noticed(own: Watched) -> None:
    own.write(2)
    own.shop.server.run("FLUSH BINARY LOGS")
    offset = own.offset()
    own.look(offset)
    own.shop.server.run("RESET MASTER")
    own.write(40)
    assert own.facts().binlog.executed.contains(GtidSet.parse(offset["gtids"]))  # type: ignore[union-attr,arg-type]
    assert own.look(offset) == ["LOG_POSITION_LOST", "NOT_READ"]


def test_without_gtids_files_and_positions_decide() -> None:
    with mysql_or_skip(NO_GTIDS) as server, open_mysql_shop(server) as shop:
        watched = Watched(shop)
        offset = watched.offset()
        assert "gtids" not in offset
        assert watched.look(offset) == ["NOT_READ"]
        watched.write()
        assert watched.look({**offset, "pos": offset["pos"] + 100_000}) == ["LOG_POSITION_LOST", "NOT_READ"]
        watched.purge()
        assert watched.lost(offset) == "LOG_POSITION_LOST"
        server.run("RESET MASTER")
        assert watched.lost({**offset, "pos": 4, "file": "mysql-bin.000001"}) == "LOG_POSITION_LOST"
        watched.state = None
        assert watched.lost({**offset, "pos": 4, "file": "mysql-bin.000001"}) is None


def test_another_server_is_told_from_a_replica_that_has_all(watched: Watched, own: Watched) -> None:
    offset = watched.offset()
    watched.look(offset)
    moved = Watched(own.shop, state=watched.state)
    assert moved.look(offset) == ["OTHER_SERVER", "NOT_READ"]
    # The transactions of the first server, as a replica gets them.
    own.shop.server.run("RESET MASTER", f"SET GLOBAL gtid_purged = '{offset['gtids']}'")
    replica = Watched(own.shop, state=watched.state)
    assert replica.look(offset) == ["NOT_READ"]
    assert replica.lost(offset) is None
    own.shop.run("CREATE TABLE more (id INT PRIMARY KEY)")
    own.shop.server.run("FLUSH BINARY LOGS")
    replica.purge()
    assert replica.lost(offset) == "LOG_POSITION_LOST"


def test_mysql_9_is_watched_as_well(mysql_9: MySQLServer) -> None:
    """Statements have other names, and transactions tags."""
    with open_mysql_shop(mysql_9) as shop, shop.reading(SERVER_ID) as reader:
        watched = Watched(shop, status="BINARY LOG")
        mysql_9.run("SET gtid_next = 'AUTOMATIC:backup'", f"CREATE TABLE {shop.name}.tagged (id INT PRIMARY KEY)")
        facts, offset = watched.facts(), watched.offset()
        assert facts.readers == {str(reader.thread_id())}
        assert ":backup:1" in offset["gtids"]
        assert facts.binlog.executed == GtidSet.parse(offset["gtids"])
        assert watched.look(offset) == []
        mysql_9.run("SET gtid_next = 'AUTOMATIC:backup'", f"CREATE TABLE {shop.name}.more (id INT PRIMARY KEY)")
        watched.purge()
        assert watched.look(offset) == ["LOG_AT_RISK"]


def test_tables_that_are_gone_are_told_from_hidden_ones(watched: Watched) -> None:
    shop = watched.shop
    shop.run("DROP TABLE orders")
    assert watched.facts().dropped == {orders(shop)}
    shop.run("CREATE TABLE orders (id INT PRIMARY KEY)")
    with shop.reading(SERVER_ID):
        shop.run("REVOKE SELECT ON *.* FROM {role}")
        facts = watched.facts()
        assert (facts.dropped, facts.hidden) == (frozenset(), {orders(shop)})
        assert watched.look(watched.offset()) == ["TABLES_NOT_PUBLISHED"]


def test_a_database_that_is_gone_is_a_table_that_is_gone(watched: Watched) -> None:
    gone = TableName("nothing", "orders")
    plan = replace(plan_of(watched.shop), tables=(gone,))
    facts = client_of(endpoint_of(watched.shop)).capture_facts([plan], Deadline.after(15))
    assert facts.dropped == {gone}


def test_without_replication_client_the_log_cannot_be_seen(watched: Watched) -> None:
    watched.shop.run("REVOKE REPLICATION CLIENT ON *.* FROM {role}")
    facts = watched.facts()
    assert facts.binlog.files is None
    assert facts.status.denied
    assert facts.binlog.executed is not None
    assert watched.look(watched.offset()) == ["NOT_READ", "NOT_READ"]
    assert client_of(endpoint_of(watched.shop)).continue_capture(plan_of(watched.shop), Deadline.after(15)) is None


def test_a_server_without_a_binary_log_says_so() -> None:
    settings = {"skip-log-bin": "", "gtid-mode": "OFF", "enforce-gtid-consistency": "OFF"}
    with mysql_or_skip(settings) as server, open_mysql_shop(server) as shop:
        watched = Watched(shop)
        facts = watched.facts()
        assert (facts.binlog.files, facts.settings["log_bin"]) == ({}, "OFF")
        offset = {"file": "mysql-bin.000001", "pos": 4}
        assert watched.look(offset) == ["NOT_READ", "TABLES_NOT_PUBLISHED"]


def test_a_setting_that_was_changed_since_is_found(own: Watched) -> None:
    server = own.shop.server
    server.run("SET GLOBAL binlog_format = 'STATEMENT'", "SET GLOBAL binlog_row_value_options = 'PARTIAL_JSON'")
    try:
        with own.shop.reading(SERVER_ID):
            assert own.look(own.offset()) == ["TABLES_NOT_PUBLISHED", "TABLES_NOT_PUBLISHED"]
    finally:
        server.run("SET GLOBAL binlog_format = 'ROW'", "SET GLOBAL binlog_row_value_options = ''")


def test_the_end_of_the_log_is_where_a_capture_goes_on(watched: Watched) -> None:
    position = client_of(endpoint_of(watched.shop)).continue_capture(plan_of(watched.shop), Deadline.after(15))
    assert str(position) == ":".join(map(str, watched.shop.server.run("SHOW MASTER STATUS")[0][:2]))


def test_a_look_changes_nothing_and_reads_no_rows(watched: Watched) -> None:
    with watched.shop.server.general_log() as statements:
        watched.facts()
    texts = [one.text.upper() for one in statements if one.command == "Query"]
    assert texts
    assert all(text.startswith(("SELECT", "SHOW", "SET")) for text in texts)
    assert not any("LOCK" in text and "LOCK_WAIT_TIMEOUT" not in text for text in texts)


def test_a_server_that_cannot_be_reached_is_no_state(watched: Watched) -> None:
    nobody = client_of(endpoint_of(watched.shop, port=1))
    with pytest.raises(DatabaseFailure):
        nobody.capture_facts([plan_of(watched.shop)], Deadline.after(5))
