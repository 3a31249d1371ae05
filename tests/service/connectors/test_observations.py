"""Which observation of a resource is shown, and which reads it needs."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.drift import DRIFTED, Drift
from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.restarts import NOT_RESTARTED, RestartCause, Restarts
from chalicelib.domain.connectors.reverts import REVERTED
from chalicelib.domain.health import Failure
from chalicelib.domain.live_reads import LiveQuestion
from chalicelib.domain.observation import MISSING, DesiredState, Observation, ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import ServerBusy
from chalicelib.services.connectors.known_progress import KnownProgress
from chalicelib.services.connectors.observations import ObservationReader
from tests.faults.inspection import NO_SECRETS
from tests.support.apps.call_interceptor import Side
from tests.support.apps.in_process_app import START_TIME, InProcessApp

LATER = START_TIME + timedelta(hours=1)

_OWN, _LOOK = ("BatchGetItem", "BatchGetItem"), "BatchGetItem"
"""The resource, then what it refers to; the look at what is known, and at who asks Connect now."""

_ASKED = ("PutItem", "UpdateItem", "TransactWriteItems")
"""The lease, the limit of the user, then the answer with the end of the lease."""


@pytest.fixture
def reader(app: InProcessApp) -> ObservationReader:
    return app.services.pipelines.observation_reader


def observation(pipeline: Pipeline) -> Observation:
    assert pipeline.observation
    return pipeline.observation


def view(pipeline: Pipeline, **changes: object) -> dict[str, ClusterView]:
    """A view of the pipeline's cluster, one hour later, in which its connector has failed."""
    failed = Observation(state=ObservedState.FAILED, observed_at=START_TIME)
    remembered = ClusterView(observed_at=LATER, memory=remembering(pipeline, observation=failed))
    return {pipeline.connect_cluster_id: replace(remembered, **changes)}


def remembering(pipeline: Pipeline, **fields: Any) -> ClusterMemory:
    """The memory of a cluster with this connector alone."""
    return ClusterMemory(connectors={pipeline.connector_name: ConnectorMemory(**fields)})


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


def test_a_view_and_progress_that_the_caller_has_read_are_not_read_again(
    app: InProcessApp, reader: ObservationReader
) -> None:
    pipeline = app.deployed_pipeline()
    app.interceptor.watch()
    (shown,) = reader.latest([pipeline], view(pipeline), KnownProgress())
    assert app.interceptor.unwatch() == []
    assert (observation(shown).state, observation(shown).observed_at) == (ObservedState.FAILED, LATER)


NOTHING, BEFORE = ClusterMemory(), START_TIME - timedelta(seconds=1)
TORN = "The last look at Kafka Connect was not stored completely. The next one, some seconds later, stores it again."


@pytest.mark.parametrize(
    ("changes", "state", "reasons"),
    [
        pytest.param({}, "FAILED", (), id="a newer tick saw it"),
        pytest.param({"memory": NOTHING}, "NOT_DEPLOYED", (MISSING,), id="a newer tick did not find it"),
        pytest.param({"memory": NOTHING, "torn": True}, "UNKNOWN", (TORN,), id="a look was stored only in part"),
        pytest.param({"unreadable": "Out of reach."}, "UNKNOWN", ("Out of reach.",), id="Connect could not be read"),
    ],
)
def test_what_a_newer_tick_saw_is_shown(
    app: InProcessApp, reader: ObservationReader, changes: dict[str, Any], state: str, reasons: tuple[str, ...]
) -> None:
    pipeline = app.deployed_pipeline()
    (shown,) = reader.latest([pipeline], view(pipeline, **changes))
    seen = observation(shown)
    assert (seen.state, seen.reasons, seen.observed_at) == (state, reasons, LATER)


@pytest.mark.parametrize("changes", [{}, {"memory": NOTHING}], ids=["saw it", "did not find it"])
def test_the_observation_of_an_operation_is_shown_until_a_tick_is_newer(
    app: InProcessApp, reader: ObservationReader, changes: dict[str, Any]
) -> None:
    pipeline = app.deployed_pipeline()
    (shown,) = reader.latest([pipeline], view(pipeline, observed_at=BEFORE, **changes))
    assert shown.observation == pipeline.observation


@pytest.mark.parametrize("seen_by", ["a tick", "an operation"])
def test_an_old_observation_is_shown_as_unknown_with_its_age(
    app: InProcessApp, reader: ObservationReader, seen_by: str
) -> None:
    pipeline = app.deployed_pipeline()
    running = Observation(state=ObservedState.RUNNING, observed_at=START_TIME)
    memory = remembering(pipeline, observation=running)
    views = view(pipeline, memory=memory, observed_at=START_TIME) if seen_by == "a tick" else {}
    app.clock.advance(179)
    assert observation(reader.latest([pipeline], views)[0]).state is ObservedState.RUNNING
    app.clock.advance(121)
    seen = observation(reader.latest([pipeline], views)[0])
    assert (seen.state, seen.observed_at) == (ObservedState.UNKNOWN, START_TIME)
    assert seen.reasons == (
        "Headgate last looked at 2026-01-31T12:00:00.000Z, 5 minutes ago. The state now is not known.",
        "It was RUNNING then.",
    )


def test_the_present_state_of_a_draft_needs_no_call_to_connect(app: InProcessApp, reader: ObservationReader) -> None:
    pipeline, cluster = app.pipeline(), app.cluster
    app.connect.calls.clear()
    assert observation(reader.now(app.context(), pipeline, cluster)).state is ObservedState.NOT_DEPLOYED
    assert app.connect.calls.count() == 0


