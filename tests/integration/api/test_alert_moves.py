"""What operators and the alert manager do to alerts, over HTTP, and the numbers of it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.kit.masking import Secret
from tests.support.alerting.api import AlertingApi, world
from tests.support.alerting.rows import an_alert, stored
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module

__all__ = ["app", "app_of_the_module", "world"]

Json = dict[str, Any]


# moves


def test_acknowledging_twice_is_no_error_and_the_first_stays(app: InProcessApp, world: AlertingApi) -> None:
    alert = stored(app, an_alert())
    path = f"/alerts/{alert.id}/acknowledge"
    first = world.ok("POST", path, {"note": "on it"})
    app.clock.advance(60)
    again = world.request("POST", path, None, **{"x-test-email": "other@example.com"})
    seen = json.loads(again.body)
    assert (again.status, seen["status"], seen["acknowledged_by"]) == (200, "acknowledged", "admin@example.com")
    assert seen["acknowledged_at"] == first["acknowledged_at"] == "2026-01-31T12:00:00.000Z"
    assert [(entry["actor"], entry["reason"]) for entry in seen["history"]] == [
        ("system", "observed"), ("admin@example.com", "on it"), ("other@example.com", "acknowledged"),
    ]  # fmt: skip
    assert world.ok("GET", f"/alerts/{alert.id}") == seen


@pytest.mark.parametrize(
    ("body", "until"),
    [
        (None, None),
        ({}, None),
        ({"duration_seconds": None, "until": None, "reason": None}, None),
        ({"duration_seconds": 60}, "2026-01-31T12:01:00.000Z"),
        ({"duration_seconds": 2_592_000, "reason": "planned work"}, "2026-03-02T12:00:00.000Z"),
        ({"until": "2026-01-31T14:00:00+01:00"}, "2026-01-31T13:00:00.000Z"),
    ],
)
def test_a_silence_lasts_as_long_as_it_says(
    app: InProcessApp, world: AlertingApi, body: Json | None, until: str | None
) -> None:
    alert = stored(app, an_alert())
    seen = world.ok("POST", f"/alerts/{alert.id}/silence", body)
    assert (seen["status"], seen["silenced_until"], seen["silenced_by"]) == ("silenced", until, "admin@example.com")
    assert seen["details"]["silence_reason"] == (body or {}).get("reason")
    assert world.ok("GET", "/alerts?status=silenced")["total"] == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        *(({"duration_seconds": value}, "duration_seconds") for value in (0, -1, 59, "x", 10**9, 60.5, True, [], {})),
        *(({"until": value}, "until") for value in ("x", 1_800_000_000, "2026-02-01T12:00:00", "2026-01-31T11:59:59Z")),
        ({"until": "2026-04-01T12:00:00Z"}, "until"),
        ({"duration_seconds": 60, "until": "2026-01-31T13:00:00Z"}, "until"),
        ({"reason": "x" * 301}, "reason"),
        ({"reason": 1}, "reason"),
        ({"minutes": 5}, "minutes"),
    ],
)
def test_a_bad_silence_is_refused_with_its_place_and_without_what_was_sent(
    app: InProcessApp, world: AlertingApi, body: Json, field: str
) -> None:
    alert = stored(app, an_alert())
    response = world.request("POST", f"/alerts/{alert.id}/silence", body)
    error = json.loads(response.body)["error"]
    assert (response.status, error["code"]) == (422, "VALIDATION_FAILED")
    assert [detail["location"] for detail in error["details"]] == [["body", field]]
    assert "1000000000" not in response.body
    assert world.ok("GET", f"/alerts/{alert.id}")["status"] == "firing"


@pytest.mark.parametrize(("acknowledged", "after"), [(False, "firing"), (True, "acknowledged")])
def test_unsilencing_returns_to_the_state_before(
    app: InProcessApp, world: AlertingApi, acknowledged: bool, after: str
) -> None:
    path = f"/alerts/{stored(app, an_alert()).id}"
    if acknowledged:
        world.ok("POST", f"{path}/acknowledge")
    world.ok("POST", f"{path}/silence")
    for _ in range(2):
        seen = world.ok("POST", f"{path}/unsilence")
        assert (seen["status"], seen["silenced_until"], seen["silenced_by"]) == (after, None, None)


@pytest.mark.parametrize("alert_id", [UNKNOWN_ID, "not-an-id", UNKNOWN_ID.upper()])
def test_an_unknown_alert_is_not_found(world: AlertingApi, alert_id: str) -> None:
    for method, path in (("GET", ""), ("POST", "/acknowledge"), ("POST", "/silence"), ("POST", "/unsilence")):
        status, code, _ = world.refused(method, f"/alerts/{alert_id}{path}")
        assert (status, code) == (404, "NOT_FOUND")


# metrics


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer wrong"}, 401),
        ({"authorization": "Bearer "}, 401),
        ({"authorization": "Basic the-token"}, 401),
        ({"authorization": "the-token"}, 401),
        ({"authorization": "Bearer the-token"}, 200),
        ({"authorization": "bearer  the-token "}, 200),
    ],
)
def test_with_a_token_metrics_are_for_those_who_have_it(
    app: InProcessApp, world: AlertingApi, monkeypatch: pytest.MonkeyPatch, sent: dict[str, str], status: int
) -> None:
    monkeypatch.setattr(app.services, "settings", replace(app.services.settings, metrics_token=Secret("the-token\n")))
    response = world.request("GET", "/metrics", None, **sent)
    assert response.status == status
    if status == 401:
        assert json.loads(response.body)["error"]["code"] == "UNAUTHENTICATED"
        assert "headgate_" not in response.body
