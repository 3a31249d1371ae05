"""What a MySQL source does when it starts, and the faults that only its task finds."""

import pytest

from tests.contract.connect.conftest import MySQLShop
from tests.support.apps.doubles import ConnectView
from tests.support.waiting import eventually

PRODUCER = (
    "org.apache.kafka.connect.errors.ConnectException: An exception occurred in the change event producer. This "
    "connector will be stopped.\n\tat "
)


def test_a_running_source_has_a_topic_per_table_and_follows_the_log(
    mysql_shop: MySQLShop, connect: ConnectView
) -> None:
    config = mysql_shop.source()
    connect.run(config)
    prefix = f"{config['topic.prefix']}.{mysql_shop.name}"
    path = f"/connectors/{config['name']}/topics"
    expected = {f"{prefix}.orders", f"{prefix}.Odd_N_me"}
    eventually(lambda: set(connect.call("GET", path).json()[config["name"]]["topics"]), lambda seen: seen == expected)
    eventually(mysql_shop.readers, lambda count: count == 1)
    (task,) = connect.call("GET", f"/connectors/{config['name']}/tasks").json()
    assert task["config"]["task.class"] == "io.debezium.connector.mysql.MySqlConnectorTask"
    assert task["config"]["database.password"] == config["database.password"]


def test_a_reader_does_not_show_its_server_id(mysql_shop: MySQLShop) -> None:
    mysql_shop.started(mysql_shop.source())
    assert mysql_shop.run("SHOW SLAVE HOSTS") == ()


