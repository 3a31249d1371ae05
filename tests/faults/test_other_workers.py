"""Other workers answer at the address of a Connect cluster: nothing is created there before people have looked."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chalicelib.domain.cluster import ChangeKind, ConnectCluster
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.observation import MISSING, DesiredState, ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Conflict, HeadgateError
from chalicelib.kit.clock import Deadline
from infra.local.doubles.kafka_state import BrokerState
from tests.faults.inspection import audited, creations, deployed_copies, incidents, observation_of, running_pipeline
from tests.support.apps.fakes import FakeConnect
from tests.support.apps.in_process_app import InProcessApp

CONNECTORS = 12
AN_HOUR = [10] * 30 + [600] * 6
OPEN, RESOLVED = IncidentStatus.OPEN, IncidentStatus.RESOLVED


@contextmanager
def other_workers(app: InProcessApp, kafka_cluster_id: str | None = None) -> Iterator[FakeConnect]:
    """Workers without connectors answer at the address instead, on another Kafka cluster or on the same one."""
    others, own = FakeConnect(broker=BrokerState("others")), app.connect
    others._port = own._port
    others.identity["kafka_cluster_id"] = kafka_cluster_id or own.identity["kafka_cluster_id"]
    own.refuse()
    others.start()
    app.connect = others
    try:
        yield others
    finally:
        others.stop()
        app.connect = own
        own.accept()


@pytest.fixture
def names(app: InProcessApp) -> list[str]:
    """The connectors of pipelines that run."""
    names = deployed_copies(app, CONNECTORS)
    app.tick(times=4)
    app.connect.calls.clear()
    return names


def pipelines(app: InProcessApp) -> list[Pipeline]:
    return list(app.services.pipelines.list(limit=100, after=None).items)


def cluster(app: InProcessApp) -> ConnectCluster:
    return app.services.connect_clusters.get(app.cluster.id)


def confirm(app: InProcessApp, count: int) -> ConnectCluster:
    return app.services.connect_clusters.confirm(app.context(), app.cluster.id, ChangeKind.CREATIONS, count)


def conflict_of(app: InProcessApp, action: str, pipeline: Pipeline) -> HeadgateError:
    with pytest.raises(Conflict) as refused:
        getattr(app.services.pipelines, action)(app.context(), pipeline.id)
    return refused.value


# another Kafka cluster


def test_nothing_is_created_on_another_kafka_cluster(app: InProcessApp, names: list[str]) -> None:
    with other_workers(app, "another"):
        app.ticks(*AN_HOUR)
        assert creations(app) == 0
        shown = cluster(app)
        assert (shown.health.status, shown.health.last_error.code) == (
            HealthStatus.UNHEALTHY,
            "KAFKA_CLUSTER_CHANGED",
        )
        assert shown.pending_creations is None
        assert ("KAFKA_CLUSTER_CHANGED", OPEN) in incidents(app)
        for pipeline in pipelines(app):
            assert pipeline.observation.state is ObservedState.NOT_DEPLOYED
            assert pipeline.observation.reasons == (MISSING, shown.health.last_error.message)
    app.tick(times=2)
    assert cluster(app).health.status is HealthStatus.HEALTHY
    assert ("KAFKA_CLUSTER_CHANGED", RESOLVED) in incidents(app)
    assert not [code for code, status in incidents(app) if status is OPEN]
    assert {pipeline.observation.state for pipeline in pipelines(app)} == {ObservedState.RUNNING}
    assert (sorted(app.connect.names()), creations(app)) == (sorted(names), 0)


def test_not_even_one_is_created_on_another_kafka_cluster(app: InProcessApp) -> None:
    running_pipeline(app)
    with other_workers(app, "another"):
        app.ticks(*AN_HOUR)
        assert creations(app) == 0


@pytest.mark.parametrize("ticks", [0, 3], ids=["before a tick has seen it", "after ticks have seen it"])
@pytest.mark.parametrize("action", ["deploy", "resume", "restart"])
def test_a_person_is_told_that_the_workers_are_others(app: InProcessApp, action: str, ticks: int) -> None:
    pipeline = running_pipeline(app)
    with other_workers(app, "another"):
        app.tick(times=ticks)
        refused = conflict_of(app, action, pipeline)
        assert refused.code == "STATE_CONFLICT"
        assert "another Kafka cluster" in refused.message
        assert creations(app) == 0


def test_a_draft_is_not_deployed_on_another_kafka_cluster(app: InProcessApp) -> None:
    draft = app.pipeline()
    with other_workers(app, "another"):
        assert conflict_of(app, "deploy", draft).code == "STATE_CONFLICT"
    assert app.services.pipelines.get(draft.id).desired_state is DesiredState.DRAFT


def test_the_registration_is_not_changed_by_a_tick(app: InProcessApp, names: list[str]) -> None:
    before = cluster(app).kafka_cluster_id
    with other_workers(app, "another"):
        app.tick(times=6)
        assert cluster(app).kafka_cluster_id == before


def test_an_admin_says_that_the_other_kafka_cluster_is_the_right_one(app: InProcessApp, names: list[str]) -> None:
    """Kafka was built anew, at the same address."""
    services, registered, stream = app.services, app.cluster, app.stream
    own, app.kafka.state.cluster_id = app.kafka.state.cluster_id, "rebuilt"
    try:
        with other_workers(app, "rebuilt"):
            app.tick(times=3)
            services.stream_clusters.update(app.context(), stream.id, app.stream_input(app.kafka.address))
            app.tick(times=3)
            assert (creations(app), cluster(app).health.last_error.code) == (0, "KAFKA_CLUSTER_CHANGED")
            services.connect_clusters.update(app.context(), registered.id, app.connect_input(app.connect.url))
            app.tick(times=3)
            assert (creations(app), cluster(app).pending_creations.count) == (0, CONNECTORS)
            confirm(app, CONNECTORS)
            app.tick(times=6)
            assert sorted(app.connect.names()) == sorted(names)
    finally:
        app.kafka.state.cluster_id = own


def test_another_address_that_does_not_answer_keeps_the_kafka_cluster_that_is_known(app: InProcessApp) -> None:
    before = app.cluster
    data = app.connect_input("http://127.0.0.1:1")
    moved = app.services.connect_clusters.update(app.context(), before.id, data)
    assert (moved.kafka_cluster_id, moved.connect_version) == (before.kafka_cluster_id, None)


# the same Kafka cluster


def test_on_the_same_kafka_cluster_nothing_is_created_before_an_admin_confirms(
    app: InProcessApp, names: list[str]
) -> None:
    with other_workers(app):
        app.ticks(*AN_HOUR)
        assert creations(app) == 0
        waiting = cluster(app).pending_creations
        assert (waiting.count, waiting.names) == (CONNECTORS, tuple(sorted(names)))
        assert ("CREATIONS_PENDING", OPEN) in incidents(app)
        assert any(reason.startswith("12 connectors are missing") for reason in pipelines(app)[0].observation.reasons)
        assert confirm(app, CONNECTORS).pending_creations is None
        (record,) = audited(app, app.cluster.id, "connect_cluster.confirm_creations")
        assert (record.after["count"], record.actor_email) == (CONNECTORS, "admin@example.com")
        app.tick(times=6)
        assert sorted(app.connect.names()) == sorted(names)
        assert ("CREATIONS_PENDING", RESOLVED) in incidents(app)


def test_a_few_are_created_again_at_once(app: InProcessApp, names: list[str]) -> None:
    for name in names[:3]:
        app.connect.drop(name)
    app.tick(times=3)
    assert (creations(app), cluster(app).pending_creations) == (3, None)


def test_one_list_without_connectors_alarms_nobody(app: InProcessApp, names: list[str]) -> None:
    with app.connect.showing({}):
        app.tick()
    assert cluster(app).pending_creations is None
    app.tick(times=2)
    assert (creations(app), incidents(app)) == (0, [])


@pytest.mark.parametrize("count", [CONNECTORS - 1, CONNECTORS + 1])
def test_only_the_number_that_is_shown_can_be_confirmed(app: InProcessApp, names: list[str], count: int) -> None:
    with other_workers(app):
        app.tick(times=3)
        with pytest.raises(Conflict) as refused:
            confirm(app, count)
        assert refused.value.code == "STATE_CONFLICT"
        assert "12 creations wait" in refused.value.message
        app.tick(times=3)
        assert creations(app) == 0


def test_a_person_creates_a_missing_connector_without_waiting(app: InProcessApp, names: list[str]) -> None:
    with other_workers(app):
        app.tick(times=3)
        pipeline = pipelines(app)[0]
        app.services.pipelines.deploy(app.context(), pipeline.id)
        assert app.connect.names() == [pipeline.connector_name]


# offsets that are gone


def seen_by_a_look(app: InProcessApp) -> Pipeline:
    """A running pipeline whose slot a look at its source has found."""
    pipeline = running_pipeline(app)
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(20))
    return pipeline


def test_a_capture_without_its_offset_is_not_started_before_a_person_resumes_it(app: InProcessApp) -> None:
    pipeline = seen_by_a_look(app)
    with other_workers(app):
        app.ticks(10, 10, 10, 60, 60, *[300] * 5)
        assert creations(app) == 1
        assert observation_of(app, pipeline).state is ObservedState.STOPPED
        stored = app.services.pipelines.get(pipeline.id)
        assert "no stored offset" in stored.last_error.message
        assert any("no stored offset" in reason for reason in observation_of(app, pipeline).reasons)
        assert [code for code, status in incidents(app) if status is OPEN] == ["PIPELINE_FAILED"]
        assert app.connect.starts(pipeline.connector_name) == 0
        app.services.pipelines.resume(app.context(), pipeline.id)
        app.tick(times=2)
        assert observation_of(app, pipeline).state is ObservedState.RUNNING
        assert ("PIPELINE_FAILED", RESOLVED) in incidents(app)


def test_a_capture_whose_offset_is_there_is_created_and_started_again(app: InProcessApp) -> None:
    pipeline = seen_by_a_look(app)
    stored = {"partition": {"server": pipeline.capture.topic_prefix}, "offset": {"lsn": 100, "lsn_proc": 100}}
    app.connect.connector(pipeline.connector_name).offsets = [stored]
    app.connect.drop(pipeline.connector_name)
    app.tick(times=3)
    assert (creations(app), observation_of(app, pipeline).state) == (1, ObservedState.RUNNING)


def test_workers_that_cannot_tell_their_offsets_start_it_again(app: InProcessApp) -> None:
    """Kafka Connect before 3.6 has no such request."""
    pipeline = seen_by_a_look(app)
    with other_workers(app) as old:
        old.identity["version"] = "3.5.1"
        app.tick(times=4)
        assert (creations(app), observation_of(app, pipeline).state) == (1, ObservedState.RUNNING)


# old workers


@pytest.mark.parametrize("version", ["2.8.2", "6.2.0-ccs"])
def test_workers_older_than_3_0_are_unhealthy_and_get_no_connector(app: InProcessApp, version: str) -> None:
    with other_workers(app) as old:
        old.identity["version"] = version
        assert (app.cluster.health.status, app.cluster.connect_version) == (HealthStatus.UNHEALTHY, version)
        app.tick(times=2)
        assert cluster(app).health.last_error.code == "CONNECT_VERSION_UNSUPPORTED"
        refused = conflict_of(app, "deploy", app.pipeline())
        assert (refused.code, "3.0" in refused.message, creations(app)) == ("STATE_CONFLICT", True, 0)
        old.identity["version"] = "3.0.0"
        app.tick()
        assert (cluster(app).health.status, cluster(app).connect_version) == (HealthStatus.HEALTHY, "3.0.0")
