"""Before a capture continues: it is refused when changes were lost, unless that is accepted."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from chalicelib.domain.pipeline import Pipeline, SnapshotMode
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.errors import Conflict
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect_faults import FaultEffect
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
    app.connect.connector(pipeline.connector_name).offsets = [
        {"partition": {"server": pipeline.capture.topic_prefix}, "offset": offset}
    ]
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
    with pytest.raises(Conflict, match=r"changes were lost.*accept_data_loss=true") as refused:
        act(app, pipeline)
    assert refused.value.code == "DATA_LOSS"
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


def stored_offset(app: InProcessApp, pipeline: Pipeline) -> object:
    (stored,) = app.connect.connector(pipeline.connector_name).offsets
    return stored["offset"]


def memory_of(app: InProcessApp, pipeline: Pipeline) -> object:
    """What the last look at its source has seen of the pipeline."""
    return app.services.stores.monitoring.source_states.get(pipeline.source_id).captures.get(pipeline.id)


AFTER_THE_GAP = {"lsn_proc": 101, "lsn_commit": 101, "lsn": 101}


def test_a_capture_whose_loss_is_accepted_goes_on_where_its_slot_begins(app: InProcessApp, pipeline: Pipeline) -> None:
    make_slot_again(app, pipeline)
    app.services.pipelines.restart(app.context(), pipeline.id, accept_data_loss=True)
    app.connect.settle()
    assert stored_offset(app, pipeline) == AFTER_THE_GAP
    assert app.connect.connector(pipeline.connector_name).part.state == "RUNNING"
    assert memory_of(app, pipeline) is None
    app.services.pipelines.restart(app.context(), pipeline.id)


def test_a_paused_capture_whose_loss_is_accepted_by_a_restart_stays_paused(
    app: InProcessApp, pipeline: Pipeline
) -> None:
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.settle()
    make_slot_again(app, pipeline)
    app.services.pipelines.restart(app.context(), pipeline.id, accept_data_loss=True)
    app.connect.settle()
    assert stored_offset(app, pipeline) == AFTER_THE_GAP
    assert app.connect.connector(pipeline.connector_name).part.state == "PAUSED"


def test_a_capture_goes_on_at_once_where_nothing_was_lost(app: InProcessApp, pipeline: Pipeline) -> None:
    before = stored_offset(app, pipeline)
    app.services.pipelines.restart(app.context(), pipeline.id, accept_data_loss=True)
    assert stored_offset(app, pipeline) == before
    assert app.connect.calls.count("PUT", f"/{pipeline.connector_name}/stop$") == 0


def test_a_slot_that_is_gone_is_made_again_for_who_accepts_the_loss(app: InProcessApp, pipeline: Pipeline) -> None:
    facts = healthy_captures([PostgreSQLCapturePlan.of(pipeline, deployed=True)])
    app.database.captures = replace(facts, slots={})
    resume_accepting(app, pipeline)
    assert stored_offset(app, pipeline) == {"lsn_proc": 200, "lsn_commit": 200, "lsn": 200}
    assert app.database.captures.slots.keys() == facts.slots.keys()


def resume_accepting(app: InProcessApp, pipeline: Pipeline) -> None:
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.settle()
    app.services.pipelines.resume(app.context(), pipeline.id, accept_data_loss=True)
    app.connect.settle()
    assert app.connect.connector(pipeline.connector_name).part.state == "RUNNING"


def test_a_snapshot_that_is_not_complete_begins_anew(app: InProcessApp, pipeline: Pipeline) -> None:
    (stored,) = app.connect.connector(pipeline.connector_name).offsets
    stored["offset"] = {"lsn": 100, "snapshot": "INITIAL", "snapshot_completed": False}
    make_slot_again(app, pipeline)
    resume_accepting(app, pipeline)
    assert stored_offset(app, pipeline) == {"lsn": 100, "snapshot": "INITIAL", "snapshot_completed": False}


def test_something_else_that_reads_from_the_slot_is_in_the_way(app: InProcessApp, pipeline: Pipeline) -> None:
    make_slot_again(app, pipeline)
    app.database.slot_is_taken = True
    with pytest.raises(Conflict, match="Something else reads from"):
        app.services.pipelines.restart(app.context(), pipeline.id, accept_data_loss=True)
    assert app.services.pipelines.get(pipeline.id).open_operation is None


def test_before_kafka_connect_3_6_no_capture_goes_on_after_a_gap(app: InProcessApp, pipeline: Pipeline) -> None:
    make_slot_again(app, pipeline)
    root = {"version": "3.5.1", "commit": "c", "kafka_cluster_id": "k"}
    app.connect.plant(FaultEffect.OTHER_BODY, "GET", "^/$", times=10, body=root)
    with pytest.raises(Conflict, match=r"older than 3\.6.*A new snapshot is needed") as refused:
        app.services.pipelines.restart(app.context(), pipeline.id, accept_data_loss=True)
    assert refused.value.code == "STATE_CONFLICT"
    assert app.services.pipelines.get(pipeline.id).open_operation is None


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


def test_where_a_capture_without_a_snapshot_begins_is_remembered_when_it_is_deployed(app: InProcessApp) -> None:
    draft = app.pipeline()
    app.services.stores.resources.pipelines.save_alone(
        replace(draft, capture=replace(draft.capture, snapshot_mode=SnapshotMode.NO_DATA))
    )
    pipeline = app.services.pipelines.deploy(app.context(), draft.id)
    app.connect.settle()
    app.connect.connector(pipeline.connector_name).offsets = []
    make_slot_again(app, pipeline)
    with pytest.raises(Conflict, match="made again before the first change was captured"):
        app.services.pipelines.restart(app.context(), pipeline.id)
