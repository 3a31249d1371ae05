"""Looks at sources, and what pipelines report because of them. The database is a fake, all else is real."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.api.contract.runtime import PipelineStatusOutput
from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.monitoring.incident import Severity
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import CapturePlan
from chalicelib.domain.providers.postgresql.running_capture import CaptureFacts
from chalicelib.errors import StoreUnavailable, TimedOut
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect_faults import FaultEffect
from tests.support.call_interceptor import Crash, FailureMode, InterceptedCall, Point
from tests.support.fakes import healthy_captures
from tests.support.in_process_app import InProcessApp
from tests.support.recording_bus import RecordingBus


@pytest.fixture
def pipeline(app: InProcessApp) -> Pipeline:
    """A pipeline that runs and was looked at once."""
    pipeline = app.deployed_pipeline()
    app.tick()
    look(app, pipeline)
    return pipeline


def look(app: InProcessApp, pipeline: Pipeline, *, after: float = 60) -> None:
    """A minute passes, with a tick and a look at the pipeline's source."""
    app.tick(after=after)
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))


def seen(app: InProcessApp, pipeline: Pipeline) -> tuple[str, tuple[str, ...]]:
    """State and reasons as the pipeline's detail shows them."""
    observation = app.services.pipelines.detail(pipeline.id).pipeline.observation
    assert observation
    return observation.state.value, observation.reasons


def facts_of(pipeline: Pipeline) -> CaptureFacts:
    return healthy_captures([CapturePlan.of(pipeline, deployed=True)])


def test_a_pipeline_whose_source_is_well_is_running(app: InProcessApp, pipeline: Pipeline) -> None:
    look(app, pipeline)
    assert seen(app, pipeline) == ("RUNNING", ())


