"""Every call that changes something can be tried, and trying it changes nothing."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

import app as routes_of_the_app
from chalicelib.api.framework.openapi import document
from tests.faults.harness.whole_app import entries_on
from tests.faults.inspection import connector_writes
from tests.support.apps.every_change import Caller, Done, EveryChange
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module

__all__ = ["app", "app_of_the_module"]

Json = dict[str, Any]
LIFECYCLE = ("deploy", "pause", "resume", "restart", "restart-task")
CREATED = (
    *("/connections", "/sources", "/destinations", "/stream/clusters", "/connect/clusters", "/pipelines"),
    *("/alert-rules", "/notification-channels", "/maintenance", "/users/invite", "/auth/tokens"),
)
TRIED_BY_NOBODY = {"DELETE /api/v1/auth/totp": "it checks a password, and counts how often"}
"""Routes with a method that has dry runs, and why they have none."""


def operations() -> Iterator[tuple[str, Json]]:
    """Every operation of the OpenAPI document, as `<method> <path>`."""
    shown = [(path, route) for path, route in routes_of_the_app.lazy_routes if not route.hidden]
    for path, methods in document(shown, title="Headgate", version="1")["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def can_be_tried(route: str) -> bool:
    """Whether the wire contract (section 8) wants dry runs of it."""
    method, _, path = route.partition(" ")
    creates = method == "POST" and path.removeprefix("/api/v1") in CREATED
    controls = method == "POST" and path.rpartition("/")[2] in LIFECYCLE
    return (creates or controls or method in ("PUT", "DELETE")) and route not in TRIED_BY_NOBODY


def has_dry_run(operation: Json) -> bool:
    return any(parameter.get("name") == "dry_run" for parameter in operation["parameters"])


def test_every_call_that_creates_changes_deletes_or_controls_has_a_dry_run() -> None:
    documented = {route for route, operation in operations() if has_dry_run(operation)}
    tasks = {route for route in documented if "/tasks/" in route}
    assert len(tasks) == 1
    assert documented == {route for route, _ in operations() if can_be_tried(route)} | tasks


def test_the_plan_is_the_answer_200_of_each_of_them() -> None:
    for route, operation in operations():
        text = json.dumps(operation["responses"].get("200", {}))
        assert ("PlanOutput" in text) == has_dry_run(operation), route


@dataclass(kw_only=True)
class TriedFirst(EveryChange):
    """Everything that an Admin does, each call after a dry run of it."""

    tried: dict[str, Json] = field(default_factory=dict)

    def _do(self, route: str, body: Any = None, *, caller: Caller | None = None, query: str = "", **ids: str) -> Done:
        if can_be_tried(route) or "/tasks/" in route:
            self.app.connect.settle()
            before, writes = self._stored(), connector_writes(self.app)
            separator = "&" if query else "?"
            done = super()._do(route, body, caller=caller, query=f"{query}{separator}dry_run=true", **ids)
            assert (done.status, done.records) == (200, []), route
            assert self._stored() == before, route
            assert connector_writes(self.app) == writes, route
            self.tried[route] = self.answer
        return super()._do(route, body, caller=caller, query=query, **ids)

    def _stored(self) -> Mapping[str, Any]:
        """All rows but when a session was used last."""
        rows: Mapping[str, Any] = self.app.tables.snapshot()
        return {table: kept for table, kept in rows.items() if table != "headgate-sessions"}


@pytest.mark.thorough
def test_no_dry_run_writes_a_row_or_touches_a_connector_and_what_is_not_blocked_succeeds(app: InProcessApp) -> None:
    with entries_on(app):
        day = TriedFirst(app=app)
        done = list(day.run())
    assert len(day.tried) > 30
    assert {one.route: one.status for one in done if one.status >= 400} == {}
    assert {route: plan["blocked_by"] for route, plan in day.tried.items() if plan["blocked_by"]} == {}
    assert "planted" not in json.dumps(day.tried)
    unchanged = {route for route, plan in day.tried.items() if not plan["changes"]}
    assert {route.rpartition("/")[2] for route in unchanged} <= {"restart", "restart-task"}
