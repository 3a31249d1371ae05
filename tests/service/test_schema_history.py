"""Discoveries add versions of schemas, once each, and name what runs and is concerned."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.listing import AlertFilter, StatusFilter
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.monitoring.incident import Incident, IncidentStatus
from chalicelib.domain.providers.postgresql.facts import PostgreSQLRawColumn
from chalicelib.domain.schema.change import Alteration
from chalicelib.domain.schema.version import SchemaVersion, VersionFilter
from chalicelib.domain.source import Source
from chalicelib.errors import NotFound
from chalicelib.kit.ids import new_id
from chalicelib.services.sources import SWEPT_AFTER
from chalicelib.stores.schema_versions import TABLES_PER_TRANSACTION
from tests.support.apps.call_interceptor import Crash, InterceptedCall, Point
from tests.support.apps.fakes import TABLES
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input


@pytest.fixture
def source(app: InProcessApp) -> Source:
    return app.source()


def discover(app: InProcessApp, source: Source, **context: Any) -> Mapping[str, Any]:
    """What the result of the job says about schemas."""
    app.clock.advance(60)
    changes: Mapping[str, Any] = app.services.discovery.discover(app.context(**context), source.id)["schema_changes"]
    return changes


def versions(app: InProcessApp, source: Source, **chosen: Any) -> list[SchemaVersion]:
    page = app.services.schema_history.list(source.id, version_filter=VersionFilter(**chosen), limit=500, after=None)
    return list(page.items)


def alter(app: InProcessApp, table: str, **note: Any) -> None:
    """Change the column `note` of a table."""
    first, second, *rest = app.database.columns()
    app.database.altered[table] = (first, replace(second, **note), *rest)


def incidents(app: InProcessApp) -> list[Incident]:
    page = app.services.incidents.list(limit=100, active=True)
    return [one for one in page.items if one.condition.code is ConditionCode.SCHEMA_CHANGED]


def alerts(app: InProcessApp) -> list[tuple[EventKind, AlertSeverity]]:
    """The active alerts after the next runs of the schedule."""
    for _ in range(3):
        app.clock.advance(60)
        app.services.monitor_reports.publish_operations()
    chosen = AlertFilter(status=StatusFilter.ACTIVE)
    found = app.services.alerting.alerts.list(app.context(), chosen, page=1, page_size=10)
    return [(one.kind, one.severity) for one in found.items]


def test_the_first_discovery_adds_a_version_of_each_table_and_an_unchanged_one_writes_nothing_about_schemas(
    app: InProcessApp, source: Source
) -> None:
    assert [(one.table_name, one.version) for one in versions(app, source)] == [
        (name, 1) for name in sorted(TABLES, reverse=True)
    ]
    before = app.tables.rows("schema-versions")
    changes = discover(app, source)
    assert changes == {"versions": 0, "breaking": 0, "potentially_breaking": 0, "affected": []}
    assert app.tables.rows("schema-versions") == before


def test_a_changed_dropped_and_added_table_have_a_version_each_and_the_others_have_none(
    app: InProcessApp, source: Source
) -> None:
    alter(app, "orders", nullable=False)
    app.database.tables = ["orders", "items", "added"]
    assert discover(app, source) == {"versions": 3, "breaking": 1, "potentially_breaking": 0, "affected": []}
    newest = {one.table_name: one for one in versions(app, source)[:3]}
    assert {name: [change.change for change in one.diff] for name, one in newest.items()} == {
        "added": [Alteration.TABLE_ADDED],
        "customers": [Alteration.TABLE_DROPPED],
        "orders": [Alteration.NULLS_FORBIDDEN],
    }
    assert (newest["customers"].schema, newest["orders"].version) == (None, 2)


def test_a_discovery_that_does_not_see_all_tables_drops_none(app: InProcessApp, source: Source) -> None:
    app.database.tables = [f"table_{number:03}" for number in range(501)]
    assert discover(app, source, seconds=50)["versions"] == 500
    assert [one.version for one in versions(app, source, table="orders")] == [1]


def test_a_renamed_column_names_the_delivery_and_opens_an_incident_that_a_person_ends(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    source = app.services.sources.get(pipeline.source_id)
    delivery = app.services.deliveries.deploy(
        app.context(), app.destination().id, app.delivery_input(pipeline, "orders")
    )
    alter(app, "orders", name="remark")
    changes = discover(app, source)
    consequence = (
        "Column note of shop.orders was probably renamed to remark: the target keeps the old column with its last "
        "values and gets a new one."
    )
    named = {"type": "delivery", "id": delivery.id, "name": delivery.name, "consequence": consequence}
    assert (changes["breaking"], changes["affected"]) == (1, [named])
    assert [one.consequence for one in versions(app, source)[0].affects] == [consequence]
    (incident,) = incidents(app)
    assert (incident.condition.message, incident.condition.resource_id) == (consequence, delivery.id)
    assert incident.associations.pipeline_id == pipeline.id
    discover(app, source)
    assert [(one.id, one.occurrences) for one in incidents(app)] == [(incident.id, 1)]
    assert alerts(app) == [(EventKind.DESTINATION_SCHEMA_ERROR, AlertSeverity.WARNING)]
    app.services.incidents.move(app.context(), incident.id, IncidentStatus.RESOLVED)
    assert alerts(app) == []


def test_a_change_that_breaks_nothing_alarms_nobody(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    columns = app.database.columns()
    added = PostgreSQLRawColumn(name="extra", ordinal=3, type="text", base=columns[1].base)
    app.database.altered["orders"] = (*columns, added)
    changes = discover(app, app.services.sources.get(pipeline.source_id))
    assert (changes["versions"], changes["affected"], incidents(app)) == (1, [], [])


@pytest.mark.parametrize(("transaction", "stored_before"), [(2, 0), (3, TABLES_PER_TRANSACTION)])
def test_a_discovery_that_dies_between_two_transactions_leaves_whole_versions_and_the_next_adds_the_rest(
    app: InProcessApp, source: Source, transaction: int, stored_before: int
) -> None:
    """The first transaction shows the tables, those after it store versions."""
    app.database.tables = [*TABLES, *(f"table_{number:03}" for number in range(TABLES_PER_TRANSACTION * 2))]
    seen: list[Point] = []

    def die(point: Point, send: InterceptedCall) -> object:
        if point.operation == "TransactWriteItems":
            seen.append(point)
            if len(seen) == transaction:
                raise Crash
        return send()

    app.interceptor.watch(die)
    with pytest.raises(Crash):
        discover(app, source)
    app.interceptor.unwatch()
    whole = {one.id for one in versions(app, source)}
    assert len(whole) == len(TABLES) + stored_before
    assert discover(app, source)["versions"] == TABLES_PER_TRANSACTION * 2 - stored_before
    after = versions(app, source)
    assert len(after) == len(app.database.tables)
    assert {one.version for one in after} == {1}
    assert whole < {one.id for one in after}


def test_a_source_that_is_moved_begins_another_history(app: InProcessApp, source: Source) -> None:
    moved = changed_input(source, address=replace(source.address, host="elsewhere.example.com"))
    app.services.sources.update(app.context(), source.id, moved)
    assert versions(app, source) == []
    assert app.tables.rows("schema-versions") == []
    alter(app, "orders", name="remark")
    assert discover(app, source)["breaking"] == 0
    assert {one.version for one in versions(app, source)} == {1}


def test_the_versions_of_a_deleted_source_are_removed_by_a_sweep(app: InProcessApp) -> None:
    deleted, kept = app.source(), app.source()
    app.services.sources.delete(app.context(), deleted.id)
    with pytest.raises(NotFound):
        versions(app, deleted)
    app.clock.advance(SWEPT_AFTER.total_seconds() + 1)
    assert app.services.sources.sweep() == 1
    assert {row["source_id"] for row in app.tables.rows("schema-versions")} == {kept.id}


def test_the_versions_of_a_source_that_does_not_exist_are_not_found(app: InProcessApp) -> None:
    with pytest.raises(NotFound):
        app.services.schema_history.list(new_id(), version_filter=VersionFilter(), limit=1, after=None)
