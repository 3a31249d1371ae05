"""What discovery and preview say of each type is what really happens to its values, in both directions."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.e2e.typed import CHANGED, CHANGED_WHEN_MADE, EQUAL, STOPPING, USER_TYPES, Typed, definitions, rows
from tests.support.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

GROUPS = {"equal": EQUAL, "other": CHANGED_WHEN_MADE, "changed": CHANGED}
STOP_TABLES = {f"stop_{typed.column}": typed for typed in STOPPING}
AUTO, MADE = "auto", "made"
GENERATED = "CREATE TABLE {schema}.derived (id int PRIMARY KEY, n int, twice int{generated})"


def spelled(statement: str, schema: str) -> str:
    """The statement for this schema."""
    return statement.replace("{schema}", f'"{schema}"')


def make_tables(database: RealDatabase, schema: str, *, generated: str) -> None:
    """Every table, owned by the account."""
    database.run(*(spelled(statement, schema) for statement in USER_TYPES))
    tables = {**GROUPS, **{name: (typed,) for name, typed in STOP_TABLES.items()}}
    for name, columns in tables.items():
        database.run(f"CREATE TABLE {schema}.{name} ({definitions(columns, schema)})")
    database.run(GENERATED.replace("{schema}", schema).replace("{generated}", generated))
    for name in (*tables, "derived"):
        database.run(f"ALTER TABLE {schema}.{name} OWNER TO {{role}}")


@dataclass(frozen=True, kw_only=True)
class Types:
    """Every type moved once as a snapshot and once as changes, into tables of both kinds."""

    headgate: RealHeadgate
    source: RealDatabase
    target: RealDatabase
    tables: dict[str, Json]
    destination: Json
    pipeline: Json
    made: Json
    warnings: list[Json]
    """What the preview said before the sink made its tables."""

    def column(self, database: RealDatabase, schema: str, table: str, column: str) -> list[str] | str:
        """The column's values by key, as text."""
        return database.content(schema, table, ["id", column])

    def topic(self, table: str) -> str:
        """The table's topic."""
        return f"{self.pipeline['topic_prefix']}.shop.{table}"

    def issues(self, table: str) -> dict[str, str]:
        """Columns that discovery names, and how bad that is."""
        return {issue["column"]: issue["severity"] for issue in self.tables[f"shop.{table}"]["cdc_issues"]}


@pytest.fixture(scope="module")
def types(headgate: RealHeadgate) -> Iterator[Types]:
    source, target = headgate.database("types"), headgate.database("typed")
    target.run(*(f"CREATE SCHEMA {schema} AUTHORIZATION {{role}}" for schema in (AUTO, MADE)))
    make_tables(source, "shop", generated=" GENERATED ALWAYS AS (n * 2) STORED")
    make_tables(target, MADE, generated="")
    for name, columns in GROUPS.items():
        source.run(spelled(f"INSERT INTO shop.{name} VALUES {rows(columns, 1)}", "shop"))
    for name, typed in STOP_TABLES.items():
        source.run(f"INSERT INTO shop.{name} VALUES {rows((typed,), 1)}")
    source.run("INSERT INTO shop.derived (id, n) VALUES (1, 1)")
    registered = headgate.source(source)
    tables = headgate.discover(registered)
    names = [*GROUPS, "derived", *STOP_TABLES]
    pipeline = headgate.pipeline(registered, [("shop", name) for name in names])
    headgate.deploy(pipeline)
    destination, topics = headgate.destination(target), dict(zip(names, pipeline["topics"], strict=True))
    auto = headgate.delivery_body(pipeline, {topics[name]: name for name in GROUPS}, AUTO)
    made = headgate.delivery_body(pipeline, {topics[name]: name for name in (*GROUPS, "derived")}, MADE)
    for topic in topics.values():
        headgate.until_records(topic, 1)
    warnings = headgate.post(f"/destinations/{destination['id']}/preview", auto)["warnings"]
    deliveries = [headgate.deliver(destination, body) for body in (auto, made)]
    for name, columns in GROUPS.items():
        source.run(spelled(f"INSERT INTO shop.{name} VALUES {rows(columns, 4)}", "shop"))
    source.run("UPDATE shop.derived SET n = 5")
    counted = [(schema, name) for schema in (AUTO, MADE) for name in GROUPS]
    eventually(
        lambda: (
            [name for name in counted if len(target.content(*name, ["id"])) < 6]
            or target.content(MADE, "derived", ["n"]) != ["(5)"]
        ),
        lambda missing: not missing,
        seconds=60,
    )
    yield Types(
        headgate=headgate, source=source, target=target, tables=tables, destination=destination, pipeline=pipeline,
        made=deliveries[1], warnings=warnings,
    )  # fmt: skip
    for delivery in deliveries:
        headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.delete_pipeline(pipeline, source)


