"""The target of a delivery: the tables of `target_ddl` take every value, and a restart of its server fails no task."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.e2e.column_types import CHANGED_BY_AUTO_CREATE, EQUAL, STOPPING, USER_TYPES, TypedColumn, definitions, rows
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

_REFUSED_INTO_THE_SAME_TYPE = ("feelings", "hosts", "flag")
GROUPS: dict[str, tuple[TypedColumn, ...]] = {
    "Equal ones": EQUAL,
    "changed_by_auto_create": CHANGED_BY_AUTO_CREATE,
    "refused": tuple(one for one in STOPPING if one.column in _REFUSED_INTO_THE_SAME_TYPE),
}
OUTAGE_SECONDS = 25


def task_states(headgate: RealHeadgate, delivery: Json) -> list[str]:
    """As Kafka Connect shows them."""
    status = headgate.connectors().get(delivery["connector_name"], {}).get("status", {})
    return [task["state"] for task in status.get("tasks", [])]


@pytest.fixture(scope="module")
def typed_source(headgate: RealHeadgate) -> RealDatabase:
    """A source with a table for each group of types."""
    source = headgate.database("ddl_source")
    source.run(*(statement.replace("{schema}", "shop") for statement in USER_TYPES))
    for name, columns in GROUPS.items():
        source.run(
            f'CREATE TABLE shop."{name}" ({definitions(columns, "shop")})',
            f'ALTER TABLE shop."{name}" OWNER TO {{role}}',
            f'INSERT INTO shop."{name}" VALUES {rows(columns, 1)}'.replace("{schema}", "shop"),
        )
    return source


@pytest.fixture(scope="module")
def typed_pipeline(headgate: RealHeadgate, typed_source: RealDatabase) -> Iterator[Json]:
    pipeline = headgate.captured(typed_source, *GROUPS)
    yield pipeline
    for delivery in headgate.get(f"/pipelines/{pipeline['id']}/destinations"):
        headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.delete_pipeline(pipeline, typed_source)


def test_all_values_arrive_equal_in_the_tables_that_a_preview_proposes(
    headgate: RealHeadgate, typed_source: RealDatabase, typed_pipeline: Json
) -> None:
    target = headgate.database("ddl_target")
    destination = headgate.destination(target)
    mapped = dict(zip(typed_pipeline["topics"], GROUPS, strict=True))
    body = headgate.delivery_body(typed_pipeline, mapped, auto_create=False, auto_evolve=False)
    for topic in mapped:
        headgate.until_records(topic, 3)
    refused = headgate.refused(f"/destinations/{destination['id']}/preview", body)
    assert refused["code"] == "TARGET_NOT_READY"
    for proposed in refused["details"]["target_ddl"]:
        target.run(proposed["statement"], f'ALTER TABLE shop."{proposed["table_name"]}" OWNER TO {{role}}')
    preview = headgate.post(f"/destinations/{destination['id']}/preview", body)
    assert preview["target_ddl"] == refused["details"]["target_ddl"]
    assert "TYPE_DIFFERS" not in {warning["code"] for warning in preview["warnings"]}
    headgate.deliver(destination, body)
    for name, columns in GROUPS.items():
        typed_source.run(f'INSERT INTO shop."{name}" VALUES {rows(columns, 4)}'.replace("{schema}", "shop"))
    eventually(
        lambda: {name: len(target.content("shop", name, ["id"])) for name in GROUPS},
        lambda seen: seen == dict.fromkeys(GROUPS, 6),
        seconds=60,
    )
    for name, columns in GROUPS.items():
        for column in columns:
            named = ["id", column.column]
            arrived = "\n".join(target.content("shop", name, named))
            if column.type == "bit(1)":  # it is a boolean in every target
                arrived = arrived.replace("true", "1").replace("false", "0")
            assert arrived.split("\n") == typed_source.content("shop", name, named), column.type


def test_a_target_that_restarts_is_waited_for_and_no_task_fails(headgate: RealHeadgate) -> None:
    source, target = headgate.database("outage_source"), headgate.database("outage_target")
    source.run("CREATE TABLE shop.orders (id int PRIMARY KEY)", "ALTER TABLE shop.orders OWNER TO {role}")
    source.run("INSERT INTO shop.orders VALUES (1)")
    pipeline = headgate.captured(source, "orders")
    with BlockingProxy(target.port) as proxy:
        destination = headgate.destination(replace(target, port=proxy.port))
        delivery = headgate.deliver(destination, headgate.delivery_body(pipeline, {pipeline["topics"][0]: "orders"}))
        eventually(lambda: target.content("shop", "orders", ["id"]), lambda seen: seen == ["(1)"], seconds=40)
        proxy.closed()
        source.run("INSERT INTO shop.orders VALUES (2)")
        seen: set[str] = set()
        end = time.monotonic() + OUTAGE_SECONDS
        while time.monotonic() < end:
            seen |= set(task_states(headgate, delivery))
            time.sleep(0.5)
        proxy.open()
        eventually(lambda: target.content("shop", "orders", ["id"]), lambda found: len(found) == 2, seconds=40)
        seen |= set(task_states(headgate, delivery))
        assert seen == {"RUNNING"}
        connections = target.run(
            f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{target.username}' AND datname = '{target.name}'"
        )
        assert connections[0][0] <= 2
        headgate.delete(f"/deliveries/{delivery['id']}")
    headgate.delete_pipeline(pipeline, source)
