"""How often a tick asks Connect, most of all workers that hang."""

import time
from dataclasses import replace

import pytest

from chalicelib.clients.connect import client
from chalicelib.domain.observation import ObservedState
from chalicelib.kit.clock import Deadline
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import observation_of, running_pipeline
from tests.support.apps.call_interceptor import Side
from tests.support.apps.in_process_app import InProcessApp


@pytest.fixture
def hanging(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> InProcessApp:
    """An app that waits for an answer of Connect for a tenth of a second."""
    query = client.Connect._query
    monkeypatch.setattr(query, "__kwdefaults__", {**query.__kwdefaults__, "seconds": 0.1})
    return app


def hang(app: InProcessApp) -> None:
    """From now on Connect takes every request and answers none."""
    app.connect.plant(FaultEffect.HANG, "GET", "/connectors", times=10_000)


def questions_in_a_tick(app: InProcessApp, *, after: float = 10) -> int:
    """How often Connect is asked."""
    app.interceptor.watch()
    app.tick(after=after)
    return [point.side for point in app.interceptor.unwatch()].count(Side.CONNECT)


def test_a_look_at_workers_that_hang_is_one_question(hanging: InProcessApp) -> None:
    running_pipeline(hanging)
    hang(hanging)
    assert [questions_in_a_tick(hanging) for _ in range(2)] == [1, 1]


def test_a_comparison_of_configs_that_hangs_is_one_question_and_is_not_repeated_soon(hanging: InProcessApp) -> None:
    pipeline = running_pipeline(hanging)
    hanging.tick(after=601)
    hang(hanging)
    assert questions_in_a_tick(hanging, after=601) == 1
    hanging.connect.faults.clear()
    assert questions_in_a_tick(hanging) == 1
    assert hanging.connect.calls.calls("GET")[-1].query == "expand=status"
    assert observation_of(hanging, pipeline).state is ObservedState.RUNNING


def test_looks_at_workers_that_hang_have_growing_pauses_of_at_most_a_minute(hanging: InProcessApp) -> None:
    pipeline = running_pipeline(hanging)
    hang(hanging)
    asked = [second for second in range(0, 600, 10) if questions_in_a_tick(hanging)]
    assert asked == [0, 10, 20, 40, 80, 140, 200, 260, 320, 380, 440, 500, 560]
    seen = observation_of(hanging, pipeline)
    assert seen.state is ObservedState.UNKNOWN
    assert seen.reasons == ("Kafka Connect did not answer in time. Check its workers, and try again.",)
    hanging.connect.faults.clear()
    for _ in range(6):
        hanging.tick()
    assert observation_of(hanging, pipeline).state is ObservedState.RUNNING


def test_a_cluster_that_somebody_has_changed_is_looked_at_without_such_a_pause(hanging: InProcessApp) -> None:
    running_pipeline(hanging)
    hang(hanging)
    for _ in range(15):
        hanging.tick()
    hanging.connect.faults.clear()
    assert questions_in_a_tick(hanging) == 0
    cluster = hanging.cluster
    changed = replace(hanging.connect_input(cluster.address.base_url), name="mended")
    hanging.services.connect_clusters.update(hanging.context(), cluster.id, changed)
    assert questions_in_a_tick(hanging) == 1


def test_a_tick_in_such_a_pause_only_reads(hanging: InProcessApp) -> None:
    running_pipeline(hanging)
    hang(hanging)
    for _ in range(3):
        hanging.tick()
    hanging.interceptor.watch()
    hanging.services.tick.run(hanging.cluster.id, Deadline.after(25))
    operations = [point.operation for point in hanging.interceptor.unwatch()]
    assert operations[-1] == "BatchGetItem"
    assert set(operations[:-1]) <= {"Query", "BatchGetItem"}  # `app.cluster` lists the clusters


def test_the_status_says_unknown_within_the_time_of_the_request_when_workers_hang(app: InProcessApp) -> None:
    pipeline = running_pipeline(app)
    hang(app)
    began = time.monotonic()
    seen = app.services.pipelines.status(app.context(seconds=1), pipeline.id).observation
    assert time.monotonic() - began < 10
    assert (seen.state, len(seen.reasons)) == (ObservedState.UNKNOWN, 1)
