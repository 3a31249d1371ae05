"""Rows that this release cannot read: what they stop, who says so, and when that ends."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.health import HealthStatus
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.incident import Incident, origin_of
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.errors import StoreUnavailable, UnreadableRow
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.kit.unreadable import Unreadable, unreadable_rows
from chalicelib.services.monitors.unreadable_rows import MAX_REPORTED
from tests.faults.inspection import connector_writes, create_orphan
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.lost_snapshot import lose_snapshot
from tests.support.apps.open_operations import left_open
from tests.support.unreadable import make_body_unreadable, make_column_unreadable, make_readable, make_unreadable

FAILURE = "java.lang.IllegalStateException: something that nobody has seen before"
LONG_ENOUGH = (10, 100, 700, 10, 10)
"""Seconds between ticks after which an orphan is deleted."""


def open_incidents(app: InProcessApp) -> list[Incident]:
    """Those about rows that cannot be read."""
    every = app.services.incidents.list(limit=100, active=True).items
    return [one for one in every if one.condition.code is ConditionCode.UNREADABLE_ROW]


def meet(app: InProcessApp, *rows: tuple[str, str]) -> None:
    app.services.unreadable_rows.note([Unreadable(kind, row_id, "enum") for kind, row_id in rows])


def lines(caplog: pytest.LogCaptureFixture) -> list[Any]:
    """The rows that the log names."""
    return [vars(line)["row"] for line in caplog.records if hasattr(line, "row")]


# incidents


def test_an_incident_names_the_row_until_it_can_be_read(app: InProcessApp) -> None:
    pipeline, store = app.pipeline(), app.services.stores.resources.pipelines
    make_unreadable(store, pipeline.id, "provider")
    with unreadable_rows() as rows:
        app.services.pipelines.list(limit=10, after=None)
    app.services.unreadable_rows.note(rows)
    for _ in range(3):
        app.clock.advance(60)
        assert app.services.unreadable_rows.check() == 1
        (incident,) = open_incidents(app)
    assert (incident.condition.resource_type, incident.condition.resource_id) == ("pipeline", pipeline.id)
    make_readable(store, pipeline.id, pipeline)
    app.clock.advance(60)
    assert app.services.unreadable_rows.check() == 0
    assert open_incidents(app) == []


def test_an_incident_ends_when_the_row_is_gone(app: InProcessApp) -> None:
    meet(app, ("pipeline", new_id()))
    assert app.services.unreadable_rows.check() == 0
    assert open_incidents(app) == []


def test_an_alert_follows_also_where_the_row_is_no_resource_with_a_name(app: InProcessApp) -> None:
    user = new_id()
    meet(app, ("user", user))
    app.services.unreadable_rows.check()
    (alert,) = app.services.stores.alerts.alerts.all()
    assert (alert.event.emitter.name, alert.is_active) == (f"user {user}", True)
    app.clock.advance(2 * 86_400)
    app.services.unreadable_rows.check()
    (alert,) = app.services.stores.alerts.alerts.all()
    assert not alert.is_active


def test_what_the_schedule_may_not_read_counts_for_a_day_after_a_process_has_met_it(app: InProcessApp) -> None:
    meet(app, ("user", "u"))
    app.clock.advance(13 * 3600)
    meet(app, ("user", "u"))
    app.clock.advance(13 * 3600)
    assert app.services.unreadable_rows.check() == 1
    app.clock.advance(12 * 3600)
    assert app.services.unreadable_rows.check() == 0


def test_a_row_that_many_processes_meet_is_one_line_of_the_log(
    app: InProcessApp, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        meet(app, ("pipeline", "p"))
        app.restart()
    meet(app, ("pipeline", "p"), ("pipeline", "q"))
    assert [line["id"] for line in lines(caplog)] == ["p", "q"]


def test_who_meets_a_row_does_not_depend_on_the_store_of_notes(
    app: InProcessApp, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(*_: object) -> bool:
        raise StoreUnavailable("The store did not answer.")

    monkeypatch.setattr(type(app.services.stores.monitoring.unreadable_notes), "write", down)
    meet(app, ("pipeline", "p"))
    assert [line["id"] for line in lines(caplog)] == ["p"]


def test_of_very_many_rows_a_bounded_number_has_incidents(app: InProcessApp) -> None:
    for number in range(MAX_REPORTED + 5):
        meet(app, ("user", f"u{number:04}"))
    assert app.services.unreadable_rows.check() == MAX_REPORTED
    assert len(open_incidents(app)) == MAX_REPORTED


# incidents that cannot be read themselves


def stalled(resource_id: str) -> Condition:
    return Condition(
        code=ConditionCode.STALLED, resource_type="pipeline", resource_id=resource_id, message="It stands still."
    )


def report(app: InProcessApp, *conditions: Condition, looked_at: frozenset[str] | None = None) -> bool:
    made = MonitorReport(origin="connect_cluster/c", at=app.clock(), conditions=conditions, looked_at=looked_at)
    app.clock.advance(60)
    return app.services.alerting.bus.publish(made, Deadline.after(10))


def active_alerts(app: InProcessApp) -> list[str]:
    """The pipelines that active alerts are about, one for each alert."""
    return sorted(alert.pipeline_id or "" for alert in app.services.stores.alerts.alerts.all() if alert.is_active)


def incident_about(app: InProcessApp, resource_id: str) -> Incident:
    every = app.services.stores.monitoring.incidents.all()
    return next(one for one in every if one.condition.resource_id == resource_id)


def test_an_unreadable_incident_is_not_opened_again_and_its_alert_goes_on_and_ends(app: InProcessApp) -> None:
    one, two = app.pipeline().id, app.pipeline().id
    assert report(app, stalled(one), stalled(two))
    make_unreadable(app.services.stores.monitoring.incidents, incident_about(app, one).id, "status")
    assert report(app, stalled(one), stalled(two))
    assert active_alerts(app) == sorted([one, two])
    assert len(list(app.services.stores.monitoring.incidents.ids())) == 2
    assert report(app, stalled(one), looked_at=frozenset({two}))
    assert active_alerts(app) == [one]
    assert report(app, looked_at=frozenset({two}))
    assert active_alerts(app) == [one]
    assert report(app)
    assert active_alerts(app) == []


def test_an_unreadable_alert_gets_no_second_one_beside_it(app: InProcessApp) -> None:
    one, two = app.pipeline().id, app.pipeline().id
    report(app, stalled(one))
    (alert,) = app.services.stores.alerts.alerts.all()
    make_unreadable(app.services.stores.alerts.alerts, alert.id, "max_severity")
    assert report(app, stalled(one), stalled(two))
    assert active_alerts(app) == [two]
    assert len(list(app.services.stores.alerts.alerts.ids())) == 2


# connectors


@pytest.mark.parametrize("column", [False, True])
def test_the_connector_of_an_unreadable_pipeline_is_left_alone_and_never_an_orphan(
    app: InProcessApp, column: bool
) -> None:
    pipeline, other = app.deployed_pipeline(), app.deployed_pipeline()
    app.ticks(10, 10)
    store = app.services.stores.resources.pipelines
    if column:
        make_column_unreadable(store, pipeline.id, "desired_state")
    else:
        make_unreadable(store, pipeline.id, "desired_state")
    # What ticks remember is lost, too: nothing but the row says whose it is.
    lose_snapshot(app, pipeline.connect_cluster_id)
    app.connect.calls.clear()
    app.ticks(*LONG_ENOUGH)
    assert sorted(app.connect.names()) == sorted([pipeline.connector_name, other.connector_name])
    assert connector_writes(app) == []


def test_an_orphan_whose_owner_is_looked_up_and_cannot_be_read_is_not_removed(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.ticks(10, 10)
    store = app.services.stores.resources.pipelines
    draft = replace(store.get(pipeline.id), desired_state=DesiredState.DRAFT)
    store.save_alone(draft)
    make_unreadable(store, pipeline.id, "provider")
    app.ticks(*LONG_ENOUGH)
    assert app.connect.names() == [pipeline.connector_name]


def test_real_orphans_are_still_removed(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    make_column_unreadable(app.services.stores.resources.pipelines, pipeline.id, "desired_state")
    orphan = create_orphan(app)
    app.ticks(*LONG_ENOUGH)
    assert app.connect.names() == [pipeline.connector_name]
    assert orphan not in app.connect.names()


@pytest.mark.parametrize("readable_name", [True, False])
def test_the_connector_of_an_unreadable_operation_is_left_alone(app: InProcessApp, readable_name: bool) -> None:
    """Of a delivery that is being deployed nothing but the operation says that its connector is needed."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    data = app.delivery_input(pipeline)
    left_open(app, lambda: app.services.deliveries.deploy(app.context(), destination.id, data))
    operations = app.services.stores.connectors.operations
    (operation,) = (one for one in operations.all() if one.kind is OperationKind.DEPLOY and not one.step.settled)
    if readable_name:
        make_unreadable(operations, operation.id, "kind")
    else:
        make_body_unreadable(operations, operation.id)
    app.ticks(*LONG_ENOUGH)
    assert sorted(app.connect.names()) == sorted([pipeline.connector_name, operation.connector_name])


