"""Pipelines: what a draft may refer to, repeated requests, and deploys that need no change."""

from dataclasses import replace

import pytest

from chalicelib.domain.database import SslMode
from chalicelib.errors import Invalid, NotFound, VersionMismatch
from chalicelib.kit.ids import new_id
from chalicelib.services.pipelines import PipelineInput, PipelineService
from infra.local.doubles.kafka import KafkaDouble
from tests.faults.inspection import connector_writes
from tests.support.in_process_app import InProcessApp, changed_input


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
    assert refused.value.details == [{"location": ["body", "stream_cluster_id"], "type": "other_stream_cluster"}]


def test_a_property_outside_the_list_is_refused(app: InProcessApp, data: PipelineInput) -> None:
    capture = replace(data.capture, properties={"database.password": "x"})
    with pytest.raises(Invalid) as refused:
        app.services.pipelines.create(app.context(), replace(data, capture=capture))
    assert refused.value.details == [{"location": ["body", "properties"], "type": "property_not_allowed"}]


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
    assert app.connect.calls.count() == 0


def test_deploying_a_paused_pipeline_gives_it_a_changed_config_and_leaves_it_paused(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    paused = app.services.pipelines.pause(app.context(), pipeline.id)
    source = app.services.sources.get(pipeline.source_id)
    data = changed_input(source, address=replace(source.address, ssl_mode=SslMode.DISABLE))
    app.services.sources.update(app.context(), source.id, data)
    outdated = app.services.pipelines.detail(pipeline.id).pipeline.observation
    assert outdated
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
