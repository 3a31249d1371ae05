"""Dependencies are loaded with one call to the store."""

from dataclasses import replace

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.kit.ids import new_id
from tests.support.apps.in_process_app import InProcessApp


def test_the_dependencies_of_a_pipeline_are_one_call(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.interceptor.watch()
    deps = app.services.pipeline_connector.load_dependencies(pipeline)
    assert [point.operation for point in app.interceptor.unwatch()] == ["BatchGetItem"]
    assert (deps.source.id, deps.stream_cluster.id, deps.connect_cluster.id) == (
        pipeline.source_id,
        pipeline.stream_cluster_id,
        pipeline.connect_cluster_id,
    )


def test_the_dependencies_of_a_delivery_are_one_call_once_its_snapshot_is_known(app: InProcessApp) -> None:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    delivery = app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    app.tick()
    app.interceptor.watch()
    deps = app.services.delivery_connector.load_dependencies(delivery)
    assert [point.operation for point in app.interceptor.unwatch()] == ["BatchGetItem"]
    assert (deps.destination.id, deps.pipeline.id) == (destination.id, pipeline.id)
    assert deps.view.observed_at == app.clock.now


def test_a_dependency_that_does_not_exist_is_none(app: InProcessApp) -> None:
    pipeline = replace(app.pipeline(), source_id=new_id(), connect_cluster_id=new_id())
    deps = app.services.pipeline_connector.load_dependencies(pipeline)
    assert (deps.source, deps.connect_cluster, deps.view) == (None, None, ClusterView())
    assert deps.stream_cluster
