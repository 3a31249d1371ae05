"""Read calls that ask a server: how often they do, who may ask anew, and the time of what they show."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

import pytest

from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import Sandbox
from tests.support.databases.blocking_proxy import BlockingProxy

VIEWERS_CALLS = 110


@dataclass
class CountingProxy(BlockingProxy):
    """Counts the connections that it forwards, and how many of them were open at once."""

    target: int
    connections: int = 0
    open_now: int = 0
    at_once: int = 0
    _counting: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        super().__init__(self.target)

    def _serve(self, client: object) -> None:  # type: ignore[override]
        with self._counting:
            self.connections += 1
            self.open_now += 1
            self.at_once = max(self.at_once, self.open_now)
        try:
            super()._serve(client)  # type: ignore[arg-type]
        finally:
            with self._counting:
                self.open_now -= 1


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
    shown = [answer.json() for answer in answers if answer.status_code == 200]
    asked = proxy.connections
    proxy.connections = 0
    assert sandbox.admin.get(readiness, params={"fresh": "true"}).status_code == 200
    assert (asked, len({one["checked_at"] for one in shown})) == (proxy.connections, 1)
