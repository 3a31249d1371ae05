"""Looks at sources, and what pipelines report because of them. The database is a fake, all else is real."""

import logging
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.api.contract.runtime import PipelineStatusOutput
from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.history import HistoryKind, Series, is_summed_up
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.domain.providers.postgresql.server_log import ServerLog
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect_faults import FaultEffect
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.source_looks import GB, facts_of, incidents, keep, look, pipeline, seen

__all__ = ["pipeline"]


def test_a_pipeline_whose_source_is_well_is_running(app: InProcessApp, pipeline: Pipeline) -> None:
    look(app, pipeline)
    assert seen(app, pipeline) == ("RUNNING", ())


def test_a_source_that_is_away_for_two_looks_makes_its_pipeline_degraded_until_it_is_back(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    app.database.reachable = False
    look(app, pipeline)
    assert seen(app, pipeline)[0] == "RUNNING"
    look(app, pipeline)
    state, reasons = seen(app, pipeline)
    assert state == "DEGRADED"
    assert reasons[0].startswith("The source cannot be reached, so nothing is captured:")
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


def test_another_error_of_the_source_is_shown_as_soon_as_it_is_found(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.reachable = False
    look(app, pipeline)
    app.database.refusal = FailureCode.AUTHENTICATION_FAILED
    look(app, pipeline)
    error = app.services.sources.get(pipeline.source_id).health.last_error
    assert error.code == "AUTHENTICATION_FAILED"


def test_lists_and_status_say_the_same_as_the_detail(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.captures = replace(facts_of(pipeline), slots={})
    look(app, pipeline)
    listed = app.services.pipelines.list(limit=10, after=None).items[0].observation
    live = app.services.pipelines.status(app.context(), pipeline.id).observation
    assert {listed.state, live.state} == {ObservedState.DEGRADED}
    assert listed.reasons == live.reasons == seen(app, pipeline)[1]
    assert "changes were lost" in listed.reasons[0]


def test_a_draft_is_not_looked_at(app: InProcessApp) -> None:
    draft = app.pipeline()
    app.services.source_monitor.run(draft.source_id, Deadline.after(20))
    assert app.services.stores.monitoring.source_states.find(draft.source_id) is None


def test_a_source_that_was_deleted_is_not_looked_at(app: InProcessApp) -> None:
    app.services.source_monitor.run("3f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c11", Deadline.after(20))


def test_every_source_is_sent_once_a_minute(app: InProcessApp) -> None:
    sent: list[tuple[str, int]] = []
    sources = [app.source().id for _ in range(3)]
    monitor = replace(app.services.source_monitor, send=lambda messages, _: sent.extend(messages) or 3)
    assert monitor.dispatch() == 3
    assert sorted(source_id for source_id, _ in sent) == sorted(sources)
    assert sorted(delay for _, delay in sent) == [0, 1, 2]


def test_a_look_costs_the_same_calls_for_any_number_of_pipelines(app: InProcessApp, pipeline: Pipeline) -> None:
    def calls() -> list[str]:
        app.clock.advance(60)
        if is_summed_up(Series(HistoryKind.LOG, pipeline.source_id), app.clock.now):
            app.clock.advance(60)  # twice an hour a look also sums up the hour before
        app.interceptor.watch()
        app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))
        return [point.operation for point in app.interceptor.unwatch()]

    reads_the_source = "capture_facts"
    calls()  # the first look at a source stores that it is watched
    alone = calls()
    for _ in range(3):
        source = app.services.sources.get(pipeline.source_id)
        app.services.pipelines.deploy(app.context(), app.pipeline(source).id)
    calls()  # the first look at new pipelines asks Connect what it has stored for them
    history, active_alerts = "UpdateItem", "Query"
    writes = ["TransactWriteItems", history]
    assert calls() == alone == ["Query", "BatchGetItem", reads_the_source, *writes, "Query", active_alerts]


def test_a_slot_that_was_made_again_under_a_paused_pipeline_is_found_by_connects_offset(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    offset = {"lsn": 100, "snapshot": "INITIAL", "snapshot_completed": True}
    app.connect.connector(pipeline.connector_name).offsets = [{"partition": {"server": "p"}, "offset": offset}]
    app.services.pipelines.pause(app.context(), pipeline.id)
    facts = facts_of(pipeline)
    (slot,) = facts.slots.values()
    for start in (100, 101):
        moved = replace(slot, reader=None, start=start, position=start)
        app.database.captures = replace(facts, slots={slot.name: moved})
        look(app, pipeline)
        state, reasons = seen(app, pipeline)
        assert (state, "changes were lost" in " ".join(reasons)) == ("PAUSED", start == 101)


def status(app: InProcessApp, pipeline: Pipeline) -> dict[str, Any]:
    """What `GET /pipelines/{uuid}/status` answers."""
    found = app.services.pipelines.status(app.context(), pipeline.id)
    return PipelineStatusOutput.of(found).model_dump(mode="json")


def test_the_status_shows_the_log_that_the_source_keeps(app: InProcessApp, pipeline: Pipeline) -> None:
    limits = {"safe_bytes": 9 * GB, "max_kept_bytes": 10 * GB}
    keep(app, pipeline, log_end=50 * GB, retained_bytes=GB, **limits)
    look(app, pipeline)
    look(app, pipeline)
    observed_at = status(app, pipeline)["observed_at"]
    assert status(app, pipeline)["log"] == {
        "kind": "slot",
        "name": PostgreSQLCapturePlan.of(pipeline, deployed=True).slot_name,
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
             max_kept_bytes=10 * GB, wal_status="reserved" if gigabytes < 10 else "unreserved")  # fmt: skip
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
    state = app.services.stores.monitoring.source_states.get(pipeline.source_id)
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


# another server at the address


LOST = "does not have the last changes that were captured"


def answer_with(app: InProcessApp, pipeline: Pipeline, log: ServerLog, **slot: Any) -> None:
    """The server that answers now has this log, and shows the pipeline's slot so."""
    keep(app, pipeline, **slot)
    assert app.database.captures
    app.database.captures = replace(app.database.captures, log=log)


def test_a_promoted_standby_is_compared_with_what_the_last_look_has_seen(app: InProcessApp, pipeline: Pipeline) -> None:
    answer_with(app, pipeline, ServerLog(end=2000, timeline=1), position=1000)
    look(app, pipeline)
    answer_with(app, pipeline, ServerLog(end=9000, timeline=2, switches={1: 999}), position=900, reader="8")
    look(app, pipeline)
    state, reasons = seen(app, pipeline)
    assert (state, LOST in " ".join(reasons)) == ("DEGRADED", True)
    answer_with(app, pipeline, ServerLog(end=99_000, timeline=2), position=50_000, reader="8")
    look(app, pipeline)
    assert seen(app, pipeline) == (state, reasons)


def test_a_promoted_standby_that_has_all_is_simply_running_and_is_logged(
    app: InProcessApp, pipeline: Pipeline, caplog: pytest.LogCaptureFixture
) -> None:
    answer_with(app, pipeline, ServerLog(end=2000, timeline=1), position=1000)
    look(app, pipeline)
    answer_with(app, pipeline, ServerLog(end=9000, timeline=2, switches={1: 1000}), position=900, reader="8")
    with caplog.at_level(logging.INFO):
        look(app, pipeline)
        look(app, pipeline)
    assert seen(app, pipeline) == ("RUNNING", ())
    switched = [record for record in caplog.records if "a standby was promoted" in record.message]
    assert [vars(record)["timelines"] for record in switched] == [{pipeline.id: [1, 2]}]


def test_an_offset_that_is_newer_than_what_was_read_of_the_server_is_no_loss(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    partition = {"server": pipeline.capture.topic_prefix}
    app.connect.connector(pipeline.connector_name).offsets = [
        {"partition": partition, "offset": {"lsn_proc": 2500, "lsn": 2500}}
    ]
    answer_with(app, pipeline, ServerLog(end=2000, timeline=1), reader="8")
    assert app.database.captures
    app.database.next_captures = [
        app.database.captures,
        replace(app.database.captures, log=ServerLog(end=3000, timeline=1)),
    ]
    look(app, pipeline)
    assert seen(app, pipeline) == ("RUNNING", ())
    answer_with(app, pipeline, ServerLog(end=2400, timeline=1), reader="9")
    look(app, pipeline)
    assert seen(app, pipeline)[0] == "DEGRADED"
