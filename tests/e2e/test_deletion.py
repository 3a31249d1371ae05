"""What a deletion leaves on the real servers: nothing in Kafka Connect and in the source, except what it names."""

import httpx
import pytest

from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

TABLE = ("CREATE TABLE shop.orders (id int PRIMARY KEY, customer text)", "ALTER TABLE shop.orders OWNER TO {role}")


def groups(headgate: RealHeadgate) -> set[str]:
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": headgate.stack.addresses.kafka, "log_level": 0})
    return {group.group_id for group in admin.list_consumer_groups().result(20).valid}


def offsets(headgate: RealHeadgate, connector: str) -> list[Json]:
    """The offsets that Kafka Connect has of a connector; it must exist."""
    answer = httpx.get(f"{headgate.stack.addresses.connect}/connectors/{connector}/offsets", timeout=20)
    answer.raise_for_status()
    return list(answer.json()["offsets"])


def offsets_of_a_namesake(headgate: RealHeadgate, connector: str, config: Json) -> list[Json]:
    """The offsets that a new connector of the same name and config would begin from."""
    url, body = headgate.stack.addresses.connect, {"name": connector, "config": config, "initial_state": "STOPPED"}
    eventually(lambda: httpx.post(f"{url}/connectors", json=body, timeout=60).status_code == 201)
    try:
        eventually(lambda: httpx.get(f"{url}/connectors/{connector}/status", timeout=20).status_code == 200)
        return offsets(headgate, connector)
    finally:
        httpx.delete(f"{url}/connectors/{connector}", timeout=20).raise_for_status()


def slots(database: RealDatabase, name: str) -> list[tuple[object, ...]]:
    return database.run(f"SELECT active FROM pg_replication_slots WHERE slot_name = '{name}'")


def test_a_deletion_leaves_no_offsets_no_consumer_group_and_no_slot(headgate: RealHeadgate) -> None:
    source, target = headgate.database("left", *TABLE), headgate.database("leftover", *TABLE)
    source.run("INSERT INTO shop.orders VALUES (1, 'first')")
    pipeline = headgate.captured(source, "orders")
    body = headgate.delivery_body(pipeline, {pipeline["topics"][0]: "orders"})
    delivery = headgate.deliver(headgate.destination(target), body)
    eventually(lambda: target.run("SELECT 1 FROM shop.orders"))
    source_name, sink_name, slot = (
        pipeline["connector_name"], delivery["connector_name"], pipeline["options"]["slot_name"],
    )  # fmt: skip
    eventually(lambda: offsets(headgate, source_name), seconds=90)
    eventually(lambda: f"connect-{sink_name}" in groups(headgate), seconds=90)
    configs = {name: shown["info"]["config"] for name, shown in headgate.connectors().items()}

    headgate.call("DELETE", f"/deliveries/{delivery['id']}", expect=204)
    headgate.call("DELETE", f"/pipelines/{pipeline['id']}?drop_slot=true", expect=204)

    assert not {source_name, sink_name} & headgate.connectors().keys()
    assert f"connect-{sink_name}" not in groups(headgate)
    assert slots(source, slot) == []
    assert offsets_of_a_namesake(headgate, source_name, configs[source_name]) == []
    (record, *_) = headgate.get(f"/audit?resource_id={pipeline['id']}")
    assert (record["action"], record["outcome"]) == ("pipeline.delete", "success")
    assert record["after"]["slot_dropped"] is True
    assert record["after"]["kept"]["topics"] == pipeline["topics"]
    assert target.run("SELECT customer FROM shop.orders") == [("first",)]


def test_without_drop_slot_the_slot_stays_and_its_statement_is_in_the_audit_record(headgate: RealHeadgate) -> None:
    source = headgate.database("kept", *TABLE)
    pipeline = headgate.captured(source, "orders")
    slot = pipeline["options"]["slot_name"]
    eventually(lambda: slots(source, slot), seconds=60)
    headgate.call("DELETE", f"/pipelines/{pipeline['id']}", expect=204)
    eventually(lambda: slots(source, slot), lambda rows: rows == [(False,)], seconds=30)
    (record, *_) = headgate.get(f"/audit?resource_id={pipeline['id']}")
    source.run(record["after"]["kept"]["drop_slot_statement"])
    assert slots(source, slot) == []
