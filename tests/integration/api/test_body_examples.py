"""Every example of a body is sent to the API in the order of work. Only what belongs to the example installation is
replaced: ids, hosts, and the secrets that its servers know.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pyotp
import pytest

from chalicelib.api.documentation import bodies
from chalicelib.api.documentation.bodies import bodies_of
from tests.support.apps.sandbox import DATABASE, ROLE, TARGET, WRITER, Api, Json, Sandbox
from tests.support.apps.sandbox_stack import ROLE_PASSWORD, WRITER_PASSWORD
from tests.support.object_store.scripted_store import ScriptedStore, scripted_store

PUBLIC_ADDRESS = "93.184.215.14"
CHAT = "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"


@pytest.fixture(scope="module")
def store() -> Iterator[ScriptedStore]:
    with scripted_store() as running:
        yield running


@pytest.fixture
def made(sandbox: Sandbox) -> Iterator[list[str]]:
    """Paths of what is deleted again, the last first."""
    paths: list[str] = []
    yield paths
    for path in reversed(paths):
        response = sandbox.admin.delete(path)
        assert response.status_code in (202, 204), response.text


def replaced(value: Any, texts: Mapping[str, Any]) -> Any:
    """The value with other texts in the place of some."""
    if isinstance(value, dict):
        return {name: replaced(part, texts) for name, part in value.items()}
    if isinstance(value, list):
        return [replaced(part, texts) for part in value]
    return texts.get(value, value) if isinstance(value, str) else value


def on_this_machine(sandbox: Sandbox, store: ScriptedStore, body: Json) -> Json:
    """The body with addresses of servers that run here."""
    hosts = {
        "kafka-1.example.com:9093,kafka-2.example.com:9093": sandbox.doubles.kafka,
        "kafka-3.example.com:9094": sandbox.doubles.kafka,
        "kafka-test.example.com:9092": sandbox.doubles.kafka,
        "https://login.example.com/oauth/token": "https://127.0.0.1:1/oauth/token",
        "https://connect.example.com:8083": sandbox.doubles.connect,
        "http://connect-test.example.com:8083": sandbox.doubles.connect,
        "https://minio.example.com:9000": store.url,
        "shop-lake": "lake",
        CHAT: f"{sandbox.chat.url}/services/T/B",
        "https://tickets.example.com/hooks/headgate": f"https://{PUBLIC_ADDRESS}/hooks/headgate",
    }
    body = replaced(body, hosts)
    if body.get("provider") == "postgresql":
        is_target = body["config"]["host"].startswith("warehouse")
        database, user, password = (TARGET, WRITER, WRITER_PASSWORD) if is_target else (DATABASE, ROLE, ROLE_PASSWORD)
        here = sandbox.config(database, user)
        body = {**body, "config": {**body["config"], **here}, "credentials": {"password": password}}
    return body


class Sender:
    """Sends the examples of operations, and checks that they are accepted."""

    def __init__(self, sandbox: Sandbox, store: ScriptedStore, made: list[str]) -> None:
        self.sandbox, self.store, self.made = sandbox, store, made
        self.ids: dict[str, str] = {}
        self.sent: set[str] = set()

    def bodies(self, operation: str) -> list[Json]:
        self.sent.add(operation)
        found = bodies_of(operation).values()
        return [replaced(on_this_machine(self.sandbox, self.store, body), self.ids) for body in found]

    def send(
        self, operation: str, path: str, *, method: str = "POST", api: Api | None = None, **texts: str
    ) -> list[Json]:
        """The answers, one for each example."""
        caller = api or self.sandbox.admin
        responses = [caller.call(method, path, replaced(body, texts)) for body in self.bodies(operation)]
        return [self.accepted(operation, response) for response in responses]

    def accepted(self, operation: str, response: httpx.Response) -> Json:
        assert response.status_code < 300, (operation, response.text)
        return dict(response.json()) if response.content else {}

    def register(self, kind: str, path: str) -> list[Json]:
        """Creates one of each example, and replaces each by the same."""
        created = self.send(f"create_{kind}", path)
        self.made += [f"{path}/{one['id']}" for one in created]
        for one, body in zip(created, self.bodies(f"update_{kind}"), strict=True):
            self.accepted(kind, self.sandbox.admin.put(f"{path}/{one['id']}", body))
        return created


def test_every_example_of_a_registration_a_pipeline_and_a_delivery_is_accepted(
    sandbox: Sandbox, store: ScriptedStore, made: list[str]
) -> None:
    sender = Sender(sandbox, store, made)
    sender.ids[bodies.STREAM_CLUSTER_ID] = sandbox.stream["id"]
    sender.register("stream_cluster", "/stream/clusters")
    sender.register("connect_cluster", "/connect/clusters")
    sender.ids[bodies.CONNECT_CLUSTER_ID] = sandbox.connect["id"]
    connection = sender.register("connection", "/connections")[0]
    sender.ids[bodies.CONNECTION_ID] = connection["id"]
    sender.send("test_unsaved_connection", "/connections/test")
    sender.send("test_connection", "/destinations/test-connection")
    source = sender.register("source", "/sources")[0]
    sender.ids[bodies.SOURCE_ID] = source["id"]
    job = sandbox.finished_job(sandbox.admin.post_ok(f"/sources/{source['id']}/discover", status=202))
    assert job["status"] == "COMPLETED", job
    to_table, _, _, to_files, _ = sender.register("destination", "/destinations")

    sender.send("preview_pipeline", "/pipelines/preview")
    pipeline, other = sender.send("create_pipeline", "/pipelines")
    made += [f"/pipelines/{pipeline['id']}", f"/pipelines/{other['id']}"]
    sender.ids[bodies.PIPELINE_ID] = pipeline["id"]
    deployed = sandbox.admin.post_ok(f"/pipelines/{pipeline['id']}/deploy", status=200)
    for topic in deployed["topics"]:
        sandbox.doubles.kafka_double.state.create_topic(topic)
    deliveries = [
        deliver(sender, destination["id"], body)
        for destination, body in zip((to_table, to_files), sender.bodies("deploy_delivery"), strict=True)
    ]
    made += [f"/deliveries/{delivery['id']}" for delivery in deliveries]
    first = deliveries[0]["id"]
    sender.send("update_delivery_mappings", f"/deliveries/{first}/mappings", method="PUT")
    nested = f"/destinations/{to_table['id']}/deliveries/{first}/mappings"
    sender.send("update_destination_mappings", nested, method="PUT")
    sender.ids[bodies.CHANNEL_ID] = sender.register("channel", "/notification-channels")[0]["id"]
    sender.send("test_unsaved_channel", "/notification-channels/test")
    sender.send("preview_alert_rule", "/alert-rules/preview")
    sender.register("alert_rule", "/alert-rules")


def deliver(sender: Sender, destination: str, body: Json) -> Json:
    sender.sent.add("preview_delivery")
    api = sender.sandbox.admin
    sender.accepted("preview_delivery", api.post(f"/destinations/{destination}/preview", body))
    return sender.accepted("deploy_delivery", api.post(f"/destinations/{destination}/deploy", body))


def test_every_example_about_people_is_accepted(sandbox: Sandbox, store: ScriptedStore, made: list[str]) -> None:
    sender = Sender(sandbox, store, made)
    [invited] = sender.send("invite_user", "/users/invite")
    made.append(f"/users/{invited['id']}")
    guest = sandbox.unauthenticated()
    sender.send("accept_invite", f"/invites/{invited['token']}/accept", api=guest)
    sender.send("change_user_role", f"/users/{invited['id']}/role", method="PATCH")

    [password] = bodies_of("accept_invite").values()
    own = sandbox.signed_in(invited["email"], password["password"])
    known = {
        "purple lantern over quiet harbor": password["password"],
        password["password"]: "eight blue parrots at sea",
    }
    sender.send("change_password", "/auth/password", api=own, **known)
    current = "eight blue parrots at sea"
    sender.send("create_api_token", "/auth/tokens", api=own)
    secret = own.post_ok("/auth/totp", status=200)["secret"]
    code = pyotp.TOTP(secret).now()
    [recovery] = sender.send("confirm_second_factor", "/auth/totp/confirm", api=own, **{"492039": code})
    first, second, *_ = recovery["recovery_codes"]
    known = {"ada@example.com": invited["email"], "purple lantern over quiet harbor": current, "492039": first}
    with_code = replaced(sender.bodies("login")[1], known)
    sender.accepted("login", sandbox.unauthenticated().post("/auth/login", with_code))
    [removal] = sender.bodies("remove_second_factor")
    known["492039"] = second
    sender.accepted("remove_second_factor", own.delete("/auth/totp", json=replaced(removal, known)))
    sender.accepted("login", sandbox.unauthenticated().post("/auth/login", replaced(sender.bodies("login")[0], known)))
