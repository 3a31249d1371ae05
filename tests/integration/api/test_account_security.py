"""What keeps accounts safe, over HTTP: passwords as they are, tokens that nobody guesses, tries that nobody hides."""

import base64
import secrets
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.accounts.login_limits import window_end
from chalicelib.kit.clock import utc_now
from tests.support.api_assertions import assert_error
from tests.support.apps.sandbox import PASSWORD, Api, Sandbox
from tests.support.waiting import eventually

MINUTE = timedelta(minutes=1)
"""More than the tries of a test take."""


def _invited(sandbox: Sandbox, role: str = "Viewer") -> tuple[str, dict[str, Any]]:
    email = f"{sandbox.name('invited')}@example.com"
    return email, sandbox.admin.post_ok("/users/invite", {"email": email, "role": role})


def _accept(sandbox: Sandbox, token: str, password: str) -> Any:
    return sandbox.unauthenticated().post(f"/invites/{token}/accept", {"password": password})


def _login(api: Api, email: str, password: str = PASSWORD, **headers: str) -> Any:
    return api.post("/auth/login", {"email": email, "password": password}, headers=headers)


@pytest.mark.parametrize(
    "password",
    [
        "onlylettersnodigits",
        "four 4 words of mine",
        " begins and ends with blanks ",
        "ünïcödé ✓ 漢字 and more of it",
        "LONG",
    ],
)
def test_a_password_of_any_characters_is_taken_exactly_as_it_is(sandbox: Sandbox, password: str) -> None:
    email, invite = _invited(sandbox)
    password = secrets.token_urlsafe(96) if password == "LONG" else password
    assert _accept(sandbox, invite["token"], password).status_code == 200
    others = (password.swapcase(), password.strip() if password != password.strip() else password + " ", password[:-1])
    for other in {*others} - {password}:
        assert_error(_login(sandbox.unauthenticated(), email, other), 401, "INVALID_CREDENTIALS")
    assert _login(sandbox.unauthenticated(), email, password).status_code == 200


def test_tokens_have_256_random_bits(sandbox: Sandbox) -> None:
    api = sandbox.signed_in(sandbox.make_user("Viewer")[1])
    session = api.http.cookies["headgate_session"].rpartition(".")[2]
    made = [api.post_ok("/auth/tokens", {"name": sandbox.name("token"), "role": "Viewer"})["token"] for _ in range(2)]
    invites = [_invited(sandbox)[1]["token"] for _ in range(2)]
    tokens = [session, *(token.rpartition(".")[2] for token in (*made, *invites))]
    for token in tokens:
        assert len(base64.urlsafe_b64decode(token[-43:] + "=")) >= 32
    assert len(set(tokens)) == len(tokens)


def test_the_eleventh_try_is_refused_whatever_address_a_header_names(sandbox: Sandbox) -> None:
    email, api = sandbox.make_user("Viewer")[1], sandbox.unauthenticated()
    # All tries of a window that does not end soon.
    eventually(lambda: window_end(utc_now()) - utc_now() > MINUTE, seconds=70)
    for _ in range(10):
        assert_error(_login(api, email, "a wrong password"), 401, "INVALID_CREDENTIALS")
    refused = _login(api, email)
    assert_error(refused, 429, "RATE_LIMITED")
    assert 0 < int(refused.headers["Retry-After"]) <= 301
    for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "CF-Connecting-IP", "True-Client-IP"):
        value = "for=203.0.113.9" if name == "Forwarded" else "203.0.113.9"
        assert _login(api, email, **{name: value}).status_code == 429, name


def test_no_answer_allows_another_origin(sandbox: Sandbox) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    for method, path in (("OPTIONS", "/sources"), ("GET", "/sources"), ("POST", "/auth/login"), ("GET", "//docs")):
        answer = sandbox.admin.call(method, path, headers=asked)
        assert [name for name in answer.headers if name.lower().startswith("access-control-")] == []