def test_a_paused_source_keeps_its_reader(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    config = mysql_shop.source()
    mysql_shop.started(config)
    connect.call("PUT", f"/connectors/{config['name']}/pause")
    connect.wait_for_states(config["name"], "PAUSED", "PAUSED")
    assert mysql_shop.readers() == 1
    connect.call("PUT", f"/connectors/{config['name']}/resume")
    connect.wait_for_states(config["name"], "RUNNING", "RUNNING")


def test_more_than_one_task_is_never_started_and_never_reported(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    config = mysql_shop.source(tasks__max="2")
    assert connect.create(config, state="RUNNING").status_code == 201
    connect.wait_for_states(config["name"], "RUNNING")


@pytest.mark.parametrize("changes", [{"database__include__list": "missing"}, {"table__include__list": "missing"}])
def test_a_table_that_does_not_exist_is_not_reported(
    mysql_shop: MySQLShop, connect: ConnectView, changes: dict[str, str]
) -> None:
    connect.run(mysql_shop.source(**changes))
    eventually(mysql_shop.readers)


def test_a_table_that_the_role_may_not_read_is_not_reported(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    role = mysql_shop.role("RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT")
    config = mysql_shop.source(database__user=role)
    connect.run(config)
    eventually(lambda: mysql_shop.run(f"SELECT 1 FROM information_schema.processlist WHERE user = '{role}'"))
    assert mysql_shop.offsets(config) == []


@pytest.mark.parametrize(
    ("setting", "wrong", "right"), [("binlog_format", "MIXED", "ROW"), ("binlog_row_image", "NOBLOB", "FULL")]
)
def test_a_log_without_whole_rows_fails_at_once(mysql_shop: MySQLShop, setting: str, wrong: str, right: str) -> None:
    with mysql_shop.changed(setting, f"'{wrong}'"):
        trace = mysql_shop.failing(mysql_shop.source())
    assert trace.startswith(
        f"io.debezium.DebeziumException: The database server is not configured to use a {right} {setting}, which is "
        f"required for this connector to work properly. Change the database configuration to use a {setting}={right} "
        "and restart the connector.\n\tat "
    )


@pytest.mark.parametrize("missing", ["topic", "bootstrap.servers"])
def test_a_history_without_topic_or_broker_fails_at_once(
    mysql_shop: MySQLShop, connect: ConnectView, missing: str
) -> None:
    key = f"schema.history.internal.kafka.{missing}".replace(".", "__")
    trace = mysql_shop.failing(mysql_shop.source(**{key: None}))
    assert trace.startswith(
        "org.apache.kafka.connect.errors.ConnectException: Error configuring an instance of KafkaSchemaHistory; "
        "check the logs for details\n\tat "
    )


def test_a_history_topic_that_cannot_be_created_fails_at_once(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    trace = mysql_shop.failing(mysql_shop.source(schema__history__internal__kafka__topic="no topic"))
    assert trace.startswith(
        "org.apache.kafka.connect.errors.ConnectException: Creation of database schema history topic failed, please "
        "create the topic manually\n\tat "
    )


LOCK_TABLES = "io.debezium.DebeziumException: User does not have the 'LOCK TABLES' privilege required to obtain a"
SERVER = "com.github.shyiko.mysql.binlog.network.ServerException"
ACCESS = "Access denied; you need (at least one of) the"


@pytest.mark.parametrize(
    ("grants", "cause"),
    [
        ("", LOCK_TABLES),
        ("SELECT, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT", LOCK_TABLES),
        (
            "SELECT, SHOW DATABASES, LOCK TABLES, REPLICATION SLAVE, REPLICATION CLIENT",
            f"java.sql.SQLSyntaxErrorException: {ACCESS} RELOAD privilege(s) for this operation",
        ),
        (
            "SELECT, RELOAD, SHOW DATABASES, REPLICATION SLAVE",
            f"java.sql.SQLSyntaxErrorException: {ACCESS} SUPER, REPLICATION CLIENT privilege(s) for this operation",
        ),
        (
            "SELECT, RELOAD, SHOW DATABASES, REPLICATION CLIENT",
            f"{SERVER}: {ACCESS} REPLICATION SLAVE privilege(s) for this operation",
        ),
    ],
    ids=["nothing", "no RELOAD", "no RELOAD with LOCK TABLES", "no REPLICATION CLIENT", "no REPLICATION SLAVE"],
)
def test_a_right_that_is_missing_fails_after_the_task_has_started(
    mysql_shop: MySQLShop, grants: str, cause: str
) -> None:
    trace = mysql_shop.failing(mysql_shop.source(database__user=mysql_shop.role(grants)))
    assert trace.startswith(PRODUCER)
    assert f"\nCaused by: {cause}" in trace


def test_without_locks_no_right_to_lock_is_needed(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    role = mysql_shop.role("SELECT, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT")
    config = mysql_shop.source(database__user=role, snapshot__locking__mode="none")
    connect.run(config)
    eventually(lambda: mysql_shop.offsets(config), bool, seconds=60)


def test_a_right_on_some_columns_only_fails(mysql_shop: MySQLShop) -> None:
    role = mysql_shop.role("RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT")
    mysql_shop.run(f"GRANT SELECT (id) ON orders TO {role}")
    trace = mysql_shop.failing(mysql_shop.source(database__user=role))
    assert f"Caused by: java.sql.SQLSyntaxErrorException: SHOW command denied to user '{role}'@'localhost'" in trace


@pytest.mark.parametrize("connections", [1, 2])
def test_a_role_needs_three_connections(mysql_shop: MySQLShop, connections: int) -> None:
    role = mysql_shop.role()
    mysql_shop.run(f"ALTER USER {role} WITH MAX_USER_CONNECTIONS {connections}")
    trace = mysql_shop.failing(mysql_shop.source(database__user=role))
    assert f"User '{role}' has exceeded the 'max_user_connections' resource (current value: {connections})" in trace


def test_a_server_without_a_binary_log_fails(shop_without_log: MySQLShop) -> None:
    trace = shop_without_log.failing(shop_without_log.source())
    assert trace.startswith(PRODUCER)
    assert (
        "\nCaused by: io.debezium.DebeziumException: Cannot read the binlog filename and position via 'SHOW MASTER "
        "STATUS'. Make sure your server is correctly configured\n"
    ) in trace


def test_a_server_with_the_server_id_0_fails(mysql_shop: MySQLShop) -> None:
    with mysql_shop.changed("server_id", "0"):
        trace = mysql_shop.failing(mysql_shop.source())
    assert trace.startswith(PRODUCER)
    assert f"\nCaused by: {SERVER}: Misconfigured master - master server_id is 0\n" in trace


def test_two_double_quotes_in_literals_fail_the_default_parser_also_in_a_table_that_is_not_captured(
    mysql_shop: MySQLShop, connect: ConnectView
) -> None:
    mysql_shop.run("""CREATE TABLE other (id INT PRIMARY KEY, size ENUM('5" small', '7" large'))""")
    orders = rf"(?-i:\Q{mysql_shop.name}\E\.orders)"
    trace = mysql_shop.failing(mysql_shop.source(table__include__list=orders))
    assert "io.debezium.text.ParsingException: DDL statement couldn't be parsed." in trace
    connect.run(mysql_shop.source(table__include__list=orders, ddl__parser__type="legacy"))
    mysql_shop.run("DROP TABLE other")


def test_of_two_sources_with_one_server_id_the_first_fails_and_a_restart_fells_the_second(
    mysql_shop: MySQLShop, connect: ConnectView
) -> None:
    first = mysql_shop.source()
    mysql_shop.started(first)
    second = mysql_shop.source(database__server__id=first["database.server.id"])
    connect.run(second)
    connect.wait_for_states(first["name"], "RUNNING", "FAILED")
    trace = connect.trace(first["name"])
    assert trace.startswith(PRODUCER)
    same = "A slave with the same server_uuid/server_id as this slave has connected to the master"
    assert f"\nCaused by: {SERVER}: {same}" in trace
    assert "Error code: 1236; SQLSTATE: HY000." in trace
    connect.call("POST", f"/connectors/{first['name']}/restart?includeTasks=true&onlyFailed=true")
    connect.wait_for_states(second["name"], "RUNNING", "FAILED")
    connect.wait_for_states(first["name"], "RUNNING", "RUNNING")


def test_a_server_that_goes_away_is_reported_by_a_restart_only_and_its_return_is_noticed(
    mysql_shop: MySQLShop, connect: ConnectView
) -> None:
    # By default, which is a minute, a source looks rarely whether it can connect again.
    config, restarted = (mysql_shop.source(connect__keep__alive__interval__ms="2000") for _ in range(2))
    for one in (config, restarted):
        mysql_shop.started(one)
    mysql_shop.server.process.kill()
    try:
        connect.call("POST", f"/connectors/{restarted['name']}/restart?includeTasks=true")
        connect.wait_for_states(restarted["name"], "RUNNING", "FAILED")
    finally:
        mysql_shop.server.process.start()
    trace = connect.trace(restarted["name"])
    assert trace.startswith("io.debezium.DebeziumException: Failed to establish connection with the database: \n\tat ")
    assert "Caused by: com.mysql.cj.jdbc.exceptions.CommunicationsException: Communications link failure" in trace
    eventually(mysql_shop.readers, seconds=120)
    assert connect.states(config["name"]) == ("RUNNING", ["RUNNING"])


def test_a_password_that_was_changed_fails_the_next_start(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    config = mysql_shop.source()
    mysql_shop.started(config)
    mysql_shop.halt(config)
    mysql_shop.run(f"ALTER USER {mysql_shop.name} IDENTIFIED BY 'another'")
    connect.call("PUT", f"/connectors/{config['name']}/resume")
    connect.wait_for_states(config["name"], "RUNNING", "FAILED")
    denied = f"Access denied for user '{mysql_shop.name}'@'localhost' (using password: YES)"
    assert connect.trace(config["name"]).startswith(
        f"io.debezium.DebeziumException: Error reading MySQL variables: {denied}\n\tat "
    )