def test_connect_may_go_on_to_read_the_secrets_for_an_unreadable_pipeline(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    source = app.services.sources.get(pipeline.source_id)
    app.clock.advance(3600)
    make_unreadable(app.services.stores.resources.pipelines, pipeline.id, "provider")
    assert app.services.secret_provider.read(app.context(), source.credentials.id)


# looks at sources


def look(app: InProcessApp, source_id: str) -> None:
    app.clock.advance(60)
    app.services.source_monitor.run(source_id, Deadline.after(25))


def reported(app: InProcessApp, source_id: str) -> list[str]:
    """The resources of the incidents that looks at a source have opened."""
    conditions = app.services.incidents.current_conditions(origin_of("source", source_id))
    return [condition.resource_id for condition in conditions]


def test_what_a_look_has_found_about_an_unreadable_pipeline_stands(app: InProcessApp) -> None:
    source = app.source()
    for _ in range(2):
        app.services.pipelines.deploy(app.context(), app.pipeline(source).id)
    lost, other = app.services.stores.resources.pipelines.list(limit=2).items
    look(app, source.id)
    states = app.services.stores.monitoring.source_states
    state = states.get(source.id)
    finding = Finding(code=FindingCode.LOG_POSITION_LOST, message="Changes are lost.", certain=True)
    captures = {**state.captures, lost.id: replace(state.captures[lost.id], findings=(finding,))}
    states.save_alone(replace(state, captures=captures))
    look(app, source.id)
    assert reported(app, source.id) == [lost.id]
    make_unreadable(app.services.stores.resources.pipelines, lost.id, "provider")
    look(app, source.id)
    assert states.get(source.id).captures.keys() == {lost.id, other.id}
    assert reported(app, source.id) == [lost.id]


def test_a_source_whose_only_pipeline_cannot_be_read_is_unknown_as_nobody_looks_at_it(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    look(app, pipeline.source_id)
    assert app.services.sources.get(pipeline.source_id).health.status is HealthStatus.HEALTHY
    make_unreadable(app.services.stores.resources.pipelines, pipeline.id, "provider")
    for _ in range(6):
        look(app, pipeline.source_id)
    assert app.services.sources.get(pipeline.source_id).health.status is HealthStatus.UNKNOWN


def test_a_pipeline_whose_source_state_cannot_be_read_is_unknown_and_may_be_paused(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(25))
    app.tick()
    make_unreadable(app.services.stores.monitoring.source_states, pipeline.source_id, "captures")
    (listed,) = app.services.pipelines.list(limit=10, after=None).items
    shown = app.services.pipelines.detail(pipeline.id).pipeline
    for one in (listed, shown):
        assert one.observation is not None
        assert one.observation.state is ObservedState.UNKNOWN
        assert any("cannot be read" in reason for reason in one.observation.reasons)
    app.services.pipelines.pause(app.context(), pipeline.id)
    with pytest.raises(UnreadableRow):
        app.services.pipelines.resume(app.context(), pipeline.id)