@pytest.mark.parametrize(
    ("fresh", "seconds", "calls"),
    [(True, 0, [*_OWN, *_ASKED]), (False, 5, [*_OWN, _LOOK, *_ASKED]), (False, 4, [*_OWN, _LOOK])],
)
def test_a_status_needs_few_calls_to_the_store(app: InProcessApp, fresh: bool, seconds: int, calls: list[str]) -> None:
    pipeline = app.deployed_pipeline()
    app.services.pipelines.status(app.context(), pipeline.id)
    app.clock.advance(seconds)
    app.interceptor.watch()
    app.services.pipelines.status(app.context(), pipeline.id, fresh=fresh)
    assert [point.operation for point in app.interceptor.unwatch() if point.side is Side.STORE] == calls


def test_the_present_state_is_that_of_connect(app: InProcessApp, reader: ObservationReader) -> None:
    pipeline, cluster = app.deployed_pipeline(), app.cluster
    app.connect.drop(pipeline.connector_name)
    assert observation(reader.now(app.context(), pipeline, cluster)).state is ObservedState.NOT_DEPLOYED
    with app.connect_down():
        assert observation(reader.now(app.context(), pipeline, cluster)).state is ObservedState.UNKNOWN


@pytest.fixture
def busy(app: InProcessApp) -> Pipeline:
    """A deployed pipeline that a tick has seen, while another request asks its Connect cluster."""
    pipeline = app.deployed_pipeline()
    app.tick()
    asking = LiveQuestion[str](server=app.cluster.address.identity, subject=(), answer=str)
    assert app.services.pipelines.live_reads.store.leases.take(asking.lease_key, app.clock())
    return pipeline


def test_while_others_ask_connect_a_status_is_what_the_last_tick_saw(app: InProcessApp, busy: Pipeline) -> None:
    app.clock.advance(7)
    seen = observation(app.services.pipelines.status(app.context(), busy.id, fresh=False))
    assert (seen.state, seen.observed_at) == (ObservedState.RUNNING, app.clock() - timedelta(seconds=7))


def test_while_others_ask_connect_nobody_can_ask_anew(app: InProcessApp, busy: Pipeline) -> None:
    with pytest.raises(ServerBusy):
        app.services.pipelines.status(app.context(), busy.id, fresh=True)


def test_of_a_recent_answer_and_the_last_tick_the_newer_is_shown(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.pipelines.status(app.context(), pipeline.id)
    app.connect.calls.clear()
    app.clock.advance(2)
    asked_at = observation(app.services.pipelines.status(app.context(), pipeline.id, fresh=False)).observed_at
    assert (app.connect.calls.count(), app.clock() - asked_at) == (0, timedelta(seconds=2))
    app.tick(after=1)
    seen = observation(app.services.pipelines.status(app.context(), pipeline.id, fresh=False))
    assert seen.observed_at == app.clock()


def test_the_present_state_comes_with_what_the_last_tick_has_tried_and_found(
    app: InProcessApp, reader: ObservationReader
) -> None:
    pipeline = app.deployed_pipeline()
    name, cluster = pipeline.connector_name, app.cluster
    memory = remembering(
        pipeline,
        restarts=Restarts(count=1, tried_at=START_TIME, cause=RestartCause.FAILED),
        drift=Drift(expected="right", confirmed=True),
        reverted_at=(START_TIME, START_TIME, START_TIME),
    )
    known = ClusterView(observed_at=START_TIME + timedelta(seconds=1), memory=memory)
    assert observation(reader.now(app.context(), pipeline, cluster, known)).reasons == (REVERTED, DRIFTED)
    app.connect.fail_task(name, NO_SECRETS)
    reasons = observation(reader.now(app.context(), pipeline, cluster, known)).reasons
    assert "Headgate has tried to restart it once" in reasons[-3]
    assert reasons[-2:] == (REVERTED, DRIFTED)


@pytest.mark.parametrize(
    "changes", [{"observed_at": START_TIME - timedelta(minutes=3)}, {"unreadable": "Out of reach."}, {}]
)
def test_what_a_tick_remembers_is_not_said_when_it_is_old_or_an_operation_was_since(
    app: InProcessApp, reader: ObservationReader, changes: dict[str, Any]
) -> None:
    pipeline = app.deployed_pipeline()
    memory = remembering(pipeline, drift=Drift(expected="right", confirmed=True))
    before = ClusterView(observed_at=START_TIME - timedelta(seconds=1), memory=memory)
    known = replace(before, **changes)
    assert observation(reader.now(app.context(), pipeline, app.cluster, known)).reasons == ()


def test_the_present_state_says_that_nothing_restarts_a_connector_that_would_read_everything_again(
    app: InProcessApp, reader: ObservationReader
) -> None:
    pipeline = app.deployed_pipeline()
    wished = DesiredConnector(
        resource_type="pipeline",
        resource_id=pipeline.id,
        desired_state=DesiredState.RUNNING,
        config_hash=None,
        restartable=False,
    )
    known = ClusterView(observed_at=LATER, memory=remembering(pipeline, desired=wished))
    app.connect.fail_task(pipeline.connector_name, NO_SECRETS)
    assert observation(reader.now(app.context(), pipeline, app.cluster, known)).reasons[-1] == NOT_RESTARTED


def test_a_status_says_once_why_a_connector_was_not_started(app: InProcessApp) -> None:
    pipeline = app.services.pipelines.pause(app.context(), app.deployed_pipeline().id)
    store = app.services.stores.resources.pipelines
    refused = Failure(code="DATA_LOSS", message="Changes are gone.", at=app.clock())
    store.save_alone(replace(store.get(pipeline.id), desired_state=DesiredState.RUNNING, last_error=refused))
    reasons = observation(app.services.pipelines.status(app.context(), pipeline.id)).reasons
    assert [reason for reason in reasons if refused.message in reason] == [
        "The last attempt to start it failed: Changes are gone."
    ]
