"""Opening endpoints with stored secrets, with unsaved secrets of a request, and with both."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from chalicelib.domain.cluster import SecretDelivery
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.source import Source
from chalicelib.kit.masking import Secret
from chalicelib.services.registered import RegisteredInput
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input

R = TypeVar("R", bound=RegisteredInput)
STORED = {"password": Secret("stored password"), "ca_certificate": Secret("stored certificate")}
EXPECTED_PASSWORDS = ("first", "first", "second", "second", "second")


@pytest.fixture
def source(app: InProcessApp) -> Source:
    """A source with two secrets."""
    source = app.source()
    return app.services.sources.update(app.context(), source.id, changed_input(source, secrets=STORED))


def test_a_registered_endpoint_opens_with_its_stored_secrets(app: InProcessApp, source: Source) -> None:
    opened = app.services.clients.open(source.endpoint)
    assert opened.address == source.address
    assert opened.secrets == STORED


def test_a_secret_of_the_request_replaces_the_stored_one(app: InProcessApp, source: Source) -> None:
    unsaved = {"password": Secret("new password"), "ca_certificate": None}
    opened = app.services.clients.open(source.endpoint, unsaved)
    assert opened.secrets == {**STORED, "password": Secret("new password")}
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


@pytest.mark.parametrize("delivery", SecretDelivery)
def test_a_config_may_refer_to_several_credentials(app: InProcessApp, source: Source, delivery: SecretDelivery) -> None:
    destination, cluster = app.destination(), replace(app.cluster, secret_delivery=delivery)
    credentials = (source.credentials, destination.credentials)
    references = {name: owner.reference("password") for name, owner in zip("ab", credentials, strict=True)}
    built = BuiltConfig({**references, "c": "plain"}, credentials)
    secrets = {"a": "stored password", "b": "destination password"}
    sent = secrets if delivery is SecretDelivery.INLINE else references
    assert app.services.clients.for_connect(cluster, built).items() >= {**sent, "c": "plain"}.items()


@pytest.mark.parametrize("kind", ["connect", "stream"])
def test_a_cluster_is_checked_with_the_password_that_will_be_stored(app: InProcessApp, kind: str) -> None:
    opened: list[OpenedEndpoint[Any]] = []
    factory = app.services.clients

    def recorded(make: Callable[[OpenedEndpoint[Any]], Any]) -> Callable[[OpenedEndpoint[Any]], Any]:
        def record(endpoint: OpenedEndpoint[Any]) -> Any:
            opened.append(endpoint)
            return make(endpoint)

        return record

    clients = replace(factory, make_connect=recorded(factory.make_connect), make_kafka=recorded(factory.make_kafka))
    service: Any = replace(getattr(app.services, f"{kind}_clusters"), clients=clients)
    request: RegisteredInput = app.stream_input(app.kafka.address)
    if kind == "connect":
        request = app.connect_input(app.connect.url, username="u")
    first = service.create(app.context(), with_password(request, "first"))
    for password in (None, "second", None, ""):
        service.update(app.context(), first.id, with_password(request, password))
    assert [endpoint.password for endpoint in opened] == [Secret(password) for password in EXPECTED_PASSWORDS]


def with_password(request: R, password: str | None) -> R:
    """The request with this password; None leaves it out."""
    return replace(request, secrets={"password": None if password is None else Secret(password)})
