"""Timelines over the stores: what is in them, who sees what, what a page costs, and what it leaves out."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from chalicelib.domain.access import Actor, Role
from chalicelib.domain.alerts.listing import AlertFilter, StatusFilter
from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.timeline.entry import TimelineEntry
from chalicelib.errors import NotFound
from chalicelib.kit.ids import new_id
from chalicelib.services.alerts.alerts import Silence
from chalicelib.stores.timeline import KEPT_FOR, TimelineRow
from tests.faults.inspection import NO_SECRETS
from tests.support.apps.in_process_app import InProcessApp

OPERATION, OBSERVED, INCIDENT, ALERT, SCHEMA = "operation", "observed", "incident", "alert", "schema"
MAX_CALLS = 5


@pytest.fixture
def pipeline(app: InProcessApp) -> Pipeline:
    """A running pipeline that ticks have seen."""
    app.services.alerting.rules.install()
    pipeline = app.deployed_pipeline()
    app.tick(times=3)
    return pipeline


@pytest.fixture
def delivery(app: InProcessApp, pipeline: Pipeline) -> Delivery:
    """It writes the first table only."""
    delivery = app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
    app.tick(times=2)
    return delivery


def timeline(
    app: InProcessApp, pipeline: Pipeline, *, actor: Actor | None = None, limit: int = 500
) -> Sequence[TimelineEntry]:
    """All pages, the newest entry first."""
    context, entries, after = app.context(), list[TimelineEntry](), None
    if actor:
        context = replace(context, actor=actor)
    while True:
        page = app.services.timelines.of_pipeline(context, pipeline.id, limit=limit, after=after)
        entries += page.items
        after = page.next_key
        if after is None:
            return entries


def titles(entries: Sequence[TimelineEntry], *kinds: str) -> list[str]:
    """The oldest first."""
    return [entry.title for entry in reversed(entries) if not kinds or entry.kind in kinds]


def fail(app: InProcessApp, pipeline: Pipeline) -> None:
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS, failing_restarts=1_000)
    app.tick(times=2)


def alter(app: InProcessApp, pipeline: Pipeline, table: str) -> None:
    """Add a column to a table, and discover it."""
    first, *rest = app.database.columns()
    app.database.altered[table] = (first, *rest, replace(first, name=f"added to {table}"))
    app.clock.advance(60)
    app.services.discovery.discover(app.context(), pipeline.source_id)


def test_an_operation_is_one_entry_with_its_steps_and_its_outcome(app: InProcessApp, pipeline: Pipeline) -> None:
    app.services.pipelines.pause(app.context(), pipeline.id)
    pause = next(entry for entry in timeline(app, pipeline) if entry.kind == OPERATION)
    assert (pause.title, pause.outcome) == ("Pause was asked for", Outcome.SUCCESS)
    assert [step.outcome for step in pause.steps] == [Outcome.REQUESTED, Outcome.SUCCESS]
    assert pause.at == pause.steps[0].at


def test_what_is_seen_follows_what_was_done(app: InProcessApp, pipeline: Pipeline) -> None:
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.tick(times=2)
    assert titles(timeline(app, pipeline), OPERATION, OBSERVED)[2:] == [
        "Observed RUNNING for the first time",
        "Pause was asked for",
        "Observed PAUSED, was RUNNING",
    ]


def test_a_failure_is_followed_by_its_incident_and_its_alert(app: InProcessApp, pipeline: Pipeline) -> None:
    fail(app, pipeline)
    assert titles(timeline(app, pipeline), OBSERVED, INCIDENT, ALERT)[1:] == [
        "Observed FAILED, was RUNNING",
        "Incident opened: Capture failed",
        "Alert fired: Capture failed",
    ]


def test_what_people_do_about_incidents_and_alerts_names_them(app: InProcessApp, pipeline: Pipeline) -> None:
    fail(app, pipeline)
    incident = app.services.incidents.list(limit=1, pipeline_id=pipeline.id).items[0]
    app.clock.advance(1)
    app.services.incidents.move(app.context(), incident.id, IncidentStatus.ACKNOWLEDGED)
    only = AlertFilter(status=StatusFilter.ACTIVE)
    (alert,) = app.services.alerting.alerts.list(app.context(), only, page=1, page_size=9).items
    app.clock.advance(1)
    app.services.alerting.alerts.silence(app.context(), alert.id, Silence())
    app.clock.advance(1)
    app.services.alerting.alerts.unsilence(app.context(), alert.id)
    app.clock.advance(1)
    app.services.alerting.alerts.acknowledge(app.context(), alert.id, None)
    newest = timeline(app, pipeline)[:4]
    assert [entry.title.partition(":")[0] for entry in newest] == [
        "Alert acknowledged", "Silence of the alert ended", "Alert silenced", "Incident acknowledged",
    ]  # fmt: skip
    assert {entry.actor.email for entry in newest if entry.actor} == {app.context().actor.email}
    assert all(entry.actor for entry in newest)


def test_only_admins_see_who_did_it(app: InProcessApp, pipeline: Pipeline) -> None:
    viewer = Actor(id=new_id(), email="viewer@example.com", role=Role.VIEWER, via="session")
    seen = timeline(app, pipeline, actor=viewer)
    assert [entry.title for entry in seen] == [entry.title for entry in timeline(app, pipeline)]
    assert {entry.actor for entry in seen} == {None}
    deployed = next(entry for entry in timeline(app, pipeline) if entry.kind == OPERATION)
    assert deployed.actor is not None
    assert deployed.actor.email == app.context().actor.email


def test_the_schema_changes_of_its_own_tables_are_in_it(
    app: InProcessApp, pipeline: Pipeline, delivery: Delivery
) -> None:
    first, second = (table.table_name for table in pipeline.capture.tables[:2])
    alter(app, pipeline, first)
    alter(app, pipeline, second)
    assert titles(timeline(app, pipeline), SCHEMA) == [
        f"Schema of shop.{table} has version 2 now: required column added" for table in (first, second)
    ]
    of_delivery = app.services.timelines.of_delivery(app.context(), delivery.id, limit=500, after=None).items
    assert [title.split()[2] for title in titles(of_delivery, SCHEMA)] == [f"shop.{first}"]


def test_a_delivery_shows_its_own_entries_only(app: InProcessApp, pipeline: Pipeline, delivery: Delivery) -> None:
    fail(app, pipeline)
    entries = app.services.timelines.of_delivery(app.context(), delivery.id, limit=500, after=None).items
    assert titles(entries) == ["Deployment was asked for", "Observed RUNNING for the first time"]


def test_a_page_costs_five_calls_at_the_most(app: InProcessApp, pipeline: Pipeline, delivery: Delivery) -> None:
    fail(app, pipeline)
    for read, resource in (
        (app.services.timelines.of_pipeline, pipeline),
        (app.services.timelines.of_delivery, delivery),
    ):
        app.interceptor.watch()
        page = read(app.context(), resource.id, limit=2, after=None)
        read(app.context(), resource.id, limit=2, after=page.next_key)
        calls = [point.operation for point in app.interceptor.unwatch()]
        assert len(calls) <= 2 * MAX_CALLS
        assert "Scan" not in calls


def test_small_pages_show_what_a_large_one_shows(app: InProcessApp, pipeline: Pipeline) -> None:
    for _ in range(3):
        app.services.pipelines.pause(app.context(), pipeline.id)
        app.tick()
        app.services.pipelines.resume(app.context(), pipeline.id)
        app.tick()
    fail(app, pipeline)
    alter(app, pipeline, pipeline.capture.tables[0].table_name)
    whole = timeline(app, pipeline)
    assert len(whole) > 15
    for limit in (1, 2, 5):
        assert timeline(app, pipeline, limit=limit) == whole


def test_events_are_shown_for_thirty_days(app: InProcessApp, pipeline: Pipeline) -> None:
    app.clock.advance(KEPT_FOR.total_seconds() + 60)
    assert {entry.kind for entry in timeline(app, pipeline)} == {OPERATION}


def test_an_event_of_a_newer_release_is_left_out_alone(app: InProcessApp, pipeline: Pipeline) -> None:
    before = timeline(app, pipeline)
    row = next(TimelineRow.query(f"pipeline/{pipeline.id}", scan_index_forward=False))
    TimelineRow(row.resource, row.position, kind="of a newer release", body="{}", expires_at=row.expires_at).save()
    assert timeline(app, pipeline) == [entry for entry in before if entry.kind != OBSERVED or entry != before[0]]


def test_what_does_not_exist_has_no_timeline(app: InProcessApp) -> None:
    for read in (app.services.timelines.of_pipeline, app.services.timelines.of_delivery):
        with pytest.raises(NotFound):
            read(app.context(), new_id(), limit=9, after=None)
