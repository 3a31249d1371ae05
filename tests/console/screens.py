"""Every screen of the console, with what it needs to be full."""

from collections.abc import Callable, Mapping

from tests.support.apps.sandbox import Json, Sandbox


def _channel(sandbox: Sandbox) -> Json:
    body = {
        "name": sandbox.name("channel"),
        "provider": "webhook",
        "config": {"url": "https://example.com/alerts"},
    }
    return sandbox.cached("console channel", lambda: sandbox.admin.post_ok("/notification-channels", body))


def _rule(sandbox: Sandbox) -> Json:
    body = {"name": sandbox.name("rule"), "channel_ids": [_channel(sandbox)["id"]]}
    return sandbox.cached("console rule", lambda: sandbox.admin.post_ok("/alert-rules", body))


def _delivery(sandbox: Sandbox) -> Json:
    return sandbox.cached("console delivery", sandbox.new_delivery)


def _connection(sandbox: Sandbox) -> Json:
    def registered() -> Json:
        connection = sandbox.admin.post_ok(
            "/connections", {**sandbox.source_body(), "name": sandbox.name("connection")}
        )
        source = {"name": sandbox.name("source"), "provider": "postgresql", "connection_id": connection["id"]}
        sandbox.admin.post_ok("/sources", source)
        return connection

    return sandbox.cached("console connection", registered)


def _maintenance(sandbox: Sandbox) -> str:
    body = {
        "name": sandbox.name("window"),
        "from": "2030-01-01T00:00:00.000Z",
        "until": "2030-01-01T02:00:00.000Z",
        "reason": "a new disk",
        "scope": {"pipeline_ids": [sandbox.pipeline["id"]]},
    }
    sandbox.cached("console window", lambda: sandbox.admin.post_ok("/maintenance", body))
    return "maintenance"


SCREENS: Mapping[str, Callable[[Sandbox], str]] = {
    "now": lambda _: "",
    "start": lambda _: "start",
    "start, tables": lambda sandbox: f"start?step=tables&source={sandbox.source['id']}",
    "pipelines": lambda sandbox: f"pipelines?q={sandbox.pipeline['name']}",
    "pipeline": lambda sandbox: f"pipelines/{sandbox.pipeline['id']}",
    "pipeline, tables": lambda sandbox: f"pipelines/{sandbox.pipeline['id']}?tab=tables",
    "pipeline, config": lambda sandbox: f"pipelines/{sandbox.pipeline['id']}?tab=config",
    "pipeline, timeline": lambda sandbox: f"pipelines/{sandbox.pipeline['id']}?tab=timeline",
    "pipeline, plots": lambda sandbox: f"pipelines/{sandbox.pipeline['id']}?tab=plots",
    "deliveries": lambda sandbox: f"deliveries?q={_delivery(sandbox)['name']}",
    "delivery": lambda sandbox: f"deliveries/{_delivery(sandbox)['id']}",
    "delivery, arrived": lambda sandbox: f"deliveries/{_delivery(sandbox)['id']}?tab=arrived",
    "sources": lambda sandbox: f"sources?q={sandbox.source['name']}",
    "source": lambda sandbox: f"sources/{sandbox.source['id']}",
    "source, readiness": lambda sandbox: f"sources/{sandbox.source['id']}?tab=readiness",
    "source, tables": lambda sandbox: f"sources/{sandbox.source['id']}?tab=tables",
    "source, schema": lambda sandbox: f"sources/{sandbox.source['id']}?tab=schema",
    "source, log": lambda sandbox: f"sources/{sandbox.source['id']}?tab=log",
    "source, settings": lambda sandbox: f"sources/{sandbox.source['id']}?tab=settings",
    "destinations": lambda sandbox: f"destinations?q={sandbox.destination['name']}",
    "destination": lambda sandbox: f"destinations/{_delivery(sandbox)['destination_id']}",
    "connections": lambda sandbox: f"connections?q={_connection(sandbox)['name']}",
    "connection": lambda sandbox: f"connections/{_connection(sandbox)['id']}",
    "topics": lambda sandbox: f"topics?cluster_id={sandbox.stream['id']}",
    "topic": lambda sandbox: f"topics/{sandbox.pipeline['topics'][0]}?cluster_id={sandbox.stream['id']}",
    "groups": lambda sandbox: f"groups?cluster_id={sandbox.stream['id']}",
    "connectors": lambda sandbox: f"connectors?cluster_id={sandbox.connect['id']}",
    "clusters": lambda _: "clusters",
    "Connect cluster": lambda sandbox: f"clusters/{sandbox.connect['id']}",
    "Kafka cluster": lambda sandbox: f"clusters/{sandbox.stream['id']}",
    "alerts": lambda _: "alerts",
    "incidents": lambda _: "incidents",
    "rules": lambda sandbox: f"rules?q={_rule(sandbox)['name']}",
    "rule": lambda sandbox: f"rules/{_rule(sandbox)['id']}",
    "channels": lambda _: "channels",
    "channel": lambda sandbox: f"channels/{_channel(sandbox)['id']}",
    "maintenance": _maintenance,
    "changes": lambda _: "changes",
    "users": lambda _: "users",
    "account": lambda _: "account",
}
"""The name of each screen, and its route in a sandbox where there is something to show."""
