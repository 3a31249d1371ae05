"""Alerting as people and providers see it: over HTTP, in virtual time, with providers that follow a script.

    def test_something(world: AlertingApi) -> None:
        channel = world.channel()
        world.rule(channel)
        world.report(world.task_failed())
        assert world.alert()["status"] == "firing"
        assert len(world.provider(channel).messages) == 1

Channels, rules and what operators do are requests; reports are published as monitors publish them. With the fixture
`network` messages go over HTTPS to receivers on this machine (`tests.support.alerting.notification_network`).
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from chalicelib.api.routes import alerts as alert_routes
from chalicelib.api.routes import maintenance as maintenance_routes
from chalicelib.api.routes import operations as operation_routes
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.incident import origin_of
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.kit.clock import Deadline
from tests.support.alerting.scripted_provider import ScriptedProvider
from tests.support.alerting.virtual import AlertingDriver, alerting_of
from tests.support.apps.edge import JSON_ADMIN, ClientResponse, Send, make_edge, through_lambda_event
from tests.support.apps.in_process_app import InProcessApp

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
        return self.send(method, f"/api/v1{path}", {**JSON_ADMIN, "x-test-email": "admin@example.com", **headers}, text)

    def ok(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The answer to a request that succeeds."""
        response = self.request(method, path, body, **headers)
        assert response.status in (200, 201, 204), response.body
        return json.loads(response.body) if response.body else None

    def refused(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str, Any]:
        """Status, code and details of a request that is refused."""
        response = self.request(method, path, body, **headers)
        error = json.loads(response.body)["error"]
        assert set(error) == {"code", "message", "details"}
        return response.status, error["code"], error["details"]

    def channel(self, **script: Any) -> Json:
        """A channel with a scripted provider, which gets the options of `ScriptedProvider`."""
        number = next(self.driver.numbers)
        url = f"https://hooks.example.com/services/{number}"
        body = {"name": f"channel {number}", "provider": CHAT, "config": {"webhook_url": url}}
        created = self.ok("POST", "/notification-channels", body)
        self.driver.sender.behind(url, **script)
        self.conditions[created["id"]] = url
        return dict(created)

    def provider(self, channel: Json) -> ScriptedProvider:
        return self.driver.sender.providers[self.conditions[channel["id"]]]

    def rule(self, *channels: Json, **fields: Any) -> Json:
        """A rule that sends everything to these channels, but for the fields that are given."""
        name = f"rule {next(self.driver.numbers)}"
        ids = [channel["id"] for channel in channels]
        return dict(self.ok("POST", "/alert-rules", {"name": name, "channel_ids": ids, **fields}))

    def alerts(self, query: str = "") -> list[Json]:
        """The alerts of a list, newest first."""
        return list(self.ok("GET", f"/alerts?pageSize=200&{query}")["items"])

    def alert(self, query: str = "") -> Json:
        """The only alert of a list, with its deliveries."""
        (alert,) = self.alerts(query)
        return self._read(alert)

    def _read(self, alert: Json) -> Json:
        return dict(self.ok("GET", f"/alerts/{alert['id']}"))

    def sent(self, alert: Json) -> list[tuple[str, str]]:
        """Kind and status of the messages of an alert, the oldest first."""
        return [(delivery["kind"], delivery["status"]) for delivery in reversed(self._read(alert)["deliveries"])]

    # what is wrong

    def pipeline_id(self) -> str:
        """The id of the pipeline, which is made when it is asked for first."""
        if "pipeline" not in self.conditions:
            self.conditions["pipeline"] = self.app.pipeline()
        return str(self.conditions["pipeline"].id)

    def task_failed(self, task: int = 0, **fields: Any) -> Condition:
        pipeline_id = self.pipeline_id()
        condition = Condition(
            code=ConditionCode.CONNECT_TASK_FAILED, resource_type="pipeline", resource_id=pipeline_id, task_id=task,
            connector_name=self.conditions["pipeline"].connector_name, message=f"Task {task} has failed.",
        )  # fmt: skip
        return replace(condition, **fields)

    def connector_failed(self, **fields: Any) -> Condition:
        return self.task_failed(code=ConditionCode.CONNECTOR_FAILED, **{"task_id": None, **fields})

    def report(self, *conditions: Condition, after: float = 60, origin: str | None = None) -> None:
        """Let time pass; then a monitor finds exactly this, and workers do what can be done at once."""
        self.driver.run(seconds=after)
        where = origin or origin_of("connect_cluster", self.app.cluster.id)
        report = MonitorReport(origin=where, at=self.driver.now, conditions=conditions)
        assert self.app.services.alerting.bus.publish(report, Deadline.after(60))
        self.driver.run(seconds=0)

    def called(self, channel: Json) -> list[float]:
        """When the scripted provider of a channel was called, in seconds since the start of the test."""
        return self.provider(channel).seconds_since(self.driver.start)


@pytest.fixture
def world(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> Iterator[AlertingApi]:
    """Alerting over HTTP, with empty tables."""
    with alerting_of(app) as driver:
        for module in (alert_routes, maintenance_routes, operation_routes):
            monkeypatch.setattr(module, "services", lambda: app.services)
        edge = make_edge(
            alert_routes.routes, alert_routes.metrics_routes, maintenance_routes.routes, operation_routes.routes
        )
        yield AlertingApi(app=app, driver=driver, send=through_lambda_event(edge.app))
