"""The offsets of a MySQL source: what they hold, how they move, and what they need in order to go on."""

from typing import Any

from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from tests.contract.connect.conftest import MySQLShop
from tests.support.apps.doubles import ConnectView
from tests.support.waiting import eventually

GONE = "but this is no longer available on the server. Reconfigure the connector to use a snapshot mode when needed."


def log_end(shop: MySQLShop) -> dict[str, Any]:
    """File, position and GTIDs up to which the server has written."""
    ((file, pos, *_, gtids),) = shop.run("SHOW MASTER STATUS")
    return {"file": file, "pos": pos, **({"gtids": gtids} if gtids else {})}


def offset(shop: MySQLShop, config: dict[str, str]) -> dict[str, Any]:
    (stored,) = shop.offsets(config)
    return dict(stored["offset"])


def resume(shop: MySQLShop, config: dict[str, str]) -> None:
    shop.servers.connect.call("PUT", f"/connectors/{config['name']}/resume")


def test_after_a_snapshot_the_offset_is_the_end_of_the_log(each_mysql_shop: MySQLShop) -> None:
    stored = each_mysql_shop.started(each_mysql_shop.source())
    assert isinstance(stored.pop("ts_sec"), int)
    assert stored == log_end(each_mysql_shop)


def test_a_row_moves_the_offset_to_the_beginning_of_its_transaction(each_mysql_shop: MySQLShop) -> None:
    config = each_mysql_shop.source()
    before = each_mysql_shop.started(config)
    each_mysql_shop.run("INSERT INTO orders VALUES (2, 'second')")
    stored = eventually(
        lambda: offset(each_mysql_shop, config), lambda found: found["pos"] != before["pos"], seconds=60
    )
    assert {name: stored[name] for name in ("row", "server_id", "event")} == {"row": 1, "server_id": 1, "event": 2}
    assert stored["file"] == before["file"]
    assert before["pos"] < stored["pos"] < log_end(each_mysql_shop)["pos"]
    # The transaction that the row belongs to is not in it.
    assert stored.get("gtids") == before.get("gtids")
    assert stored.keys() - before.keys() == {"row", "server_id", "event"}


def test_other_tables_move_the_offset_only_with_heartbeats(mysql_shop: MySQLShop) -> None:
    orders = rf"(?-i:\Q{mysql_shop.name}\E\.orders)"
    still = mysql_shop.source(table__include__list=orders)
    beating = mysql_shop.source(table__include__list=orders, heartbeat__interval__ms="500")
    first = {config["name"]: mysql_shop.started(config) for config in (still, beating)}
    mysql_shop.run("INSERT INTO `Odd Näme` VALUES (2, 'x')")
    moved = eventually(
        lambda: offset(mysql_shop, beating), lambda found: found["pos"] > first[beating["name"]]["pos"], seconds=60
    )
    assert "row" not in moved
    # An idle source is one transaction behind.
    assert moved["pos"] < log_end(mysql_shop)["pos"]
    assert offset(mysql_shop, still) == first[still["name"]]


