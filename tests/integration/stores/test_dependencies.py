"""What a pipeline stands among: two calls when a process meets it, one from then on."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.reconcile.snapshot import ClusterView
from chalicelib.domain.table import TableName
from chalicelib.errors import NotFound
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.dependencies import DependencyLoader, PipelineDependencies, pipelines_among
from chalicelib.stores.observations import Observations
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.sources import Sources
from chalicelib.stores.transaction import Transaction
from tests.integration.stores.conftest import Room

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
PIPELINE = Pipeline(
    id="pipeline-1",
    name="orders",
    source_id="source-1",
    stream_cluster_id="stream-1",
    connect_cluster_id="connect-1",
    capture=Capture(topic_prefix="shop", tables=(TableName("public", "orders"),)),
    created_at=NOW,
    updated_at=NOW,
)
STREAM = StreamCluster(
    id="stream-1", name="s", bootstrap_servers="k:9092", credentials=Credentials(id="c1"), created_at=NOW,
    updated_at=NOW,
)  # fmt: skip
CONNECT = ConnectCluster(
    id="connect-1", name="c", base_url="http://c:8083", stream_cluster_id="stream-1",
    credentials=Credentials(id="c2"), created_at=NOW, updated_at=NOW,
)  # fmt: skip

Among = DependencyLoader[Pipeline, PipelineDependencies]


@pytest.fixture
def among(room: Room) -> Among:
    """The pipeline and its clusters are stored; its source is not."""
    pipelines, streams, connects = Pipelines(), StreamClusters(), ConnectClusters()
    transaction = Transaction()
    pipelines.put_new(transaction, PIPELINE)
    streams.put_new(transaction, STREAM)
    connects.put_new(transaction, CONNECT)
    transaction.commit()
    return pipelines_among(pipelines, Sources(), streams, connects, Observations())


def calls_of(room: Room, among: Among) -> list[str]:
    room.gate.watch()
    among.read("pipeline-1")
    return [point.what for point in room.gate.unwatch()]


def test_what_is_stored_is_there_and_what_is_not_is_none(among: Among) -> None:
    pipeline, deps = among.read("pipeline-1")
    assert pipeline == PIPELINE
    assert deps == PipelineDependencies(None, STREAM, CONNECT, ClusterView())


def test_a_process_that_has_met_it_reads_it_in_one_call(room: Room, among: Among) -> None:
    assert calls_of(room, among) == ["BatchGetItem", "BatchGetItem"]
    assert calls_of(room, among) == ["BatchGetItem"]


def test_who_made_it_has_met_it(room: Room, among: Among) -> None:
    among.meet(PIPELINE)
    assert calls_of(room, among) == ["BatchGetItem"]


def test_what_is_read_in_one_call_is_the_same(among: Among) -> None:
    assert among.read("pipeline-1") == among.read("pipeline-1")


@pytest.mark.parametrize("met", [False, True])
def test_one_that_is_gone_is_not_found(among: Among, met: bool) -> None:
    if met:
        among.read("pipeline-1")
    transaction = Transaction()
    among.rows.remove(transaction, PIPELINE)
    transaction.commit()
    with pytest.raises(NotFound):
        among.read("pipeline-1")
