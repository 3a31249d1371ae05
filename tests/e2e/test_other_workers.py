"""Other Kafka Connect workers answer at the address of a Connect cluster, on the real stack: another group on the same
Kafka, and a group on another Kafka. Connectors that people run must not be created there unasked: all of their tables
would be captured twice.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from infra.local.process.ports import kept_ports
from infra.local.stack import kafka
from infra.local.stack.fetch import fetch_all
from infra.local.stack.folders import Folders
from tests.e2e.test_source_state import ORDERS
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.real import RealStackInUse, other_worker
from tests.support.servers import running_server
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

PIPELINES = 5
"""More than three, and more than a tenth, are missing at once."""

TOLD_WITHIN_SECONDS = 90


@pytest.fixture(scope="module")
def address(headgate: RealHeadgate) -> Iterator[BlockingProxy]:
    """The address under which Headgate reaches its workers; it can lead to others."""
    path = f"/connect/clusters/{headgate.connect_cluster_id}"
    body = {"name": "connect", "stream_cluster_id": headgate.stream_cluster_id}
    with BlockingProxy(port_of(headgate.stack.addresses.connect)) as proxy:
        headgate.call("PUT", path, {**body, "base_url": f"http://127.0.0.1:{proxy.port}"})
        yield proxy
        headgate.call("PUT", path, {**body, "base_url": headgate.stack.addresses.connect})


@pytest.fixture(scope="module")
def database(headgate: RealHeadgate) -> RealDatabase:
    return headgate.database("workers", *ORDERS, "INSERT INTO shop.orders VALUES (1, 'first')")


@pytest.fixture(scope="module")
def pipelines(headgate: RealHeadgate, address: BlockingProxy, database: RealDatabase) -> Iterator[list[Json]]:
    source = headgate.source(database)
    headgate.discover(source)
    pipelines = [headgate.pipeline(source, [("shop", "orders")]) for _ in range(PIPELINES)]
    for pipeline in pipelines:
        headgate.deploy(pipeline)
        headgate.until_records(pipeline["topics"][0], 1)
    yield pipelines
    for pipeline in pipelines:
        headgate.delete_pipeline(pipeline, database)


@pytest.fixture
def another_group(real_stack_in_use: RealStackInUse, tmp_path: Path) -> Iterator[str]:
    """The URL of workers of another group on the same Kafka."""
    with other_worker(real_stack_in_use, tmp_path / "worker", name="others") as (url, _):
        yield url


@pytest.fixture
def another_kafka(real_stack_in_use: RealStackInUse, tmp_path: Path) -> Iterator[str]:
    """The URL of workers on a Kafka of their own."""
    programs, folders = fetch_all(), Folders(tmp_path / "broker")
    ports = kept_ports(folders.ports, ["kafka", "controller"])
    broker = kafka.plan(programs.kafka, folders, port=ports["kafka"], controller_port=ports["controller"])
    own = {"bootstrap.servers": f"127.0.0.1:{ports['kafka']}"}
    with ExitStack() as ends:
        ends.enter_context(running_server(broker))
        worker = other_worker(real_stack_in_use, tmp_path / "worker", name="elsewhere", settings=own)
        url, _ = ends.enter_context(worker)
        yield url


def port_of(url: str) -> int:
    return urlsplit(url).port or 80


def created_at(url: str) -> list[str]:
    return list(httpx.get(f"{url}/connectors", timeout=20).json())


def until_told(headgate: RealHeadgate, pipelines: list[Json], code: str) -> None:
    """Ticks follow each other until an incident of the cluster has this code, and no pipeline is simply RUNNING."""

    def told() -> bool:
        headgate.tick()
        incidents = headgate.get("/operations/errors?active=true")
        states = {headgate.get(f"/pipelines/{pipeline['id']}")["observed_state"] for pipeline in pipelines}
        return code in [incident["code"] for incident in incidents] and "RUNNING" not in states

    eventually(told, seconds=TOLD_WITHIN_SECONDS)


def until_all_run_again(headgate: RealHeadgate, address: BlockingProxy, pipelines: list[Json]) -> None:
    """The address leads to the own workers again: their connectors have run all the time."""
    address.lead_to(port_of(headgate.stack.addresses.connect))

    def settled() -> bool:
        headgate.tick()
        states = {headgate.get(f"/pipelines/{pipeline['id']}")["observed_state"] for pipeline in pipelines}
        return states == {"RUNNING"} and headgate.get("/operations/errors?active=true") == []

    eventually(settled, seconds=TOLD_WITHIN_SECONDS)


def some_ticks(headgate: RealHeadgate) -> None:
    """More of them than Headgate waits for before it creates a connector that is missing."""
    for _ in range(8):
        headgate.tick()
        time.sleep(5)


def cluster(headgate: RealHeadgate) -> Json:
    return dict(headgate.get(f"/connect/clusters/{headgate.connect_cluster_id}"))


def test_another_group_on_the_same_kafka_gets_no_connector_before_an_admin_confirms_it(
    headgate: RealHeadgate, address: BlockingProxy, pipelines: list[Json], another_group: str
) -> None:
    address.lead_to(port_of(another_group))
    until_told(headgate, pipelines, "CREATIONS_PENDING")
    assert cluster(headgate)["pending_creations"]["count"] == PIPELINES
    some_ticks(headgate)
    assert created_at(another_group) == []
    until_all_run_again(headgate, address, pipelines)
    assert cluster(headgate)["pending_creations"] is None


def test_workers_on_another_kafka_get_no_connector(
    headgate: RealHeadgate, address: BlockingProxy, pipelines: list[Json], another_kafka: str
) -> None:
    address.lead_to(port_of(another_kafka))
    until_told(headgate, pipelines, "KAFKA_CLUSTER_CHANGED")
    assert cluster(headgate)["last_error"]["code"] == "KAFKA_CLUSTER_CHANGED"
    refused = headgate.refused(f"/pipelines/{pipelines[0]['id']}/restart", status=409)
    assert "another Kafka cluster" in refused["message"]
    some_ticks(headgate)
    assert created_at(another_kafka) == []
    until_all_run_again(headgate, address, pipelines)
