"""Alerts over HTTP: their fields, filters, pages and moves, with a clock that stands still."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.api import alerts as alert_routes
from chalicelib.domain.alerts.alert import MOST_HISTORY, AlertStatus, HistoryEntry
from chalicelib.domain.alerts.channel import ChannelProvider
from chalicelib.domain.alerts.event import Emitter, MonitorReport
from chalicelib.domain.alerts.kinds import AlertSeverity, EventKind
from chalicelib.domain.alerts.notification import (
    MessageContent,
    MessageKind,
    Notification,
    NotificationError,
    NotificationStatus,
)
from chalicelib.domain.monitoring.incident import Condition
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import id_from
from chalicelib.kit.masking import Secret
from chalicelib.kit.pages import PAGE_BYTES
from chalicelib.stores.transaction import Transaction
from tests.support.alert_rows import (
    CLUSTER,
    PIPELINES,
    SOURCES,
    an_alert,
    an_event,
    newest_first,
    put_alerts,
    random_alerts,
    stored,
    stored_channel,
)
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.edge import JSON_ADMIN, ClientResponse, make_edge, through_lambda_event
from tests.support.exposition import read_exposition
from tests.support.in_process_app import START_TIME, InProcessApp, app, app_of_the_module

__all__ = ["app", "app_of_the_module"]

FIELDS = {
    "id", "fingerprint", "event_type", "severity", "status", "source", "pipeline_id", "pipeline_name", "connector_name",
    "task_id", "title", "message", "details", "first_seen_at", "last_seen_at", "occurrence_count", "acknowledged_at",
    "acknowledged_by", "silenced_until", "silenced_by", "resolved_at", "recovery_seconds", "stale", "flapping",
    "history",
}  # fmt: skip
DELIVERY_FIELDS = {
    "id", "channel_id", "channel_name", "provider", "kind", "status", "attempt_count", "last_error", "next_attempt_at",
    "sent_at",
}  # fmt: skip
Json = dict[str, Any]
FUNCTION_ANSWER = 6 * 1024 * 1024


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


# fields


def test_an_alert_in_a_list_has_the_fields_of_the_contract(app: InProcessApp, call: Caller) -> None:
    alert = stored(app, an_alert())
    (listed,) = call.ok("GET", "/alerts")["items"]
    assert set(listed) == FIELDS
    assert listed["source"] == {"type": "connect_cluster", "id": CLUSTER, "name": "workers"}
    assert (listed["event_type"], listed["severity"], listed["status"]) == ("CONNECT_TASK_FAILED", "critical", "firing")
    assert (listed["pipeline_id"], listed["pipeline_name"], listed["task_id"]) == (PIPELINES[0], "orders", 0)
    assert (listed["title"], listed["message"]) == ("Connector task failed: orders, task 0", "A task has failed.")
    assert listed["details"]["error"] == "A task has failed."
    assert listed["details"]["hint"] == "Look at the log of the worker."
    assert (listed["details"]["source_id"], listed["details"]["connect_cluster_id"]) == (SOURCES[0], CLUSTER)
    assert listed["first_seen_at"] == listed["last_seen_at"] == "2026-01-31T12:00:00.000Z"
    assert (listed["occurrence_count"], listed["recovery_seconds"], listed["resolved_at"]) == (1, None, None)
    assert listed["history"] == [
        {"at": "2026-01-31T12:00:00.000Z", "from": None, "to": "firing", "actor": "system", "reason": "observed"}
    ]
    assert listed["fingerprint"] == alert.fingerprint


def test_every_kind_has_a_title(app: InProcessApp, call: Caller) -> None:
    put_alerts(app, (an_alert(n, event=an_event(kind=kind, task_id=n)) for n, kind in enumerate(EventKind)))
    titles = {one["title"].partition(":")[0] for one in call.ok("GET", "/alerts")["items"]}
    assert len(titles) == 23


def test_a_title_says_what_and_where(app: InProcessApp, call: Caller) -> None:
    emitter = Emitter(type="destination", id=UNKNOWN_ID, name="warehouse")
    event = an_event(
        kind=EventKind.DESTINATION_AUTH_FAILED, emitter=emitter, pipeline_id=None, pipeline_name=None, task_id=None
    )
    stored(app, an_alert(event=event))
    assert call.ok("GET", "/alerts")["items"][0]["title"] == "Destination refuses the login: warehouse"


def test_the_detail_also_shows_the_deliveries(app: InProcessApp, call: Caller) -> None:
    alert = stored(app, an_alert())
    put_notifications(app, waiting(alert.id, 1), failed(alert.id, 2))
    detail = call.ok("GET", f"/alerts/{alert.id}")
    assert set(detail) == FIELDS | {"deliveries"}
    newest, oldest = detail["deliveries"]
    assert set(newest) == set(oldest) == DELIVERY_FIELDS
    assert (newest["provider"], newest["kind"], newest["status"], newest["attempt_count"]) == (
        "webhook", "resolved", "failed", 4,
    )  # fmt: skip
    assert newest["last_error"] == {"code": "http_401", "message": "It was refused.", "hint": "Update the secret."}
    assert (newest["next_attempt_at"], oldest["next_attempt_at"]) == (None, "2026-01-31T12:00:05.000Z")
    assert (oldest["kind"], oldest["status"], oldest["last_error"]) == ("firing", "pending", None)
    summary = call.ok("GET", "/alerts/summary")
    assert set(summary["recent"][0]) == FIELDS


def test_a_resolved_alert_shows_how_long_it_lasted(app: InProcessApp, call: Caller) -> None:
    over = {"status": AlertStatus.RESOLVED, "resolved_at": START_TIME + timedelta(seconds=90)}
    alert = stored(app, an_alert(**over))
    seen = call.ok("GET", f"/alerts/{alert.id}")
    assert (seen["status"], seen["recovery_seconds"]) == ("resolved", 90)


# lists


def test_the_summary_has_every_status_and_severity(app: InProcessApp, call: Caller) -> None:
    stored(app, an_alert())
    assert {name: value for name, value in call.ok("GET", "/alerts/summary").items() if name != "recent"} == {
        "active": 1,
        "by_status": {"firing": 1, "acknowledged": 0, "silenced": 0, "resolved": 0},
        "by_severity": {"critical": 1, "warning": 0, "info": 0},
    }


def test_pages_are_numbered_and_the_total_is_exact(app: InProcessApp, call: Caller) -> None:
    every = newest_first(random_alerts(120, seed=2))
    put_alerts(app, every)
    first = call.ok("GET", "/alerts")
    assert (len(first["items"]), first["page"], first["pageSize"], first["total"]) == (50, 1, 50, 120)
    assert set(first) == {"items", "page", "pageSize", "total"}
    third = call.ok("GET", "/alerts?page=3&pageSize=50")
    assert [one["id"] for one in third["items"]] == [alert.id for alert in every[100:]]
    assert call.ok("GET", "/alerts?page=4")["items"] == []
    assert len(call.ok("GET", "/alerts?pageSize=200")["items"]) == 120


@pytest.mark.parametrize(
    ("query", "accepts"),
    [
        ("status=firing", lambda one: one["status"] == "firing"),
        ("status=acknowledged", lambda one: one["status"] == "acknowledged"),
        ("status=silenced", lambda one: one["status"] == "silenced"),
        ("status=resolved", lambda one: one["status"] == "resolved"),
        ("status=active", lambda one: one["status"] != "resolved"),
        ("severity=warning", lambda one: one["severity"] == "warning"),
        ("eventType=CDC_WAL_ERROR", lambda one: one["event_type"] == "CDC_WAL_ERROR"),
        (f"pipelineId={PIPELINES[1]}", lambda one: one["pipeline_id"] == PIPELINES[1]),
        (f"sourceId={SOURCES[1]}", lambda one: SOURCES[1] in (one["source"]["id"], one["details"]["source_id"])),
        (
            f"status=active&severity=critical&pipelineId={PIPELINES[0]}",
            lambda one: one["status"] != "resolved"
            and (one["severity"], one["pipeline_id"]) == ("critical", PIPELINES[0]),
        ),
        (f"pipelineId={UNKNOWN_ID}", lambda _: False),
    ],
)  # fmt: skip
def test_filters_choose_from_the_whole_list(
    app: InProcessApp, call: Caller, query: str, accepts: Callable[[Json], bool]
) -> None:
    put_alerts(app, random_alerts(90, seed=9))
    every = call.ok("GET", "/alerts?pageSize=200")["items"]
    chosen = call.ok("GET", f"/alerts?pageSize=200&{query}")
    expected = [one["id"] for one in every if accepts(one)]
    assert [one["id"] for one in chosen["items"]] == expected
    assert chosen["total"] == len(expected)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        *((f"page={value}", "page") for value in ("0", "-1", "x", "1.5", "", "1000001")),
        *((f"pageSize={value}", "pageSize") for value in ("0", "201", "x", "")),
        *((f"status={value}", "status") for value in ("FIRING", "open", "")),
        ("severity=fatal", "severity"),
        ("eventType=SOMETHING", "eventType"),
        ("pipelineId=1", "pipelineId"),
        (f"sourceId={UNKNOWN_ID.upper().replace('0', 'A')}", "sourceId"),
        ("limit=5", "limit"),
        ("page_size=5", "page_size"),
        ("page=1&page=2", "page"),
    ],
)
def test_a_bad_query_is_refused_with_its_place(call: Caller, query: str, name: str) -> None:
    status, code, details = call.refused("GET", f"/alerts?{query}")
    assert (status, code) == (422, "VALIDATION_FAILED")
    assert [one["location"] for one in details] == [["query", name]]


@pytest.mark.parametrize("letter", ["\N{GRINNING FACE}", '"'])
def test_a_page_of_the_largest_alerts_stays_within_a_body(app: InProcessApp, call: Caller, letter: str) -> None:
    name, text = letter * 200, letter * 5000
    event = an_event(
        emitter=Emitter(type="source", id=SOURCES[0], name=name), pipeline_name=name, error=text, hint=text
    )
    entry = HistoryEntry(
        at=START_TIME, before=AlertStatus.FIRING, after=AlertStatus.FIRING, actor="a" * 254, reason=letter * 300
    )
    largest = {"history": (entry,) * MOST_HISTORY, "silence_reason": letter * 300, "silenced_by": "a" * 254}
    put_alerts(app, (an_alert(number, event=replace(event, task_id=number), **largest) for number in range(200)))
    response = call("GET", "/alerts?pageSize=200")
    assert len(json.loads(response.body)["items"]) == 200
    assert len(response.body.encode()) <= PAGE_BYTES
    assert len(json.dumps(response.body, ensure_ascii=False).encode()) < FUNCTION_ANSWER
    (one, *_) = json.loads(response.body)["items"]
    assert len(one["history"]) == 5
    detail = call("GET", f"/alerts/{one['id']}")
    assert len(json.loads(detail.body)["history"]) == MOST_HISTORY
    assert json.loads(detail.body)["message"] == text
    assert one["message"] == text[:499] + "…"


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


# rows


def waiting(alert_id: str, number: int) -> Notification:
    content = MessageContent(
        alert_id=alert_id, event=EventKind.CONNECT_TASK_FAILED, severity=AlertSeverity.CRITICAL,
        kind=MessageKind.FIRING, at=START_TIME, emitter_type="connect_cluster", emitter_name="workers",
        pipeline_id=None, pipeline_name=None, connector_name=None, task_id=None, error="x", hint=None,
        first_seen_at=START_TIME,
    )  # fmt: skip
    return Notification(
        id=id_from("notification", str(number)), alert_id=alert_id, channel_id=id_from("channel", "1"),
        channel_name="on call", provider=ChannelProvider.WEBHOOK, rule_ids=(), kind=MessageKind.FIRING, sequence=1,
        content=content, status=NotificationStatus.PENDING, attempts=1,
        next_attempt_at=START_TIME + timedelta(seconds=5), created_at=START_TIME + timedelta(seconds=number),
    )  # fmt: skip


def failed(alert_id: str, number: int) -> Notification:
    error = NotificationError(code="http_401", message="It was refused.", hint="Update the secret.")
    return replace(
        waiting(alert_id, number),
        kind=MessageKind.RESOLVED,
        status=NotificationStatus.FAILED,
        attempts=4,
        last_error=error,
    )


def put_notifications(app: InProcessApp, *notifications: Notification) -> None:
    transaction = Transaction()
    for one in notifications:
        app.services.stores.notifications.put_new(transaction, one)
    transaction.commit()
