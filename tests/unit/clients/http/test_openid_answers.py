"""The client of an OpenID provider: answers that no provider gives, slow ones, and addresses that lead elsewhere."""

import json
import time
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.http.guarded import GuardedHttp
from chalicelib.clients.http.openid import LIFETIME, MAX_ANSWER_BYTES, OpenIdProvider
from chalicelib.domain.accounts.sign_on import SignOnRefused
from chalicelib.errors import HeadgateError, TimedOut, Unavailable
from chalicelib.kit.clock import Deadline
from tests.support.apps.connect_worker import Reply, html, reset, silence
from tests.support.apps.in_process_app import VirtualClock
from tests.support.openid.client import ATTEMPT, double, provider_of, running_double, sign_in
from tests.support.openid.double import CLIENT_SECRET, OpenIdDouble

__all__ = ["double", "running_double"]

ODD_ANSWERS = [
    Reply(302, headers={"Location": "http://169.254.169.254/"}),
    Reply(500, {"error": "server_error", "error_description": CLIENT_SECRET}),
    Reply(503, CLIENT_SECRET),
    html(200),
    Reply(body=[]),
    Reply(body="[" * 50_000),
    Reply(body=json.dumps({"issuer": 1, "keys": []})[:-1] + ',"issuer":2}'),
    Reply(body={"padding": "x" * MAX_ANSWER_BYTES}),
    Reply(body={"keys": [0] * 6000}),
    Reply(body={"a": 1}, headers={"Content-Encoding": "gzip"}),
    Reply(after=reset),
]


@pytest.mark.parametrize("reply", ODD_ANSWERS)
@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/.well-known/openid-configuration"), ("POST", "/token"), ("GET", "/keys"), ("GET", "/me")],
)
def test_what_a_provider_never_answers_is_unavailable_and_not_repeated(
    double: OpenIdDouble, method: str, path: str, reply: Reply
) -> None:
    double.in_user_info = ("groups",)
    double.on(method, path, reply)
    with pytest.raises((Unavailable, SignOnRefused)) as raised:
        sign_in(provider_of(double))
    assert CLIENT_SECRET not in repr(raised.value) + str(raised.value)
    assert double.count(method, path) == 1
    if isinstance(raised.value, HeadgateError):
        assert raised.value.code == "IDENTITY_PROVIDER_UNAVAILABLE"


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://login.example.net"},
        {"issuer": None},
        {"token_endpoint": "http://login.example.net/token"},
        {"token_endpoint": "ftp://127.0.0.1/token"},
        {"token_endpoint": "https://login.example.net@127.0.0.1/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": "https://login.example.net/\r\nSet-Cookie: a=b"},
        {"jwks_uri": ["http://127.0.0.1/keys"]},
        {"jwks_uri": None},
        {"userinfo_endpoint": "//login.example.net/me"},
    ],
)
def test_a_configuration_that_leads_elsewhere_is_refused(double: OpenIdDouble, change: Any) -> None:
    double.on("GET", "/.well-known/openid-configuration", Reply(body={**double.configuration(), **change}))
    with pytest.raises(Unavailable):
        provider_of(double).authorization_url(ATTEMPT, Deadline.after(5))


def test_a_host_on_an_address_that_is_never_contacted_is_refused(double: OpenIdDouble) -> None:
    double.on(
        "GET",
        "/.well-known/openid-configuration",
        Reply(body={**double.configuration(), "token_endpoint": "https://169.254.169.254/token"}),
    )
    with pytest.raises(Unavailable, match="never contacted"):
        sign_in(provider_of(double))


@pytest.mark.parametrize("path", ["/token", "/keys", "/me", "/.well-known/openid-configuration"])
def test_a_provider_that_does_not_answer_is_not_waited_for(double: OpenIdDouble, path: str) -> None:
    double.in_user_info = ("groups",)
    double.on("POST" if path == "/token" else "GET", path, Reply(after=silence(double)))
    began = time.monotonic()
    with pytest.raises(TimedOut):
        sign_in(provider_of(double), seconds=0.5)
    # Without the limit it would be 20 seconds.
    assert time.monotonic() - began < 10


def test_a_provider_that_cannot_be_reached_is_unavailable() -> None:
    gone = OpenIdDouble()
    provider = provider_of(gone)
    gone.stop()
    with pytest.raises(Unavailable, match="cannot be reached"):
        provider.authorization_url(ATTEMPT, Deadline.after(2))


@pytest.mark.parametrize(("status", "error"), [(401, "invalid_client"), (400, "unauthorized_client"), (401, "x")])
def test_a_refused_client_is_the_operators_business_and_not_the_persons(
    double: OpenIdDouble, status: int, error: str
) -> None:
    double.on("POST", "/token", Reply(status, {"error": error, "error_description": CLIENT_SECRET}))
    with pytest.raises(Unavailable, match="check client id and client secret") as raised:
        sign_in(provider_of(double))
    assert CLIENT_SECRET not in raised.value.message


def test_configuration_and_keys_are_read_again_after_their_lifetime_only(double: OpenIdDouble) -> None:
    clock = VirtualClock()
    provider = provider_of(double, clock)
    for _ in range(3):
        sign_in(provider)
    assert double.count("GET", "/.well-known/openid-configuration") == double.count("GET", "/keys") == 1
    clock.now += LIFETIME + timedelta(seconds=1)
    sign_in(provider)
    assert double.count("GET", "/.well-known/openid-configuration") == double.count("GET", "/keys") == 2


@pytest.mark.parametrize("token", ["a b", "a\r\nX-Other: b", "é", "", 7, None])
def test_an_access_token_that_would_change_the_request_is_not_sent(double: OpenIdDouble, token: Any) -> None:
    double.removed = ("groups",)
    answers = double._token
    double._token = lambda fields, authorization: Reply(  # type: ignore[method-assign]
        body={**answers(fields, authorization).body, "access_token": token}
    )
    try:
        sign_in(provider_of(double))
    finally:
        del double._token
    asked = [headers.get("authorization") for headers in double.headers if "Bearer" in headers.get("authorization", "")]
    assert asked in ([], ["Bearer 7"])


def test_the_providers_address_is_checked_for_each_exchange(double: OpenIdDouble) -> None:
    asked: list[str] = []

    def check(host: str) -> tuple[str, ...]:
        asked.append(host)
        return AddressPolicy(allow_loopback=True)(host)

    provider = OpenIdProvider(
        double.settings(), make_http=lambda url: GuardedHttp(url, check_host=check), clock=VirtualClock()
    )
    sign_in(provider)
    assert asked == ["127.0.0.1"] * 3