def test_empty_tables_leave_no_offset_without_heartbeats(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    mysql_shop.run("DELETE FROM orders", "DELETE FROM `Odd Näme`")
    config = mysql_shop.source()
    connect.run(config)
    eventually(mysql_shop.readers)
    assert mysql_shop.offsets(config) == []


def test_a_stopped_source_goes_on_where_it_was(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    config = mysql_shop.source()
    mysql_shop.started(config)
    mysql_shop.halt(config)
    before = offset(mysql_shop, config)
    mysql_shop.run("INSERT INTO orders VALUES (2, 'meanwhile')")
    resume(mysql_shop, config)
    connect.wait_for_states(config["name"], "RUNNING", "RUNNING")
    eventually(lambda: offset(mysql_shop, config), lambda found: found["pos"] > before["pos"], seconds=60)


def test_a_source_whose_log_was_purged_fails_and_with_when_needed_begins_anew(
    each_mysql_shop: MySQLShop, connect: ConnectView
) -> None:
    config = each_mysql_shop.source()
    each_mysql_shop.started(config)
    each_mysql_shop.halt(config)
    each_mysql_shop.run("INSERT INTO orders VALUES (2, 'lost')", "FLUSH LOGS")
    each_mysql_shop.run(f"PURGE BINARY LOGS TO '{log_end(each_mysql_shop)['file']}'")
    resume(each_mysql_shop, config)
    connect.wait_for_states(config["name"], "RUNNING", "FAILED")
    trace = connect.trace(config["name"])
    beginning = "io.debezium.DebeziumException: The connector is trying to read change stream starting at BinlogOffset"
    assert trace.startswith(beginning)
    assert GONE in trace
    each_mysql_shop.halt(config)
    changed = {**config, "snapshot.mode": "when_needed"}
    assert connect.call("PUT", f"/connectors/{config['name']}/config", changed).status_code == 200
    resume(each_mysql_shop, config)
    connect.wait_for_states(config["name"], "RUNNING", "RUNNING")
    end = log_end(each_mysql_shop)
    eventually(lambda: end.items() <= offset(each_mysql_shop, config).items(), seconds=60)


def test_a_server_that_has_forgotten_its_transactions_fails(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    config = mysql_shop.source()
    mysql_shop.started(config)
    mysql_shop.halt(config)
    mysql_shop.run("RESET MASTER")
    resume(mysql_shop, config)
    connect.wait_for_states(config["name"], "RUNNING", "FAILED")
    assert GONE in connect.trace(config["name"])


def test_the_history_topic_is_made_without_limits(mysql_shop: MySQLShop) -> None:
    config = mysql_shop.source()
    mysql_shop.started(config)
    admin, topic = AdminClient({"bootstrap.servers": mysql_shop.servers.kafka}), history(config)
    assert len(admin.list_topics(topic, timeout=10).topics[topic].partitions) == 1
    (described,) = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)]).values()
    settings = {name: entry.value for name, entry in described.result(10).items()}
    assert settings["cleanup.policy"] == "delete"
    assert settings["retention.bytes"] == "-1"
    assert settings["retention.ms"] == str(2**63 - 1)


def test_a_source_without_its_history_fails_until_it_is_recovered(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    config = mysql_shop.source()
    mysql_shop.started(config)
    mysql_shop.halt(config)
    admin = AdminClient({"bootstrap.servers": mysql_shop.servers.kafka})
    for deleted in admin.delete_topics([history(config)]).values():
        deleted.result(20)
    eventually(lambda: history(config) not in admin.list_topics(timeout=10).topics)
    resume(mysql_shop, config)
    connect.wait_for_states(config["name"], "RUNNING", "FAILED")
    assert connect.trace(config["name"]).startswith(
        "io.debezium.DebeziumException: The db history topic is missing. You may attempt to recover it by "
        "reconfiguring the connector to recovery.\n\tat "
    )
    assert history(config) not in admin.list_topics(timeout=10).topics
    mysql_shop.halt(config)
    connect.call("PUT", f"/connectors/{config['name']}/config", {**config, "snapshot.mode": "recovery"})
    resume(mysql_shop, config)
    connect.wait_for_states(config["name"], "RUNNING", "RUNNING")
    eventually(lambda: history(config) in admin.list_topics(timeout=10).topics)


def history(config: dict[str, str]) -> str:
    return config["schema.history.internal.kafka.topic"]


def test_offsets_of_a_stopped_source_are_replaced_and_removed(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    config = mysql_shop.source()
    mysql_shop.started(config)
    path = f"/connectors/{config['name']}/offsets"
    assert connect.call("DELETE", path).status_code == 400
    mysql_shop.halt(config)
    (stored,) = mysql_shop.offsets(config)
    earlier = {**stored, "offset": {**stored["offset"], "pos": 4}}
    assert connect.call("PATCH", path, {"offsets": [earlier]}).status_code == 200
    eventually(lambda: mysql_shop.offsets(config), lambda found: found == [earlier])
    eventually(lambda: connect.call("DELETE", path).status_code, lambda status: status == 200)
    eventually(lambda: mysql_shop.offsets(config), lambda found: found == [])
    resume(mysql_shop, config)
    end = log_end(mysql_shop)
    eventually(lambda: mysql_shop.offsets(config), lambda found: bool(found) and bool(found[0]["offset"]), seconds=60)
    assert end.items() <= offset(mysql_shop, config).items()
