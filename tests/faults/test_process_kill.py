"""The real process, killed with -9 between any two steps of a deploy, on the real stack; then started again.

A proxy in front of DynamoDB Local and another in front of Kafka Connect stop the process at the chosen step. No
other test uses this stack.
"""

import secrets
import shutil
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.local.process.ports import kept_ports
from infra.local.stack import real_stack
from tests.support.apps.real_headgate import RealHeadgate, running_headgate
from tests.support.databases.pausing_proxy import PausingProxy, ProxiedRequest
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

SETTLED_WITHIN = 120.0


def _transaction_with(word: bytes) -> Callable[[ProxiedRequest], bool]:
    return lambda seen: b"TransactItems" in seen.body and word in seen.body and b".deploy" in seen.body


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of the protocol, and how to recognise its request."""

    name: str
    on_store: bool
    matches: Callable[[ProxiedRequest], bool]


T1 = Step(name="T1", on_store=True, matches=_transaction_with(b"requested"))
E1 = Step(name="E1", on_store=False, matches=lambda seen: (seen.method, seen.path) == ("POST", "/connectors"))
T2 = Step(name="T2", on_store=True, matches=_transaction_with(b"SUCCEEDED"))
E2 = Step(name="E2", on_store=False, matches=lambda seen: seen.path.endswith("/resume"))
KILLS = [(T1, False), (T1, True), (E1, True), (T2, True), (E2, True)]
"""Each step, and whether it was carried out. What is killed before a later step leaves what the step before it left."""


@dataclass(frozen=True, kw_only=True)
class Killable:
    """A Headgate that reaches its tables and Kafka Connect through proxies."""

    headgate: RealHeadgate
    store: PausingProxy
    connect: PausingProxy

    def kill_at(self, step: Step, path: str, body: Any = None, *, after: bool) -> None:
        """Send a request, kill the process when it reaches the step, and start it again."""
        pause = (self.store if step.on_store else self.connect).pause(step.matches, after=after)
        request = threading.Thread(target=self._ask, args=(path, body))
        request.start()
        pause.wait()
        self.headgate.process.kill()
        pause.drop()
        request.join()
        self.headgate.process.start()

    def _ask(self, path: str, body: Any) -> None:
        with suppress(httpx.HTTPError):
            self.headgate.client.post(path, json=body)

    def settled(self, path: str) -> dict[str, Any]:
        """The resource, once it has no open operation and is observed to run.

        A connector that asked for its secrets while Headgate was down has failed; it says so, and a restart helps.
        """

        def look() -> dict[str, Any]:
            self.headgate.tick()
            seen = dict(self.headgate.get(path))
            if seen["open_operation"] is None and seen["observed_state"] == "FAILED":
                assert any("credentials" in reason for reason in seen["reasons"]), seen["reasons"]
                self.headgate.post(f"{path}/restart")
            return seen

        return eventually(
            look,
            lambda seen: seen["open_operation"] is None and seen["observed_state"] == "RUNNING",
            seconds=SETTLED_WITHIN,
        )

    def audited(self, resource_id: str) -> Counter[tuple[str, str]]:
        """The number of audit records of a resource, by action and outcome."""
        records = self.headgate.get(f"/audit?resource_id={resource_id}&limit=100")
        return Counter((one["action"], one["outcome"]) for one in records)


@pytest.fixture(scope="module")
def killable() -> Iterator[Killable]:
    """Headgate on a stack of its own."""
    with ExitStack() as cleanup:
        state = Path(tempfile.mkdtemp(prefix="headgate-kill-"))
        state.chmod(0o711)
        cleanup.callback(shutil.rmtree, state, ignore_errors=True)
        port, credential = kept_ports(state / "headgate.json", ["headgate"])["headgate"], secrets.token_urlsafe(24)
        url = f"http://127.0.0.1:{port}"
        stack = cleanup.enter_context(
            real_stack.start(state / "stack", headgate_url=url, service_credential=credential)
        )
        store, connect = PausingProxy(stack.addresses.dynamodb), PausingProxy(stack.addresses.connect)
        cleanup.callback(store.close)
        cleanup.callback(connect.close)
        headgate = cleanup.enter_context(
            running_headgate(
                stack, state, port, credential, {"AWS_ENDPOINT_URL_DYNAMODB": store.url}, connect_url=connect.url
            )
        )
        yield Killable(headgate=headgate, store=store, connect=connect)


def test_a_deploy_killed_at_any_step_ends_with_one_connector_and_one_audit_record_per_outcome(
    killable: Killable,
) -> None:
    headgate = killable.headgate
    place = headgate.database(
        "shop",
        "CREATE TABLE shop.orders (id int PRIMARY KEY, note text)",
        "ALTER TABLE shop.orders OWNER TO {role}",
        "INSERT INTO shop.orders VALUES (1, 'first')",
    )
    source = headgate.source(place)
    headgate.discover(source)
    steady = headgate.pipeline(source, [("shop", "orders")])
    headgate.deploy(steady)
    topic = f"{steady['topic_prefix']}.shop.orders"
    target = headgate.destination(headgate.database("target"))

    pipelines, deliveries = [], []
    for step, after in KILLS:
        pipeline = headgate.pipeline(source, [("shop", "orders")])
        killable.kill_at(step, f"/pipelines/{pipeline['id']}/deploy", after=after)
        pipelines.append(pipeline["id"])
    # A process that was killed before its first transaction leaves no operation.
    assert headgate.get(f"/pipelines/{pipelines[0]}")["open_operation"] is None
    headgate.post(f"/pipelines/{pipelines[0]}/deploy")
    for step, after in KILLS[1:]:
        number = len(deliveries)
        body = headgate.delivery_body({"id": steady["id"]}, {topic: f"copy{number}"}, auto_create=True)
        if not deliveries:
            headgate.until_topics(body)
        killable.kill_at(step, f"/destinations/{target['id']}/deploy", body, after=after)
        deliveries.append(body["name"])

    for pipeline_id in pipelines:
        assert killable.settled(f"/pipelines/{pipeline_id}")["desired_state"] == "RUNNING"
        records = killable.audited(pipeline_id)
        assert (records["pipeline.deploy", "requested"], records["pipeline.deploy", "success"]) == (1, 1)
        assert ("pipeline.deploy", "failed") not in records
    found = eventually(
        lambda: {one["name"]: one["id"] for one in headgate.get("/deliveries?limit=100")},
        lambda seen: len(seen) == len(deliveries),
        seconds=SETTLED_WITHIN,
    )
    assert found.keys() == set(deliveries)
    for delivery_id in found.values():
        assert killable.settled(f"/deliveries/{delivery_id}")["desired_state"] == "RUNNING"
        records = killable.audited(delivery_id)
        assert (records["delivery.deploy", "requested"], records["delivery.deploy", "success"]) == (1, 1)
        assert ("delivery.deploy", "failed") not in records
    desired = {_connector("source", one) for one in [*pipelines, steady["id"]]}
    assert headgate.connectors().keys() == desired | {_connector("sink", one) for one in found.values()}


def _connector(kind: str, resource_id: str) -> str:
    return f"headgate-{kind}-{resource_id.replace('-', '')}"
