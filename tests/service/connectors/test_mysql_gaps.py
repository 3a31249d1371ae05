"""Captures from MySQL that have lost changes: refused, or going on without their offset, with definitions of now."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Conflict
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect_faults import FaultEffect
from tests.support.apps.fake_mysql import mysql_captures, mysql_offset, transactions
from tests.support.apps.in_process_app import InProcessApp

HISTORY = "schema.history.internal.kafka.topic"
UNKNOWN_TABLE = (
    "org.apache.kafka.connect.errors.ConnectException: An exception occurred in the change event producer.\n"
    "Caused by: io.debezium.DebeziumException: Encountered change event for table shop.orders whose schema isn't known "
    "to this connector\n"
)
PURGED = mysql_captures(files={"mysql-bin.000003": 500}, purged=transactions(1, 95))


@pytest.fixture
def pipeline(app: InProcessApp) -> Pipeline:
    """A pipeline that runs, and has read up to transaction 90 of 99."""
    pipeline = app.deployed_pipeline(app.source(provider=DatabaseProvider.MYSQL))
    store(app, pipeline, mysql_offset())
    look(app, pipeline)
    return pipeline


def store(app: InProcessApp, pipeline: Pipeline, offset: dict[str, object] | None) -> None:
    """Connect has stored that offset."""
    partition = {"server": pipeline.capture.topic_prefix}
    offsets = [{"partition": partition, "offset": offset}] if offset else []
    app.connect.connector(pipeline.connector_name).offsets = offsets  # type: ignore[assignment]


def stored(app: InProcessApp, pipeline: Pipeline) -> list[Any]:
    return [one["offset"] for one in app.connect.connector(pipeline.connector_name).offsets]


def look(app: InProcessApp, pipeline: Pipeline) -> None:
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))


def purge(app: InProcessApp) -> None:
    """The log behind the stored offset is purged, and nobody reads."""
    app.database.captures = replace(PURGED, readers=frozenset())


def restart(app: InProcessApp, pipeline: Pipeline, **how: bool) -> Pipeline:
    restarted = app.services.pipelines.restart(app.context(), pipeline.id, **how)
    app.connect.settle()
    return restarted


def history_of(app: InProcessApp, pipeline: Pipeline) -> str:
    return str(app.connect.config_of(pipeline.connector_name)[HISTORY])


def went_on(app: InProcessApp, pipeline: Pipeline, gaps: int = 1) -> None:
    """It runs without its old offset, with the next schema history, and takes no snapshot."""
    connector = app.connect.connector(pipeline.connector_name)
    config = app.connect.config_of(pipeline.connector_name)
    assert (stored(app, pipeline), connector.part.state) == ([], "RUNNING")
    assert config["snapshot.mode"] == "no_data"
    first = f"{pipeline.capture.topic_prefix}.headgate-history-{pipeline.id}"
    assert config[HISTORY] == f"{first}-{gaps}"
    assert {first, f"{first}-{gaps}"} <= app.kafka.state.topics.keys()
    assert app.kafka.state.topics[f"{first}-{gaps}"].settings["retention.ms"] == "-1"
    now = app.services.pipelines.get(pipeline.id)
    assert (now.gaps_passed, now.open_operation, now.last_error) == (gaps, None, None)
    assert app.services.stores.monitoring.source_states.get(pipeline.source_id).captures.get(pipeline.id) is None
    # Its config is the one that it should have: nothing is outdated.
    assert app.services.pipelines.detail(pipeline.id).pipeline.observation.reasons == ()  # type: ignore[union-attr]


def test_a_capture_that_has_lost_nothing_is_restarted(app: InProcessApp, pipeline: Pipeline) -> None:
    restart(app, pipeline)
    restart(app, pipeline, accept_data_loss=True)
    assert stored(app, pipeline) == [mysql_offset()]
    assert history_of(app, pipeline).endswith(pipeline.id)
    assert app.services.pipelines.get(pipeline.id).gaps_passed == 0


def test_a_purged_log_is_refused_with_the_calls_that_help(app: InProcessApp, pipeline: Pipeline) -> None:
    purge(app)
    with pytest.raises(Conflict, match=r"purged its binary log.*accept_data_loss=true") as refused:
        restart(app, pipeline)
    assert refused.value.code == "DATA_LOSS"
    assert app.services.pipelines.get(pipeline.id).open_operation is None


def test_who_accepts_the_loss_goes_on_with_the_definitions_of_now(app: InProcessApp, pipeline: Pipeline) -> None:
    purge(app)
    restart(app, pipeline, accept_data_loss=True)
    went_on(app, pipeline)


def test_a_second_gap_is_passed_as_the_first(app: InProcessApp, pipeline: Pipeline) -> None:
    for gaps in (1, 2):
        purge(app)
        restart(app, pipeline, accept_data_loss=True)
        went_on(app, pipeline, gaps)
        store(app, pipeline, mysql_offset(90))


def test_a_paused_capture_goes_on_paused(app: InProcessApp, pipeline: Pipeline) -> None:
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.settle()
    purge(app)
    assert restart(app, pipeline, accept_data_loss=True).desired_state is DesiredState.PAUSED
    assert app.connect.connector(pipeline.connector_name).part.state == "PAUSED"
    assert app.connect.config_of(pipeline.connector_name)["snapshot.mode"] == "no_data"
    assert stored(app, pipeline) == []


def test_a_session_that_reads_on_is_resumed_without_a_loss(app: InProcessApp, pipeline: Pipeline) -> None:
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.settle()
    app.database.captures = PURGED
    with pytest.raises(Conflict, match="purged its binary log"):
        restart(app, pipeline)
    for accepts in (False, True):
        app.services.pipelines.resume(app.context(), pipeline.id, accept_data_loss=accepts)
        app.connect.settle()
        assert stored(app, pipeline) == [mysql_offset()]
        app.services.pipelines.pause(app.context(), pipeline.id)
        app.connect.settle()


def test_a_lost_schema_history_is_passed_as_well(app: InProcessApp, pipeline: Pipeline) -> None:
    app.kafka.state.delete_topic(history_of(app, pipeline))
    with pytest.raises(Conflict, match=r"was deleted.*accept_data_loss=true") as refused:
        restart(app, pipeline)
    assert refused.value.code == "DATA_LOSS"
    restart(app, pipeline, accept_data_loss=True)
    assert app.connect.config_of(pipeline.connector_name)["snapshot.mode"] == "no_data"
    assert stored(app, pipeline) == []


def test_a_failure_at_the_stored_position_is_passed_as_well(app: InProcessApp, pipeline: Pipeline) -> None:
    app.connect.fail_task(pipeline.connector_name, UNKNOWN_TABLE)
    restart(app, pipeline, accept_data_loss=True)
    went_on(app, pipeline)


def test_what_a_look_has_found_is_passed_when_nothing_shows_it_any_more(app: InProcessApp, pipeline: Pipeline) -> None:
    """A log that was begun anew, and is as long again."""
    app.database.captures = mysql_captures(executed=transactions(1, 5))
    look(app, pipeline)
    app.database.captures = None
    with pytest.raises(Conflict, match="begun anew"):
        restart(app, pipeline)
    restart(app, pipeline, accept_data_loss=True)
    went_on(app, pipeline)


def test_a_snapshot_that_is_not_complete_is_taken_again(app: InProcessApp, pipeline: Pipeline) -> None:
    in_snapshot = {**mysql_offset(), "snapshot": "INITIAL"}
    store(app, pipeline, in_snapshot)
    purge(app)
    restart(app, pipeline, accept_data_loss=True)
    assert stored(app, pipeline) == [in_snapshot]
    assert app.connect.config_of(pipeline.connector_name)["snapshot.mode"] == "initial"


def test_a_server_without_a_binary_log_is_in_the_way(app: InProcessApp, pipeline: Pipeline) -> None:
    purge(app)
    app.database.slot_is_taken = True
    with pytest.raises(Conflict, match="writes no binary log"):
        restart(app, pipeline, accept_data_loss=True)
    assert stored(app, pipeline) == [mysql_offset()]
    assert app.services.pipelines.get(pipeline.id).gaps_passed == 0


def test_a_vanished_connector_goes_on_where_its_log_was_purged(app: InProcessApp, pipeline: Pipeline) -> None:
    purge(app)
    app.connect.drop(pipeline.connector_name)
    app.tick(times=4)
    assert pipeline.connector_name not in app.connect.names()
    with pytest.raises(Conflict, match="purged its binary log"):
        app.services.pipelines.deploy(app.context(), pipeline.id)
    app.services.pipelines.deploy(app.context(), pipeline.id, accept_data_loss=True)
    app.connect.settle()
    went_on(app, pipeline)


Plant = Callable[[InProcessApp], object]
UNCERTAIN: dict[str, Plant] = {
    "the answer to the new config is lost": lambda app: app.connect.plant(FaultEffect.LOSE_REPLY, "PUT", "/config$"),
    "the new config is not written": lambda app: app.connect.plant(FaultEffect.TIMED_OUT, "PUT", "/config$", times=9),
    "the connector is not started": lambda app: app.connect.plant(FaultEffect.TIMED_OUT, "PUT", "/resume$", times=9),
}


@pytest.mark.parametrize("plant", UNCERTAIN.values(), ids=UNCERTAIN)
def test_what_was_begun_is_finished_by_a_tick(app: InProcessApp, pipeline: Pipeline, plant: Plant) -> None:
    purge(app)
    plant(app)
    assert restart(app, pipeline, accept_data_loss=True).open_operation is not None
    app.connect.faults.clear()
    app.ticks(40, 40)
    went_on(app, pipeline)


def test_an_offset_that_is_lost_later_is_not_a_silent_gap(app: InProcessApp, pipeline: Pipeline) -> None:
    """After a gap the connector takes no snapshot: without an offset it would go on at the end of the log."""
    purge(app)
    restart(app, pipeline, accept_data_loss=True)
    app.database.captures = None
    store(app, pipeline, mysql_offset(95))
    look(app, pipeline)
    store(app, pipeline, None)
    with pytest.raises(Conflict, match=r"no stored position.*accept_data_loss=true"):
        restart(app, pipeline)
    restart(app, pipeline, accept_data_loss=True)
    assert app.connect.connector(pipeline.connector_name).part.state == "RUNNING"
