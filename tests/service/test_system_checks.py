"""Connection tests: a failure is a result, and results of a changed endpoint are not stored."""

from dataclasses import replace
from typing import NoReturn

import pytest

from chalicelib.clients.databases.contract import Database
from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import CheckStatus
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.health import HealthStatus
from chalicelib.errors import StoreUnavailable, Unavailable
from chalicelib.services.system_checks import SystemChecks
from tests.support.apps.call_interceptor import Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input


def refused(_endpoint: OpenedEndpoint[DatabaseAddress]) -> NoReturn:
    raise Unavailable("The address is not allowed.", code="ADDRESS_NOT_ALLOWED")


@pytest.fixture
def refusing(app: InProcessApp) -> SystemChecks:
    """Checks whose clients refuse every address."""
    checks = app.services.system_checks
    targets = dict.fromkeys(checks.clients.targets, refused)
    return replace(checks, clients=replace(checks.clients, targets=targets))


def test_a_client_that_cannot_be_made_is_a_failed_test(app: InProcessApp, refusing: SystemChecks) -> None:
    endpoint = app.services.clients.open(app.source().endpoint)
    tested = refusing.test_endpoint(app.context(), endpoint)
    assert not tested.success
    assert [(check.status, check.code) for check in tested.checks] == [(CheckStatus.FAILED, "ADDRESS_NOT_ALLOWED")]


def test_a_test_of_an_endpoint_stores_nothing(app: InProcessApp) -> None:
    endpoint = app.services.clients.open(app.source().endpoint)
    app.interceptor.watch()
    assert app.services.system_checks.test_endpoint(app.context(), endpoint).success
    assert [point for point in app.interceptor.unwatch() if point.side is Side.STORE] == []


def test_the_test_of_a_registration_that_was_changed_meanwhile_is_returned_and_not_stored(app: InProcessApp) -> None:
    source, services = app.source(), app.services
    changes = [lambda: services.sources.update(app.context(), source.id, changed_input(source, description="new"))]

    def make(endpoint: OpenedEndpoint[DatabaseAddress]) -> Database:
        while changes:
            changes.pop()()
        return app.database.at(endpoint)

    targets = dict.fromkeys(services.clients.targets, make)
    checks = replace(services.system_checks, clients=replace(services.clients, targets=targets))
    assert checks.test(app.context(), services.stores.resources.sources, source.id).success
    stored = services.sources.get(source.id)
    assert (stored.description, stored.last_test) == ("new", None)


def test_what_fails_or_works_again_is_looked_at_at_once(app: InProcessApp) -> None:
    requested: list[tuple[str, str]] = []
    checks = replace(app.services.system_checks, look_soon=lambda *system: requested.append(system))
    source, destination = app.source(), app.destination()
    stores = app.services.stores
    looks = []
    for failures in ([], [FailureCode.CONNECTION_REFUSED] * 2, [], []):
        app.database.test_failures[:] = failures
        checks.test(app.context(), stores.resources.sources, source.id)
        checks.test(app.context(), stores.resources.destinations, destination.id)
        looks.append(len(requested))
    assert looks == [0, 2, 4, 4]
    assert set(requested) == {("source", source.id), ("destination", destination.id)}


def test_a_look_that_cannot_be_sent_fails_no_test(app: InProcessApp) -> None:
    def refuse(*_: str) -> NoReturn:
        raise StoreUnavailable("The queue did not take the message.")

    source, checks = app.source(), replace(app.services.system_checks, look_soon=refuse)
    app.database.test_failures[:] = [FailureCode.CONNECTION_REFUSED]
    assert not checks.test(app.context(), app.services.stores.resources.sources, source.id).success
    assert app.services.sources.get(source.id).health.status is HealthStatus.UNHEALTHY
