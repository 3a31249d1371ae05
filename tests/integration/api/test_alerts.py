"""Alerts over HTTP: their fields, filters and pages, with a clock that stands still."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.alerts.alert import MAX_HISTORY, AlertStatus, HistoryEntry, Resolution
from chalicelib.domain.alerts.backlog import Backlog
from chalicelib.domain.alerts.event import Emitter
from chalicelib.domain.alerts.notification import MessageKind, Notification, NotificationError, NotificationStatus
from chalicelib.kit.clock import rfc3339
from chalicelib.kit.ids import id_from
from chalicelib.kit.pages import PAGE_BYTES
from tests.support.alerting.api import AlertingApi, world
from tests.support.alerting.notifications import notification
from tests.support.alerting.rows import (
    CLUSTER,
    PIPELINES,
    SOURCES,
    an_alert,
    an_event,
    newest_first,
    put_alerts,
    random_alerts,
    stored,
)
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.apps.in_process_app import START_TIME, InProcessApp, app, app_of_the_module
from tests.support.stored import put

__all__ = ["app", "app_of_the_module", "world"]

FIELDS = {
    "id", "fingerprint", "event_type", "severity", "status", "source", "pipeline_id", "pipeline_name", "connector_name",
    "task_id", "title", "message", "details", "first_seen_at", "last_seen_at", "occurrence_count", "acknowledged_at",
    "acknowledged_by", "silenced_until", "silenced_by", "resolved_at", "recovery_seconds", "stale", "flapping",
    "history", "notified", "not_notified_because",
}  # fmt: skip
DELIVERY_FIELDS = {
    "id", "channel_id", "channel_name", "provider", "kind", "status", "attempt_count", "last_error", "next_attempt_at",
    "sent_at",
}  # fmt: skip
Json = dict[str, Any]
FUNCTION_ANSWER = 6 * 1024 * 1024


# fields


def test_an_alert_in_a_list_has_the_fields_of_the_contract(app: InProcessApp, world: AlertingApi) -> None:
    alert = stored(app, an_alert())
    (listed,) = world.ok("GET", "/alerts")["items"]
    assert set(listed) == FIELDS
    assert listed["source"] == {"type": "connect_cluster", "id": CLUSTER, "name": "workers"}
    assert (listed["event_type"], listed["severity"], listed["status"]) == ("CONNECT_TASK_FAILED", "critical", "firing")
    assert (listed["pipeline_id"], listed["pipeline_name"], listed["task_id"]) == (PIPELINES[0], "orders", 0)
    assert (listed["title"], listed["message"]) == (
        "Connect cluster 'workers': Connector task failed",
        "A task has failed.",
    )
    assert listed["details"]["error"] == "A task has failed."
    assert listed["details"]["hint"] == "Look at the log of the worker."
    assert (listed["details"]["source_id"], listed["details"]["connect_cluster_id"]) == (SOURCES[0], CLUSTER)
    assert listed["first_seen_at"] == listed["last_seen_at"] == "2026-01-31T12:00:00.000Z"
    assert (listed["occurrence_count"], listed["recovery_seconds"], listed["resolved_at"]) == (1, None, None)
    assert listed["history"] == [
        {"at": "2026-01-31T12:00:00.000Z", "from": None, "to": "firing", "actor": "system", "reason": "observed"}
    ]
    assert listed["fingerprint"] == alert.fingerprint


def test_the_detail_also_shows_the_deliveries(app: InProcessApp, world: AlertingApi) -> None:
    alert = stored(app, an_alert())
    put(app.services.stores.alerts.notifications, waiting(alert.id, 1), failed(alert.id, 2))
    detail = world.ok("GET", f"/alerts/{alert.id}")
    assert set(detail) == FIELDS | {"deliveries"}
    newest, oldest = detail["deliveries"]
    assert set(newest) == set(oldest) == DELIVERY_FIELDS
    assert (newest["provider"], newest["kind"], newest["status"], newest["attempt_count"]) == (
        "webhook", "resolved", "failed", 4,
    )  # fmt: skip
    assert newest["last_error"] == {"code": "http_401", "message": "It was refused.", "hint": "Update the secret."}
    assert (newest["next_attempt_at"], oldest["next_attempt_at"]) == (None, "2026-01-31T12:00:05.000Z")
    assert (oldest["kind"], oldest["status"], oldest["last_error"]) == ("firing", "pending", None)
    summary = world.ok("GET", "/alerts/summary")
    assert set(summary["recent"][0]) == FIELDS


def test_a_resolved_alert_shows_how_long_it_lasted(app: InProcessApp, world: AlertingApi) -> None:
    over = {
        "status": AlertStatus.RESOLVED,
        "resolved_at": START_TIME + timedelta(seconds=90),
        "resolution": Resolution.RECOVERED,
        "episode": 2,
        "muted_before": 1,
    }
    alert = stored(app, an_alert(**over))
    seen = world.ok("GET", f"/alerts/{alert.id}")
    assert (seen["status"], seen["recovery_seconds"]) == ("resolved", 90)
    details = seen["details"]
    assert (details["resolution"], details["episode"], details["muted_episodes"]) == ("recovered", 2, 1)


def test_an_alert_shows_what_waits_since_when_and_whether_anything_is_lost(
    app: InProcessApp, world: AlertingApi
) -> None:
    quiet_since = START_TIME - timedelta(minutes=4)
    event = an_event(backlog=Backlog(records=7, since=quiet_since), lost="Nothing is lost.")
    details = world.ok("GET", f"/alerts/{stored(app, an_alert(event=event)).id}")["details"]
    assert details["waiting"] == {"records": 7, "retained_bytes": None}
    assert (details["waiting_since"], details["lost"]) == (rfc3339(quiet_since), "Nothing is lost.")


# lists


def test_the_summary_has_every_status_and_severity(app: InProcessApp, world: AlertingApi) -> None:
    stored(app, an_alert())
    assert {name: value for name, value in world.ok("GET", "/alerts/summary").items() if name != "recent"} == {
        "active": 1,
        "by_status": {"firing": 1, "acknowledged": 0, "silenced": 0, "resolved": 0},
        "by_severity": {"critical": 1, "warning": 0, "info": 0},
    }


def test_pages_are_numbered_and_the_total_is_exact(app: InProcessApp, world: AlertingApi) -> None:
    every = newest_first(random_alerts(120, seed=2))
    put_alerts(app, every)
    first = world.ok("GET", "/alerts")
    assert (len(first["items"]), first["page"], first["pageSize"], first["total"]) == (50, 1, 50, 120)
    assert set(first) == {"items", "page", "pageSize", "total"}
    third = world.ok("GET", "/alerts?page=3&pageSize=50")
    assert [alert["id"] for alert in third["items"]] == [alert.id for alert in every[100:]]
    assert world.ok("GET", "/alerts?page=4")["items"] == []
    assert len(world.ok("GET", "/alerts?pageSize=200")["items"]) == 120


@pytest.mark.parametrize(
    ("query", "accepts"),
    [
        ("status=firing", lambda one: one["status"] == "firing"),
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
    app: InProcessApp, world: AlertingApi, query: str, accepts: Callable[[Json], bool]
) -> None:
    put_alerts(app, random_alerts(90, seed=9))
    every = world.ok("GET", "/alerts?pageSize=200")["items"]
    chosen = world.ok("GET", f"/alerts?pageSize=200&{query}")
    expected = [alert["id"] for alert in every if accepts(alert)]
    assert [alert["id"] for alert in chosen["items"]] == expected
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
def test_a_bad_query_is_refused_with_its_place(world: AlertingApi, query: str, name: str) -> None:
    status, code, details = world.refused("GET", f"/alerts?{query}")
    assert (status, code) == (422, "VALIDATION_FAILED")
    assert [detail["location"] for detail in details] == [["query", name]]


@pytest.mark.parametrize("letter", ["\N{GRINNING FACE}", '"'])
def test_a_page_of_the_largest_alerts_stays_within_a_body(app: InProcessApp, world: AlertingApi, letter: str) -> None:
    name, text = letter * 200, letter * 5000
    event = an_event(
        emitter=Emitter(type="source", id=SOURCES[0], name=name),
        pipeline_name=name,
        error=text,
        hint=text,
        lost="x" * 200,
    )
    entry = HistoryEntry(
        at=START_TIME, before=AlertStatus.FIRING, after=AlertStatus.FIRING, actor="a" * 254, reason=letter * 300
    )
    largest = {"history": (entry,) * MAX_HISTORY, "silence_reason": letter * 300, "silenced_by": "a" * 254}
    put_alerts(app, (an_alert(number, event=replace(event, task_id=number), **largest) for number in range(200)))
    response = world.request("GET", "/alerts?pageSize=200")
    assert len(json.loads(response.body)["items"]) == 200
    assert len(response.body.encode()) <= PAGE_BYTES
    assert len(json.dumps(response.body, ensure_ascii=False).encode()) < FUNCTION_ANSWER
    (one, *_) = json.loads(response.body)["items"]
    assert len(one["history"]) == 5
    detail = world.request("GET", f"/alerts/{one['id']}")
    assert len(json.loads(detail.body)["history"]) == MAX_HISTORY
    assert json.loads(detail.body)["message"] == text
    assert one["message"] == text[:499] + "…"


# rows


def waiting(alert_id: str, number: int) -> Notification:
    return notification(
        id=id_from("notification", str(number)), alert_id=alert_id, status=NotificationStatus.PENDING, attempts=1,
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
