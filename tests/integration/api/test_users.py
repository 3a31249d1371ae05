"""Users and invites over HTTP: who joins, who may what from which request on, and who is always left."""

import pytest

from tests.support.api_assertions import assert_error, is_timestamp, is_uuid, validation_error
from tests.support.apps.sandbox import ADMIN, PASSWORD, Api, Json, Sandbox

USER_FIELDS = {"id", "email", "role", "status", "created_at", "last_login_at"}


def invited(sandbox: Sandbox, role: str = "Viewer") -> Json:
    """A new invite."""
    email = f"{sandbox.name('Invited')}@example.com"
    return sandbox.admin.post_ok("/users/invite", {"email": email, "role": role})


def user_of(sandbox: Sandbox, user_id: str) -> Json:
    """A user as the list shows it."""
    return next(user for user in sandbox.admin.get_ok("/users") if user["id"] == user_id)


def test_an_invited_person_joins_and_signs_in(sandbox: Sandbox) -> None:
    invite = invited(sandbox, "Ops")
    assert set(invite) == {"id", "email", "role", "expires_at", "invite_url", "token"}
    assert is_uuid(invite["id"])
    assert is_timestamp(invite["expires_at"])
    assert invite["invite_url"] == f"/console#/invite/{invite['token']}"
    anyone = sandbox.unauthenticated()
    assert anyone.get(f"/{invite['invite_url']}").headers["content-type"].startswith("text/html")
    shown = anyone.get_ok(f"/invites/{invite['token']}")
    assert shown == {
        "email": invite["email"], "role": "Ops", "valid": True, "expires_at": invite["expires_at"]
    }  # fmt: skip
    assert user_of(sandbox, invite["id"])["status"] == "INVITED"

    joined = anyone.post(f"/invites/{invite['token']}/accept", {"password": PASSWORD})
    assert joined.status_code == 200
    assert set(joined.json()) == {"user"}
    assert (joined.json()["user"]["id"], joined.json()["user"]["status"]) == (invite["id"], "ACTIVE")
    assert "Set-Cookie" not in joined.headers
    assert sandbox.signed_in(invite["email"]).get_ok("/session")["user"]["role"] == "Ops"
    seen = user_of(sandbox, invite["id"])
    assert set(seen) == USER_FIELDS
    assert is_timestamp(seen["last_login_at"])


def test_an_invite_works_once(sandbox: Sandbox) -> None:
    invite, anyone = invited(sandbox), sandbox.unauthenticated()
    assert anyone.post(f"/invites/{invite['token']}/accept", {"password": PASSWORD}).status_code == 200
    used = anyone.post(f"/invites/{invite['token']}/accept", {"password": PASSWORD})
    assert_error(used, 404, "NOT_FOUND")
    answer = anyone.get(f"/invites/{invite['token']}").json()
    for token in ("unknown", "bad!token", "x" * 301, "%24%7Bx%7D"):
        assert_error(anyone.get(f"/invites/{token}"), 404, "NOT_FOUND")
        assert anyone.get(f"/invites/{token}").json() == answer


def test_who_has_not_joined_is_invited_again_and_the_first_token_ends(sandbox: Sandbox) -> None:
    first, anyone = invited(sandbox), sandbox.unauthenticated()
    second = sandbox.admin.post_ok("/users/invite", {"email": first["email"].upper(), "role": "Admin"})
    assert (second["id"], second["role"]) == (first["id"], "Admin")
    assert_error(anyone.get(f"/invites/{first['token']}"), 404, "NOT_FOUND")
    assert anyone.get_ok(f"/invites/{second['token']}")["role"] == "Admin"


def test_an_address_that_has_joined_cannot_be_invited(sandbox: Sandbox) -> None:
    email = sandbox.make_user("Viewer")[1]
    again = sandbox.admin.post("/users/invite", {"email": f" {email.title()} ", "role": "Ops"})
    assert_error(again, 409, "NAME_CONFLICT")


@pytest.mark.parametrize("password", ["", "eleven long", "password1234", "aaaaaaaaaaaaaaaa", "x" * 257])
def test_a_short_a_long_or_a_common_password_is_refused_and_the_invite_stays(sandbox: Sandbox, password: str) -> None:
    invite, anyone = invited(sandbox), sandbox.unauthenticated()
    refused = anyone.post(f"/invites/{invite['token']}/accept", {"password": password})
    assert_error(refused, 422, "VALIDATION_FAILED")
    assert refused.json()["error"]["details"][0]["location"] == ["body", "password"]
    assert anyone.get(f"/invites/{invite['token']}").status_code == 200


