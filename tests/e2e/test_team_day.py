"""A working day on the real stack: an Admin, an operator, a viewer and a program, each with their own rights."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.waiting import eventually

pytestmark = pytest.mark.real

PASSWORD = "four quiet lamps at noon"


@dataclass(frozen=True)
class Team:
    """The same Headgate, as each of them reaches it."""

    admin: RealHeadgate
    ops: RealHeadgate
    viewer: RealHeadgate
    program: RealHeadgate
    ids: dict[str, str]


def joined(headgate: RealHeadgate, email: str, role: str) -> tuple[RealHeadgate, str]:
    """Headgate as a person reaches it who was invited, has joined and has signed in; and the person's id."""
    invite = headgate.post("/users/invite", {"email": email, "role": role})
    own = as_client(headgate)
    assert own.get(f"/invites/{invite['token']}")["role"] == role
    own.post(f"/invites/{invite['token']}/accept", {"password": PASSWORD})
    own.post("/auth/login", {"email": email, "password": PASSWORD})
    return own, invite["id"]


def as_client(headgate: RealHeadgate, token: str | None = None) -> RealHeadgate:
    """Headgate as somebody else reaches it."""
    headers = {"X-Correlation-ID": "team"} if token is None else {"Authorization": f"Bearer {token}"}
    return replace(headgate, client=httpx.Client(base_url=headgate.client.base_url, headers=headers, timeout=40))


@pytest.fixture(scope="module")
def team(headgate: RealHeadgate) -> Iterator[Team]:
    """Everybody has joined; the operator has made a token for the program."""
    ops, ops_id = joined(headgate, "ops@team.example", "Ops")
    viewer, viewer_id = joined(headgate, "viewer@team.example", "Viewer")
    made = ops.post("/auth/tokens", {"name": "deployments", "role": "Ops"})
    program = as_client(headgate, made["token"])
    yield Team(headgate, ops, viewer, program, {"ops": ops_id, "viewer": viewer_id, "token": made["id"]})
    for one in (ops, viewer, program):
        one.client.close()


def rows(database: RealDatabase) -> int:
    found = database.content("shop", "orders", ["id"])
    return len(found) if isinstance(found, list) else 0


def forbidden(one: RealHeadgate, method: str, path: str, body: Any = None) -> None:
    assert one.call(method, path, body, expect=403)["error"]["code"] == "FORBIDDEN"


def test_a_team_and_a_program_go_through_a_whole_day(team: Team) -> None:
    source_db = team.admin.database(
        "team",
        "CREATE TABLE shop.orders (id integer PRIMARY KEY)",
        "ALTER TABLE shop.orders OWNER TO {role}",
        "INSERT INTO shop.orders SELECT generate_series(1, 100)",
    )
    target_db = team.admin.database("team_target")

    # In the morning the operator registers, checks and deploys; the viewer looks on and can change nothing.
    source = team.ops.source(source_db)
    forbidden(team.viewer, "POST", f"/sources/{source['id']}/discover")
    assert "shop.orders" in team.ops.discover(source)
    assert team.viewer.get(f"/sources/{source['id']}/cdc-readiness")["status"] in ("READY", "WARNING")
    pipeline = team.ops.pipeline(source, [("shop", "orders")])
    forbidden(team.viewer, "POST", f"/pipelines/{pipeline['id']}/deploy")
    team.ops.deploy(pipeline)
    destination = team.ops.destination(target_db)
    delivery = team.ops.deliver(destination, team.ops.delivery_body(pipeline, {pipeline["topics"][0]: "orders"}))
    assert eventually(lambda: rows(target_db), lambda count: count == 100) == rows(source_db)
    assert team.viewer.get(f"/deliveries/{delivery['id']}/status")["observed_state"] == "RUNNING"

    # At noon the program pauses the delivery for a release, and resumes it; what came meanwhile arrives.
    status = f"/deliveries/{delivery['id']}/status"
    team.program.post(f"/deliveries/{delivery['id']}/pause")
    team.program.until_state(status, "PAUSED")
    source_db.run("INSERT INTO shop.orders SELECT generate_series(101, 150)")
    team.program.post(f"/deliveries/{delivery['id']}/resume")
    team.program.until_state(status, "RUNNING")
    assert eventually(lambda: rows(target_db), lambda count: count == 150) == rows(source_db)
    forbidden(team.program, "DELETE", f"/deliveries/{delivery['id']}")

    # In the afternoon roles change: the next request counts.
    team.admin.call("PATCH", f"/users/{team.ids['ops']}/role", {"role": "Viewer"})
    for one in (team.ops, team.program):
        forbidden(one, "POST", f"/pipelines/{pipeline['id']}/pause")
        assert one.get(f"/pipelines/{pipeline['id']}")["desired_state"] == "RUNNING"
    team.admin.call("PATCH", f"/users/{team.ids['ops']}/role", {"role": "Ops"})
    team.program.post(f"/pipelines/{pipeline['id']}/restart")
    team.admin.post(f"/users/{team.ids['viewer']}/disable")
    assert team.viewer.get("/session", expect=401)["error"]["code"] == "UNAUTHENTICATED"

    # In the evening the Admin removes it all, ends the token, and reads who did what.
    team.admin.delete(f"/deliveries/{delivery['id']}")
    team.admin.delete_pipeline(pipeline, source_db)
    team.admin.call("DELETE", f"/auth/tokens/{team.ids['token']}", expect=204)
    assert team.program.get("/session", expect=401)["error"]["code"] == "UNAUTHENTICATED"
    assert rows(target_db) == 150
    check_audit(team, pipeline, delivery)


def check_audit(team: Team, pipeline: Json, delivery: Json) -> None:
    """Who did what, and who was refused what."""
    done = [
        (one["actor"]["email"], one["actor"]["via"], one["action"], one["outcome"])
        for resource in (pipeline, delivery)
        for one in team.admin.get(f"/audit?resource_id={resource['id']}")
    ]
    ops, viewer, admin = "ops@team.example", "viewer@team.example", "admin@example.com"
    expected = [
        (ops, "session", "pipeline.create", "success"),
        (ops, "session", "pipeline.deploy", "success"),
        (viewer, "session", "pipeline.deploy", "denied"),
        (ops, "session", "delivery.deploy", "success"),
        (ops, "token", "delivery.pause", "success"),
        (ops, "token", "delivery.resume", "success"),
        (ops, "token", "delivery.delete", "denied"),
        (ops, "session", "pipeline.pause", "denied"),
        (ops, "token", "pipeline.pause", "denied"),
        (ops, "token", "pipeline.restart", "success"),
        (admin, "session", "delivery.delete", "success"),
        (admin, "session", "pipeline.delete", "success"),
    ]
    assert [one for one in expected if one not in done] == []
    [user] = [one for one in team.admin.get("/users") if one["id"] == team.ids["viewer"]]
    assert user["status"] == "DISABLED"
