"""Maintenance windows over HTTP, and what becomes of messages about planned work."""

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from chalicelib.api.contract.maintenance import MaintenanceBody
from chalicelib.domain.alerts.maintenance import MAX_OPEN, MaintenanceWindow
from chalicelib.kit.clock import rfc3339
from chalicelib.kit.ids import id_from
from chalicelib.stores.transaction import Transaction
from tests.support.alerting.api import AlertingApi, world
from tests.support.api_assertions import UNKNOWN_ID
from tests.support.apps.in_process_app import app, app_of_the_module

__all__ = ["app", "app_of_the_module", "world"]

Json = dict[str, Any]
NOTHING = {"labels": {}, "source_ids": [], "destination_ids": [], "pipeline_ids": [], "connect_cluster_ids": []}
SHOP = {"labels": {"team": "shop"}}


def body(world: AlertingApi, scope: Mapping[str, Any] = SHOP, begin: float = 0, end: float = 600) -> Json:
    """A window that begins and ends so many seconds from now."""
    times = [rfc3339(world.app.clock() + timedelta(seconds=seconds)) for seconds in (begin, end)]
    return {"name": "upgrade", "from": times[0], "until": times[1], "reason": "PostgreSQL 17", "scope": scope}


def test_a_window_is_shown_as_it_was_given_with_who_made_it_and_its_state(world: AlertingApi) -> None:
    sent = body(world, {"pipeline_ids": [world.pipeline_id()], "labels": {"team": "shop"}}, begin=60)
    response = world.request("POST", "/maintenance", sent)
    made = world.ok("GET", "/maintenance")[0]
    assert response.status == 201
    assert response.headers["location"].endswith(f"/maintenance/{made['id']}")
    assert made == {
        **sent,
        "scope": {**NOTHING, **sent["scope"]},
        "id": made["id"],
        "created_at": "2026-01-31T12:00:00.000Z",
        "created_by": "admin@example.com",
        "version": 1,
        "state": "scheduled",
    }
    path, states = f"/maintenance/{made['id']}", []
    for seconds in (60, 540):
        world.app.clock.advance(seconds)
        states.append(world.ok("GET", path)["state"])
    assert states == ["active", "ended"]


def test_the_example_of_the_documentation_is_accepted(world: AlertingApi) -> None:
    text = (Path(__file__).parents[3] / "infra" / "docs" / "alerting.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    assert world.ok("POST", "/maintenance", json.loads(example))["state"] == "scheduled"


@pytest.mark.parametrize(
    ("fields", "location", "type_"),
    [
        ({"scope": {}}, ["body", "scope"], "nothing_named"),
        ({"until": "2026-01-31T12:00:00Z"}, ["body", "until"], "not_after_from"),
        ({"from": "2026-01-01T12:00:00Z", "until": "2026-01-02T12:00:00Z"}, ["body", "until"], "in_the_past"),
        ({"until": "2026-03-03T12:00:00Z"}, ["body", "until"], "too_long"),
        ({"from": "2026-01-31T12:00:00"}, ["body", "from"], "datetime_parsing"),
        ({"reason": " "}, ["body", "reason"], "too_short"),
        ({"scope": {"all": True}}, ["body", "scope", "all"], "extra_forbidden"),
    ],
)
def test_a_window_that_says_nothing_or_too_much_is_refused(
    world: AlertingApi, fields: Json, location: list[str], type_: str
) -> None:
    status, code, details = world.refused("POST", "/maintenance", {**body(world), **fields})
    assert (status, code) == (422, "VALIDATION_FAILED")
    assert [(detail["location"], detail["type"]) for detail in details] == [(location, type_)]
    assert world.ok("GET", "/maintenance") == []


def test_what_does_not_exist_is_refused_at_its_place(world: AlertingApi) -> None:
    scope = {"pipeline_ids": [world.pipeline_id(), UNKNOWN_ID], "source_ids": [UNKNOWN_ID]}
    status, code, details = world.refused("POST", "/maintenance", body(world, scope))
    assert (status, code) == (422, "REFERENCE_NOT_FOUND")
    assert [detail["location"] for detail in details] == [
        ["body", "scope", "source_ids", 0],
        ["body", "scope", "pipeline_ids", 1],
    ]


@pytest.mark.parametrize(("role", "statuses"), [("Viewer", (200, 403)), ("Ops", (200, 201))])
def test_operators_announce_work_and_others_read_of_it(
    world: AlertingApi, role: str, statuses: tuple[int, int]
) -> None:
    headers = {"x-test-role": role}
    found = [
        world.request(method, "/maintenance", sent, **headers).status
        for method, sent in (("GET", None), ("POST", body(world)))
    ]
    assert tuple(found) == statuses


def test_there_are_at_most_100_windows_that_are_not_over(world: AlertingApi) -> None:
    values, now = MaintenanceBody.model_validate(body(world)).to_values(), world.app.clock()
    windows = world.app.services.stores.alerts.maintenance
    with Transaction() as transaction:
        for number in range(MAX_OPEN):
            windows.put_new(transaction, MaintenanceWindow.of(values, id_from("window", str(number)), "ann", now))
    assert world.refused("POST", "/maintenance", body(world))[:2] == (409, "STATE_CONFLICT")
    world.app.clock.advance(600)
    assert world.ok("POST", "/maintenance", body(world))["state"] == "active"
    assert len(world.ok("GET", "/maintenance")) == MAX_OPEN + 1
    assert len(windows.not_closed()) < MAX_OPEN


def test_a_deleted_window_is_gone_and_both_are_in_the_audit_trail(world: AlertingApi) -> None:
    made = world.ok("POST", "/maintenance", body(world))
    path = f"/maintenance/{made['id']}"
    assert world.refused("DELETE", path, **{"if-match": '"2"'})[0] == 412
    world.app.clock.advance(1)
    world.ok("DELETE", path)
    assert [world.refused(method, path)[0] for method in ("GET", "DELETE")] == [404, 404]
    records = world.ok("GET", f"/audit?resource_id={made['id']}")
    assert [(record["action"], record["resource_name"]) for record in records] == [
        ("maintenance_window.delete", "upgrade"),
        ("maintenance_window.create", "upgrade"),
    ]


def test_what_fires_in_maintenance_is_sent_once_the_window_is_deleted(world: AlertingApi) -> None:
    channel = world.channel()
    world.rule(channel)
    scope = {"pipeline_ids": [world.pipeline_id()]}
    window = world.ok("POST", "/maintenance", body(world, scope, end=86_400))
    world.report(world.task_failed())
    assert world.alert()["details"]["maintenance_id"] == window["id"]
    assert world.provider(channel).messages == []
    world.ok("DELETE", f"/maintenance/{window['id']}")
    world.report(world.task_failed())
    assert world.sent(world.alert()) == [("firing", "delivered")]
    assert world.alert()["details"]["maintenance_id"] is None