@pytest.mark.parametrize(
    "email",
    [
        *("no address", "a@b\u202ec.example", "a\x00@example.com", ""),
        *(f"a{text}@example.com" for text in (*"\u200b\u202e\u2066\ufeff\x07\u200d", "م\u200cم", "👨\u200d👩")),
    ],
)
def test_an_address_that_does_not_show_what_it_is_is_refused(sandbox: Sandbox, email: str) -> None:
    validation_error(sandbox.admin.post("/users/invite", {"email": email, "role": "Ops"}), "body", "email")


def test_a_replay_in_the_same_session_gets_the_same_token_and_another_session_does_not(sandbox: Sandbox) -> None:
    body = {"email": f"{sandbox.name('replayed')}@example.com", "role": "Viewer"}
    headers = {"Idempotency-Key": sandbox.name("key")}
    first = sandbox.admin.post("/users/invite", body, headers=headers)
    assert sandbox.admin.post("/users/invite", body, headers=headers).json() == first.json()
    other = sandbox.signed_in(ADMIN.email, ADMIN.password).post("/users/invite", body, headers=headers)
    assert other.status_code == 201
    assert other.json()["token"] != first.json()["token"]


def test_the_link_of_an_invite_does_not_follow_the_host_header(sandbox: Sandbox) -> None:
    body = {"email": f"{sandbox.name('elsewhere')}@example.com", "role": "Viewer"}
    headers = {"Host": "127.0.0.1:1", "X-Forwarded-Host": "evil.example"}
    answer = sandbox.admin.post("/users/invite", body, headers=headers)
    assert answer.status_code == 201
    assert answer.json()["invite_url"] == f"/console#/invite/{answer.json()['token']}"


def test_a_role_counts_from_the_next_request(sandbox: Sandbox) -> None:
    user_id, email = sandbox.make_user("Viewer")
    api = sandbox.signed_in(email)
    assert_error(api.post("/sources", sandbox.source_body()), 403, "FORBIDDEN")
    changed = sandbox.admin.call("PATCH", f"/users/{user_id}/role", {"role": "Ops"})
    assert (changed.status_code, changed.json()["role"]) == (200, "Ops")
    assert api.post("/sources", sandbox.source_body()).status_code == 201
    sandbox.admin.call("PATCH", f"/users/{user_id}/role", {"role": "Viewer"})
    assert_error(api.post("/sources", sandbox.source_body()), 403, "FORBIDDEN")


def test_disabling_ends_every_session_for_good(sandbox: Sandbox) -> None:
    user_id, email = sandbox.make_user("Ops")
    first, other = sandbox.signed_in(email), sandbox.signed_in(email)
    disabled = sandbox.admin.post_ok(f"/users/{user_id}/disable", status=200)
    assert (disabled["id"], disabled["status"]) == (user_id, "DISABLED")
    for api in (first, other):
        assert_error(api.get("/session"), 401, "UNAUTHENTICATED")
    refused = sandbox.unauthenticated().post("/auth/login", {"email": email, "password": PASSWORD})
    assert_error(refused, 401, "INVALID_CREDENTIALS")
    assert sandbox.admin.post_ok(f"/users/{user_id}/enable", status=200)["status"] == "ACTIVE"
    for api in (first, other):
        assert_error(api.get("/session"), 401, "UNAUTHENTICATED")
    assert sandbox.signed_in(email).get("/session").status_code == 200


def test_who_is_deleted_and_made_anew_is_somebody_else(sandbox: Sandbox) -> None:
    user_id, email = sandbox.make_user("Viewer")
    api = sandbox.signed_in(email)
    assert sandbox.admin.delete(f"/users/{user_id}").status_code == 204
    assert_error(api.get("/session"), 401, "UNAUTHENTICATED")
    invite = sandbox.admin.post_ok("/users/invite", {"email": email, "role": "Admin"})
    anyone, another = sandbox.unauthenticated(), {"password": "another long secret"}
    anyone.post_ok(f"/invites/{invite['token']}/accept", another, status=200)
    assert invite["id"] != user_id
    assert_error(api.get("/session"), 401, "UNAUTHENTICATED")
    assert_error(anyone.post("/auth/login", {"email": email, "password": PASSWORD}), 401, "INVALID_CREDENTIALS")
    assert anyone.post("/auth/login", {"email": email, **another}).status_code == 200
    assert_error(sandbox.admin.delete(f"/users/{user_id}"), 404, "NOT_FOUND")


