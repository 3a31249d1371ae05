"""Pipelines: what a draft may refer to, repeated requests, and deploys that need no change."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.audit.record import Outcome
from chalicelib.domain.database import SslMode
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, VersionMismatch
from chalicelib.kit.ids import new_id
from chalicelib.services.pipelines import PipelineInput, PipelineService
from infra.local.doubles.connect_faults import FaultEffect
from infra.local.doubles.kafka import KafkaDouble
from tests.faults.inspection import audited, connector_writes
from tests.faults.invariants import violations
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input
from tests.support.faults import places


@pytest.fixture
def data(app: InProcessApp) -> PipelineInput:
    """The input of a pipeline like one that exists, with another name, slot and publication."""
    pipeline = app.pipeline()
    return PipelineInput(
        name="another",
        source_id=app.source().id,
        stream_cluster_id=pipeline.stream_cluster_id,
        connect_cluster_id=pipeline.connect_cluster_id,
        capture=replace(pipeline.capture, topic_prefix="another"),
    )


def test_the_workers_belong_to_the_stream_cluster(app: InProcessApp, data: PipelineInput) -> None:
    another = KafkaDouble(cluster_id="another").start()
    try:
        stream = replace(app.stream_input(another.address), name="another")
        other = app.services.stream_clusters.create(app.context(), stream)
        with pytest.raises(Invalid) as refused:
            app.services.pipelines.create(app.context(), replace(data, stream_cluster_id=other.id))
    finally:
        another.stop()
    assert places(refused.value.details) == [
        {"location": ["body", "stream_cluster_id"], "type": "other_stream_cluster"}
    ]


def test_a_property_outside_the_list_is_refused(app: InProcessApp, data: PipelineInput) -> None:
    capture = replace(data.capture, properties={"database.password": "x"})
    with pytest.raises(Invalid) as refused:
        app.services.pipelines.create(app.context(), replace(data, capture=capture))
    assert places(refused.value.details) == [{"location": ["body", "properties"], "type": "property_not_allowed"}]


def test_a_repeated_create_returns_the_stored_draft_without_checking_again(
    app: InProcessApp, data: PipelineInput
) -> None:
    key = new_id()
    first = app.services.pipelines.create(app.context(key=key), data)
    app.database.reachable = False
    app.connect.calls.clear()
    assert app.services.pipelines.create(app.context(key=key), data) == first
    assert (first.id, app.connect.calls.count()) == (key, 0)


def test_a_preview_stores_nothing_and_shows_a_reference_for_the_password(
    app: InProcessApp, data: PipelineInput
) -> None:
    before = app.tables.rows("claims"), app.tables.rows("pipelines")
    app.interceptor.watch()
    preview = app.services.pipelines.preview(app.context(), data)
    # The one write lets Connect read the secrets of the config that it validates.
    assert len([point for point in app.interceptor.unwatch() if point.writes]) == 1
    assert (app.tables.rows("claims"), app.tables.rows("pipelines")) == before
    assert preview.config["database.password"].startswith("${")
    assert len(preview.topics) == len(data.capture.tables)


def test_deploying_a_running_pipeline_writes_nothing(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.calls.clear()
    app.interceptor.watch()
    assert app.services.pipelines.deploy(app.context(), pipeline.id).version == pipeline.version
    assert not [point for point in app.interceptor.unwatch() if point.writes]
    assert app.connect.calls.count() == app.connect.calls.count("GET", "/status$") == 1


@pytest.mark.parametrize("desired", [DesiredState.RUNNING, DesiredState.PAUSED])
def test_deploying_a_pipeline_whose_connector_is_missing_makes_it_at_once(
    app: InProcessApp, desired: DesiredState
) -> None:
    pipeline = app.deployed_pipeline()
    if desired is DesiredState.PAUSED:
        app.services.pipelines.pause(app.context(), pipeline.id)
    app.connect.drop(pipeline.connector_name)
    deployed = app.services.pipelines.deploy(app.context(), pipeline.id)
    app.connect.settle()
    assert app.connect.names() == [pipeline.connector_name]
    assert (deployed.open_operation, deployed.desired_state) == (None, desired)
    observation = app.services.pipelines.status(app.context(), pipeline.id).observation
    assert observation.state == desired
    assert violations(app) == []


def test_a_missing_connector_that_cannot_be_made_again_leaves_the_pipeline_with_the_reason(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.drop(pipeline.connector_name)
    app.database.reachable = False
    with pytest.raises(Invalid) as refused:
        app.services.pipelines.deploy(app.context(), pipeline.id)
    stored = app.services.stores.resources.pipelines.get(pipeline.id)
    assert stored.last_error.code == refused.value.code == "SOURCE_NOT_READY"
    assert (stored.desired_state, stored.open_operation) == (DesiredState.RUNNING, None)


def test_deploying_while_connect_cannot_be_read_changes_nothing(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.plant(FaultEffect.NOT_READY, times=99)
    seen = app.services.pipelines.deploy(app.context(), pipeline.id).observation
    assert seen.state is ObservedState.UNKNOWN
    assert connector_writes(app) == [("POST", "/connectors"), ("PUT", f"/connectors/{pipeline.connector_name}/resume")]


def test_deploying_a_paused_pipeline_gives_it_a_changed_config_and_leaves_it_paused(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    paused = app.services.pipelines.pause(app.context(), pipeline.id)
    source = app.services.sources.get(pipeline.source_id)
    data = changed_input(source, address=replace(source.address, ssl_mode=SslMode.DISABLE))
    app.services.sources.update(app.context(), source.id, data)
    outdated = app.services.pipelines.detail(pipeline.id).pipeline.observation
    assert PipelineService.OUTDATED.config in outdated.reasons
    app.connect.calls.clear()
    updated = app.services.pipelines.deploy(app.context(), pipeline.id)
    assert connector_writes(app) == [("PUT", f"/connectors/{pipeline.connector_name}/config")]
    assert updated.desired_state is paused.desired_state
    assert updated.config_hash != paused.config_hash


def test_a_pipeline_of_another_version_is_not_deleted(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    with pytest.raises(VersionMismatch):
        app.services.pipelines.delete(app.context(if_match=pipeline.version + 1), pipeline.id)
    assert app.services.pipelines.delete(app.context(if_match=pipeline.version), pipeline.id) is None


def test_the_deliveries_of_an_unknown_pipeline_are_not_found(app: InProcessApp) -> None:
    assert app.services.pipelines.destinations(app.pipeline().id, limit=9, after=None).items == ()
    with pytest.raises(NotFound):
        app.services.pipelines.destinations(new_id(), limit=9, after=None)


def test_a_topic_prefix_belongs_to_one_pipeline(app: InProcessApp, data: PipelineInput) -> None:
    first = app.services.pipelines.create(app.context(), data)
    with pytest.raises(Conflict) as refused:
        app.services.pipelines.create(app.context(), replace(data, name="second"))
    assert refused.value.code == "NAME_CONFLICT"
    assert f'"{first.name}" uses this topic prefix' in refused.value.message
    app.services.pipelines.delete(app.context(), first.id)
    assert app.services.pipelines.create(app.context(), replace(data, name="second")).name == "second"


def test_a_topic_prefix_belongs_to_one_pipeline_of_a_kafka_that_is_registered_twice(
    app: InProcessApp, data: PipelineInput
) -> None:
    app.services.pipelines.create(app.context(), data)
    stream = replace(app.stream_input(app.kafka.address), name="the same brokers")
    twin = app.services.stream_clusters.create(app.context(), stream)
    workers = replace(app.connect_input(app.connect.url), stream_cluster_id=twin.id)
    connect = app.services.connect_clusters.create(app.context(), workers)
    second = replace(data, name="second", stream_cluster_id=twin.id, connect_cluster_id=connect.id)
    with pytest.raises(Conflict) as refused:
        app.services.pipelines.create(app.context(), second)
    assert refused.value.code == "NAME_CONFLICT"
    another = replace(second, capture=replace(second.capture, topic_prefix="other"))
    assert app.services.pipelines.create(app.context(), another).name == "second"


def test_a_topic_prefix_is_claimed_also_while_the_id_of_kafka_is_not_known(
    app: InProcessApp, data: PipelineInput, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The brokers can be reached by the workers only, and these do not say on which Kafka they run."""
    clusters, streams = (
        app.services.stores.resources.connects,
        app.services.stores.resources.streams,
    )
    known = [clusters.get(data.connect_cluster_id), streams.get(data.stream_cluster_id)]
    clusters.save_alone(replace(clusters.get(data.connect_cluster_id), kafka_cluster_id=None))
    unreachable = replace(known[1].address, bootstrap_servers="127.0.0.1:1")
    elsewhere = replace(known[1], kafka_cluster_id=None, address=unreachable)
    streams.save_alone(elsewhere)
    with monkeypatch.context() as unknown:
        unknown.setitem(app.connect.identity, "kafka_cluster_id", None)
        app.services.pipelines.create(app.context(), data)
    for store, one in zip((clusters, streams), known, strict=True):
        store.save_alone(replace(one, revision=store.get(one.id).revision))
    with pytest.raises(Conflict) as refused:
        app.services.pipelines.create(app.context(), replace(data, name="second"))
    assert refused.value.code == "NAME_CONFLICT"