def test_a_source_that_is_away_for_two_looks_makes_its_pipeline_degraded(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.reachable = False
    look(app, pipeline)
    assert seen(app, pipeline)[0] == "RUNNING"
    look(app, pipeline)
    state, reasons = seen(app, pipeline)
    assert state == "DEGRADED"
    assert reasons[0].startswith("The source cannot be reached, so nothing is captured:")


def test_it_is_running_again_when_the_source_is_back(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.reachable = False
    look(app, pipeline)
    look(app, pipeline)
    app.database.reachable = True
    look(app, pipeline)
    assert seen(app, pipeline) == ("RUNNING", ())


def test_the_source_itself_is_shown_as_it_was_seen_last(app: InProcessApp, pipeline: Pipeline) -> None:
    def health() -> HealthStatus:
        return app.services.sources.get(pipeline.source_id).health.status

    assert health() is HealthStatus.HEALTHY
    app.database.reachable = False
    look(app, pipeline)
    assert health() is HealthStatus.UNHEALTHY
    app.database.reachable = True
    look(app, pipeline)
    assert health() is HealthStatus.HEALTHY


def test_lists_and_status_say_the_same_as_the_detail(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.captures = replace(facts_of(pipeline), slots={})
    look(app, pipeline)
    listed = app.services.pipelines.list(limit=10, after=None).items[0].observation
    live = app.services.pipelines.status(app.context(), pipeline.id).observation
    assert listed
    assert live
    assert {listed.state, live.state} == {ObservedState.DEGRADED}
    assert listed.reasons == live.reasons == seen(app, pipeline)[1]
    assert "changes were lost" in listed.reasons[0]


def test_a_draft_is_not_looked_at(app: InProcessApp) -> None:
    draft = app.pipeline()
    app.services.source_monitor.run(draft.source_id, Deadline.after(20))
    assert app.services.stores.source_states.find(draft.source_id) is None


def test_a_source_that_was_deleted_is_not_looked_at(app: InProcessApp) -> None:
    app.services.source_monitor.run("3f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c11", Deadline.after(20))


def test_every_source_is_sent_once_a_minute(app: InProcessApp) -> None:
    sent: list[tuple[str, int]] = []
    sources = [app.source().id for _ in range(3)]
    monitor = replace(app.services.source_monitor, send=lambda source_id, delay: sent.append((source_id, delay)))
    assert monitor.dispatch() == 3
    assert sorted(source_id for source_id, _ in sent) == sorted(sources)
    assert sorted(delay for _, delay in sent) == [0, 1, 2]


def test_a_look_costs_the_same_calls_for_any_number_of_pipelines(app: InProcessApp, pipeline: Pipeline) -> None:
    def calls() -> list[str]:
        app.clock.advance(60)
        app.interceptor.watch()
        app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))
        return [point.operation for point in app.interceptor.unwatch()]

    reads_the_source = "capture_facts"
    alone = calls()
    for _ in range(3):
        source = app.services.sources.get(pipeline.source_id)
        app.services.pipelines.deploy(app.context(), app.pipeline(source).id)
    calls()  # the first look at new pipelines asks Connect what it has stored for them
    active_alerts = "Query"
    assert calls() == alone == ["Query", "BatchGetItem", reads_the_source, "TransactWriteItems", "Query", active_alerts]


def test_a_message_that_is_refused_does_not_stop_the_others(app: InProcessApp) -> None:
    sources = sorted(app.source().id for _ in range(3))
    sent: list[str] = []

    def send(source_id: str, _delay: int) -> None:
        if source_id == sources[0]:
            raise StoreUnavailable("The queue did not take the message.")
        sent.append(source_id)

    with pytest.raises(StoreUnavailable, match="1 of 3 messages"):
        replace(app.services.source_monitor, send=send).dispatch()
    assert sorted(sent) == sources[1:]


def test_a_slot_that_was_made_again_under_a_paused_pipeline_is_found_by_connects_offset(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    offset = {"lsn": 100, "snapshot": "INITIAL", "snapshot_completed": True}
    app.connect.connector(pipeline.connector_name).offsets = [{"partition": {"server": "p"}, "offset": offset}]
    app.services.pipelines.pause(app.context(), pipeline.id)
    facts = facts_of(pipeline)
    (slot,) = facts.slots.values()
    for position in (100, 101):
        moved = replace(slot, reader=None, position=position)
        app.database.captures = replace(facts, slots={slot.name: moved})
        look(app, pipeline)
        state, reasons = seen(app, pipeline)
        assert (state, "changes were lost" in " ".join(reasons)) == ("PAUSED", position == 101)


def incidents(app: InProcessApp) -> list[tuple[str, str, str | None]]:
    """Code, status and pipeline of all incidents, the oldest first."""
    found = reversed(app.services.incidents.list(limit=500).items)
    return [(one.condition.code, one.status.value, one.associations.pipeline_id) for one in found]


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


GB = 1024**3


def keep(app: InProcessApp, pipeline: Pipeline, **changes: Any) -> None:
    """The server now keeps this for the pipeline's slot."""
    facts = facts_of(pipeline)
    (slot,) = facts.slots.values()
    app.database.captures = replace(facts, slots={slot.name: replace(slot, **changes)})


def status(app: InProcessApp, pipeline: Pipeline) -> dict[str, Any]:
    """What `GET /pipelines/{uuid}/status` answers."""
    found = app.services.pipelines.status(app.context(), pipeline.id)
    return PipelineStatusOutput.of(found).model_dump(mode="json")


def test_the_status_shows_the_log_that_the_source_keeps(app: InProcessApp, pipeline: Pipeline) -> None:
    limits = {"safe_bytes": 9 * GB, "most_kept_bytes": 10 * GB}
    keep(app, pipeline, log_end=50 * GB, retained_bytes=GB, **limits)
    look(app, pipeline)
    look(app, pipeline)
    observed_at = status(app, pipeline)["observed_at"]
    assert status(app, pipeline)["log"] == {
        "kind": "slot",
        "name": CapturePlan.of(pipeline, deployed=True).slot_name,
        "active": True,
        "retained_bytes": GB,
        "safe_bytes": 9 * GB,
        "status": "reserved",
        "seconds_to_loss": None,
        "observed_at": observed_at,
    }


def test_a_slot_that_falls_behind_is_reported_before_it_is_lost(app: InProcessApp, pipeline: Pipeline) -> None:
    states = []
    for gigabytes in range(1, 11):
        keep(app, pipeline, log_end=gigabytes * GB, retained_bytes=gigabytes * GB, safe_bytes=(10 - gigabytes) * GB,
             most_kept_bytes=10 * GB, wal_status="reserved" if gigabytes < 10 else "unreserved")  # fmt: skip
        look(app, pipeline)
        states.append(seen(app, pipeline)[0])
    assert states == ["RUNNING"] * 6 + ["DEGRADED"] * 4
    shown = status(app, pipeline)
    assert (shown["log"]["status"], shown["log"]["seconds_to_loss"]) == ("unreserved", 0)
    assert "its next checkpoint can remove what the slot needs" in " ".join(shown["reasons"])


def test_a_slot_without_a_bound_is_a_reason_and_the_pipeline_runs_on(app: InProcessApp, pipeline: Pipeline) -> None:
    keep(app, pipeline, log_end=20 * GB, retained_bytes=11 * GB)
    look(app, pipeline)
    look(app, pipeline)
    state, (reason,) = seen(app, pipeline)
    assert state == "RUNNING"
    assert "keeps 11.0 GB of its log" in reason


def test_the_slot_of_a_paused_pipeline_that_retains_without_bound_is_found(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    app.services.pipelines.pause(app.context(), pipeline.id)
    keep(app, pipeline, log_end=20 * GB, retained_bytes=11 * GB, reader=None)
    look(app, pipeline)
    look(app, pipeline)
    state, reasons = seen(app, pipeline)
    assert state == "PAUSED"
    assert "from which nobody reads. Nothing limits that" in reasons[-1]
    assert "Resume the pipeline, or delete it with its slot" in reasons[-1]


def test_the_log_is_not_known_when_the_source_cannot_be_read_for_long(app: InProcessApp, pipeline: Pipeline) -> None:
    known = status(app, pipeline)["log"]
    assert known
    app.database.reachable = False
    for minute in range(1, 8):
        look(app, pipeline)
        assert status(app, pipeline)["log"] == (known if minute <= 5 else None)


def test_an_open_operation_does_not_make_headgate_forget_what_it_saw_of_a_capture(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    source = app.services.sources.get(pipeline.source_id)
    app.services.pipelines.deploy(app.context(), app.pipeline(source).id)
    app.connect.plant(FaultEffect.TIMED_OUT, "PUT", f"{pipeline.connector_name}/pause$", times=99)
    assert app.services.pipelines.pause(app.context(), pipeline.id).open_operation
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))
    assert app.services.pipelines.get(pipeline.id).open_operation
    state = app.services.stores.source_states.get(pipeline.source_id)
    assert (state.captures[pipeline.id].server, len(state.captures)) == ("1", 2)


def test_a_slot_at_risk_is_a_warning_and_nothing_once_it_is_read_again(app: InProcessApp, pipeline: Pipeline) -> None:
    keep(app, pipeline, log_end=20 * GB, retained_bytes=11 * GB)
    look(app, pipeline)
    assert incidents(app) == []
    look(app, pipeline)
    assert incidents(app) == [("LOG_AT_RISK", "OPEN", pipeline.id)]
    (incident,) = app.services.incidents.list(limit=500).items
    assert incident.condition.severity is Severity.WARNING
    keep(app, pipeline, log_end=20 * GB, retained_bytes=GB)
    look(app, pipeline)
    assert incidents(app) == [("LOG_AT_RISK", "RESOLVED", pipeline.id)]


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
    bus, monitor = RecordingBus(), app.services.source_monitor
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
    assert bus.codes == [[], [], ["SOURCE_CONNECTION_FAILED"], []]
    assert {report.origin for report in bus.reports} == {f"source/{pipeline.source_id}"}
    assert bus.reports[0].at == began
    assert all(report.complete for report in bus.reports)


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
    bus, source = recording(app), app.source()
    app.database.test_failures[:] = [FailureCode.AUTHENTICATION_FAILED]
    for _ in range(2):
        app.services.sources.test(app.context(), source.id)
        app.clock.advance(60)
        app.services.source_monitor.run(source.id, Deadline.after(20))
    assert bus.codes == [["SOURCE_AUTH_FAILED"], []]


def test_incidents_that_cannot_be_stored_do_not_keep_alerting_from_the_report(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    app.database.reachable = False
    look(app, pipeline)
    bus = recording(app)
    app.clock.advance(60)
    with pytest.raises(TimedOut):
        app.services.source_monitor.run(pipeline.source_id, Deadline.after(0))
    assert bus.codes == [["SOURCE_CONNECTION_FAILED"]]
