"""What discovery and preview report for a type is what happens to its values, and nothing else happens to them."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import httpx
import pytest

from tests.e2e.column_types import (
    CHANGED,
    CHANGED_BY_AUTO_CREATE,
    EQUAL,
    STOPPING,
    USER_TYPES,
    TypedColumn,
    definitions,
    rows,
)
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

GROUPS = {"equal": EQUAL, "other": CHANGED_BY_AUTO_CREATE, "changed": CHANGED}
STOP_TABLES = {f"stop_{column_type.column}": column_type for column_type in STOPPING}
AUTO, EXISTING = "auto", "existing"
GENERATED = "CREATE TABLE {schema}.derived (id int PRIMARY KEY, n int, twice int{generated})"


def with_schema(statement: str, schema: str) -> str:
    """The statement with its schema filled in."""
    return statement.replace("{schema}", f'"{schema}"')


def make_tables(database: RealDatabase, schema: str, *, generated: str) -> None:
    """Creates every table, owned by the account."""
    database.run(*(with_schema(statement, schema) for statement in USER_TYPES))
    tables = {**GROUPS, **{name: (column_type,) for name, column_type in STOP_TABLES.items()}}
    for name, columns in tables.items():
        database.run(f"CREATE TABLE {schema}.{name} ({definitions(columns, schema)})")
    database.run(GENERATED.replace("{schema}", schema).replace("{generated}", generated))
    for name in (*tables, "derived"):
        database.run(f"ALTER TABLE {schema}.{name} OWNER TO {{role}}")


@dataclass(frozen=True, kw_only=True)
class Types:
    """Every type, once in the snapshot and once in a change, in tables that existed and in tables of the sink."""

    headgate: RealHeadgate
    source: RealDatabase
    target: RealDatabase
    tables: dict[str, Json]
    destination: Json
    pipeline: Json
    existing: Json
    warnings: list[Json]
    """The preview's warnings, before the sink created its tables."""

    def column(self, database: RealDatabase, schema: str, table: str, column: str) -> list[str] | str:
        """The column's values by key, as text."""
        return database.content(schema, table, ["id", column])

    def topic(self, table: str) -> str:
        return f"{self.pipeline['topic_prefix']}.shop.{table}"

    def issues(self, table: str) -> dict[str, str]:
        """Columns that discovery reports, with the severity."""
        return {issue["column"]: issue["severity"] for issue in self.tables[f"shop.{table}"]["cdc_issues"]}


@pytest.fixture(scope="module")
def types(headgate: RealHeadgate) -> Iterator[Types]:
    source, target = headgate.database("types"), headgate.database("copies")
    target.run(*(f"CREATE SCHEMA {schema} AUTHORIZATION {{role}}" for schema in (AUTO, EXISTING)))
    make_tables(source, "shop", generated=" GENERATED ALWAYS AS (n * 2) STORED")
    make_tables(target, EXISTING, generated="")
    for name, columns in GROUPS.items():
        source.run(with_schema(f"INSERT INTO shop.{name} VALUES {rows(columns, 1)}", "shop"))
    for name, column_type in STOP_TABLES.items():
        source.run(f"INSERT INTO shop.{name} VALUES {rows((column_type,), 1)}")
    source.run("INSERT INTO shop.derived (id, n) VALUES (1, 1)")
    registered = headgate.source(source)
    tables = headgate.discover(registered)
    names = [*GROUPS, "derived", *STOP_TABLES]
    pipeline = headgate.pipeline(registered, [("shop", name) for name in names])
    headgate.deploy(pipeline)
    destination, topics = headgate.destination(target), dict(zip(names, pipeline["topics"], strict=True))
    auto = headgate.delivery_body(pipeline, {topics[name]: name for name in GROUPS}, AUTO)
    existing = headgate.delivery_body(pipeline, {topics[name]: name for name in (*GROUPS, "derived")}, EXISTING)
    for topic in topics.values():
        headgate.until_records(topic, 1)
    warnings = headgate.post(f"/destinations/{destination['id']}/preview", auto)["warnings"]
    deliveries = [headgate.deliver(destination, body) for body in (auto, existing)]
    for name, columns in GROUPS.items():
        source.run(with_schema(f"INSERT INTO shop.{name} VALUES {rows(columns, 4)}", "shop"))
    source.run("UPDATE shop.derived SET n = 5")
    counted = [(schema, name) for schema in (AUTO, EXISTING) for name in GROUPS]
    eventually(
        lambda: (
            [name for name in counted if len(target.content(*name, ["id"])) < 6]
            or target.content(EXISTING, "derived", ["n"]) != ["(5)"]
        ),
        lambda missing: not missing,
        seconds=60,
    )
    yield Types(
        headgate=headgate, source=source, target=target, tables=tables, destination=destination, pipeline=pipeline,
        existing=deliveries[1], warnings=warnings,
    )  # fmt: skip
    for delivery in deliveries:
        headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.delete_pipeline(pipeline, source)


