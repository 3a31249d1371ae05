"""Connections and the sources and destinations that use them, as requests make and change them."""

from typing import Any

import httpx

from tests.support.apps.sandbox import Json, Sandbox

KINDS = ("sources", "destinations")


def new_connection(sandbox: Sandbox, **changes: Any) -> Json:
    return sandbox.admin.post_ok("/connections", sandbox.connection_body(**changes))


def new_user(sandbox: Sandbox, connection: Json, kind: str = "sources") -> Json:
    return sandbox.admin.post_ok(f"/{kind}", sandbox.using_body(connection))


def put(sandbox: Sandbox, path: str, body: Json, **more: Any) -> httpx.Response:
    return sandbox.admin.put(path, body, **more)


def body_of(sandbox: Sandbox, connection: Json, **changes: Any) -> Json:
    """A body that changes nothing but these fields; without a secret, unless one is among them."""
    shown = sandbox.admin.get_ok(f"/connections/{connection['id']}")
    kept = ("name", "description", "provider", "capabilities", "config")
    return {name: shown[name] for name in kept} | changes


def as_user(kind: str, system: Json) -> Json:
    return {"type": kind.removesuffix("s"), "id": system["id"], "name": system["name"]}
