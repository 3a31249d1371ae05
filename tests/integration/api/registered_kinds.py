"""Everything that people register, by the path of its list, and a body for each."""

from tests.support.apps.sandbox import Json, Sandbox

KINDS = (
    *("/sources", "/destinations", "/connections", "/stream/clusters", "/connect/clusters"),
    *("/pipelines", "/deliveries", "/alert-rules", "/notification-channels"),
)
REPLACEABLE = tuple(kind for kind in KINDS if kind not in ("/pipelines", "/deliveries"))


def new_body(sandbox: Sandbox, kind: str) -> Json:
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


def create(sandbox: Sandbox, kind: str, labels: Json) -> Json:
    """A new one with these labels."""
    return sandbox.admin.post_ok(create_path(sandbox, kind), {**new_body(sandbox, kind), "labels": labels})


def create_path(sandbox: Sandbox, kind: str) -> str:
    """Where one is created: a delivery on the shared destination."""
    return f"/destinations/{sandbox.destination['id']}/deploy" if kind == "/deliveries" else kind