def test_a_disabled_invite_cannot_be_accepted(sandbox: Sandbox) -> None:
    invite, anyone = invited(sandbox), sandbox.unauthenticated()
    sandbox.admin.post_ok(f"/users/{invite['id']}/disable", status=200)
    assert_error(anyone.post(f"/invites/{invite['token']}/accept", {"password": PASSWORD}), 404, "NOT_FOUND")
    assert sandbox.admin.post_ok(f"/users/{invite['id']}/enable", status=200)["status"] == "INVITED"
    assert_error(anyone.get(f"/invites/{invite['token']}"), 404, "NOT_FOUND")


MOVES = [("POST", "disable", None), ("PATCH", "role", {"role": "Ops"}), ("DELETE", "", None)]


@pytest.mark.parametrize(("method", "move", "body"), MOVES)
def test_nobody_takes_their_own_rights_away(sandbox: Sandbox, method: str, move: str, body: Json | None) -> None:
    user_id, email = sandbox.make_user("Admin")
    own = sandbox.signed_in(email)
    assert_error(own.call(method, f"/users/{user_id}/{move}".rstrip("/"), body), 409, "STATE_CONFLICT")
    assert own.get_ok("/session")["user"]["role"] == "Admin"
    sandbox.admin.delete(f"/users/{user_id}")


@pytest.mark.parametrize(("method", "move", "body"), MOVES)
def test_the_last_active_admin_stays(sandbox: Sandbox, method: str, move: str, body: Json | None) -> None:
    """The Admins of other tests are disabled for as long, and enabled again."""
    own_id = sandbox.admin.get_ok("/session")["user"]["id"]
    others = [
        user["id"]
        for user in sandbox.admin.get_ok("/users")
        if (user["role"], user["status"]) == ("Admin", "ACTIVE") and user["id"] != own_id
    ]
    for user_id in others:
        sandbox.change_user(user_id, role="Ops")
    try:
        refused = sandbox.admin.call(method, f"/users/{own_id}/{move}".rstrip("/"), body)
        assert_error(refused, 409, "LAST_ADMIN")
    finally:
        for user_id in others:
            sandbox.change_user(user_id, role="Admin")


def test_repeating_a_move_changes_nothing(sandbox: Sandbox) -> None:
    user_id, _ = sandbox.make_user("Viewer")
    for _ in range(2):
        assert sandbox.admin.post_ok(f"/users/{user_id}/disable", status=200)["status"] == "DISABLED"
    assert sandbox.admin.call("PATCH", f"/users/{user_id}/role", {"role": "Viewer"}).status_code == 200
    records = sandbox.audit_records(user_id)
    assert [record["action"] for record in records] == ["user.disable"]
    assert (records[0]["before"], records[0]["after"]) == ({"status": "ACTIVE"}, {"status": "DISABLED"})


def test_a_new_password_ends_all_sessions_but_the_new_one(sandbox: Sandbox) -> None:
    email = sandbox.make_user("Viewer")[1]
    own, other = sandbox.signed_in(email), sandbox.signed_in(email)
    before = dict(own.http.cookies)
    wrong = own.post("/auth/password", {"current_password": "wrong password", "new_password": "another long secret"})
    assert_error(wrong, 401, "INVALID_CREDENTIALS")
    changed = own.post("/auth/password", {"current_password": PASSWORD, "new_password": "another long secret"})
    assert changed.status_code == 200
    assert_error(other.get("/session"), 401, "UNAUTHENTICATED")
    assert _with_cookies(sandbox, before).get("/session").status_code == 401
    assert own.get("/session").status_code == 200
    refused = sandbox.unauthenticated().post("/auth/login", {"email": email, "password": PASSWORD})
    assert_error(refused, 401, "INVALID_CREDENTIALS")
    assert sandbox.signed_in(email, "another long secret").get("/session").status_code == 200


def _with_cookies(sandbox: Sandbox, cookies: dict[str, str]) -> Api:
    api = sandbox.unauthenticated()
    api.http.cookies.update(cookies)
    return api


def test_a_change_that_is_based_on_another_version_is_412(sandbox: Sandbox) -> None:
    user_id = sandbox.make_user("Viewer")[0]
    path, version = f"/users/{user_id}", sandbox.admin.get(f"/users/{user_id}").headers["ETag"]
    stale = {"If-Match": '"77"'}
    refused = sandbox.admin.call("PATCH", f"{path}/role", {"role": "Ops"}, headers=stale)
    assert_error(refused, 412, "VERSION_MISMATCH")
    assert_error(sandbox.admin.delete(path, headers=stale), 412, "VERSION_MISMATCH")
    changed = sandbox.admin.call("PATCH", f"{path}/role", {"role": "Ops"}, headers={"If-Match": version})
    assert changed.json()["role"] == "Ops"
    assert sandbox.admin.delete(path, headers={"If-Match": changed.headers["ETag"]}).status_code == 204
