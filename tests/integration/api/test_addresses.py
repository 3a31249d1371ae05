"""Section 1 of the wire contract: unknown paths, methods that are not allowed, public paths."""

import json

import httpx
import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, validation_error
from tests.support.apps.sandbox import Sandbox

JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(
    "path", ["//", "//nothing", "/nothing", "/sources/x/y/z", "/internal/secrets/" + UNKNOWN_ID, "//api/v2/sources"]
)
def test_an_unknown_path_is_404(sandbox: Sandbox, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        assert_error(sandbox.admin.call(method, path), 404, "NOT_FOUND")
    assert_error(sandbox.unauthenticated().get(path), 404, "NOT_FOUND")


@pytest.mark.parametrize("name", ["x", "1", UNKNOWN_ID.upper().replace("0", "A"), UNKNOWN_ID + "0", "%20", "..%2f"])
def test_an_id_that_is_no_uuid_is_404(sandbox: Sandbox, name: str) -> None:
    for path in ("/sources/{}", "/jobs/{}", "/pipelines/{}/status", "/destinations/{}/mappings", "/deliveries/{}"):
        assert_error(sandbox.admin.get(path.format(name)), 404, "NOT_FOUND")


def test_an_unknown_id_is_404_everywhere(sandbox: Sandbox) -> None:
    for path in (
        "/sources/{}", "/sources/{}/tables", "/sources/{}/cdc-readiness", "/jobs/{}", "/stream/clusters/{}",
        "/connect/clusters/{}", "/connect/clusters/{}/plugins", "/destinations/{}", "/destinations/{}/mappings",
        "/destinations/{}/status", "/deliveries/{}", "/deliveries/{}/status", "/pipelines/{}", "/pipelines/{}/status",
        "/pipelines/{}/destinations",
    ):  # fmt: skip
        assert_error(sandbox.admin.get(path.format(UNKNOWN_ID)), 404, "NOT_FOUND")
    for path in (
        "/sources/{}/test", "/sources/{}/discover", "/sources/{}/health", "/destinations/{}/test",
        "/destinations/{}/pause", "/destinations/{}/resume", "/destinations/{}/restart", "/deliveries/{}/pause",
        "/deliveries/{}/resume", "/deliveries/{}/restart", "/deliveries/{}/restart-task?task=0", "/pipelines/{}/deploy",
        "/pipelines/{}/pause", "/pipelines/{}/resume", "/pipelines/{}/restart", "/pipelines/{}/restart-task?task=0",
    ):  # fmt: skip
        assert_error(sandbox.admin.post(path.format(UNKNOWN_ID)), 404, "NOT_FOUND")
    for path in ("/destinations/{}/preview", "/destinations/{}/deploy"):
        response = sandbox.admin.post(path.format(UNKNOWN_ID), sandbox.delivery_body(sandbox.pipeline))
        assert_error(response, 404, "NOT_FOUND")


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PATCH", "/sources", "GET, POST"),
        ("POST", f"/jobs/{UNKNOWN_ID}", "GET"),
        ("PUT", "/auth/login", "POST"),
        ("DELETE", "/events", "GET"),
        ("POST", "//health", "GET"),
        ("PUT", f"/pipelines/{UNKNOWN_ID}", "DELETE, GET"),
    ],
)
def test_another_method_is_405_with_those_that_are_allowed(
    sandbox: Sandbox, method: str, path: str, allowed: str
) -> None:
    response = sandbox.unauthenticated().call(method, path)
    assert_error(response, 405, "METHOD_NOT_ALLOWED")
    assert response.headers["Allow"] == allowed


@pytest.mark.parametrize("query", ["", "?limit=5", "?limit=abc&x=1&x=2", "?cursor=%24%7Bx%7D", "?pipeline_id=x"])
def test_the_removed_events_are_410_for_every_request(sandbox: Sandbox, query: str) -> None:
    for api in (sandbox.unauthenticated(), sandbox.admin, sandbox.with_role("Viewer")):
        assert_error(api.get("/events" + query), 410, "EVENTS_REMOVED")
    bad = {"Cookie": "headgate_session=nonsense", "Authorization": "Bearer nonsense"}
    assert_error(sandbox.unauthenticated().get("/events", headers=bad), 410, "EVENTS_REMOVED")


def test_health_and_readiness_are_open(sandbox: Sandbox) -> None:
    assert sandbox.unauthenticated().get_ok("//health") == {"status": "ok"}
    ready = sandbox.unauthenticated().get_ok("//ready")
    assert set(ready) == {"status", "checks"}
    assert set(ready["checks"].values()) == {"ok"}


REFERENCE = "${env:HOME}"


def test_a_secret_reference_is_refused_in_every_string(sandbox: Sandbox) -> None:
    source, pipeline = sandbox.source_body(), sandbox.pipeline_body()
    delivery = sandbox.delivery_body(sandbox.pipeline)
    destination = sandbox.new_destination()["id"]
    cases = [
        ("/sources", {**source, "name": REFERENCE}, ("name",)),
        ("/sources", {**source, "description": REFERENCE}, ("description",)),
        ("/sources", {**source, "config": sandbox.config(host=REFERENCE)}, ("config", "host")),
        ("/sources", {**source, "config": sandbox.config(username="a" + REFERENCE)}, ("config", "username")),
        ("/sources", {**source, "credentials": {"password": "x${y"}}, ("credentials", "password")),
        ("/destinations", {**sandbox.destination_body(), "environment": REFERENCE}, ("environment",)),
        ("/stream/clusters", {"name": REFERENCE, "bootstrap_servers": "127.0.0.1:1"}, ("name",)),
        ("/connect/clusters", {"name": "x", "base_url": REFERENCE, "stream_cluster_id": UNKNOWN_ID}, ("base_url",)),
        ("/pipelines", {**pipeline, "topic_prefix": REFERENCE}, ("topic_prefix",)),
        ("/pipelines/preview", {**pipeline, "properties": {"query.fetch.size": REFERENCE}}, ("properties",)),
        ("/pipelines", {**pipeline, "tables": [{"schema_name": "s", "table_name": REFERENCE}]}, ("tables", 0,
        "table_name")),
        (f"/destinations/{destination}/preview", {**delivery, "name": REFERENCE}, ("name",)),
        (f"/destinations/{destination}/deploy", {**delivery, "name": REFERENCE}, ("name",)),
        ("/auth/login", {"email": "a@b", "password": REFERENCE}, ("password",)),
    ]  # fmt: skip
    for path, body, location in cases:
        assert validation_error(sandbox.admin.post(path, body), "body", *location) == "secret_reference_not_allowed"
    escaped = json.dumps({**source, "name": "NAME"}).replace("NAME", "\\u0024\\u007bx}")
    response: httpx.Response = sandbox.admin.call("POST", "/sources", content=escaped.encode(), headers=JSON)
    validation_error(response, "body", "name")
    assert_error(
        sandbox.admin.get(f"/sources/{sandbox.source['id']}/tables", params={"search": REFERENCE}),
        422,
        "VALIDATION_FAILED",
    )
