"""Faults that validation does not find and a started task reports."""

from psycopg import sql

from tests.contract.conftest import Shop
from tests.support.apps.doubles import ConnectView
from tests.support.waiting import eventually


def _failed(connect: ConnectView, config: dict[str, str]) -> str:
    assert connect.validate(config) == {}
    assert connect.create(config, state="RUNNING").status_code == 201
    connect.wait_for_states(config["name"], "RUNNING", "FAILED")
    return connect.trace(config["name"])


def _publish(shop: Shop, name: str, table: str = "orders") -> None:
    shop.admin.execute(
        sql.SQL("CREATE PUBLICATION {} FOR TABLE {}").format(sql.Identifier(name), sql.Identifier(table))
    )


def test_a_role_that_may_not_replicate_fails(shop: Shop, connect: ConnectView) -> None:
    config = shop.source(database__user=shop.role(), publication__autocreate__mode="disabled")
    _publish(shop, config["publication.name"])
    trace = _failed(connect, config)
    assert trace.startswith("io.debezium.DebeziumException: Creation of replication slot failed\n\tat ")
    assert "FATAL: permission denied to start WAL sender" in trace


def test_a_publication_that_is_missing_fails(shop: Shop, connect: ConnectView) -> None:
    trace = _failed(connect, shop.source(publication__autocreate__mode="disabled"))
    assert "Publication autocreation is disabled, please create one and restart the connector." in trace
    assert shop.slots() == {}


def test_a_publication_that_the_role_may_not_create_fails(shop: Shop, connect: ConnectView) -> None:
    config = shop.source(database__user=shop.role("REPLICATION"))
    trace = _failed(connect, config)
    assert f"Unable to create filtered publication {config['publication.name']} for " in trace
    assert f"ERROR: permission denied for database {shop.name}" in trace


def test_an_unlogged_table_fails(shop: Shop, connect: ConnectView) -> None:
    shop.admin.execute("CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY)")
    trace = _failed(connect, shop.source(table__include__list=r"public\.unlogged"))
    assert "This operation is not supported for unlogged tables." in trace


def test_no_table_at_all_fails_where_a_publication_has_to_be_created(shop: Shop, connect: ConnectView) -> None:
    trace = _failed(connect, shop.source(table__include__list=r"public\.missing"))
    assert "No table filters found for filtered publication" in trace


def test_no_table_at_all_runs_where_the_publication_exists(shop: Shop, connect: ConnectView) -> None:
    config = shop.source(table__include__list=r"public\.missing", publication__autocreate__mode="disabled")
    _publish(shop, config["publication.name"])
    connect.run(config)


def test_a_slot_that_another_connector_uses_is_not_reported(shop: Shop, connect: ConnectView) -> None:
    first = shop.source()
    connect.run(first)
    eventually(shop.slots, lambda slots: slots == {first["slot.name"]: True})
    second = shop.source(slot__name=first["slot.name"])
    connect.run(second)


def test_a_sink_that_cannot_connect_fails_without_naming_the_reason(shop: Shop, connect: ConnectView) -> None:
    config = shop.sink(connection__password=shop.servers.secret_endpoint.reference("password", "wrong"))
    trace = _failed(connect, config)
    assert "Unable to create requested service [org.hibernate.engine.jdbc.env.spi.JdbcEnvironment]" in trace