def test_a_source_that_is_tested_while_a_pipeline_is_created_does_not_refuse_it(
    app: InProcessApp, data: PipelineInput
) -> None:
    tested = []

    def test_first(point: Point, call: InterceptedCall) -> object:
        if point.writes and point.side is Side.STORE and not tested:
            tested.append(True)
            app.interceptor.unwatch()
            app.services.sources.test(app.context(), data.source_id)
        return call()

    app.interceptor.watch(test_first)
    assert app.services.pipelines.create(app.context(), data).name == data.name


def slot_of(pipeline: Pipeline) -> str:
    return f"headgate_slot_{pipeline.id.replace('-', '')}"


def deletion_of(app: InProcessApp, pipeline_id: str) -> Mapping[str, Any]:
    """What the audit record of the pipeline's deletion says about what stays."""
    records = audited(app, pipeline_id, "pipeline.delete")
    (record,) = [record for record in records if record.outcome is Outcome.SUCCESS]
    assert record.after
    return record.after


def test_a_deleted_pipeline_keeps_its_slot_and_the_audit_record_names_what_stays(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.database.slots[slot_of(pipeline)] = False
    app.services.pipelines.delete(app.context(), pipeline.id)
    assert slot_of(pipeline) in app.database.slots
    kept = deletion_of(app, pipeline.id)["kept"]
    assert (kept["slot_name"], kept["topics"]) == (slot_of(pipeline), list(pipeline.capture.topics))
    assert kept["drop_slot_statement"] == f"SELECT pg_drop_replication_slot('{slot_of(pipeline)}');"
    assert kept["publication_name"]


def test_with_drop_slot_the_pipelines_own_slot_is_dropped(app: InProcessApp) -> None:
    pipeline, other = app.deployed_pipeline(), app.deployed_pipeline()
    app.database.slots |= {slot_of(pipeline): False, slot_of(other): False}
    assert app.services.pipelines.delete(app.context(), pipeline.id, release=True) is None
    assert list(app.database.slots) == [slot_of(other)]
    details = deletion_of(app, pipeline.id)
    assert details["slot_dropped"] is True
    assert details["kept"].keys() == {"publication_name", "topics"}


@pytest.mark.parametrize(("reachable", "reason"), [(True, "still reads"), (False, "does not know")])
def test_a_slot_that_cannot_be_dropped_does_not_prevent_the_deletion(
    app: InProcessApp, reachable: bool, reason: str
) -> None:
    pipeline = app.deployed_pipeline()
    app.database.slots[slot_of(pipeline)] = True
    app.database.reachable = reachable
    assert app.services.pipelines.delete(app.context(), pipeline.id, release=True) is None
    with pytest.raises(NotFound):
        app.services.pipelines.get(pipeline.id)
    details = deletion_of(app, pipeline.id)
    assert details["slot_dropped"] is False
    assert reason in details["slot_message"]
    assert details["kept"]["slot_name"] == slot_of(pipeline)


def test_an_adopted_slot_is_not_dropped(app: InProcessApp, data: PipelineInput) -> None:
    app.database.slots["theirs"] = False
    options = {"slot_name": "theirs", "adopt_existing": True}
    capture = replace(data.capture, provider_options=options)
    pipeline = app.services.pipelines.create(app.context(), replace(data, capture=capture))
    app.services.pipelines.deploy(app.context(), pipeline.id)
    app.services.pipelines.delete(app.context(), pipeline.id, release=True)
    assert "theirs" in app.database.slots
    details = deletion_of(app, pipeline.id)
    assert details["slot_dropped"] is False
    assert "adopted" in details["slot_message"]


@pytest.mark.parametrize("fault", [FaultEffect.REBALANCE, FaultEffect.TIMED_OUT_APPLIED])
def test_a_slot_that_an_earlier_deploy_has_left_is_the_pipelines_own(app: InProcessApp, fault: FaultEffect) -> None:
    pipeline = app.pipeline()
    app.connect.plant(fault, "POST", "/connectors$")
    with suppress(HeadgateError):
        app.services.pipelines.deploy(app.context(), pipeline.id)
    # Connect has created it all the same, and Debezium its slot; then the connector was removed.
    app.database.slots[slot_of(pipeline)] = False
    for name in app.connect.names():
        app.connect.drop(name)
    app.ticks(60, 60)
    deployed = app.services.pipelines.deploy(app.context(), pipeline.id)
    assert deployed.desired_state is DesiredState.RUNNING
    app.services.pipelines.delete(app.context(), pipeline.id, release=True)
    assert slot_of(pipeline) not in app.database.slots


def test_a_source_that_cannot_be_read_when_the_deploy_begins_refuses_it(app: InProcessApp) -> None:
    """Otherwise nobody would know afterwards whose the slot is."""
    pipeline, slots = app.pipeline(), app.database.slots

    def come_back() -> None:
        app.database.reachable = True

    app.database.reachable = False
    app.interceptor.before_first_write(come_back)
    with pytest.raises(Invalid) as refused:
        app.services.pipelines.deploy(app.context(), pipeline.id)
    assert refused.value.code == "SOURCE_NOT_READY"
    assert [check["key"] for check in refused.value.details["checks"] if check["status"] == "fail"] == ["connection"]
    assert app.services.pipelines.deploy(app.context(), pipeline.id).desired_state is DesiredState.RUNNING
    slots[slot_of(pipeline)] = False
    app.services.pipelines.delete(app.context(), pipeline.id, release=True)
    assert slots == {}


def test_the_slot_of_a_draft_is_not_touched(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.database.slots[slot_of(pipeline)] = False
    app.services.pipelines.delete(app.context(), pipeline.id, release=True)
    assert slot_of(pipeline) in app.database.slots


def test_a_preview_warns_of_topics_that_have_records_already(app: InProcessApp, data: PipelineInput) -> None:
    def codes() -> list[str]:
        return [warning.code for warning in app.services.pipelines.preview(app.context(), data).warnings]

    topic = data.capture.topics[0]
    app.kafka.state.create_topic(topic)
    assert "TOPIC_OLDER_THAN_PIPELINE" not in codes()
    (log,) = app.kafka.state.topics[topic].partitions
    log.batches[:], log.end = [(0, 1_000, b"")], 1
    assert "TOPIC_OLDER_THAN_PIPELINE" in codes()
    app.kafka.refuse()
    assert "TOPIC_OLDER_THAN_PIPELINE" not in codes()
    app.kafka.accept()