def type_name(column_type: TypedColumn) -> str:
    return column_type.type.replace("{schema}.", "")


@pytest.mark.parametrize("table", ["equal", "other"])
def test_types_without_an_issue_arrive_equal_in_a_table_that_existed_before(types: Types, table: str) -> None:
    assert {severity for severity in types.issues(table).values() if severity != "info"} == set()
    differing = {
        column_type.column: types.column(types.target, EXISTING, table, column_type.column)
        for column_type in GROUPS[table]
        if types.column(types.source, "shop", table, column_type.column)
        != types.column(types.target, EXISTING, table, column_type.column)
    }
    assert differing == {}


def test_types_without_an_issue_arrive_equal_in_a_table_that_the_sink_creates(types: Types) -> None:
    columns = ["id", *(column_type.column for column_type in EQUAL)]
    assert types.target.content(AUTO, "equal", columns) == types.source.content("shop", "equal", columns)


def test_preview_names_the_columns_whose_type_a_created_table_does_not_keep(types: Types) -> None:
    messages = [warning["message"] for warning in types.warnings if warning["code"] == "AUTO_CREATE_CHANGES_TYPE"]
    named_columns = {"equal": [], "other": []}
    for message in messages:
        for table in named_columns:
            if message.startswith(f"shop.{table} to {AUTO}.{table}, "):
                named_columns[table] += message.partition(", ")[2].partition(":")[0].split(", ")
    assert named_columns == {"equal": [], "other": named_columns["other"]}
    assert sorted(named_columns["other"]) == sorted(column_type.column for column_type in CHANGED_BY_AUTO_CREATE)


@pytest.mark.parametrize("column_type", CHANGED_BY_AUTO_CREATE, ids=type_name)
def test_created_table_has_another_type_where_the_preview_says_so(types: Types, column_type: TypedColumn) -> None:
    query = (
        "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = '{}'::regclass AND attname = '{}'"
    )
    (source_values,) = types.source.run(query.format("shop.other", column_type.column))
    (target_values,) = types.target.run(query.format(f"{AUTO}.other", column_type.column))
    assert source_values != target_values


@pytest.mark.parametrize("column_type", CHANGED, ids=type_name)
def test_type_that_discovery_reports_really_changes(types: Types, column_type: TypedColumn) -> None:
    assert column_type.column in types.issues("changed")
    source_values = types.column(types.source, "shop", "changed", column_type.column)
    target_values = types.column(types.target, EXISTING, "changed", column_type.column)
    assert len(source_values) == len(target_values) == 6
    assert source_values != target_values


def test_preview_repeats_the_warnings_of_discovery(types: Types) -> None:
    messages = " ".join(warning["message"] for warning in types.warnings if warning["code"].startswith("TYPE_"))
    warned = {column for column, severity in types.issues("changed").items() if severity == "warn"}
    assert {column for column in warned if column not in messages} == set()


def test_generated_column_that_discovery_reports_becomes_stale(types: Types) -> None:
    assert types.issues("derived") == {"twice": "warn"}
    assert types.source.content("shop", "derived", ["n", "twice"]) == ["(5,10)"]
    assert types.target.content(EXISTING, "derived", ["n", "twice"]) != ["(5,10)"]


ARRIVE_NOWHERE = {"stop_sums", "stop_days", "stop_timestamps", "stop_blobs"}
"""The others stop in columns of their own type: previews say so, and discovery does not know the target."""


@pytest.mark.parametrize("table", STOP_TABLES)
def test_type_that_would_stop_the_delivery_is_refused(types: Types, table: str) -> None:
    assert ("warn" in types.issues(table).values()) == (table in ARRIVE_NOWHERE)
    assert types.tables[f"shop.{table}"]["cdc_ready"] is True
    body = types.headgate.delivery_body(types.pipeline, {types.topic(table): table}, EXISTING)
    for path in ("preview", "deploy"):
        error = types.headgate.refused(f"/destinations/{types.destination['id']}/{path}", body)
        assert (error["code"], error["details"]["mappings"]) == ("TYPE_UNSUPPORTED", [0])


def test_types_that_are_refused_would_really_have_stopped(types: Types) -> None:
    config = types.headgate.connectors()[types.existing["connector_name"]]["info"]["config"]
    unchanged = {key: value for key, value in config.items() if key not in ("name", "headgate.owner")}
    with httpx.Client(base_url=types.headgate.stack.addresses.connect, timeout=30) as connect:
        for table in STOP_TABLES:
            topic = types.topic(table)
            changed = {"topics": topic, "transforms": "route0", "transforms.route0.replacement": table}
            changed["transforms.route0.regex"] = topic.replace(".", "\\.")
            connect.post("/connectors", json={"name": table, "config": unchanged | changed}).raise_for_status()
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
