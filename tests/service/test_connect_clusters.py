"""Connect clusters: their health by the newest observation, and what may not be registered."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.health import HealthStatus
from chalicelib.errors import Invalid
from chalicelib.kit.masking import Secret
from chalicelib.services.connect_clusters import SWEPT_AFTER
from infra.local.doubles.connect import VERSION
from tests.support.apps.call_interceptor import Side
from tests.support.apps.in_process_app import InProcessApp
from tests.support.faults import places


def shown(app: InProcessApp, pipeline_id: str) -> list[ConnectCluster]:
    """The cluster alone, in its list, and in the detail of a pipeline."""
    services = app.services
    listed = services.connect_clusters.list(limit=1, after=None).items
    detail = services.pipelines.detail(pipeline_id)
    return [services.connect_clusters.get(detail.connect_cluster.id), *listed, detail.connect_cluster]


def test_workers_that_are_gone_are_not_shown_as_healthy(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    app.tick()
    assert {cluster.health.status for cluster in shown(app, pipeline.id)} == {HealthStatus.HEALTHY}
    app.connect.refuse()
    try:
        app.tick()
        for cluster in shown(app, pipeline.id):
            assert cluster.health.status is HealthStatus.UNHEALTHY
            assert cluster.health.last_error is not None
            assert (cluster.health.last_error.code, cluster.health.last_error.at) == (
                "CONNECT_UNAVAILABLE",
                app.clock.now,
            )
    finally:
        app.connect.accept()
    app.tick()
    assert {cluster.health for cluster in shown(app, pipeline.id)} == {app.cluster.health}
    assert app.cluster.health.status is HealthStatus.HEALTHY


def test_an_observation_that_is_newer_than_the_last_tick_is_shown(app: InProcessApp) -> None:
    app.tick()
    app.connect.refuse()
    app.clock.advance(5)
    try:
        made = app.register_connect(app.connect.url)
        assert made.health.status is HealthStatus.UNHEALTHY
        app.tick(made)
    finally:
        app.connect.accept()
    app.clock.advance(5)
    app.services.connect_clusters.update(app.context(), made.id, app.connect_input(app.connect.url))
    assert app.services.connect_clusters.get(made.id).health.status is HealthStatus.HEALTHY


def test_a_tick_fills_in_what_could_not_be_read_at_registration(app: InProcessApp) -> None:
    app.connect.refuse()
    try:
        made = app.register_connect(app.connect.url)
    finally:
        app.connect.accept()
    assert (made.connect_version, made.kafka_cluster_id) == (None, None)
    app.tick(made)
    known = app.services.connect_clusters.get(made.id)
    # What Connect says, not what the brokers said at registration: on a slow machine they may not answer in time.
    assert (known.connect_version, known.kafka_cluster_id) == (VERSION, app.kafka.state.cluster_id)
    assert (known.version, known.updated_at) == (made.version, made.updated_at)


@pytest.mark.parametrize("workers", [None, "another"])
@pytest.mark.parametrize("brokers", [None, "another"])
def test_a_cluster_that_was_unreachable_at_registration_is_asked_for_its_kafka_later(
    app: InProcessApp, workers: str | None, brokers: str | None
) -> None:
    cluster = replace(app.cluster, kafka_cluster_id=workers)
    stream = replace(app.stream, kafka_cluster_id=brokers)
    refusal = nullcontext() if workers == brokers else pytest.raises(Invalid)
    with refusal:
        app.services.validation.require_same_kafka(app.context(), stream, cluster)


def test_the_stored_password_of_workers_is_never_sent_to_another_place(app: InProcessApp) -> None:
    data = replace(app.connect_input(app.connect.url, username="headgate"), secrets={"password": Secret("stored")})
    address = replace(data.address, base_url="http://127.0.0.1:1")
    cluster = app.services.connect_clusters.create(app.context(), data)
    app.interceptor.watch()
    with pytest.raises(Invalid) as refused:
        app.services.connect_clusters.update(app.context(), cluster.id, replace(data, secrets={}, address=address))
    assert places(refused.value.details) == [
        {"location": ["body", "credentials", "password"], "type": "required_for_new_target"}
    ]
    assert not any(point.side is Side.CONNECT or point.writes for point in app.interceptor.unwatch())
    given = replace(data, secrets={"password": Secret("given")}, address=address)
    assert app.services.connect_clusters.update(app.context(), cluster.id, given).credentials.fields == {"password": 2}


def test_what_ticks_remember_of_a_deleted_cluster_is_removed_also_what_a_late_one_has_written(
    app: InProcessApp,
) -> None:
    clusters, kept = app.services.connect_clusters, app.cluster
    app.deployed_pipeline()
    deleted = app.register_connect(app.connect.url)
    for cluster in (kept, deleted):
        app.tick(cluster)
    late = app.services.stores.connectors.observations.read([deleted.id])[deleted.id]
    clusters.delete(app.context(), deleted.id)
    app.clock.advance(5)
    app.services.stores.connectors.observations.write(
        deleted.id, replace(late, observed_at=app.clock.now), changed=False
    )
    assert clusters.sweep() == 0
    assert {row["cluster_id"] for row in app.tables.rows("observations")} == {kept.id, deleted.id}
    app.clock.advance(SWEPT_AFTER.total_seconds())
    rows = [row for row in app.tables.rows("observations") if row["cluster_id"] == kept.id]
    assert [clusters.sweep() for _ in range(2)] == [1, 0]
    assert app.tables.rows("observations") == rows
