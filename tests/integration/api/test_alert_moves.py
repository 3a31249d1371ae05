"""What operators and the alert manager do to alerts, over HTTP, and the numbers of it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.alerts.alert import AlertStatus
from chalicelib.domain.alerts.event import MonitorReport
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.monitoring.incident import Condition
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from tests.support.alert_caller import Caller, call
from tests.support.alert_rows import (
    an_alert,
    stored,
    stored_channel,
)
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.exposition import read_exposition
from tests.support.in_process_app import START_TIME, InProcessApp, app, app_of_the_module

__all__ = ["app", "app_of_the_module", "call"]

Json = dict[str, Any]


# moves


def test_acknowledging_twice_is_no_error_and_the_first_stays(app: InProcessApp, call: Caller) -> None:
    alert = stored(app, an_alert())
    path = f"/alerts/{alert.id}/acknowledge"
    first = call.ok("POST", path, {"note": "on it"})
    app.clock.advance(60)
    again = call("POST", path, None, **{"x-test-email": "other@example.com"})
    seen = json.loads(again.body)
    assert (again.status, seen["status"], seen["acknowledged_by"]) == (200, "acknowledged", "admin@example.com")
    assert seen["acknowledged_at"] == first["acknowledged_at"] == "2026-01-31T12:00:00.000Z"
    assert [(entry["actor"], entry["reason"]) for entry in seen["history"]] == [
        ("system", "observed"), ("admin@example.com", "on it"), ("other@example.com", "acknowledged"),
    ]  # fmt: skip
    assert call.ok("GET", f"/alerts/{alert.id}") == seen


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
    app: InProcessApp, call: Caller, body: Json | None, until: str | None
) -> None:
    alert = stored(app, an_alert())
    seen = call.ok("POST", f"/alerts/{alert.id}/silence", body)
    assert (seen["status"], seen["silenced_until"], seen["silenced_by"]) == ("silenced", until, "admin@example.com")
    assert seen["details"]["silence_reason"] == (body or {}).get("reason")
    assert call.ok("GET", "/alerts?status=silenced")["total"] == 1


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
    app: InProcessApp, call: Caller, body: Json, field: str
) -> None:
    alert = stored(app, an_alert())
    response = call("POST", f"/alerts/{alert.id}/silence", body)
    error = json.loads(response.body)["error"]
    assert (response.status, error["code"]) == (422, "VALIDATION_FAILED")
    assert [one["location"] for one in error["details"]] == [["body", field]]
    assert "1000000000" not in response.body
    assert call.ok("GET", f"/alerts/{alert.id}")["status"] == "firing"


@pytest.mark.parametrize(("acknowledged", "after"), [(False, "firing"), (True, "acknowledged")])
def test_unsilencing_returns_to_the_state_before(
    app: InProcessApp, call: Caller, acknowledged: bool, after: str
) -> None:
    path = f"/alerts/{stored(app, an_alert()).id}"
    if acknowledged:
        call.ok("POST", f"{path}/acknowledge")
    call.ok("POST", f"{path}/silence")
    for _ in range(2):
        seen = call.ok("POST", f"{path}/unsilence")
        assert (seen["status"], seen["silenced_until"], seen["silenced_by"]) == (after, None, None)


def test_an_expired_silence_is_shown_as_what_the_alert_is_now(app: InProcessApp, call: Caller) -> None:
    path = f"/alerts/{stored(app, an_alert()).id}"
    call.ok("POST", f"{path}/silence", {"duration_seconds": 600})
    app.clock.advance(601)
    seen = call.ok("GET", path)
    assert (seen["status"], seen["silenced_until"], seen["silenced_by"]) == ("firing", None, None)
    assert call.ok("GET", "/alerts?status=silenced")["total"] == 0
    assert call.ok("GET", "/alerts?status=firing")["items"][0]["status"] == "firing"
    assert call.ok("GET", "/alerts/summary")["by_status"]["firing"] == 1


@pytest.mark.parametrize("move", ["acknowledge", "silence", "unsilence"])
def test_a_resolved_alert_stays_as_it_is(app: InProcessApp, call: Caller, move: str) -> None:
    over = {"status": AlertStatus.RESOLVED, "resolved_at": START_TIME}
    path = f"/alerts/{stored(app, an_alert(**over)).id}"
    before = call.ok("GET", path)
    assert call.refused("POST", f"{path}/{move}") == (409, "STATE_CONFLICT", {})
    assert call.ok("GET", path) == before


@pytest.mark.parametrize("alert_id", [UNKNOWN_ID, "not-an-id", UNKNOWN_ID.upper()])
def test_an_unknown_alert_is_not_found(call: Caller, alert_id: str) -> None:
    for method, path in (("GET", ""), ("POST", "/acknowledge"), ("POST", "/silence"), ("POST", "/unsilence")):
        status, code, _ = call.refused(method, f"/alerts/{alert_id}{path}")
        assert (status, code) == (404, "NOT_FOUND")


def test_viewers_see_alerts_and_only_operators_move_them(app: InProcessApp, call: Caller) -> None:
    path = f"/alerts/{stored(app, an_alert()).id}"
    viewer, ops = {"x-test-role": "Viewer"}, {"x-test-role": "Ops"}
    assert [call("GET", one, None, **viewer).status for one in ("/alerts", "/alerts/summary", path)] == [200] * 3
    for move in ("acknowledge", "silence", "unsilence"):
        assert call.refused("POST", f"{path}/{move}", None, **viewer)[:2] == (403, "FORBIDDEN")
        assert call("POST", f"{path}/{move}", None, **ops).status == 200


# with the alert manager


def report(app: InProcessApp, *tasks: int, after: float = 60) -> None:
    """A cycle of the monitor of the Connect cluster, in which these tasks of its pipeline have failed."""
    app.clock.advance(after)
    cluster, pipeline = app.cluster.id, app.services.stores.pipelines.list(limit=1).items[0]
    failed = tuple(
        Condition(
            code="CONNECT_TASK_FAILED", resource_type="pipeline", resource_id=pipeline.id, message="It has failed.",
            connector_name=pipeline.connector_name, task_id=task,
        )
        for task in tasks
    )  # fmt: skip
    one = MonitorReport(origin=f"connect_cluster/{cluster}", at=app.clock(), conditions=failed)
    assert app.services.alerting.bus.publish(one, Deadline.after(600))


def test_an_observation_never_undoes_what_an_operator_has_said(app: InProcessApp, call: Caller) -> None:
    app.pipeline()
    report(app, 0)
    (alert,) = call.ok("GET", "/alerts?status=firing")["items"]
    path = f"/alerts/{alert['id']}"
    call.ok("POST", f"{path}/acknowledge", {"note": "on it"})
    report(app, 0)
    seen = call.ok("GET", path)
    assert (seen["status"], seen["occurrence_count"], seen["acknowledged_by"]) == (
        "acknowledged",
        2,
        "admin@example.com",
    )
    report(app)
    over = call.ok("GET", path)
    assert (over["status"], over["recovery_seconds"], over["details"]["resolution"]) == ("resolved", 120, "recovered")
    assert over["acknowledged_by"] == "admin@example.com"
    report(app, 0)
    (recurrence,) = call.ok("GET", "/alerts?status=active")["items"]
    assert recurrence["id"] != alert["id"]
    assert (recurrence["fingerprint"], recurrence["details"]["episode"]) == (alert["fingerprint"], 2)
    assert call.ok("GET", "/alerts/summary")["by_status"]["resolved"] == 1


def test_a_silence_that_ended_before_anything_was_sent_leads_to_one_message(app: InProcessApp, call: Caller) -> None:
    app.pipeline()
    report(app, 0)
    (alert,) = call.ok("GET", "/alerts")["items"]
    path = f"/alerts/{alert['id']}"
    rule = {"name": "everything", "channel_ids": [stored_channel(app)]}
    assert call("POST", "/alert-rules", rule).status == 201
    call.ok("POST", f"{path}/silence", {"duration_seconds": 600})
    report(app, 0)
    assert call.ok("GET", path)["deliveries"] == []
    for _ in range(2):
        report(app, 0, after=601)
    seen = call.ok("GET", path)
    assert (seen["status"], [(one["kind"], one["status"]) for one in seen["deliveries"]]) == (
        "firing", [("firing", "queued")],
    )  # fmt: skip
    numbers = read_exposition(call("GET", "/metrics").body)["headgate_alerts_total"]
    assert numbers.value(severity="critical", event_type="CONNECT_TASK_FAILED") == 1


# metrics


def test_metrics_are_text_that_prometheus_reads(app: InProcessApp, call: Caller) -> None:
    stored(app, an_alert())
    response = call("GET", "/metrics")
    assert response.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    active = read_exposition(response.body)["headgate_alerts_active"]
    assert active.value(severity=AlertSeverity.CRITICAL, event_type="CONNECT_TASK_FAILED") == 1


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
    app: InProcessApp, call: Caller, monkeypatch: pytest.MonkeyPatch, sent: dict[str, str], status: int
) -> None:
    monkeypatch.setattr(app.services, "settings", replace(app.services.settings, metrics_token=Secret("the-token\n")))
    response = call("GET", "/metrics", None, **sent)
    assert response.status == status
    if status == 401:
        assert json.loads(response.body)["error"]["code"] == "UNAUTHENTICATED"
        assert "headgate_" not in response.body
