"""Section 2 of the wire contract: signing in and out, sessions, the CSRF rule, roles."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.api_assertions import UNKNOWN_ID, assert_error, is_timestamp, is_uuid
from tests.support.apps.sandbox import ADMIN, PASSWORD, Sandbox

PERMISSIONS = {
    "Viewer": ["read"],
    "Ops": ["read", "write", "operate"],
    "Admin": ["read", "write", "operate", "administer", "manage_users"],
}


def test_a_login_returns_the_user_and_sets_the_cookie(sandbox: Sandbox) -> None:
    api = sandbox.unauthenticated()
    response = api.post("/auth/login", {"email": ADMIN.email, "password": ADMIN.password})
    assert response.status_code == 200
    assert set(response.json()) == {"user", "expires_at", "idle_expires_at", "version"}
    user = response.json()["user"]
    assert is_uuid(user.pop("id"))
    assert user == {"email": ADMIN.email, "role": "Admin", "status": "ACTIVE"}
    assert is_timestamp(response.json()["expires_at"])
    cookie = response.headers["Set-Cookie"]
    assert cookie.startswith("headgate_session=")
    for attribute in ("HttpOnly", "SameSite=Lax", "Path=/"):
        assert attribute in cookie
    assert "Secure" not in cookie


def test_behind_tls_the_cookie_is_secure_and_limited_to_the_host(sandbox: Sandbox) -> None:
    behind = {"X-Forwarded-Proto": "https", "Host": "headgate.example.com"}
    response = sandbox.unauthenticated().post(
        "/auth/login", {"email": ADMIN.email, "password": ADMIN.password}, headers=behind
    )
    cookie = response.headers["Set-Cookie"]
    assert cookie.startswith("__Host-headgate_session=")
    assert "; Secure" in cookie
    session = {"Cookie": cookie.partition(";")[0], "Host": "headgate.example.com"}
    assert sandbox.unauthenticated().get("/session", headers=session).status_code == 200


def test_away_from_loopback_the_plain_cookie_counts_for_nothing(sandbox: Sandbox) -> None:
    cookie = f"headgate_session={sandbox.admin.http.cookies['headgate_session']}"
    own = {"Host": "headgate.example.com", "Cookie": cookie}
    assert_error(sandbox.unauthenticated().get("/auth/session", headers=own), 401, "UNAUTHENTICATED")


def test_only_over_https_the_browser_is_asked_to_stay_with_it(sandbox: Sandbox) -> None:
    api, over_https = sandbox.unauthenticated(), {"X-Forwarded-Proto": "https"}
    for path in ("/session", "//nothing", "//docs", "//health"):
        assert api.get(path, headers=over_https).headers["Strict-Transport-Security"] == "max-age=31536000"
        assert "Strict-Transport-Security" not in api.get(path).headers


def test_a_login_ends_the_session_that_the_browser_had(sandbox: Sandbox) -> None:
    email = sandbox.make_user("Viewer")[1]
    api = sandbox.signed_in(email)
    before = {"Cookie": f"headgate_session={api.http.cookies['headgate_session']}"}
    assert sandbox.unauthenticated().get("/session", headers=before).status_code == 200
    assert api.post("/auth/login", {"email": email, "password": PASSWORD}).status_code == 200
    assert sandbox.unauthenticated().get("/session", headers=before).status_code == 401
    assert api.get("/session").status_code == 200


def test_every_failed_login_has_the_same_response(sandbox: Sandbox) -> None:
    disabled = sandbox.make_user("Ops", "DISABLED")[1]
    invited = sandbox.make_user("Ops", "INVITED")[1]
    attempts = [
        (ADMIN.email, "wrong password"), ("nobody@example.com", PASSWORD), (disabled, PASSWORD), (invited, PASSWORD),
    ]  # fmt: skip
    responses = [
        sandbox.unauthenticated().post("/auth/login", {"email": email, "password": password})
        for email, password in attempts
    ]
    for response in responses:
        assert_error(response, 401, "INVALID_CREDENTIALS")
        assert "Set-Cookie" not in response.headers
    assert len({response.text for response in responses}) == 1


@pytest.mark.parametrize(
    "body", [{}, {"email": ADMIN.email}, {"email": 1, "password": 2}, {"email": ADMIN.email, "password": ""}]
)
def test_a_login_without_address_or_password_is_422(sandbox: Sandbox, body: dict[str, object]) -> None:
    assert_error(sandbox.unauthenticated().post("/auth/login", body), 422, "VALIDATION_FAILED")


@pytest.mark.parametrize("role", ["Viewer", "Ops", "Admin"])
def test_the_session_shows_the_user_and_the_permissions(sandbox: Sandbox, role: str) -> None:
    api = sandbox.with_role(role)
    for path in ("/session", "/auth/session"):
        seen = api.get_ok(path)
        assert set(seen) == {"user", "permissions", "expires_at", "idle_expires_at", "via", "version"}
        assert set(seen["user"]) == {"id", "email", "role", "status"}
        assert (seen["user"]["role"], seen["permissions"], seen["via"]) == (role, PERMISSIONS[role], "session")


def test_the_session_says_when_it_ends_and_which_release_answers(sandbox: Sandbox) -> None:
    api, began = sandbox.unauthenticated(), datetime.now(UTC)
    signed_in = api.post("/auth/login", {"email": ADMIN.email, "password": ADMIN.password}).json()
    for seen in (signed_in, api.get_ok("/session"), api.get_ok("/auth/session")):
        ends = {name: datetime.fromisoformat(seen[name]) - began for name in ("expires_at", "idle_expires_at")}
        assert abs(ends["expires_at"] - timedelta(hours=8)) < timedelta(minutes=2)
        assert abs(ends["idle_expires_at"] - timedelta(minutes=30)) < timedelta(minutes=2)
        assert seen["version"] == sandbox.unauthenticated().get_ok("//health")["version"]


@pytest.mark.parametrize(
    "cookie", [None, "headgate_session=", "headgate_session=x.y", "headgate_session=x", "other=1", ";;=;"]
)
def test_without_a_session_the_response_is_401(sandbox: Sandbox, cookie: str | None) -> None:
    for path in ("/session", "/auth/session", "/sources", f"/sources/{UNKNOWN_ID}", "/audit"):
        assert_error(sandbox.unauthenticated().get(path, headers={"Cookie": cookie}), 401, "UNAUTHENTICATED")
    assert_error(sandbox.unauthenticated().post("/sources", {}), 401, "UNAUTHENTICATED")


def test_a_logout_ends_the_session_on_the_server(sandbox: Sandbox) -> None:
    api = sandbox.signed_in(ADMIN.email, ADMIN.password)
    cookie = f"headgate_session={api.http.cookies['headgate_session']}"
    response = api.post("/auth/logout")
    assert (response.status_code, response.content) == (204, b"")
    assert "Max-Age=0" in response.headers["Set-Cookie"]
    assert "headgate_session" not in api.http.cookies
    assert_error(sandbox.unauthenticated().get("/session", headers={"Cookie": cookie}), 401, "UNAUTHENTICATED")
    assert_error(api.post("/auth/logout"), 401, "UNAUTHENTICATED")
    assert sandbox.admin.get("/session").status_code == 200


# the CSRF rule


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_a_change_with_a_cookie_needs_a_correlation_id(sandbox: Sandbox, method: str) -> None:
    path = "/sources" if method == "POST" else f"/sources/{UNKNOWN_ID}"
    response = sandbox.admin.call(method, path, sandbox.source_body(), headers={"X-Correlation-ID": None})
    assert_error(response, 403, "CSRF_REJECTED")


@pytest.mark.parametrize(
    "sent",
    [
        {"Origin": "https://evil.example.com"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://["},
        {"Origin": "//SELF"},
        {"Origin": "https://SELF"},
        {"Origin": "http://SELF/page"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "SELF", "Sec-Fetch-Site": "cross-site"},
        {"Origin": "https://evil.example.com", "Sec-Fetch-Site": "same-origin"},
    ],
)
def test_a_change_from_another_site_is_refused(sandbox: Sandbox, sent: dict[str, str]) -> None:
    host = sandbox.url.removeprefix("http://")
    headers = {name: sandbox.url if value == "SELF" else value.replace("SELF", host) for name, value in sent.items()}
    assert_error(sandbox.admin.post("/sources", sandbox.source_body(), headers=headers), 403, "CSRF_REJECTED")
    assert_error(sandbox.admin.post("/auth/logout", headers=headers), 403, "CSRF_REJECTED")
    assert sandbox.admin.get("/sources", headers={**headers, "X-Correlation-ID": None}).status_code == 200


def test_a_change_from_a_page_of_the_same_origin_is_accepted(sandbox: Sandbox) -> None:
    same_origin = {"Origin": sandbox.url, "Sec-Fetch-Site": "same-origin"}
    assert sandbox.admin.post("/sources", sandbox.source_body(), headers=same_origin).status_code == 201


@pytest.mark.parametrize(
    ("scheme", "origin", "status"),
    [
        ("https", "https", 201),
        ("https", "http", 403),
        ("https, http", "https", 201),
        (None, "https", 201),
        (None, "http", 201),
        (None, "ftp", 403),
    ],
)
def test_the_scheme_is_compared_when_a_proxy_reports_it(
    sandbox: Sandbox, scheme: str | None, origin: str, status: int
) -> None:
    name = "headgate.example.com"
    cookie = f"__Host-headgate_session={sandbox.admin.http.cookies['headgate_session']}"
    headers = {"Host": name, "Origin": f"{origin}://{name}", "X-Forwarded-Proto": scheme, "Cookie": cookie}
    assert sandbox.admin.post("/sources", sandbox.source_body(), headers=headers).status_code == status


# roles


def test_without_single_sign_on_its_addresses_are_like_unknown_ones(sandbox: Sandbox) -> None:
    api = sandbox.unauthenticated()
    unknown = api.get("/auth/oidc/other")
    for path in ("/auth/oidc/login", "/auth/oidc/callback", "/auth/oidc/callback?code=a&state=b"):
        response = api.get(path)
        assert (response.status_code, response.json()) == (unknown.status_code, unknown.json())
        assert "Set-Cookie" not in response.headers
