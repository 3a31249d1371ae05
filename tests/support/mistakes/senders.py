"""How the mistakes of newcomers are sent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.support.apps.sandbox import Api, Sandbox

Send = Callable[[Sandbox], httpx.Response]


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """What is sent, and what a person reads: `message` is the sentence of one detail, or of the whole error."""

    name: str
    send: Send
    message: str
    status: int = 422
    more: Mapping[str, Any] = field(default_factory=dict)


def source(*, config: Mapping[str, Any] | None = None, **changes: Any) -> Send:
    def send(sandbox: Sandbox) -> httpx.Response:
        merged = {**sandbox.config(), **(config or {})}
        return sandbox.admin.post("/sources", sandbox.source_body(config=merged, **changes))

    return send


def pipeline(**changes: Any) -> Send:
    return lambda sandbox: sandbox.admin.post("/pipelines", sandbox.pipeline_body(**changes))


def preview(**changes: Any) -> Send:
    return lambda sandbox: sandbox.admin.post("/pipelines/preview", sandbox.pipeline_body(**changes))


def delivery(**changes: Any) -> Send:
    def send(sandbox: Sandbox) -> httpx.Response:
        body = sandbox.delivery_body(sandbox.pipeline, **changes)
        return sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/preview", body)

    return send


def mapped(*tables: tuple[str, str]) -> Send:
    """A delivery whose mappings are the pipeline's topics to these tables."""

    def send(sandbox: Sandbox) -> httpx.Response:
        pairs = zip(sandbox.pipeline["topics"], tables, strict=False)
        mappings = [{"topic": topic, "schema_name": schema, "table_name": name} for topic, (schema, name) in pairs]
        return delivery(mappings=mappings)(sandbox)

    return send


def post(path: str, body: Any, **more: Any) -> Send:
    return lambda sandbox: sandbox.admin.post(path, body, **more)


def get(path: str) -> Send:
    return lambda sandbox: sandbox.admin.get(path)


def raw(text: str, content_type: str = "application/json") -> Send:
    """A body as a person types it."""

    def send(sandbox: Sandbox) -> httpx.Response:
        headers = {"Content-Type": content_type}
        return sandbox.admin.call("POST", "/sources", headers=headers, content=text.encode())

    return send


def store(provider: str, config: Mapping[str, Any]) -> Send:
    key = {"access_key_id": "key", "secret_access_key": "secret"}
    return post("/destinations", {"name": "files", "provider": provider, "config": config, "credentials": key})


def channel(provider: str, config: Mapping[str, Any]) -> Send:
    return post("/notification-channels", {"name": "people", "provider": provider, "config": config})


def rule(**changes: Any) -> Send:
    return post("/alert-rules", {"name": "a rule of mine", **changes})


def by(role: str, send: Callable[[Api], httpx.Response]) -> Send:
    return lambda sandbox: send(sandbox.with_role(role))


def deleted_if(sandbox: Sandbox, if_match: str) -> httpx.Response:
    source = sandbox.source
    return sandbox.admin.delete(f"/sources/{source['id']}", headers={"If-Match": if_match})


def duplicate(sandbox: Sandbox) -> httpx.Response:
    return sandbox.admin.post("/sources", sandbox.source_body(name=sandbox.source["name"].upper()))


def files_with_write_mode(sandbox: Sandbox) -> httpx.Response:
    config = {"bucket": "files-of-mine", "endpoint_url": "http://127.0.0.1:9"}
    key = {"access_key_id": "key", "secret_access_key": "secret"}
    body = {"name": sandbox.name("files"), "provider": "minio", "config": config, "credentials": key}
    files = sandbox.admin.post_ok("/destinations", body)
    mappings = [{"topic": sandbox.pipeline["topics"][0]}]
    sent = sandbox.delivery_body(sandbox.pipeline, mappings=mappings, write_mode="insert")
    return sandbox.admin.post(f"/destinations/{files['id']}/preview", sent)


def json_to_a_database(sandbox: Sandbox) -> httpx.Response:
    plain = sandbox.cached("plain", lambda: sandbox.new_pipeline(converter="json"))
    body = sandbox.delivery_body(plain)
    return sandbox.admin.post(f"/destinations/{sandbox.destination['id']}/preview", body)


def not_in_the_pipeline(sandbox: Sandbox) -> httpx.Response:
    return delivery(mappings=[{"topic": "another.shop.orders", "schema_name": "mart", "table_name": "t"}])(sandbox)
