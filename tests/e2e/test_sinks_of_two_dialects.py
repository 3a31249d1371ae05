"""Sinks to PostgreSQL and to MySQL on one Connect cluster of the real stack: each makes tables of its own dialect."""

import threading
from collections.abc import Iterator, Mapping

import psycopg
import pymysql
import pytest

from tests.e2e.equal_rows import in_mysql, in_postgresql, open_target, tick, until_healthy
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.apps.real_mysql import RealMySQLDatabase
from tests.support.databases.mysql import MySQLServer
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

COLUMNS = ("id", "name", "at", "raw")
MAKE = "CREATE TABLE shop.{table} (id int PRIMARY KEY, name text, at timestamp, raw bytea)"
FILL = "INSERT INTO shop.{table} SELECT n, 'name ' || n, now(), 'x' FROM generate_series(1, 20) AS n"
RIGHT: Mapping[str, list[str]] = {
    "postgresql": ["integer", "text", "timestamp without time zone", "bytea"],
    "mysql": ["int(11)", "longtext", "datetime(6)", "longblob"],
}
TYPES = (
    "SELECT {type} FROM information_schema.columns WHERE table_schema = '{schema}' AND table_name = '{table}'"
    " ORDER BY ordinal_position"
)
WAITS = "sinks to another kind of database"


def types_made(database: RealDatabase | RealMySQLDatabase, table: str) -> list[str]:
    """The types of the columns of a table that a sink has made; none while it does not exist."""
    mysql = isinstance(database, RealMySQLDatabase)
    column, schema = ("column_type", database.name) if mysql else ("data_type", "shop")
    try:
        return [name for (name,) in database.run(TYPES.format(type=column, schema=schema, table=table))]
    except (psycopg.Error, pymysql.Error):
        return []


class TwoKinds:
    """A destination of each kind on one Connect cluster, and a pipeline of tables whose topics have records."""

    def __init__(self, headgate: RealHeadgate, server: MySQLServer, tables: int) -> None:
        self.headgate = headgate
        names = [f"round_{number}" for number in range(tables)]
        owned = "ALTER TABLE shop.{table} OWNER TO {role}"
        made = (text.replace("{table}", name) for name in names for text in (MAKE, owned, FILL))
        self.source = headgate.database("kinds", *made)
        self.postgresql, self.mysql = headgate.database("kind_pg"), open_target(server, "kind_my")
        self.pipeline = headgate.captured(self.source, *names)
        self.topics = dict(zip(names, self.pipeline["topics"], strict=True))
        for topic in self.topics.values():
            headgate.until_records(topic, 20)
        self.destinations = {kind: headgate.destination(target) for kind, target in self.targets.items()}

    @property
    def targets(self) -> Mapping[str, RealDatabase | RealMySQLDatabase]:
        return {"postgresql": self.postgresql, "mysql": self.mysql}

    def body(self, kind: str, *tables: str) -> Json:
        schema = "shop" if kind == "postgresql" else self.mysql.name
        return self.headgate.delivery_body(self.pipeline, {self.topics[table]: table for table in tables}, schema)

    def deploy(self, kind: str, *tables: str) -> Json:
        body = self.body(kind, *tables)
        return dict(self.headgate.post(f"/destinations/{self.destinations[kind]['id']}/deploy", body))

    def deploy_at_once(self, *wanted: tuple[str, str]) -> list[Json]:
        """Deploys a delivery for each kind and table, from threads that begin in the same moment."""
        made, together = list[Json](), threading.Barrier(len(wanted))

        def deploy(kind: str, table: str) -> None:
            together.wait(timeout=10)
            made.append(self.deploy(kind, table))

        threads = [threading.Thread(target=deploy, args=one) for one in wanted]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == len(wanted)
        return made

    def made(self, table: str) -> dict[str, list[str]]:
        return {kind: types_made(target, table) for kind, target in self.targets.items()}

    def rows_differ(self, table: str) -> bool:
        source = in_postgresql(self.source, table, COLUMNS)
        copies = in_postgresql(self.postgresql, table, COLUMNS), in_mysql(self.mysql, table, COLUMNS)
        return any(copy != source for copy in copies)

    def end(self) -> None:
        self.headgate.delete_pipeline(self.pipeline, self.source)


def run_rounds(kinds: TwoKinds) -> None:
    wrong: dict[str, object] = {}
    for table in kinds.topics:
        deliveries = kinds.deploy_at_once(*((kind, table) for kind in RIGHT))
        for delivery in deliveries:
            until_healthy(kinds.headgate, delivery)
        made = eventually(lambda name=table: kinds.made(name), lambda types: all(types.values()), seconds=60)
        if made != RIGHT:
            wrong[table] = made
        else:
            eventually(lambda name=table: kinds.rows_differ(name), lambda differ: not differ, seconds=60)
        for delivery in deliveries:
            kinds.headgate.delete(f"/deliveries/{delivery['id']}")
    rounds = len(kinds.topics)
    print(f"\nboth dialects deployed at once: {rounds - len(wrong)} of {rounds} rounds had the right tables")
    assert wrong == {}


