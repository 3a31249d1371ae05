"""Incidents and reports to alerting that looks at sources lead to. The database is a fake, all else is real."""

from dataclasses import replace

import pytest

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.pipeline import Pipeline
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect_faults import FaultEffect
from tests.support.alerting.recording_bus import RecordingBus
from tests.support.apps.call_interceptor import Crash, FailureMode, InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input
from tests.support.apps.source_looks import facts_of, incidents, look, pipeline, seen

__all__ = ["pipeline"]


def test_a_source_that_is_away_for_two_looks_is_one_incident_until_it_is_back(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    app.database.reachable = False
    look(app, pipeline)
    assert incidents(app) == []
    for _ in range(3):
        look(app, pipeline)
    assert incidents(app) == [("SOURCE_CONNECTION_FAILED", "OPEN", pipeline.id)]
    app.database.reachable = True
    look(app, pipeline)
    assert incidents(app) == [("SOURCE_CONNECTION_FAILED", "RESOLVED", pipeline.id)]


def test_what_a_test_has_found_stays_one_incident_until_a_look_can_be_made(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    app.database.reachable, app.database.test_failures = False, [FailureCode.CONNECTION_REFUSED]
    app.services.sources.test(app.context(), pipeline.source_id)
    (opened,) = app.services.incidents.list(limit=10).items
    for _ in range(3):
        look(app, pipeline)
        (incident,) = app.services.incidents.list(limit=10).items
        assert (incident.id, incident.status) == (opened.id, "OPEN")
    app.database.reachable = True
    look(app, pipeline)
    assert [status for _, status, _ in incidents(app)] == ["RESOLVED"]


def test_a_table_that_left_the_publication_is_an_incident_of_the_pipeline(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    facts = facts_of(pipeline)
    app.database.captures = replace(facts, published=dict.fromkeys(facts.published, frozenset()))
    look(app, pipeline)
    assert incidents(app) == [("CAPTURE_NARROWED", "OPEN", pipeline.id)]
    app.database.captures = facts
    look(app, pipeline)
    assert incidents(app) == [("CAPTURE_NARROWED", "RESOLVED", pipeline.id)]


def test_what_was_lost_stays_an_incident_while_the_source_is_away(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.captures = replace(facts_of(pipeline), slots={})
    look(app, pipeline)
    app.database.reachable = False
    look(app, pipeline)
    look(app, pipeline)
    assert {code for code, status, _ in incidents(app) if status == "OPEN"} == {
        "CHANGES_LOST",
        "SOURCE_CONNECTION_FAILED",
    }


def test_the_incidents_of_a_pipeline_that_was_deleted_are_resolved(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.captures = replace(facts_of(pipeline), slots={})
    look(app, pipeline)
    app.services.pipelines.delete(app.context(), pipeline.id)
    assert incidents(app) == [("CHANGES_LOST", "RESOLVED", pipeline.id)]


def test_a_look_that_dies_before_its_incident_leaves_it_to_the_next(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.captures = replace(facts_of(pipeline), slots={})
    app.interceptor.watch(_die_at_the_second_transaction())
    with pytest.raises(Crash):
        look(app, pipeline)
    app.interceptor.unwatch()
    app.restart()
    assert incidents(app) == []
    look(app, pipeline)
    assert incidents(app) == [("CHANGES_LOST", "OPEN", pipeline.id)]


def _die_at_the_second_transaction() -> FailureMode:
    seen = 0

    def mode(point: Point, call: InterceptedCall) -> object:
        nonlocal seen
        seen += point.operation == "TransactWriteItems"
        if seen == 2:
            raise Crash
        return call()

    return mode


@pytest.mark.parametrize("alone", [True, False], ids=["the only one", "one of two"])
def test_a_pipeline_that_is_not_looked_at_has_not_recovered(app: InProcessApp, pipeline: Pipeline, alone: bool) -> None:
    """While an operation is open nobody looks at it."""
    if not alone:
        other = app.pipeline(app.services.sources.get(pipeline.source_id))
        app.services.pipelines.deploy(app.context(), other.id)
    facts = facts_of(pipeline)
    app.database.captures = replace(facts, published=dict.fromkeys(facts.published, frozenset()))
    look(app, pipeline)
    assert ("CAPTURE_NARROWED", "OPEN", pipeline.id) in incidents(app)
    app.connect.plant(FaultEffect.TIMED_OUT, "PUT", f"{pipeline.connector_name}/pause$", times=99)
    assert app.services.pipelines.pause(app.context(), pipeline.id).open_operation
    app.clock.advance(60)
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))
    assert ("CAPTURE_NARROWED", "OPEN", pipeline.id) in incidents(app)


def recording(app: InProcessApp) -> RecordingBus:
    """Keeps what the looks of this process report to alerting."""
    bus, monitor = RecordingBus(behind=app.services.alerting.bus), app.services.source_monitor
    app.services.source_monitor = replace(monitor, reports=replace(monitor.reports, bus=bus))
    return bus


def test_each_look_reports_what_is_wrong_with_the_source_and_its_captures(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    bus = recording(app)
    look(app, pipeline)
    began = app.clock.now
    app.database.reachable = False
    look(app, pipeline)
    look(app, pipeline)
    app.database.reachable = True
    look(app, pipeline)
    assert bus.codes == [[], ["SOURCE_CONNECTION_FAILED"], []]
    assert {report.origin for report in bus.reports} == {f"source/{pipeline.source_id}"}
    assert bus.reports[0].at == began


def test_a_look_that_could_not_be_made_reports_nothing_about_captures(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.captures = replace(facts_of(pipeline), slots={})
    look(app, pipeline)
    bus = recording(app)
    app.database.reachable = False
    look(app, pipeline)
    look(app, pipeline)
    app.database.reachable = True
    look(app, pipeline)
    assert bus.codes == [["SOURCE_CONNECTION_FAILED"], ["CHANGES_LOST"]]
    assert [report.looked_at for report in bus.reports] == [{pipeline.source_id}, None]


def test_a_look_that_another_one_was_faster_than_reports_nothing(app: InProcessApp, pipeline: Pipeline) -> None:
    bus = recording(app)

    def faster(point: Point, call: InterceptedCall) -> object:
        if point.operation == "capture_facts":
            with app.interceptor.unrecorded():
                app.restart()
                app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))
        return call()

    monitor = app.services.source_monitor
    app.interceptor.watch(faster)
    monitor.run(pipeline.source_id, Deadline.after(20))
    app.interceptor.unwatch()
    assert bus.reports == []


def test_without_pipelines_what_tests_have_found_is_reported(app: InProcessApp) -> None:
    source, found = app.source(), []
    app.database.test_failures[:] = [FailureCode.AUTHENTICATION_FAILED]
    for _ in range(2):
        app.services.sources.test(app.context(), source.id)
        app.clock.advance(60)
        app.services.source_monitor.run(source.id, Deadline.after(20))
        active = app.services.stores.alerts.alerts.facets(Deadline.after(5), only_active=True)
        found.append([one.kind for one in active])
    assert found == [["SOURCE_AUTH_FAILED"], []]


def test_the_first_look_that_fails_does_not_end_what_a_failed_test_has_found(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    bus = recording(app)
    app.database.reachable = False
    app.database.test_failures[:] = [FailureCode.CONNECTION_REFUSED]
    app.services.sources.test(app.context(), pipeline.source_id)
    for seconds in (1, 60):
        app.clock.advance(seconds)
        app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))
    (incident,) = app.services.incidents.list(limit=9).items
    assert (incident.condition.code, incident.status) == ("SOURCE_CONNECTION_FAILED", IncidentStatus.OPEN)
    assert bus.codes == [["SOURCE_CONNECTION_FAILED"]]


def test_a_test_after_a_change_sends_a_look_that_ends_the_alert(app: InProcessApp) -> None:
    """The change makes the health unknown, so the test does not see it get better."""
    source = app.source()
    app.database.test_failures[:] = [FailureCode.AUTHENTICATION_FAILED]
    app.services.sources.test(app.context(), source.id)
    stored = app.services.sources.get(source.id)
    app.services.sources.update(
        app.context(), source.id, changed_input(stored, address=replace(stored.address, host="other.example.com"))
    )
    sent = []
    checks = replace(app.services.system_checks, look_soon=lambda noun, one: sent.append((noun, one)))
    checks.test(app.context(), app.services.stores.resources.sources, source.id)
    assert sent == [("source", source.id)]


def test_what_one_test_has_found_is_one_occurrence_however_often_it_is_reported(app: InProcessApp) -> None:
    source = app.source()
    app.database.test_failures[:] = [FailureCode.AUTHENTICATION_FAILED] * 2
    counts = []
    for _ in range(2):
        app.services.sources.test(app.context(), source.id)
        for _ in range(3):
            app.clock.advance(60)
            app.services.source_monitor.run(source.id, Deadline.after(20))
        (alert,) = app.services.stores.alerts.alerts.all()
        counts.append(alert.occurrence_count)
    assert counts == [1, 2]


@pytest.mark.parametrize("call", ["deploy", "resume", "restart"])
def test_deploys_and_controls_say_what_the_pipeline_says(app: InProcessApp, pipeline: Pipeline, call: str) -> None:
    facts = facts_of(pipeline)
    app.database.captures = replace(facts, published=dict.fromkeys(facts.published, frozenset()))
    look(app, pipeline)
    state, reasons = seen(app, pipeline)
    assert state == "DEGRADED"
    answer = getattr(app.services.pipelines, call)(app.context(), pipeline.id)
    assert answer.observation.state != "RUNNING"
    assert set(reasons) <= set(answer.observation.reasons)
