"""Before a capture continues: it is refused when changes were lost, unless that is accepted."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.errors import Conflict
from chalicelib.kit.clock import Deadline
from tests.support.apps.fakes import healthy_captures
from tests.support.apps.in_process_app import InProcessApp

Continue = Callable[[InProcessApp, Pipeline], object]


def resume(app: InProcessApp, pipeline: Pipeline) -> object:
    """Resume a paused pipeline."""
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.settle()
    return app.services.pipelines.resume(app.context(), pipeline.id)


CONTINUES: dict[str, Continue] = {
    "resume": resume,
    "restart": lambda app, one: app.services.pipelines.restart(app.context(), one.id),
}


@pytest.fixture
def pipeline(app: InProcessApp) -> Pipeline:
    """A pipeline that runs; Connect has stored that it has read up to position 100, where its slot is."""
    pipeline = app.deployed_pipeline()
    offset = {"lsn": 100, "snapshot": "INITIAL", "snapshot_completed": True}
    app.connect.connector(pipeline.connector_name).offsets = [{"partition": {"server": "p"}, "offset": offset}]
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))
    return pipeline


def make_slot_again(app: InProcessApp, pipeline: Pipeline) -> None:
    """The slot begins after what Connect has stored; nobody reads from it yet."""
    facts = healthy_captures([PostgreSQLCapturePlan.of(pipeline, deployed=True)])
    made = {name: replace(slot, start=101, position=101, reader=None) for name, slot in facts.slots.items()}
    app.database.captures = replace(facts, slots=made)


@pytest.mark.parametrize("act", CONTINUES.values(), ids=CONTINUES)
def test_a_capture_that_has_lost_nothing_continues(app: InProcessApp, pipeline: Pipeline, act: Continue) -> None:
    act(app, pipeline)


@pytest.mark.parametrize("act", CONTINUES.values(), ids=CONTINUES)
def test_a_slot_that_was_made_again_is_refused(app: InProcessApp, pipeline: Pipeline, act: Continue) -> None:
    make_slot_again(app, pipeline)
    with pytest.raises(Conflict, match=r"changes were lost.*accept_data_loss=true"):
        act(app, pipeline)
    assert app.services.pipelines.get(pipeline.id).open_operation is None


def test_a_capture_continues_while_the_same_process_reads_from_its_slot(app: InProcessApp, pipeline: Pipeline) -> None:
    make_slot_again(app, pipeline)
    facts = app.database.captures
    read = {name: replace(slot, reader="7") for name, slot in facts.slots.items()}
    app.database.captures = replace(facts, slots=read)
    app.services.pipelines.restart(app.context(), pipeline.id)


def test_a_capture_continues_while_another_process_reads_on_from_an_offset_that_is_stored_late(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    make_slot_again(app, pipeline)
    facts = app.database.captures
    read = {name: replace(slot, reader="8") for name, slot in facts.slots.items()}
    app.database.captures = replace(facts, slots=read)
    with pytest.raises(Conflict, match="changes were lost"):
        app.services.pipelines.restart(app.context(), pipeline.id)
    (stored,) = app.connect.connector(pipeline.connector_name).offsets
    stored["offset"] = {"lsn": 100, "lsn_proc": 100, "lsn_commit": 100}
    app.services.pipelines.restart(app.context(), pipeline.id)


def test_another_server_is_refused(app: InProcessApp, pipeline: Pipeline) -> None:
    facts = healthy_captures([PostgreSQLCapturePlan.of(pipeline, deployed=True)])
    app.database.captures = replace(facts, system_identifier="2")
    with pytest.raises(Conflict, match="Another server answers"):
        app.services.pipelines.restart(app.context(), pipeline.id)


def test_lost_changes_can_be_accepted(app: InProcessApp, pipeline: Pipeline) -> None:
    make_slot_again(app, pipeline)
    app.services.pipelines.restart(app.context(), pipeline.id, accept_data_loss=True)
    state = app.services.stores.monitoring.source_states.get(pipeline.source_id)
    assert state.captures == {}


def test_a_source_that_cannot_be_read_does_not_prevent_a_restart(app: InProcessApp, pipeline: Pipeline) -> None:
    app.database.reachable = False
    app.services.pipelines.restart(app.context(), pipeline.id)


def test_a_pause_is_not_refused(app: InProcessApp, pipeline: Pipeline) -> None:
    make_slot_again(app, pipeline)
    app.services.pipelines.pause(app.context(), pipeline.id)


def stop_by_hand(app: InProcessApp, pipeline: Pipeline) -> None:
    """Somebody stops the connector in Kafka Connect."""
    app.services.clients.connect(app.cluster).stop(pipeline.connector_name, Deadline.after(5))
    app.connect.settle()


def state_after_ticks(app: InProcessApp, pipeline: Pipeline) -> str | None:
    app.tick(times=4)
    return app.connect.connector(pipeline.connector_name).part.state


def test_a_tick_resumes_a_capture_that_has_lost_nothing(app: InProcessApp, pipeline: Pipeline) -> None:
    stop_by_hand(app, pipeline)
    assert state_after_ticks(app, pipeline) == "RUNNING"


def test_a_tick_does_not_resume_a_capture_that_has_lost_changes(app: InProcessApp, pipeline: Pipeline) -> None:
    stop_by_hand(app, pipeline)
    make_slot_again(app, pipeline)
    assert state_after_ticks(app, pipeline) == "STOPPED"


def test_a_tick_does_not_wait_for_a_source_that_the_last_look_could_not_reach(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    app.database.reachable = False
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))
    make_slot_again(app, pipeline)
    stop_by_hand(app, pipeline)
    assert state_after_ticks(app, pipeline) == "RUNNING"


def test_a_vanished_connector_is_not_made_again_when_its_slot_is_gone(app: InProcessApp, pipeline: Pipeline) -> None:
    facts = healthy_captures([PostgreSQLCapturePlan.of(pipeline, deployed=True)])
    app.database.captures = replace(facts, slots={})
    app.connect.drop(pipeline.connector_name)
    app.tick(times=4)
    assert pipeline.connector_name not in app.connect.names()
    with pytest.raises(Conflict, match="changes were lost"):
        app.services.pipelines.deploy(app.context(), pipeline.id)
    app.services.pipelines.deploy(app.context(), pipeline.id, accept_data_loss=True)
    assert pipeline.connector_name in app.connect.names()