@pytest.fixture
def two_kinds(headgate: RealHeadgate, real_mysql: MySQLServer, request: pytest.FixtureRequest) -> Iterator[TwoKinds]:
    kinds = TwoKinds(headgate, real_mysql, request.param)
    yield kinds
    kinds.end()


@pytest.mark.parametrize("two_kinds", [2], indirect=True)
def test_sinks_of_two_kinds_that_are_deployed_at_once_make_the_right_tables(two_kinds: TwoKinds) -> None:
    run_rounds(two_kinds)


@pytest.mark.long
@pytest.mark.parametrize("two_kinds", [20], indirect=True)
def test_sinks_of_two_kinds_make_the_right_tables_twenty_times(two_kinds: TwoKinds) -> None:
    run_rounds(two_kinds)


@pytest.mark.parametrize("two_kinds", [3], indirect=True)
def test_a_sink_that_waits_longer_than_its_request_is_started_by_a_tick(two_kinds: TwoKinds) -> None:
    headgate, (first, second, third) = two_kinds.headgate, two_kinds.topics
    # Of two of one kind, nobody knows which of them still makes tables: both have their whole time.
    beside = two_kinds.deploy_at_once(("mysql", first), ("mysql", second))
    delivery = two_kinds.deploy("postgresql", third)
    assert delivery["observed_state"] == "STOPPED"
    said = list(delivery["reasons"])

    def state() -> str:
        tick(headgate)
        seen = headgate.get(f"/deliveries/{delivery['id']}/status?fresh=true")
        said.extend(seen["reasons"] if seen["observed_state"] == "STOPPED" else [])
        return str(seen["observed_state"])

    eventually(state, lambda seen: seen == "RUNNING", seconds=30)
    assert any(WAITS in reason for reason in said)
    assert not any("Somebody" in reason or "omething else" in reason for reason in said)
    incidents = headgate.get("/operations/errors")
    assert [one for one in incidents if one["delivery_id"] == delivery["id"]] == []
    assert eventually(lambda: types_made(two_kinds.postgresql, third)) == RIGHT["postgresql"]
    for one in (*beside, delivery):
        headgate.delete(f"/deliveries/{one['id']}")


@pytest.mark.parametrize("two_kinds", [2], indirect=True)
def test_a_sink_whose_later_table_would_get_types_of_the_other_kind_is_restarted_and_makes_the_right_one(
    two_kinds: TwoKinds,
) -> None:
    headgate, source, postgresql = two_kinds.headgate, two_kinds.source, two_kinds.postgresql
    first, later = two_kinds.topics
    source.run(MAKE.replace("{table}", "empty"), "ALTER TABLE shop.empty OWNER TO {role}")
    pipeline = headgate.captured(source, "empty")
    delivered = two_kinds.deploy("postgresql", first)
    topic = pipeline["topics"][0]
    source.run("INSERT INTO shop.empty VALUES (0, 'x', now(), 'x')", "DELETE FROM shop.empty")
    headgate.until_records(topic, 2)
    body = headgate.delivery_body(pipeline, {topic: "empty"})
    eventually(lambda: types_made(postgresql, first))
    of_empty = headgate.deliver(two_kinds.destinations["postgresql"], body)
    eventually(lambda: types_made(postgresql, "empty"))
    # The sink makes it again with its next record, once one of the other kind was started.
    postgresql.run("DROP TABLE shop.empty")
    in_mysql_too = two_kinds.deploy("mysql", later)
    until_healthy(headgate, in_mysql_too)
    eventually(lambda: types_made(two_kinds.mysql, later))
    preview = headgate.post(
        f"/destinations/{two_kinds.destinations['mysql']['id']}/preview", two_kinds.body("mysql", first)
    )
    assert "SINKS_OF_TWO_KINDS" in {warning["code"] for warning in preview["warnings"]}
    source.run("INSERT INTO shop.empty VALUES (1, 'x', now(), 'x')")

    def made() -> list[str]:
        tick(headgate)
        return types_made(postgresql, "empty")

    assert eventually(made, seconds=120) == RIGHT["postgresql"]
    headgate.until_state(f"/deliveries/{of_empty['id']}/status?fresh=true", "RUNNING")

    def audited() -> set[str]:
        return {record["action"] for record in headgate.get(f"/audit?resource_id={of_empty['id']}")}

    # The tick that restarts it sees its table first.
    eventually(audited, lambda actions: "delivery.restart_failed" in actions)
    for delivery in (delivered, of_empty, in_mysql_too):
        headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.delete_pipeline(pipeline, source)
