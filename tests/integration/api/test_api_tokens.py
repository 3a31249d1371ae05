"""Tokens of programs over HTTP: what they may, when they end, and that they stay their owner's."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib import __version__
from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, validation_error
from tests.support.apps.sandbox import PASSWORD, Api, Json, Sandbox

FIELDS = {"id", "name", "role", "permissions", "user_id", "created_at", "expires_at", "last_used_at"}


def make_token(api: Api, role: str = "Viewer", **more: object) -> Json:
    """A new token of the user who is signed in."""
    return api.post_ok("/auth/tokens", {"name": "deploys", "role": role, **more})


def program(sandbox: Sandbox, token: str) -> Api:
    """A client that sends the token, and no correlation id."""
    api = sandbox.unauthenticated()
    api.http.headers["Authorization"] = f"Bearer {token}"
    return api


def test_a_token_is_shown_once_and_acts_as_its_owner(sandbox: Sandbox) -> None:
    user_id, email = sandbox.make_user("Ops")
    owner = sandbox.signed_in(email)
    made = make_token(owner, "Ops")
    assert set(made) == {*FIELDS, "token"}
    assert made["token"].startswith("hg_")
    [listed] = owner.get_ok("/auth/tokens")
    assert set(listed) == FIELDS
    assert made["token"] not in str(listed)
    session = program(sandbox, made["token"]).get_ok("/session")
    assert session == {
        "user": {"id": user_id, "email": email, "role": "Ops", "status": "ACTIVE"},
        "permissions": ["read", "write", "operate"],
        "expires_at": made["expires_at"],
        "idle_expires_at": None,
        "via": "token",
        "version": __version__,
    }
    assert owner.get_ok(f"/auth/tokens/{made['id']}")["last_used_at"] is not None


def test_a_program_needs_no_correlation_id_and_no_origin(sandbox: Sandbox) -> None:
    api = program(sandbox, make_token(sandbox.admin, "Ops")["token"])
    headers = {"X-Correlation-ID": None, "Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
    created = api.post("/sources", sandbox.source_body(), headers=headers)
    assert created.status_code == 201
    [record] = sandbox.audit_records(created.json()["id"])
    assert record["actor"]["via"] == "token"


def test_with_a_token_that_is_not_valid_the_cookie_does_not_count(sandbox: Sandbox) -> None:
    api = sandbox.signed_in(sandbox.make_user("Admin")[1])
    for value in ("Bearer", "Bearer hg_", "Bearer hg_" + "A" * 86, "bearer x"):
        assert_error(api.get("/session", headers={"Authorization": value}), 401, "UNAUTHENTICATED")
    assert api.get("/session").status_code == 200


def test_a_token_with_another_random_part_is_nobodys(sandbox: Sandbox) -> None:
    token = make_token(sandbox.admin)["token"]
    for at in (-1, -5, -40):
        changed = list(token)
        changed[at] = "A" if changed[at] != "A" else "B"
        refused = program(sandbox, "".join(changed)).get("/session")
        assert_error(refused, 401, "UNAUTHENTICATED")
    assert program(sandbox, token).get("/session").status_code == 200


def test_a_token_never_exceeds_its_owner(sandbox: Sandbox) -> None:
    user_id, email = sandbox.make_user("Ops")
    owner = sandbox.signed_in(email)
    assert_error(owner.post("/auth/tokens", {"name": "more", "role": "Admin"}), 403, "FORBIDDEN")
    api = program(sandbox, make_token(owner, "Ops")["token"])
    assert api.post("/sources", sandbox.source_body()).status_code == 201
    sandbox.change_user(user_id, role="Viewer")
    assert_error(api.post("/sources", sandbox.source_body()), 403, "FORBIDDEN")
    assert api.get_ok("/session")["permissions"] == ["read"]
    sandbox.change_user(user_id, role="Admin")
    assert api.get_ok("/session")["permissions"] == ["read", "write", "operate"]


def test_a_token_stops_with_its_owner(sandbox: Sandbox) -> None:
    user_id, email = sandbox.make_user("Viewer")
    api = program(sandbox, make_token(sandbox.signed_in(email))["token"])
    sandbox.admin.post_ok(f"/users/{user_id}/disable", status=200)
    assert_error(api.get("/session"), 401, "UNAUTHENTICATED")
    sandbox.admin.post_ok(f"/users/{user_id}/enable", status=200)
    assert api.get("/session").status_code == 200
    assert sandbox.admin.delete(f"/users/{user_id}").status_code == 204
    assert_error(api.get("/session"), 401, "UNAUTHENTICATED")


def test_a_deleted_token_ends_at_once(sandbox: Sandbox) -> None:
    owner = sandbox.signed_in(sandbox.make_user("Viewer")[1])
    made = make_token(owner)
    api = program(sandbox, made["token"])
    assert api.get("/session").status_code == 200
    assert owner.delete(f"/auth/tokens/{made['id']}").status_code == 204
    assert_error(api.get("/session"), 401, "UNAUTHENTICATED")
    assert_error(owner.delete(f"/auth/tokens/{made['id']}"), 404, "NOT_FOUND")


def test_tokens_of_others_are_for_admins(sandbox: Sandbox) -> None:
    made = make_token(sandbox.signed_in(sandbox.make_user("Ops")[1]))
    other = sandbox.signed_in(sandbox.make_user("Ops")[1])
    assert other.get_ok("/auth/tokens") == []
    for token_id in (made["id"], UNKNOWN_ID):
        assert_error(other.get(f"/auth/tokens/{token_id}"), 404, "NOT_FOUND")
        assert_error(other.delete(f"/auth/tokens/{token_id}"), 404, "NOT_FOUND")
    assert made["id"] in [token["id"] for token in sandbox.admin.get_ok("/auth/tokens")]
    assert sandbox.admin.delete(f"/auth/tokens/{made['id']}").status_code == 204


def test_a_token_has_an_end_in_the_future(sandbox: Sandbox) -> None:
    soon = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    session = program(sandbox, make_token(sandbox.admin, expires_at=soon)["token"]).get_ok("/session")
    assert (is_timestamp(session["expires_at"]), session["idle_expires_at"]) == (True, None)
    for wrong in ((datetime.now(UTC) - timedelta(seconds=1)).isoformat(), "2027-01-01T00:00:00", 1893456000, "soon"):
        refused = sandbox.admin.post("/auth/tokens", {"name": "over", "role": "Viewer", "expires_at": wrong})
        assert_error(refused, 422, "VALIDATION_FAILED")
        assert refused.json()["error"]["details"][0]["location"] == ["body", "expires_at"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/auth/tokens", {"name": "another", "role": "Viewer"}),
        ("POST", "/auth/password", {"current_password": "x", "new_password": "another long secret"}),
        ("POST", "/auth/logout", None),
    ],
)
def test_what_is_for_people_is_refused_to_programs(sandbox: Sandbox, method: str, path: str, body: Json | None) -> None:
    api = program(sandbox, make_token(sandbox.admin, "Admin")["token"])
    assert_error(api.call(method, path, body), 403, "FORBIDDEN")


def test_a_token_never_manages_users(sandbox: Sandbox) -> None:
    user_id, _ = sandbox.make_user("Viewer")
    other = make_token(sandbox.signed_in(sandbox.make_user("Ops")[1]))
    api = program(sandbox, make_token(sandbox.signed_in(sandbox.make_user("Admin")[1]), "Admin")["token"])
    for method, path, body in (
        ("GET", "/users", None),
        ("POST", "/users/invite", {"email": f"{sandbox.name('lasting')}@example.com", "role": "Admin"}),
        ("PATCH", f"/users/{user_id}/role", {"role": "Admin"}),
        ("POST", f"/users/{user_id}/disable", None),
        ("DELETE", f"/users/{user_id}", None),
    ):
        assert_error(api.call(method, path, body), 403, "FORBIDDEN")
    assert_error(api.get(f"/auth/tokens/{other['id']}"), 404, "NOT_FOUND")
    assert_error(api.delete(f"/auth/tokens/{other['id']}"), 404, "NOT_FOUND")
    assert other["id"] not in [token["id"] for token in api.get_ok("/auth/tokens")]
    assert api.get_ok("/session")["permissions"] == ["read", "write", "operate", "administer"]


def days_from_now(text: str) -> float:
    return (datetime.fromisoformat(text) - datetime.now(UTC)) / timedelta(days=1)


def test_a_token_ends_after_ninety_days_unless_another_end_within_a_year_is_set(sandbox: Sandbox) -> None:
    assert round(days_from_now(make_token(sandbox.admin)["expires_at"]), 2) == 90
    assert round(days_from_now(make_token(sandbox.admin, expires_at=None)["expires_at"]), 2) == 90
    year = (datetime.now(UTC) + timedelta(days=365)).isoformat()
    assert round(days_from_now(make_token(sandbox.admin, expires_at=year)["expires_at"]), 2) == 365
    longer = (datetime.now(UTC) + timedelta(days=365, minutes=1)).isoformat()
    refused = sandbox.admin.post("/auth/tokens", {"name": "long", "role": "Viewer", "expires_at": longer})
    assert validation_error(refused, "body", "expires_at") == "too_late"
    assert "365 days" in refused.json()["error"]["message"]


def test_a_token_has_only_the_permissions_that_its_owner_gives_it(sandbox: Sandbox) -> None:
    made = make_token(sandbox.admin, "Admin", permissions=["operate", "read", "read"])
    assert made["permissions"] == ["read", "operate"]
    assert sandbox.admin.get_ok(f"/auth/tokens/{made['id']}")["permissions"] == ["read", "operate"]
    api = program(sandbox, made["token"])
    assert api.get_ok("/session")["permissions"] == ["read", "operate"]
    assert api.get("/sources").status_code == 200
    assert_error(api.post("/sources", sandbox.source_body()), 403, "FORBIDDEN")
    assert_error(api.get("/audit"), 403, "FORBIDDEN")
    assert make_token(sandbox.admin, "Ops")["permissions"] == ["read", "write", "operate"]


def test_a_limited_token_never_exceeds_its_owner(sandbox: Sandbox) -> None:
    user_id, email = sandbox.make_user("Ops")
    api = program(sandbox, make_token(sandbox.signed_in(email), "Ops", permissions=["read", "write"])["token"])
    sandbox.change_user(user_id, role="Viewer")
    assert api.get_ok("/session")["permissions"] == ["read"]


@pytest.mark.parametrize(
    ("role", "permissions", "location"),
    [
        ("Viewer", ["read", "write"], 1),
        ("Ops", ["administer"], 0),
        ("Admin", ["manage_users"], 0),
        ("Admin", ["read", "service"], 1),
        ("Admin", ["read", "everything"], 1),
    ],
)
def test_permissions_above_the_role_of_a_token_are_422(
    sandbox: Sandbox, role: str, permissions: list[str], location: int
) -> None:
    body = {"name": "more", "role": role, "permissions": permissions}
    validation_error(sandbox.admin.post("/auth/tokens", body), "body", "permissions", location)


def test_a_token_without_any_permission_is_422(sandbox: Sandbox) -> None:
    refused = sandbox.admin.post("/auth/tokens", {"name": "none", "role": "Viewer", "permissions": []})
    validation_error(refused, "body", "permissions")


@pytest.mark.parametrize("end_tokens", [None, False, True])
def test_tokens_end_with_another_password_when_their_owner_says_so(sandbox: Sandbox, end_tokens: bool | None) -> None:
    email = sandbox.make_user("Ops")[1]
    owner = sandbox.signed_in(email)
    api = program(sandbox, make_token(owner)["token"])
    body: Json = {"current_password": PASSWORD, "new_password": "nine loud bells at dawn"}
    body |= {} if end_tokens is None else {"end_tokens": end_tokens}
    assert owner.post("/auth/password", body).status_code == 200
    assert api.get("/session").status_code == (401 if end_tokens else 200)
    assert len(owner.get_ok("/auth/tokens")) == (0 if end_tokens else 1)
    assert program(sandbox, make_token(owner)["token"]).get("/session").status_code == 200


def test_a_replay_shows_the_token_to_the_same_session_only(sandbox: Sandbox) -> None:
    email = sandbox.make_user("Viewer")[1]
    own, other = sandbox.signed_in(email), sandbox.signed_in(email)
    body, headers = {"name": "once", "role": "Viewer"}, {"Idempotency-Key": sandbox.name("key")}
    first = own.post("/auth/tokens", body, headers=headers)
    assert own.post("/auth/tokens", body, headers=headers).json() == first.json()
    assert other.post("/auth/tokens", body, headers=headers).json()["token"] != first.json()["token"]


def test_two_tokens_of_one_user_do_not_share_an_idempotency_key(sandbox: Sandbox) -> None:
    first, other = (program(sandbox, make_token(sandbox.admin, "Ops")["token"]) for _ in range(2))
    headers = {"Idempotency-Key": sandbox.name("key")}
    assert first.post("/sources", sandbox.source_body(), headers=headers).status_code == 201
    assert other.post("/sources", sandbox.source_body(), headers=headers).status_code == 201


def test_a_program_ends_its_own_token_and_no_other(sandbox: Sandbox) -> None:
    owner = sandbox.signed_in(sandbox.make_user("Admin")[1])
    first, other = make_token(owner, "Ops"), make_token(owner, "Ops")
    api = program(sandbox, first["token"])
    assert_error(api.delete(f"/auth/tokens/{other['id']}"), 403, "FORBIDDEN")
    assert owner.delete(f"/auth/tokens/{other['id']}", headers={"If-Match": '"77"'}).status_code == 412
    assert api.delete(f"/auth/tokens/{first['id']}").status_code == 204
    listed = [token for token in owner.get_ok("/auth/tokens") if token["user_id"] == other["user_id"]]
    assert [token["id"] for token in listed] == [other["id"]]


@pytest.mark.parametrize(
    "expires_at",
    [
        *("9999-12-31T23:59:59Z", "9999-12-31T23:59:59-12:00", "9500-01-01T00:00:00Z", "1900000000", "1.9e9"),
        *("2030-01-01T00:00Z", "2030-01-01_00:00:00Z", "2030-01-01T00:00:00", "2030-13-01T00:00:00Z"),
    ],
)
def test_an_end_that_is_no_time_or_too_far_away_is_422(sandbox: Sandbox, expires_at: str) -> None:
    refused = sandbox.admin.post("/auth/tokens", {"name": "far", "role": "Viewer", "expires_at": expires_at})
    validation_error(refused, "body", "expires_at")
