"""Second factors over HTTP, as the wire contract has them (section 9)."""

from urllib.parse import urlsplit

import pyotp
import pytest

from chalicelib.kit.clock import utc_now
from tests.support.api_assertions import UNKNOWN_ID, assert_error
from tests.support.apps.sandbox import PASSWORD, Api, Json, Sandbox


def login(sandbox: Sandbox, email: str, code: str | None = None, password: str = PASSWORD) -> Json:
    body = {"email": email, "password": password, **({"code": code} if code else {})}
    return dict(sandbox.unauthenticated().post("/auth/login", body).json())


def set_up(api: Api) -> tuple[str, list[str]]:
    """The secret of the app, and the recovery codes."""
    made = api.post_ok("/auth/totp", status=200)
    confirmed = api.post_ok("/auth/totp/confirm", {"code": pyotp.TOTP(made["secret"]).now()}, status=200)
    return made["secret"], confirmed["recovery_codes"]


@pytest.fixture
def person(sandbox: Sandbox) -> tuple[str, str]:
    """Id and e-mail of an Ops."""
    user_id, email = sandbox.make_user("Ops")[:2]
    return user_id, email


def test_a_second_factor_is_set_up_used_and_removed(sandbox: Sandbox, person: tuple[str, str]) -> None:
    _, email = person
    api, other = sandbox.signed_in(email), sandbox.signed_in(email)
    made = api.post("/auth/totp")
    assert made.status_code == 200
    assert set(made.json()) == {"secret", "uri"}
    assert (urlsplit(made.json()["uri"]).scheme, urlsplit(made.json()["uri"]).netloc) == ("otpauth", "totp")
    assert_error(api.post("/auth/totp/confirm", {"code": "000000"}), 401, "INVALID_CREDENTIALS")
    app = pyotp.TOTP(made.json()["secret"])
    confirmed = api.post("/auth/totp/confirm", {"code": app.now()})
    assert confirmed.status_code == 200
    assert set(confirmed.json()) == {"recovery_codes"}
    codes = confirmed.json()["recovery_codes"]
    assert len(set(codes)) == len(codes) == 10

    assert (api.get("/session").status_code, other.get("/session").status_code) == (200, 401)
    assert_error(api.post("/auth/totp"), 409, "STATE_CONFLICT")
    refused = sandbox.unauthenticated().post("/auth/login", {"email": email, "password": PASSWORD})
    assert_error(refused, 401, "SECOND_FACTOR_REQUIRED")
    assert "Set-Cookie" not in refused.headers
    assert login(sandbox, email, password="a wrong password")["error"]["code"] == "INVALID_CREDENTIALS"
    assert set(login(sandbox, email, codes[0])) == {"user", "expires_at", "idle_expires_at", "version"}
    assert login(sandbox, email, codes[0])["error"]["code"] == "SECOND_FACTOR_REQUIRED"
    assert "user" in login(sandbox, email, app.at(utc_now(), counter_offset=1))

    body = {"password": PASSWORD, "code": codes[1]}
    assert_error(api.delete("/auth/totp", json={**body, "password": "wrong"}), 401, "INVALID_CREDENTIALS")
    removed = api.delete("/auth/totp", json=body)
    assert (removed.status_code, removed.content) == (204, b"")
    assert "user" in login(sandbox, email)
    assert_error(api.delete("/auth/totp", json=body), 404, "NOT_FOUND")


@pytest.mark.parametrize("body", [{}, {"code": ""}, {"code": "x" * 65}, {"code": 123456}, {"code": "123456", "x": 1}])
def test_a_body_that_cannot_be_a_code_is_refused(sandbox: Sandbox, person: tuple[str, str], body: Json) -> None:
    api = sandbox.signed_in(person[1])
    assert api.post("/auth/totp/confirm", body).status_code == 422


def test_an_admin_removes_the_second_factor_of_somebody_and_it_is_audited(
    sandbox: Sandbox, person: tuple[str, str]
) -> None:
    user_id, email = person
    api = sandbox.signed_in(email)
    secret, codes = set_up(api)
    assert_error(sandbox.with_role("Ops").delete(f"/users/{user_id}/totp"), 403, "FORBIDDEN")
    assert sandbox.admin.delete(f"/users/{user_id}/totp").status_code == 204
    assert api.get("/session").status_code == 401
    assert "user" in login(sandbox, email)
    assert_error(sandbox.admin.delete(f"/users/{user_id}/totp"), 404, "NOT_FOUND")
    assert_error(sandbox.admin.delete(f"/users/{UNKNOWN_ID}/totp"), 404, "NOT_FOUND")
    records = sandbox.audit_records(user_id)
    actions = {record["action"] for record in records}
    assert {"user.start_second_factor", "user.add_second_factor", "user.remove_second_factor"} <= actions
    assert not any(shown in str(records) for shown in (secret, *codes))


def test_a_token_has_no_second_factor(sandbox: Sandbox, person: tuple[str, str]) -> None:
    api = sandbox.signed_in(person[1])
    token = api.post_ok("/auth/tokens", {"name": sandbox.name("token"), "role": "Ops"})["token"]
    bearer = {"Authorization": f"Bearer {token}"}
    assert_error(sandbox.unauthenticated().post("/auth/totp", headers=bearer), 403, "FORBIDDEN")