def named(typed: Typed) -> str:
    """A test's name."""
    return typed.type.replace("{schema}.", "")


@pytest.mark.parametrize("table", ["equal", "other"])
def test_types_that_nothing_is_said_of_arrive_equal_in_a_table_made_beforehand(types: Types, table: str) -> None:
    assert {severity for severity in types.issues(table).values() if severity != "info"} == set()
    differing = {
        typed.column: types.column(types.target, MADE, table, typed.column)
        for typed in GROUPS[table]
        if types.column(types.source, "shop", table, typed.column)
        != types.column(types.target, MADE, table, typed.column)
    }
    assert differing == {}


def test_types_that_nothing_is_said_of_arrive_equal_in_a_table_of_the_sinks_making(types: Types) -> None:
    columns = ["id", *(typed.column for typed in EQUAL)]
    assert types.target.content(AUTO, "equal", columns) == types.source.content("shop", "equal", columns)


def test_preview_names_the_columns_whose_type_a_created_table_does_not_keep(types: Types) -> None:
    said = [warning["message"] for warning in types.warnings if warning["code"] == "AUTO_CREATE_CHANGES_TYPE"]
    about = {"equal": [], "other": []}
    for message in said:
        for table in about:
            if message.startswith(f"shop.{table} to {AUTO}.{table}, "):
                about[table] += message.partition(", ")[2].partition(":")[0].split(", ")
    assert about == {"equal": [], "other": about["other"]}
    assert sorted(about["other"]) == sorted(typed.column for typed in CHANGED_WHEN_MADE)


@pytest.mark.parametrize("typed", CHANGED_WHEN_MADE, ids=named)
def test_created_table_has_another_type_where_the_preview_says_so(types: Types, typed: Typed) -> None:
    query = (
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '{}'::regclass AND attname = '{}'"
    )
    (here,) = types.source.run(query.format("shop.other", typed.column))
    (there,) = types.target.run(query.format(f"{AUTO}.other", typed.column))
    assert here != there


@pytest.mark.parametrize("typed", CHANGED, ids=named)
def test_type_that_discovery_names_really_changes(types: Types, typed: Typed) -> None:
    assert typed.column in types.issues("changed")
    here = types.column(types.source, "shop", "changed", typed.column)
    there = types.column(types.target, MADE, "changed", typed.column)
    assert len(here) == len(there) == 6
    assert here != there


def test_preview_passes_on_what_discovery_warns_of(types: Types) -> None:
    said = " ".join(warning["message"] for warning in types.warnings if warning["code"].startswith("TYPE_"))
    warned = {column for column, severity in types.issues("changed").items() if severity == "warn"}
    assert {column for column in warned if column not in said} == set()


def test_generated_column_that_discovery_names_grows_stale(types: Types) -> None:
    assert types.issues("derived") == {"twice": "warn"}
    assert types.source.content("shop", "derived", ["n", "twice"]) == ["(5,10)"]
    assert types.target.content(MADE, "derived", ["n", "twice"]) != ["(5,10)"]


@pytest.mark.parametrize("table", STOP_TABLES)
def test_type_that_would_stop_the_delivery_is_refused(types: Types, table: str) -> None:
    assert set(types.issues(table).values()) == {"warn"}
    assert types.tables[f"shop.{table}"]["cdc_ready"] is True
    body = types.headgate.delivery_body(types.pipeline, {types.topic(table): table}, MADE)
    for path in ("preview", "deploy"):
        error = types.headgate.refused(f"/destinations/{types.destination['id']}/{path}", body)
        assert (error["code"], error["details"]["mappings"]) == ("TYPE_UNSUPPORTED", [0])


def test_types_that_are_refused_would_really_have_stopped(types: Types) -> None:
    config = types.headgate.connectors()[types.made["connector_name"]]["info"]["config"]
    kept = {key: value for key, value in config.items() if key not in ("name", "headgate.owner")}
    with httpx.Client(base_url=types.headgate.stack.addresses.connect, timeout=30) as connect:
        for table in STOP_TABLES:
            topic = types.topic(table)
            changed = {"topics": topic, "transforms": "route0", "transforms.route0.replacement": table}
            changed["transforms.route0.regex"] = topic.replace(".", "\\.")
            connect.post("/connectors", json={"name": table, "config": kept | changed}).raise_for_status()
        try:
            eventually(
                lambda: {name: _task_states(types, name) for name in STOP_TABLES},
                lambda seen: all(states == ["FAILED"] for states in seen.values()),
                seconds=60,
            )
        finally:
            for table in STOP_TABLES:
                connect.delete(f"/connectors/{table}")
                time.sleep(0.1)


def _task_states(types: Types, name: str) -> list[str]:
    return [task["state"] for task in types.headgate.connectors().get(name, {}).get("status", {}).get("tasks", [])]
