"""Requests to the routes of alerting, with a clock that stands still."""

import json
from typing import Any

import pytest

from chalicelib.api import alerts as alert_routes
from tests.support.edge import JSON_ADMIN, ClientResponse, make_edge, through_lambda_event
from tests.support.in_process_app import InProcessApp

Json = dict[str, Any]


class Caller:
    """Requests of an Admin to the routes, through the function's event."""

    def __init__(self, app: InProcessApp) -> None:
        self.send = through_lambda_event(make_edge(alert_routes.routes, alert_routes.metrics_routes).app)

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> ClientResponse:
        sent = {**JSON_ADMIN, "x-test-email": "admin@example.com", **headers}
        text = b"" if body is None else json.dumps(body).encode()
        return self.send(method, f"/api/v1{path}", sent, text)

    def ok(self, method: str, path: str, body: Any = None) -> Json:
        response = self(method, path, body)
        assert response.status == 200, response.body
        return dict(json.loads(response.body))

    def refused(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str, Any]:
        response = self(method, path, body, **headers)
        error = json.loads(response.body)["error"]
        assert set(error) == {"code", "message", "details"}
        return response.status, error["code"], error["details"]


@pytest.fixture
def call(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> Caller:
    monkeypatch.setattr(alert_routes, "services", lambda: app.services)
    return Caller(app)
