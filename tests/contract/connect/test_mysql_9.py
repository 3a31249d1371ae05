"""What is different with a newer MySQL: the statement for the state of its log is another, and validation needs it."""

from tests.contract.connect.conftest import MySQLShop
from tests.support.apps.doubles import ConnectView
from tests.support.waiting import eventually


def test_a_source_runs_and_stores_the_end_of_the_log(mysql_9_shop: MySQLShop) -> None:
    assert int(mysql_9_shop.server.value("version()").split(".")[0]) >= 9
    stored = mysql_9_shop.started(mysql_9_shop.source())
    ((file, pos, *_, gtids),) = mysql_9_shop.run("SHOW BINARY LOG STATUS")
    assert {"file": file, "pos": pos, "gtids": gtids}.items() <= stored.items()


def test_validation_refuses_a_role_that_may_not_see_the_log(mysql_9_shop: MySQLShop, connect: ConnectView) -> None:
    role = mysql_9_shop.role("SELECT, RELOAD, SHOW DATABASES, REPLICATION SLAVE")
    config = mysql_9_shop.source(database__user=role)
    version = mysql_9_shop.server.value("version()")
    refusal = (
        f"Error during connection validation: io.debezium.DebeziumException: MySQL version {version} should support "
        "SHOW BINARY LOG STATUS but it failed. Check database permissions or connectivity."
    )
    assert connect.validate(config) == {"database.hostname": [refusal]}


def test_a_wrong_password_is_reported_in_the_server_s_words(mysql_9_shop: MySQLShop, connect: ConnectView) -> None:
    wrong = mysql_9_shop.servers.secret_endpoint.reference("password", "wrong")
    denied = f"Access denied for user '{mysql_9_shop.name}'@'localhost' (using password: YES)"
    assert connect.validate(mysql_9_shop.source(database__password=wrong)) == {
        "database.hostname": [f"Unable to connect: {denied}"]
    }


def test_the_words_about_one_server_id_are_newer(mysql_9_shop: MySQLShop, connect: ConnectView) -> None:
    first = mysql_9_shop.source()
    mysql_9_shop.started(first)
    connect.run(mysql_9_shop.source(database__server__id=first["database.server.id"]))
    connect.wait_for_states(first["name"], "RUNNING", "FAILED")
    word = "A replica with the same server_uuid/server_id as this replica has connected to the source"
    assert f"\nCaused by: com.github.shyiko.mysql.binlog.network.ServerException: {word}" in connect.trace(
        first["name"]
    )


def test_a_row_moves_the_offset(mysql_9_shop: MySQLShop) -> None:
    config = mysql_9_shop.source()
    before = mysql_9_shop.started(config)
    mysql_9_shop.run("INSERT INTO orders VALUES (2, 'second')")
    (stored,) = eventually(
        lambda: [one["offset"] for one in mysql_9_shop.offsets(config)],
        lambda found: found[0]["pos"] > before["pos"],
        seconds=60,
    )
    assert {name: stored[name] for name in ("row", "server_id", "event")} == {"row": 1, "server_id": 1, "event": 2}
