"""Discovery and health checks of a source, also when the source is changed or deleted meanwhile."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from chalicelib.clients.databases.contract import Database
from chalicelib.domain.database import DatabaseAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.source import Source
from chalicelib.errors import NotFound, Unavailable
from chalicelib.kit.ids import new_id
from chalicelib.services.discovery import Discovery
from tests.support.fakes import TABLES
from tests.support.in_process_app import InProcessApp, changed_input


@pytest.fixture
def source(app: InProcessApp) -> Source:
    return app.source()


def discovery_after(app: InProcessApp, change: Callable[[], object]) -> Discovery:
    """Discovery during which something is changed, once, after the source was read and before its database is."""
    changes = [change]

    def make(endpoint: OpenedEndpoint[DatabaseAddress]) -> Database:
        if changes:
            changes.pop()()
        return app.database.at(endpoint)

    services = app.services
    clients = replace(services.clients, databases=dict.fromkeys(services.clients.databases, make))
    checks = replace(services.database_checks, clients=clients)
    return replace(services.discovery, clients=clients, database_checks=checks)


def update(app: InProcessApp, source: Source, **changes: object) -> Source:
    return app.services.sources.update(app.context(), source.id, changed_input(source, **changes))


def test_a_discovery_stores_tables_counts_and_health(app: InProcessApp, source: Source) -> None:
    result = app.services.discovery.discover(app.context(), source.id)
    assert (result["tables"], result["truncated"]) == (len(TABLES), False)
    stored = app.services.sources.get(source.id)
    assert (stored.tables, stored.cdc_ready_tables) == (len(TABLES), result["cdc_ready_tables"])
    assert (stored.health.status, stored.last_discovery_at) == (HealthStatus.HEALTHY, app.clock.now)
    assert stored.updated_at == source.updated_at


def test_a_failed_discovery_makes_the_source_unhealthy_and_keeps_its_tables(app: InProcessApp, source: Source) -> None:
    app.database.reachable = False
    with pytest.raises(Unavailable) as failed:
        app.services.discovery.discover(app.context(), source.id)
    assert failed.value.code == "SOURCE_UNAVAILABLE"
    stored = app.services.sources.get(source.id)
    assert stored.health.status is HealthStatus.UNHEALTHY
    assert stored.tables == len(TABLES)


def test_a_discovery_of_a_database_that_is_no_longer_registered_stores_no_tables(
    app: InProcessApp, source: Source
) -> None:
    elsewhere = replace(source.address, database_name="other")
    discovery = discovery_after(app, lambda: update(app, source, address=elsewhere))
    with pytest.raises(Unavailable):
        discovery.discover(app.context(), source.id)
    stored = app.services.sources.get(source.id)
    assert (stored.tables, stored.health.status) == (None, HealthStatus.UNKNOWN)
    assert app.services.stores.tables.list(source.id) == ()


def test_a_change_of_the_description_during_a_discovery_is_kept(app: InProcessApp, source: Source) -> None:
    discovery = discovery_after(app, lambda: update(app, source, description="new"))
    discovery.discover(app.context(), source.id)
    stored = app.services.sources.get(source.id)
    assert (stored.description, stored.tables) == ("new", len(TABLES))


def test_a_source_that_is_deleted_during_a_discovery_is_not_found(app: InProcessApp, source: Source) -> None:
    discovery = discovery_after(app, lambda: app.services.sources.delete(app.context(), source.id))
    with pytest.raises(NotFound):
        discovery.discover(app.context(), source.id)


def test_a_health_check_of_an_unknown_source_is_not_found(app: InProcessApp) -> None:
    with pytest.raises(NotFound):
        app.services.discovery.check_health(app.context(), new_id())


def test_a_health_check_stores_the_connection_test(app: InProcessApp, source: Source) -> None:
    result = app.services.discovery.check_health(app.context(), source.id)
    stored = app.services.sources.get(source.id)
    assert result["status"] == HealthStatus.HEALTHY.value
    assert stored.last_test
    assert [check["name"] for check in result["checks"]] == [check.name for check in stored.last_test.checks]
    assert stored.last_tested_at == app.clock.now


def test_the_health_of_an_endpoint_that_has_changed_since_is_not_stored(app: InProcessApp, source: Source) -> None:
    elsewhere = replace(source.address, host="other.example.com")
    discovery = discovery_after(app, lambda: update(app, source, address=elsewhere))
    discovery.check_health(app.context(), source.id)
    stored = app.services.sources.get(source.id)
    assert (stored.health.status, stored.last_test) == (HealthStatus.UNKNOWN, None)
