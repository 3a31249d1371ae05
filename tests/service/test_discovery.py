"""Discovery and health checks of a source, also when the source is changed or deleted meanwhile."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from chalicelib.clients.databases.contract import Database
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.source import Source
from chalicelib.errors import NotFound, StoreUnavailable, Unavailable
from chalicelib.kit.ids import new_id
from chalicelib.services.discovery import Discovery
from chalicelib.services.sources import SWEPT_AFTER, TableFilter
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point
from tests.support.apps.fakes import TABLES
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input
from tests.support.apps.throttled_store import throttled


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
    makers = dict.fromkeys(services.clients.databases, make)
    clients = replace(services.clients, databases=makers, targets=makers)
    checks = replace(services.system_checks, clients=clients)
    return replace(services.discovery, clients=clients, system_checks=checks)


def update(app: InProcessApp, source: Source, **changes: object) -> Source:
    return app.services.sources.update(app.context(), source.id, changed_input(source, **changes))


def test_a_discovery_stores_tables_counts_and_health(app: InProcessApp, source: Source) -> None:
    result = app.services.discovery.discover(app.context(), source.id)
    assert (result["tables"], result["truncated"]) == (len(TABLES), False)
    stored = app.services.sources.get(source.id)
    assert (stored.tables, stored.cdc_ready_tables) == (len(TABLES), result["cdc_ready_tables"])
    assert (stored.health.status, stored.last_discovery_at) == (HealthStatus.HEALTHY, app.clock.now)
    assert stored.updated_at == source.updated_at


def test_a_discovery_reads_500_tables_unless_somebody_asks_for_more(app: InProcessApp, source: Source) -> None:
    app.database.tables = [f"table_{n:03}" for n in range(502)]
    asked = (None, 501, None)
    results = [app.services.discovery.discover(app.context(), source.id, max_tables=number) for number in asked]
    assert [(result["tables"], result["bound"], result["truncated"]) for result in results] == [
        (500, 500, True),
        (501, 501, True),
        (501, 501, True),
    ]


def test_a_source_that_is_moved_keeps_the_bound_of_its_discoveries(app: InProcessApp, source: Source) -> None:
    app.services.discovery.discover(app.context(), source.id, max_tables=2)
    update(app, source, address=replace(source.address, host="elsewhere.example.com"))
    assert app.services.discovery.discover(app.context(), source.id)["bound"] == 2


def test_a_failed_discovery_does_not_change_the_bound(app: InProcessApp, source: Source) -> None:
    app.database.reachable = False
    with pytest.raises(Unavailable):
        app.services.discovery.discover(app.context(), source.id, max_tables=2)
    app.database.reachable = True
    assert app.services.discovery.discover(app.context(), source.id)["bound"] == 500


def test_pages_of_500_lead_to_each_of_1200_tables_with_and_without_filters(app: InProcessApp, source: Source) -> None:
    app.database.tables = [f"table_{n:04}" for n in range(1_200)]
    result = app.services.discovery.discover(app.context(seconds=60), source.id, max_tables=1_200)
    assert (result["tables"], result["truncated"]) == (1_200, False)
    for search, count in ((None, 1_200), ("table_1", 200), ("table_0123", 1)):
        names, after = [], None
        while not names or after:
            page = app.services.sources.list_tables(
                source.id, table_filter=TableFilter(search=search), limit=500, after=after
            )
            names += [table.table_name for table in page.items]
            after = page.next_key
        assert names == [name for name in app.database.tables if (search or "") in name]
        assert len(names) == count


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
    assert app.tables.rows("source-tables") == []


def test_a_change_of_the_description_during_a_discovery_is_kept(app: InProcessApp, source: Source) -> None:
    discovery = discovery_after(app, lambda: update(app, source, description="new"))
    discovery.discover(app.context(), source.id)
    stored = app.services.sources.get(source.id)
    assert (stored.description, stored.tables) == ("new", len(TABLES))


def test_a_source_that_is_deleted_during_a_discovery_is_not_found(app: InProcessApp, source: Source) -> None:
    discovery = discovery_after(app, lambda: app.services.sources.delete(app.context(), source.id))
    with pytest.raises(NotFound):
        discovery.discover(app.context(), source.id)
    assert app.tables.rows("source-tables") == []


def while_rows_are_written(app: InProcessApp, change: Callable[[], object]) -> None:
    """Discovery during which something is changed when its first rows are stored."""
    changes = [change]

    def mode(point: Point, send: InterceptedCall) -> object:
        answer = send()
        if point.operation == "BatchWriteItem" and changes:
            changes.pop()()
        return answer

    app.interceptor.watch(mode)


def test_a_source_that_is_moved_while_its_tables_are_stored_does_not_show_those_of_the_old_place(
    app: InProcessApp, source: Source
) -> None:
    elsewhere = replace(source.address, host="elsewhere.example.com")
    while_rows_are_written(app, lambda: update(app, source, address=elsewhere))
    with pytest.raises(Unavailable, match="pointed at another database"):
        app.services.discovery.discover(app.context(), source.id)
    app.interceptor.unwatch()
    assert app.services.sources.get(source.id).tables is None
    assert shown(app, source) == []
    assert app.tables.rows("source-tables") == []


def test_readers_see_the_whole_last_discovery_until_the_next_one_is_complete(app: InProcessApp, source: Source) -> None:
    seen: list[list[str]] = []
    app.database.tables = ["orders", "added"]
    while_rows_are_written(app, lambda: seen.append(shown(app, source)))
    app.services.discovery.discover(app.context(), source.id)
    app.interceptor.unwatch()
    assert seen == [sorted(TABLES)]
    assert shown(app, source) == ["added", "orders"]
    assert len(app.tables.rows("source-tables")) == 2


def test_a_discovery_that_dies_leaves_the_last_one_readable_and_the_next_one_removes_what_it_left(
    app: InProcessApp, source: Source
) -> None:
    def die() -> None:
        raise Crash

    app.database.tables = ["dropped later"]
    while_rows_are_written(app, die)
    with pytest.raises(Crash):
        app.services.discovery.discover(app.context(), source.id)
    app.interceptor.unwatch()
    assert shown(app, source) == sorted(TABLES)
    app.database.tables = ["orders"]
    app.services.discovery.discover(app.context(), source.id)
    assert shown(app, source) == ["orders"]
    assert len(app.tables.rows("source-tables")) == 1


def test_500_tables_of_100_columns_are_discovered_under_the_write_limit_of_a_partition_key(
    app: InProcessApp, source: Source
) -> None:
    """Twice: the second one also removes the rows of the first, and has a limit that a slow machine meets, too."""
    app.database.tables, app.database.more_columns = [f"table_{n:03}" for n in range(500)], 98
    for limit in (1000, 250):
        with throttled(units_per_second=limit) as store:
            app.services.discovery.discover(app.context(seconds=50), source.id)
    assert store.refused > 0
    found = app.services.stores.resources.tables.list(source.id)
    assert (len(found), {len(table.columns) for table in found}) == (500, {100})
    assert len(app.tables.rows("source-tables")) == 500


def test_a_discovery_that_the_store_slows_down_beyond_its_deadline_changes_nothing(
    app: InProcessApp, source: Source
) -> None:
    app.database.tables = [f"table_{n:03}" for n in range(500)]
    with throttled(units_per_second=20), pytest.raises(StoreUnavailable):
        app.services.discovery.discover(app.context(seconds=1), source.id)
    assert shown(app, source) == sorted(TABLES)


def test_a_source_is_moved_and_deleted_under_the_write_limit_and_leaves_no_rows(app: InProcessApp) -> None:
    app.database.tables = [f"table_{n:03}" for n in range(100)]
    moved, deleted = app.source(), app.source()
    with throttled(units_per_second=60) as store:
        update(app, moved, address=replace(moved.address, host="elsewhere.example.com"))
        app.services.sources.delete(app.context(), deleted.id)
    assert store.refused > 0
    assert app.tables.rows("source-tables") == []


def test_a_source_is_moved_and_deleted_also_when_its_tables_cannot_be_removed_in_time(app: InProcessApp) -> None:
    """The next discovery removes what stays, or the deletion when it is repeated."""
    app.database.tables = [f"table_{n:03}" for n in range(100)]
    moved, deleted = app.source(), app.source()
    with throttled(units_per_second=1):
        app.services.sources.update(
            app.context(seconds=2), moved.id, changed_input(moved, address=replace(moved.address, port=5433))
        )
        app.services.sources.delete(app.context(seconds=2), deleted.id)
    assert shown(app, moved) == []
    app.database.tables = ["orders"]
    app.services.discovery.discover(app.context(), moved.id)
    with pytest.raises(NotFound):
        app.services.sources.delete(app.context(), deleted.id)
    assert [row["source_id"] for row in app.tables.rows("source-tables")] == [moved.id]


def test_what_a_deletion_leaves_of_the_tables_is_removed_by_a_later_sweep(app: InProcessApp) -> None:
    app.database.tables = [f"table_{n:03}" for n in range(100)]
    deleted, kept = app.source(), app.source()
    with throttled(units_per_second=1):
        app.services.sources.delete(app.context(seconds=2), deleted.id)
    left = len(app.tables.rows("source-tables"))
    assert left > 100
    assert app.services.sources.sweep() == 0
    assert len(app.tables.rows("source-tables")) == left
    app.clock.advance(SWEPT_AFTER.total_seconds() + 1)
    assert [app.services.sources.sweep() for _ in range(2)] == [1, 0]
    assert {row["source_id"] for row in app.tables.rows("source-tables")} == {kept.id}


def test_a_sweep_that_the_store_slows_down_is_continued_by_the_next(app: InProcessApp) -> None:
    app.database.tables = [f"table_{n:03}" for n in range(100)]
    deleted = app.source()
    with throttled(units_per_second=1):
        app.services.sources.delete(app.context(seconds=2), deleted.id)
        app.clock.advance(SWEPT_AFTER.total_seconds() + 1)
        assert app.services.sources.sweep() == 0
    assert app.services.sources.sweep() == 1
    assert app.tables.rows("source-tables") == []


def test_a_sweep_removes_the_tables_of_a_few_sources(app: InProcessApp) -> None:
    for source in [app.source() for _ in range(7)]:
        app.services.sources.delete(app.context(), source.id)
    app.clock.advance(SWEPT_AFTER.total_seconds() + 1)
    assert [app.services.sources.sweep() for _ in range(3)] == [5, 2, 0]


def shown(app: InProcessApp, source: Source) -> list[str]:
    """The names of the tables that a client sees."""
    page = app.services.sources.list_tables(source.id, table_filter=TableFilter(), limit=500, after=None)
    return [table.table_name for table in page.items]


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


def test_a_source_that_a_job_finds_failed_or_well_again_is_looked_at_at_once(app: InProcessApp, source: Source) -> None:
    requested: list[tuple[str, str]] = []
    discovery = app.services.discovery
    checks = replace(discovery.system_checks, look_soon=lambda *system: requested.append(system))
    discovery = replace(discovery, system_checks=checks)
    app.database.reachable = False
    with pytest.raises(Unavailable):
        discovery.discover(app.context(), source.id)
    app.database.reachable = True
    discovery.check_health(app.context(), source.id)
    discovery.check_health(app.context(), source.id)
    assert requested == [("source", source.id)] * 2


def test_the_health_of_an_endpoint_that_has_changed_since_is_not_stored(app: InProcessApp, source: Source) -> None:
    elsewhere = replace(source.address, host="other.example.com")
    discovery = discovery_after(app, lambda: update(app, source, address=elsewhere))
    discovery.check_health(app.context(), source.id)
    stored = app.services.sources.get(source.id)
    assert (stored.health.status, stored.last_test) == (HealthStatus.UNKNOWN, None)
