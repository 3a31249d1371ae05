"""Which observation of a resource is shown, and which reads it needs."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.observation import Observation, ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView
from chalicelib.services.connectors.observations import ObservationReader
from tests.support.in_process_app import START_TIME, InProcessApp

LATER = START_TIME + timedelta(hours=1)


@pytest.fixture
def reader(app: InProcessApp) -> ObservationReader:
    return app.services.pipelines.observation_reader


def observation(pipeline: Pipeline) -> Observation:
    assert pipeline.observation
    return pipeline.observation


def view(pipeline: Pipeline, **changes: object) -> dict[str, ClusterView]:
    """A view of the pipeline's cluster, one hour later, in which its connector has failed."""
    failed = Observation(state=ObservedState.FAILED, observed_at=START_TIME)
    snapshot = ClusterSnapshot(observed={pipeline.connector_name: failed})
    found = ClusterView(observed_at=LATER, snapshot=snapshot)
    return {pipeline.connect_cluster_id: replace(found, **changes)}


def test_drafts_are_not_deployed_and_need_no_read(app: InProcessApp, reader: ObservationReader) -> None:
    drafts = [app.pipeline(), app.pipeline()]
    app.interceptor.watch()
    shown = reader.latest(drafts)
    assert app.interceptor.unwatch() == []
    assert {observation(one).state for one in shown} == {ObservedState.NOT_DEPLOYED}


def test_any_number_of_resources_of_a_cluster_is_one_read(app: InProcessApp, reader: ObservationReader) -> None:
    pipelines = [app.deployed_pipeline(), app.deployed_pipeline()]
    app.interceptor.watch()
    reader.latest(pipelines)
    assert len(app.interceptor.unwatch()) == 1


def test_a_view_that_the_caller_has_read_is_not_read_again(app: InProcessApp, reader: ObservationReader) -> None:
    pipeline = app.deployed_pipeline()
    app.interceptor.watch()
    (shown,) = reader.latest([pipeline], view(pipeline))
    assert app.interceptor.unwatch() == []
    assert (observation(shown).state, observation(shown).observed_at) == (ObservedState.FAILED, LATER)


def test_the_observation_of_an_operation_is_shown_until_a_tick_is_newer(
    app: InProcessApp, reader: ObservationReader
) -> None:
    pipeline = app.deployed_pipeline()
    (shown,) = reader.latest([pipeline], view(pipeline, observed_at=START_TIME - timedelta(seconds=1)))
    assert observation(shown).state is ObservedState.RUNNING


def test_a_connector_that_the_last_tick_did_not_list_keeps_its_own_observation(
    app: InProcessApp, reader: ObservationReader
) -> None:
    pipeline = app.deployed_pipeline()
    (shown,) = reader.latest([pipeline], view(pipeline, snapshot=ClusterSnapshot()))
    assert shown.observation == pipeline.observation


def test_the_state_is_unknown_since_the_tick_that_could_not_read_connect(
    app: InProcessApp, reader: ObservationReader
) -> None:
    pipeline = app.deployed_pipeline()
    (shown,) = reader.latest([pipeline], view(pipeline, unreadable="Out of reach."))
    seen = observation(shown)
    assert (seen.state, seen.reasons, seen.observed_at) == (ObservedState.UNKNOWN, ("Out of reach.",), LATER)


def test_the_present_state_of_a_draft_needs_no_call_to_connect(app: InProcessApp, reader: ObservationReader) -> None:
    pipeline, cluster = app.pipeline(), app.cluster
    app.connect.calls.clear()
    assert observation(reader.now(app.context(), pipeline, cluster)).state is ObservedState.NOT_DEPLOYED
    assert app.connect.calls.count() == 0


def test_the_present_state_is_that_of_connect(app: InProcessApp, reader: ObservationReader) -> None:
    pipeline, cluster = app.deployed_pipeline(), app.cluster
    app.connect.drop(pipeline.connector_name)
    assert observation(reader.now(app.context(), pipeline, cluster)).state is ObservedState.NOT_DEPLOYED
    app.connect.refuse()
    try:
        assert observation(reader.now(app.context(), pipeline, cluster)).state is ObservedState.UNKNOWN
    finally:
        app.connect.accept()
