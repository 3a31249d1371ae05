"""What validation of a MySQL source finds before anything runs, and what it does not see."""

import pytest

from tests.contract.connect.conftest import MySQLShop
from tests.support.apps.doubles import MYSQL_SOURCE, ConnectView

UNREACHABLE = (
    "Error during connection validation: io.debezium.DebeziumException: Failed to establish connection with the "
    "database: "
)


def test_the_plug_in_is_listed(connect: ConnectView) -> None:
    plugins = {one["class"]: (one["type"], one["version"]) for one in connect.call("GET", "/connector-plugins").json()}
    assert plugins[MYSQL_SOURCE] == ("source", "3.6.0.Final")


def test_a_configuration_that_works_has_no_error_and_its_secret_stays_hidden(
    mysql_shop: MySQLShop, connect: ConnectView
) -> None:
    config = mysql_shop.source()
    assert connect.validate(config) == {}
    response = connect.call("PUT", f"/connector-plugins/{MYSQL_SOURCE}/config/validate", config)
    assert mysql_shop.password not in response.text


@pytest.mark.parametrize(
    ("key", "value", "errors"),
    [
        ("topic.prefix", None, ["A value is required"]),
        ("database.hostname", None, ["A value is required"]),
        ("database.user", None, ["A value is required"]),
        ("database.server.id", None, ["A value is required"]),
        ("database.server.id", "0", ["A positive, non-zero long value is expected"]),
        ("database.server.id", "x", ["A long value is expected", "A positive, non-zero long value is expected"]),
        ("database.port", "many", ["An integer is expected", "An integer is expected"]),
        ("heartbeat.interval.ms", "-1", ["An non-negative integer is expected"]),
        ("time.precision.mode", "adaptive", ["The 'adaptive' time.precision.mode is no longer supported"]),
        (
            "topic.prefix",
            "a b",
            [
                "a b has invalid format (only the underscore, hyphen, dot and alphanumeric characters are allowed)",
            ],
        ),
    ],
)
def test_a_wrong_value_is_reported_for_its_field(
    mysql_shop: MySQLShop, connect: ConnectView, key: str, value: str | None, errors: list[str]
) -> None:
    found = connect.validate(mysql_shop.source(**{key.replace(".", "__"): value}))
    assert found == {key: [f"The '{key}' value is invalid: {error}" for error in errors]}


@pytest.mark.parametrize(
    ("key", "count"),
    [
        ("table.include.list", 2),
        ("database.include.list", 1),
        ("column.exclude.list", 1),
        ("snapshot.mode", 1),
        ("snapshot.locking.mode", 2),
        ("database.ssl.mode", 1),
        ("bigint.unsigned.handling.mode", 1),
        ("ddl.parser.type", 1),
    ],
)
def test_a_list_that_is_no_pattern_and_an_unknown_word_are_reported(
    mysql_shop: MySQLShop, connect: ConnectView, key: str, count: int
) -> None:
    errors = connect.validate(mysql_shop.source(**{key.replace(".", "__"): "("}))
    assert {name: len(found) for name, found in errors.items()} == {key: count}
    assert errors[key][0].startswith(f"The '{key}' value is invalid: ")


def test_a_wrong_password_is_reported_for_the_hostname(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    wrong = mysql_shop.servers.secret_endpoint.reference("password", "wrong")
    denied = f"Access denied for user '{mysql_shop.name}'@'localhost' (using password: YES)"
    assert connect.validate(mysql_shop.source(database__password=wrong)) == {
        "database.hostname": [f"Unable to connect: {denied}"]
    }


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("ACCOUNT LOCK", "Access denied for user '{role}'@'localhost'. Account is locked."),
        (
            "PASSWORD EXPIRE",
            "Your password has expired. To log in you must change it using a client that supports expired passwords.",
        ),
    ],
)
def test_an_account_that_may_not_sign_in_is_reported_in_the_server_s_words(
    mysql_shop: MySQLShop, connect: ConnectView, state: str, said: str
) -> None:
    role = mysql_shop.role()
    mysql_shop.run(f"ALTER USER {role} {state}")
    errors = connect.validate(mysql_shop.source(database__user=role))
    assert errors == {"database.hostname": [f"Unable to connect: {said.format(role=role)}"]}


@pytest.mark.parametrize(
    "changes",
    [
        {"database__port": "1"},
        {"database__hostname": "nothing.invalid"},
        {"database__ssl__mode": "verify_ca"},
        {"database__ssl__mode": "verify_identity"},
    ],
    ids=["closed port", "unknown host", "certificate that nobody has signed", "another identity"],
)
def test_a_server_that_cannot_be_reached_is_reported_without_the_reason(
    mysql_shop: MySQLShop, connect: ConnectView, changes: dict[str, str]
) -> None:
    assert connect.validate(mysql_shop.source(**changes)) == {"database.hostname": [UNREACHABLE]}


def test_without_tls_a_password_is_sent_only_if_the_server_s_key_may_be_asked_for(
    mysql_shop: MySQLShop, connect: ConnectView
) -> None:
    role = mysql_shop.role()  # a new one: the server remembers logins, and asks for less the next time
    config = mysql_shop.source(database__user=role, database__ssl__mode="disabled")
    assert connect.validate(config) == {"database.hostname": [UNREACHABLE]}
    assert connect.validate({**config, "database.allowPublicKeyRetrieval": "true"}) == {}
    assert connect.validate(config) == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"database__include__list": "missing"},
        {"table__include__list": "missing"},
        {"schema__history__internal__kafka__topic": None},
        {"schema__history__internal__kafka__bootstrap__servers": "127.0.0.1:1"},
        {"tasks__max": "2"},
        {"database__server__id": "4294967296"},
    ],
)
def test_validation_does_not_see_what_only_a_task_finds(
    mysql_shop: MySQLShop, connect: ConnectView, changes: dict[str, str | None]
) -> None:
    assert connect.validate(mysql_shop.source(**changes)) == {}


def test_a_role_without_any_right_is_valid(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    assert connect.validate(mysql_shop.source(database__user=mysql_shop.role(""))) == {}


def test_what_validation_refuses_creation_refuses_even_when_stopped(
    mysql_shop: MySQLShop, connect: ConnectView
) -> None:
    config = mysql_shop.source(database__server__id=None)
    response = connect.create(config, state="STOPPED")
    assert response.status_code == 400
    assert response.json()["message"].startswith(
        "Connector configuration is invalid and contains the following 1 error(s):\n"
    )
