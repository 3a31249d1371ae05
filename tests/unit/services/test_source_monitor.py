"""Looks at sources, and what pipelines report because of them. The database is a fake, all else is real."""

from dataclasses import replace

import pytest

from chalicelib.domain.health import HealthStatus
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import CapturePlan
from chalicelib.domain.providers.postgresql.running_capture import CaptureFacts
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Deadline
from tests.support.fakes import healthy_captures
from tests.support.in_process_app import InProcessApp


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

    alone = calls()
    for _ in range(3):
        source = app.services.sources.get(pipeline.source_id)
        app.services.pipelines.deploy(app.context(), app.pipeline(source).id)
    calls()  # the first look at new pipelines asks Connect what it has stored for them
    assert calls() == alone == ["Query", "BatchGetItem", "TransactWriteItems", "Query"]


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
