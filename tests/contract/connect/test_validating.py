"""Faults that validation and creation find before anything runs."""

import pytest

from tests.contract.conftest import Shop
from tests.support.apps.doubles import ConnectView

AUTHENTICATION = 'Error while validating connector config: FATAL: password authentication failed for user "postgres"'


def test_a_configuration_that_works_has_no_error(shop: Shop, connect: ConnectView) -> None:
    assert connect.validate(shop.source()) == {}


def test_validation_reads_the_secret_and_never_returns_it(shop: Shop, connect: ConnectView) -> None:
    config, reads = shop.source(), len(shop.servers.secret_endpoint.reads)
    response = connect.call("PUT", f"/connector-plugins/{config['connector.class']}/config/validate", config)
    assert len(shop.servers.secret_endpoint.reads) > reads
    assert shop.password not in response.text


def test_a_configuration_without_name_has_one_error(shop: Shop, connect: ConnectView) -> None:
    config = shop.source()
    del config["name"]
    assert list(connect.validate(config)) == ["name"]


def test_a_wrong_password_is_reported_for_the_hostname(shop: Shop, connect: ConnectView) -> None:
    config = shop.source(database__password=shop.servers.secret_endpoint.reference("password", "wrong"))
    assert connect.validate(config) == {"database.hostname": [AUTHENTICATION]}


def test_a_reference_to_another_provider_is_used_as_the_password(shop: Shop, connect: ConnectView) -> None:
    config = shop.source(database__password="${nobody:there:password}")
    assert connect.validate(config) == {"database.hostname": [AUTHENTICATION]}


@pytest.mark.parametrize("field", ["nothing", "Not-A-Field"])
def test_a_reference_to_a_field_that_a_secret_lacks_is_refused(shop: Shop, connect: ConnectView, field: str) -> None:
    known = shop.servers.secret_endpoint.put(password=shop.password)
    config = shop.source(database__password=f"${{headgate:{known}:{field}}}")
    response = connect.call("PUT", f"/connector-plugins/{config['connector.class']}/config/validate", config)
    assert response.status_code == 500
    assert response.json()["message"].startswith("org.apache.kafka.common.config.ConfigException: ")
    assert connect.create(config).status_code == 500


def test_an_unknown_database_is_reported_for_the_hostname(shop: Shop, connect: ConnectView) -> None:
    (message,) = connect.validate(shop.source(database__dbname="missing"))["database.hostname"]
    assert message == 'Error while validating connector config: FATAL: database "missing" does not exist'


def test_a_closed_port_is_reported_for_the_hostname(shop: Shop, connect: ConnectView) -> None:
    (message,) = connect.validate(shop.source(database__hostname="127.0.0.1", database__port="1"))["database.hostname"]
    assert "Connection to 127.0.0.1:1 refused" in message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("topic.prefix", None),
        ("topic.prefix", "a b"),
        ("database.port", "many"),
        ("slot.name", "Not A Slot"),
        ("publication.autocreate.mode", "perhaps"),
        ("table.include.list", "("),
    ],
)
def test_a_wrong_value_is_reported_for_its_field(shop: Shop, connect: ConnectView, key: str, value: str | None) -> None:
    errors = connect.validate(shop.source(**{key.replace(".", "__"): value}))
    assert list(errors) == [key]
    assert errors[key][0].startswith(f"The '{key}' value is invalid: ")


@pytest.mark.parametrize("key", ["database.dbname", "topic.prefix"])
def test_what_validation_refuses_creation_refuses_even_when_stopped(shop: Shop, connect: ConnectView, key: str) -> None:
    config = shop.source(**{key.replace(".", "__"): "missing" if key == "database.dbname" else None})
    response = connect.create(config, state="STOPPED")
    assert response.status_code == 400
    assert response.json()["message"].startswith(
        "Connector configuration is invalid and contains the following 1 error(s):\n"
    )
    assert connect.call("GET", f"/connectors/{config['name']}").status_code == 404


def test_a_configuration_for_another_class_is_refused(shop: Shop, connect: ConnectView) -> None:
    response = connect.call("PUT", "/connector-plugins/org.example.Nothing/config/validate", shop.source())
    assert response.status_code == 400
    assert "does not match request type org.example.Nothing" in response.json()["message"]


def test_validation_of_a_sink_never_connects(shop: Shop, connect: ConnectView) -> None:
    config = shop.sink(connection__url="jdbc:postgresql://127.0.0.1:1/nothing")
    assert connect.validate(config) == {}


def test_a_sink_needs_topics(shop: Shop, connect: ConnectView) -> None:
    message = ["Must configure one of topics or topics.regex"]
    assert connect.validate(shop.sink(topics=None)) == {"topics": message, "topics.regex": message}
