"""Connect clusters are as whoever looked last has seen them."""

from contextlib import nullcontext
from dataclasses import replace

import pytest

from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.health import HealthStatus
from chalicelib.errors import Invalid
from infra.local.doubles.connect import VERSION
from tests.support.in_process_app import House, house, house_of_the_module

__all__ = ["house", "house_of_the_module"]


def shown(house: House, pipeline_id: str) -> list[ConnectCluster]:
    """The cluster by itself, in its list, and beside a pipeline."""
    services = house.services
    listed = services.connect_clusters.list(limit=1, after=None).items
    detail = services.pipelines.detail(pipeline_id)
    return [services.connect_clusters.get(detail.connect_cluster.id), *listed, detail.connect_cluster]


def test_workers_that_are_gone_are_not_shown_as_healthy(house: House) -> None:
    pipeline = house.pipeline()
    house.tick()
    assert {one.health.status for one in shown(house, pipeline.id)} == {HealthStatus.HEALTHY}
    house.connect.refuse()
    try:
        house.tick()
        for one in shown(house, pipeline.id):
            assert one.health.status is HealthStatus.UNHEALTHY
            assert one.health.last_error is not None
            assert (one.health.last_error.code, one.health.last_error.at) == ("CONNECT_UNAVAILABLE", house.clock.now)
    finally:
        house.connect.accept()
    house.tick()
    assert {one.health for one in shown(house, pipeline.id)} == {house.cluster.health}
    assert house.cluster.health.status is HealthStatus.HEALTHY


def test_a_look_that_is_newer_than_the_last_tick_counts(house: House) -> None:
    house.tick()
    house.connect.refuse()
    house.clock.advance(5)
    try:
        made = house.register_connect(house.connect.url)
        assert made.health.status is HealthStatus.UNHEALTHY
        house.tick(made)
    finally:
        house.connect.accept()
    house.clock.advance(5)
    given = house.connect_input(house.connect.url)
    house.services.connect_clusters.update(house.call(), made.id, given)
    assert house.services.connect_clusters.get(made.id).health.status is HealthStatus.HEALTHY


def test_a_tick_learns_what_workers_did_not_tell_when_they_were_registered(house: House) -> None:
    house.connect.refuse()
    try:
        made = house.register_connect(house.connect.url)
    finally:
        house.connect.accept()
    assert (made.connect_version, made.kafka_cluster_id) == (None, None)
    house.tick(made)
    known = house.services.connect_clusters.get(made.id)
    assert (known.connect_version, known.kafka_cluster_id) == (VERSION, house.stream.kafka_cluster_id)
    assert (known.version, known.updated_at) == (made.version, made.updated_at)


@pytest.mark.parametrize("workers", [None, "another"])
@pytest.mark.parametrize("brokers", [None, "another"])
def test_whoever_was_away_when_it_was_registered_is_asked_which_kafka_it_is(
    house: House, workers: str | None, brokers: str | None
) -> None:
    cluster = replace(house.cluster, kafka_cluster_id=workers)
    stream = replace(house.stream, kafka_cluster_id=brokers)
    refusal = nullcontext() if workers == brokers else pytest.raises(Invalid)
    with refusal:
        house.services.plugins.require_same_kafka(house.call(), stream, cluster)
