"""Labels of everything that people register, and lists that are filtered by them and by names."""

import pytest

from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import Json, Sandbox

KINDS = (
    *("/sources", "/destinations", "/connections", "/stream/clusters", "/connect/clusters"),
    *("/pipelines", "/deliveries", "/alert-rules", "/notification-channels"),
)
REPLACEABLE = tuple(kind for kind in KINDS if kind not in ("/pipelines", "/deliveries"))


def _body(sandbox: Sandbox, kind: str) -> Json:
    bodies = {
        "/sources": sandbox.source_body,
        "/destinations": sandbox.destination_body,
        "/connections": sandbox.connection_body,
        "/stream/clusters": lambda: {"name": sandbox.name("broker"), "bootstrap_servers": "127.0.0.1:1"},
        "/connect/clusters": lambda: {
            "name": sandbox.name("workers"),
            "base_url": sandbox.doubles.connect,
            "stream_cluster_id": sandbox.stream["id"],
        },
        "/pipelines": sandbox.pipeline_body,
        "/deliveries": lambda: sandbox.delivery_body(sandbox.pipeline),
        "/alert-rules": lambda: {"name": sandbox.name("rule")},
        "/notification-channels": lambda: {
            "name": sandbox.name("channel"),
            "provider": "chat-webhook",
            "config": {"webhook_url": f"{sandbox.chat.url}/services/T0/B0/planted-webhook-token"},
        },
    }
    return bodies[kind]()


def _create(sandbox: Sandbox, kind: str, labels: Json) -> Json:
    body = {**_body(sandbox, kind), "labels": labels}
    path = f"/destinations/{sandbox.destination['id']}/deploy" if kind == "/deliveries" else kind
    return sandbox.admin.post_ok(path, body)


@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_shown_as_they_were_given(sandbox: Sandbox, kind: str) -> None:
    labels = {"team": "shop", "cost-centre/unit": "", "app.example/tier": "Größe: 1"}
    created = _create(sandbox, kind, labels)
    assert created["labels"] == labels
    assert sandbox.admin.get_ok(f"{kind}/{created['id']}")["labels"] == labels


@pytest.mark.parametrize("kind", REPLACEABLE)
def test_a_put_replaces_the_labels_and_removes_those_that_it_leaves_out(sandbox: Sandbox, kind: str) -> None:
    created, body = _create(sandbox, kind, {"team": "shop"}), _body(sandbox, kind)
    path = f"{kind}/{created['id']}"
    assert sandbox.admin.put(path, {**body, "labels": {"team": "lake"}}).json()["labels"] == {"team": "lake"}
    assert sandbox.admin.put(path, body).json()["labels"] == {}


def test_new_mappings_of_a_delivery_leave_its_labels_alone(sandbox: Sandbox) -> None:
    delivery = _create(sandbox, "/deliveries", {"team": "shop"})
    mappings = {"mappings": [sandbox.mapping(delivery["topics"][0])]}
    assert sandbox.admin.put(f"/deliveries/{delivery['id']}/mappings", mappings).json()["labels"] == {"team": "shop"}


@pytest.mark.parametrize(
    "labels",
    [
        {f"key-{number}": "" for number in range(17)},
        {"Team": "shop"},
        {"": "shop"},
        {"team:name": "shop"},
        {"k" * 64: "shop"},
        {"team": "v" * 64},
        {"team": "two\nlines"},
        {"team": "hidden\u200bspace"},
        {"team": 1},
        {"team": None},
        {"team": "${env:SECRET}"},
        ["team"],
        None,
    ],
    ids=repr,
)
def test_labels_with_another_form_are_refused(sandbox: Sandbox, labels: object) -> None:
    refused = sandbox.admin.post("/sources", {**sandbox.source_body(), "labels": labels})
    [fault] = assert_error(refused, 422, "VALIDATION_FAILED")
    assert fault["location"] == ["body", "labels"]
