"""Alerting as people and providers see it: over HTTP, in virtual time, with providers that follow a script.

    def test_something(world: AlertingApi) -> None:
        channel = world.channel()
        world.rule(channel)
        world.report(world.task_failed())
        assert world.alert()["status"] == "firing"
        assert len(world.provider(channel).messages) == 1

Channels, rules and what operators do are requests; reports are published as monitors publish them. With the fixture
`network` messages go over HTTPS to receivers on this machine (`tests.support.notification_network`).
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from chalicelib.api import alerts as alert_routes
from chalicelib.api import operations as operation_routes
from chalicelib.domain.alerts.event import MonitorReport
from chalicelib.domain.monitoring.incident import Condition, Severity, origin_of
from chalicelib.kit.clock import Deadline
from tests.support.alerting import AlertingDriver, alerting_of
from tests.support.edge import JSON_ADMIN, ClientResponse, Send, make_edge, through_lambda_event
from tests.support.in_process_app import InProcessApp
from tests.support.scripted_provider import ScriptedProvider

Json = dict[str, Any]
CHAT, BOT, WEBHOOK = "chat-webhook", "bot-chat", "webhook"


@dataclass(kw_only=True)
class AlertingApi:
    """The routes of alerting and of the audit trail, with what is behind them."""

    app: InProcessApp
    driver: AlertingDriver
    send: Send
    conditions: dict[str, Any] = field(default_factory=dict)

    # requests

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> ClientResponse:
        """A request of an Admin."""
        text = b"" if body is None else json.dumps(body).encode()
        return self.send(method, f"/api/v1{path}", {**JSON_ADMIN, "x-test-email": "a@example.com", **headers}, text)

    def ok(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The answer to a request that succeeds."""
        response = self.request(method, path, body, **headers)
        assert response.status in (200, 201, 204), response.body
        return json.loads(response.body) if response.body else None

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str]:
        """Status and code of a request that is refused."""
        response = self.request(method, path, body)
        return response.status, json.loads(response.body)["error"]["code"]

    def channel(self, provider: str = CHAT, **script: Any) -> Json:
        """A channel with a scripted provider, which gets the options of `ScriptedProvider`."""
        number = next(self.driver.numbers)
        created = self.ok("POST", "/notification-channels", self.channel_body(provider, number))
        self.driver.sender.behind(_key(provider, number), **script)
        self.conditions[created["id"]] = _key(provider, number)
        return dict(created)

    def channel_body(self, provider: str, number: int) -> Json:
        """The body that creates or changes a channel."""
        address = {CHAT: "webhook_url", BOT: "bot_token", WEBHOOK: "url"}[provider]
        config: Json = {address: _key(provider, number)}
        if provider == BOT:
            config["chat_id"] = -100123
        return {"name": f"channel {number}", "provider": provider, "config": config}

    def provider(self, channel: Json) -> ScriptedProvider:
        """The provider behind a channel."""
        return self.driver.sender.providers[self.conditions[channel["id"]]]

    def rule(self, *channels: Json, **fields: Any) -> Json:
        """A rule that sends everything to these channels, but for the fields that are given."""
        name = f"rule {next(self.driver.numbers)}"
        ids = [one["id"] for one in channels]
        return dict(self.ok("POST", "/alert-rules", {"name": name, "channel_ids": ids, **fields}))

    def alerts(self, query: str = "") -> list[Json]:
        """The alerts of a list, newest first."""
        return list(self.ok("GET", f"/alerts?pageSize=200&{query}")["items"])

    def alert(self, query: str = "") -> Json:
        """The only alert of a list, with its deliveries."""
        (one,) = self.alerts(query)
        return self.read(one)

    def read(self, alert: Json) -> Json:
        """An alert as it is now, with its deliveries."""
        return dict(self.ok("GET", f"/alerts/{alert['id']}"))

    def move(self, alert: Json, name: str, body: Json | None = None, **headers: str) -> Json:
        """What an operator does: acknowledge, silence or unsilence."""
        return dict(self.ok("POST", f"/alerts/{alert['id']}/{name}", body, **headers))

    def sent(self, alert: Json) -> list[tuple[str, str]]:
        """Kind and status of the messages of an alert, the oldest first."""
        return [(one["kind"], one["status"]) for one in reversed(self.read(alert)["deliveries"])]

    # what is wrong

    def pipeline_id(self) -> str:
        """The id of the pipeline, which is made when it is asked for first."""
        if "pipeline" not in self.conditions:
            self.conditions["pipeline"] = self.app.pipeline()
        return str(self.conditions["pipeline"].id)

    def task_failed(self, task: int = 0, **fields: Any) -> Condition:
        """A task of the pipeline's connector has failed."""
        pipeline_id = self.pipeline_id()
        condition = Condition(
            code="CONNECT_TASK_FAILED", resource_type="pipeline", resource_id=pipeline_id, task_id=task,
            connector_name=self.conditions["pipeline"].connector_name, message=f"Task {task} has failed.",
        )  # fmt: skip
        return replace(condition, **fields)

    def connector_failed(self, **fields: Any) -> Condition:
        """The pipeline's connector has failed."""
        return self.task_failed(code="CONNECTOR_FAILED", **{"task_id": None, **fields})

    def new_report(self, *conditions: Condition, origin: str | None = None, **fields: Any) -> MonitorReport:
        """What a monitor finds now; nobody has received it yet."""
        where = origin or origin_of("connect_cluster", self.app.cluster.id)
        return MonitorReport(origin=where, at=self.driver.now, conditions=conditions, **fields)

    def publish(self, report: MonitorReport) -> None:
        """A monitor publishes a report, and workers do what can be done at once."""
        assert self.app.services.alerting.bus.publish(report, Deadline.after(60))
        self.driver.run(seconds=0)

    def report(self, *conditions: Condition, after: float = 60, **options: Any) -> None:
        """Let time pass; then a monitor finds exactly this."""
        self.driver.run(seconds=after)
        self.publish(self.new_report(*conditions, **options))

    def run(self, seconds: float) -> None:
        """Let time pass, with what workers and the schedule do in it."""
        self.driver.run(seconds=seconds)

    def called(self, channel: Json) -> list[float]:
        """When the scripted provider of a channel was called, in seconds since the start of the test."""
        return self.provider(channel).seconds_since(self.driver.start)


def warning(condition: Condition) -> Condition:
    """The same, less bad."""
    return replace(condition, severity=Severity.WARNING)


def _key(provider: str, number: int) -> str:
    """The secret by which the scripted provider of a channel is found."""
    keys: Mapping[str, str] = {
        CHAT: f"https://hooks.example.com/services/{number}",
        BOT: f"{number}:token-of-a-bot",
        WEBHOOK: f"https://hooks.example.com/in/{number}",
    }
    return keys[provider]


@pytest.fixture
def world(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> Iterator[AlertingApi]:
    """Alerting over HTTP, with empty tables."""
    with alerting_of(app) as driver:
        for module in (alert_routes, operation_routes):
            monkeypatch.setattr(module, "services", lambda: app.services)
        edge = make_edge(alert_routes.routes, alert_routes.metrics_routes, operation_routes.routes)
        yield AlertingApi(app=app, driver=driver, send=through_lambda_event(edge.app))
