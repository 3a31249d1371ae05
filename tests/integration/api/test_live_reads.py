"""Read calls that ask a server: how often they do, who may ask anew, and the time of what they show."""

import re
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

import pytest

from tests.support.api_assertions import assert_error, is_timestamp, validation_error
from tests.support.apps.sandbox import Json, Sandbox
from tests.support.databases.blocking_proxy import BlockingProxy
from tests.support.waiting import eventually

VIEWERS_CALLS = 110
OBJECTS = ("readiness", "pipeline", "delivery", "destination", "connector", "topic")
LISTS = ("plugins", "connectors", "consumer groups", "topics")


@dataclass
class CountingProxy(BlockingProxy):
    """Counts the connections that it accepts, and how many of them were open at once."""

    target: int
    connections: int = 0
    at_once: int = 0
    _open: set[socket.socket] = field(default_factory=set)
    _counting: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        super().__init__(self.target)

    def _serve(self, client: socket.socket) -> None:
        with self._counting:
            self.connections += 1
            self._open.add(client)
            self.at_once = max(self.at_once, sum(map(is_open, self._open)))
        try:
            super()._serve(client)
        finally:
            with self._counting:
                self._open.discard(client)


def is_open(connection: socket.socket) -> bool:
    """Whether the client has not closed it. The thread that serves it may notice that only later."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


@pytest.fixture
def proxy(sandbox: Sandbox) -> Iterator[CountingProxy]:
    with CountingProxy(sandbox.postgresql.port) as proxy:
        yield proxy


@pytest.fixture
def readiness(sandbox: Sandbox, proxy: CountingProxy) -> str:
    """The path of the readiness of a source that is reached through the proxy."""
    source = sandbox.admin.post_ok("/sources", sandbox.source_body(config=sandbox.config(port=proxy.port)))
    return f"/sources/{source['id']}/cdc-readiness"


def test_110_readiness_calls_at_once_make_the_connections_of_one(
    sandbox: Sandbox, proxy: CountingProxy, readiness: str
) -> None:
    viewer = sandbox.with_role("Viewer")
    with ThreadPoolExecutor(VIEWERS_CALLS) as callers:
        answers = list(callers.map(lambda _: viewer.get(readiness), range(VIEWERS_CALLS)))
    for refused in (answer for answer in answers if answer.status_code != 200):
        assert_error(refused, 503, "TRY_AGAIN")
        assert int(refused.headers["Retry-After"]) >= 1
    shown = [answer.json() for answer in answers if answer.status_code == 200]
    asked = proxy.connections
    proxy.connections = 0
    assert sandbox.admin.get(readiness, params={"fresh": "true"}).status_code == 200
    assert (asked, len({one["checked_at"] for one in shown})) == (proxy.connections, 1)


def test_readiness_is_shown_again_until_the_source_changes(
    sandbox: Sandbox, proxy: CountingProxy, readiness: str
) -> None:
    first = sandbox.with_role("Viewer").get_ok(readiness)
    asked = proxy.connections
    assert sandbox.with_role("Viewer").get_ok(readiness) == first
    assert proxy.connections == asked
    source = readiness.removesuffix("/cdc-readiness")
    body = sandbox.source_body(config=sandbox.config(port=proxy.port))
    assert sandbox.admin.put(source, body).status_code == 200
    assert sandbox.admin.get_ok(readiness)["checked_at"] > first["checked_at"]
    assert proxy.connections == 2 * asked


def test_readiness_for_a_pipeline_is_another_question(sandbox: Sandbox) -> None:
    pipeline = sandbox.new_pipeline()
    path = f"/sources/{pipeline['source_id']}/cdc-readiness"
    general = sandbox.admin.get_ok(path)
    of_pipeline = sandbox.admin.get_ok(f"{path}?pipeline_id={pipeline['id']}")
    assert of_pipeline["checks"] != general["checks"]


@pytest.mark.parametrize("name", [*OBJECTS, *LISTS])
def test_a_viewer_reads_what_is_known_and_operators_ask_anew(sandbox: Sandbox, name: str) -> None:
    path = live_paths(sandbox)[name]
    viewer, ops = sandbox.with_role("Viewer"), sandbox.with_role("Ops")
    assert viewer.get(path).status_code == 200
    fresh = f"{path}{'&' if '?' in path else '?'}fresh="
    assert_error(viewer.get(f"{fresh}true"), 403, "FORBIDDEN")
    assert ops.get(f"{fresh}true").status_code == 200
    validation_error(ops.get(f"{fresh}perhaps"), "query", "fresh")


@pytest.mark.parametrize("name", LISTS)
def test_a_list_comes_with_the_time_at_which_the_server_was_asked(sandbox: Sandbox, name: str) -> None:
    path = live_paths(sandbox)[name]
    first, second = sandbox.admin.get(path, params={"fresh": "true"}), sandbox.with_role("Viewer").get(path)
    assert is_timestamp(first.headers["X-Observed-At"])
    assert (second.headers["X-Observed-At"], second.json()) == (first.headers["X-Observed-At"], first.json())
    third = sandbox.admin.get(path, params={"fresh": "true"})
    assert third.headers["X-Observed-At"] > first.headers["X-Observed-At"]


@pytest.mark.parametrize("noun", ["pipelines", "deliveries"])
def test_a_status_is_shown_again_with_its_time_and_an_operation_makes_it_outdated(sandbox: Sandbox, noun: str) -> None:
    made = sandbox.running_pipeline() if noun == "pipelines" else sandbox.new_delivery()
    resource = f"/{noun}/{made['id']}"
    path = f"{resource}/status"
    eventually(lambda: sandbox.admin.get_ok(f"{path}?fresh=true"), lambda seen: seen["observed_state"] == "RUNNING")
    first = sandbox.with_role("Viewer").get_ok(path)
    assert sandbox.with_role("Viewer").get_ok(path)["observed_at"] == first["observed_at"]
    assert sandbox.admin.post(f"{resource}/pause").status_code == 200
    paused = sandbox.with_role("Viewer").get_ok(path)
    assert paused["observed_at"] > first["observed_at"]
    assert paused["observed_state"] != "RUNNING"


def live_paths(sandbox: Sandbox) -> Mapping[str, str]:
    """Every read call that asks a server, by what is read."""
    delivery: Json = sandbox.cached("read delivery", sandbox.new_delivery)
    return {
        "readiness": f"/sources/{sandbox.source['id']}/cdc-readiness",
        "plugins": f"/connect/clusters/{sandbox.connect['id']}/plugins",
        "pipeline": f"/pipelines/{delivery['pipeline_id']}/status",
        "delivery": f"/deliveries/{delivery['id']}/status",
        "destination": f"/destinations/{delivery['destination_id']}/status",
        "connector": f"/connect/connectors/{delivery['connector_name']}/status?cluster_id={sandbox.connect['id']}",
        "connectors": f"/connect/connectors?cluster_id={sandbox.connect['id']}",
        "consumer groups": f"/stream/consumer-groups?cluster_id={sandbox.stream['id']}",
        "topics": f"/stream/topics?cluster_id={sandbox.stream['id']}",
        "topic": f"/stream/topics/{delivery['topics'][0]}?cluster_id={sandbox.stream['id']}",
    }


def test_the_metrics_are_read_at_most_once_in_five_seconds(sandbox: Sandbox) -> None:
    """They contain the age of the last look at the Connect cluster, which grows all the time."""
    assert sandbox.connect
    eventually(lambda: sandbox.unauthenticated().get("//metrics").text, shows_an_age)
    texts = {sandbox.unauthenticated().get("//metrics").text for _ in range(4)}
    assert len(texts) <= 2


def shows_an_age(text: str) -> bool:
    return bool(re.search(r"^headgate_tick_age_seconds (?!0(\.0)?$)", text, re.MULTILINE))


def test_one_user_runs_ten_tests_at_a_time(sandbox: Sandbox) -> None:
    """The server accepts connections and says nothing, so that each test takes its whole time."""
    ops = sandbox.with_role("Ops")
    with CountingProxy(sandbox.postgresql.port) as proxy, ThreadPoolExecutor(40) as callers:
        proxy.silent()
        body = {
            "provider": "postgresql",
            "config": sandbox.config(port=proxy.port, connection_timeout_seconds=8),
            "credentials": {"password": "any"},
        }
        answers = list(callers.map(lambda _: ops.post("/destinations/test-connection", body), range(40)))
    refused = [answer for answer in answers if answer.status_code != 200]
    assert refused
    for answer in refused:
        assert_error(answer, 429, "RATE_LIMITED")
        assert int(answer.headers["Retry-After"]) >= 1
    assert proxy.at_once == 10
