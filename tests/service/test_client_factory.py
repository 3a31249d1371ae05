"""Opening endpoints with stored secrets, with unsaved secrets of a request, and with both."""

from dataclasses import replace
from typing import TypeVar

import pytest

from chalicelib.clients.connect.client import Connect
from chalicelib.clients.kafka.client import Kafka
from chalicelib.domain.addresses import ConnectAddress, KafkaAddress
from chalicelib.domain.cluster import ConnectCluster, SecretDelivery
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.destination import Destination
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.source import Source
from chalicelib.kit.masking import Secret
from chalicelib.services.registered import RegisteredInput
from tests.support.apps.in_process_app import InProcessApp, changed_input

R = TypeVar("R", bound=RegisteredInput)
EXPECTED_PASSWORDS = ("first", "first", "second", "second", "second")


@pytest.fixture
def source(app: InProcessApp) -> Source:
    """A source with two secrets."""
    source = app.source()
    secrets = {"password": Secret("stored password"), "ca_certificate": Secret("stored certificate")}
    return app.services.sources.update(app.context(), source.id, changed_input(source, secrets=secrets))


def test_a_registered_endpoint_opens_with_its_stored_secrets(app: InProcessApp, source: Source) -> None:
    opened = app.services.clients.open(source.endpoint)
    assert opened.address == source.address
    assert {name: value.reveal() for name, value in opened.secrets.items()} == {
        "password": "stored password",
        "ca_certificate": "stored certificate",
    }


def test_a_secret_of_the_request_replaces_the_stored_one(app: InProcessApp, source: Source) -> None:
    unsaved = {"password": Secret("new password"), "ca_certificate": None}
    opened = app.services.clients.open(source.endpoint, unsaved)
    assert {name: value.reveal() for name, value in opened.secrets.items()} == {
        "password": "new password",
        "ca_certificate": "stored certificate",
    }
    assert app.services.clients.open(source.endpoint).password == Secret("stored password")


def test_stored_secrets_that_are_all_replaced_are_not_read(app: InProcessApp, source: Source) -> None:
    app.restart()
    app.interceptor.watch()
    app.services.clients.open(source.endpoint, {"password": Secret("a"), "ca_certificate": Secret("b")})
    assert app.interceptor.unwatch() == []


def test_an_endpoint_without_secrets_opens_without_a_read(app: InProcessApp) -> None:
    cluster = app.cluster
    app.interceptor.watch()
    assert app.services.clients.open(cluster.endpoint).secrets == {}
    assert app.interceptor.unwatch() == []


def config_to_send(
    app: InProcessApp, cluster: ConnectCluster, source: Source, destination: Destination
) -> dict[str, str]:
    """A config that refers to the secrets of two resources, as it is sent to Connect."""
    config = {
        "a": source.credentials.reference("password"),
        "b": destination.credentials.reference("password"),
        "c": "plain",
    }
    return app.services.clients.for_connect(cluster, BuiltConfig(config, (source.credentials, destination.credentials)))


@pytest.mark.parametrize("delivery", SecretDelivery)
def test_a_config_may_refer_to_several_credentials(app: InProcessApp, source: Source, delivery: SecretDelivery) -> None:
    destination, cluster = app.destination(), app.cluster
    config = config_to_send(app, replace(cluster, secret_delivery=delivery), source, destination)
    if delivery is SecretDelivery.INLINE:
        assert {name: config[name] for name in "abc"} == {
            "a": "stored password", "b": "destination password", "c": "plain",
        }  # fmt: skip
    else:
        assert config["a"] == source.credentials.reference("password")
        assert config["b"] == destination.credentials.reference("password")


def test_workers_are_checked_with_the_password_that_will_be_stored(app: InProcessApp) -> None:
    opened: list[OpenedEndpoint[ConnectAddress]] = []

    def make(endpoint: OpenedEndpoint[ConnectAddress]) -> Connect:
        opened.append(endpoint)
        return app.services.clients.make_connect(endpoint)

    service = replace(app.services.connect_clusters, clients=replace(app.services.clients, make_connect=make))
    request = replace(app.connect_input(app.connect.url), username="u")
    first = service.create(app.context(), with_password(request, "first"))
    for password in (None, "second", None, ""):
        service.update(app.context(), first.id, with_password(request, password))
    assert [endpoint.password for endpoint in opened] == [Secret(one) for one in EXPECTED_PASSWORDS]


def test_brokers_are_checked_with_the_password_that_will_be_stored(app: InProcessApp) -> None:
    opened: list[OpenedEndpoint[KafkaAddress]] = []

    def make(endpoint: OpenedEndpoint[KafkaAddress]) -> Kafka:
        opened.append(endpoint)
        return app.services.clients.make_kafka(endpoint)

    service = replace(app.services.stream_clusters, clients=replace(app.services.clients, make_kafka=make))
    request = app.stream_input(app.kafka.address)
    first = service.create(app.context(), with_password(request, "first"))
    for password in (None, "second", None, ""):
        service.update(app.context(), first.id, with_password(request, password))
    assert [endpoint.password for endpoint in opened] == [Secret(one) for one in EXPECTED_PASSWORDS]


def with_password(request: R, password: str | None) -> R:
    """The request with this password; None leaves it out."""
    return replace(request, secrets={"password": None if password is None else Secret(password)})
