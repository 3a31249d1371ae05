"""The client of an OpenID provider: what a token must say, and who it is about."""

import base64
import hmac
import json
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.clients.http.openid import LIFETIME
from chalicelib.domain.accounts.sign_on import Person, Refusal, SignOnRefused
from chalicelib.kit.clock import Deadline
from tests.support.apps.connect_worker import Reply
from tests.support.apps.in_process_app import VirtualClock
from tests.support.openid.client import (
    ATTEMPT,
    CHALLENGE,
    callback_of,
    double,
    provider_of,
    refusal,
    running_double,
    sign_in,
)
from tests.support.openid.double import OpenIdDouble, callback_query, unsigned

__all__ = ["double", "running_double"]


def test_the_person_is_described_by_the_token(double: OpenIdDouble) -> None:
    assert sign_in(provider_of(double)) == Person(
        issuer=double.url,
        subject="alice",
        email="alice@example.com",
        email_verified=True,
        groups=frozenset({"cdc-ops", "everyone"}),
    )


def test_the_browser_is_sent_with_state_nonce_and_challenge_and_never_with_the_verifier(double: OpenIdDouble) -> None:
    url = provider_of(double).authorization_url(ATTEMPT, Deadline.after(5))
    assert callback_query(url) == {
        "response_type": "code",
        "client_id": "headgate",
        "redirect_uri": ATTEMPT.redirect_uri,
        "scope": "openid email groups",
        "state": "the state",
        "nonce": "the nonce",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }


def test_a_public_client_sends_no_secret(double: OpenIdDouble) -> None:
    assert sign_in(provider_of(double, client_secret=None)).subject == "alice"
    assert all("authorization" not in headers for headers in double.headers)


def test_what_the_token_leaves_out_is_taken_from_the_user_info_endpoint(double: OpenIdDouble) -> None:
    double.in_user_info = ("email", "email_verified", "groups")
    person = sign_in(provider_of(double))
    double.in_user_info = ()
    assert person == sign_in(provider_of(double))


def test_the_user_info_of_somebody_else_is_refused(double: OpenIdDouble) -> None:
    double.removed = ("groups",)
    double.on("GET", "/me", Reply(body={"sub": "mallory", "groups": ["cdc-admins"]}))
    assert refusal(provider_of(double)) is Refusal.OTHER_SUBJECT


def test_an_address_of_the_token_is_not_verified_by_what_the_user_info_says_of_another(double: OpenIdDouble) -> None:
    double.removed = ("email_verified",)
    double.on("GET", "/me", Reply(body={"sub": "alice", "email": "other@example.com", "email_verified": True}))
    found = sign_in(provider_of(double))
    assert (found.email, found.email_verified) == ("other@example.com", True)
    double.on("GET", "/me", Reply(body={"sub": "alice", "email_verified": True}))
    assert not sign_in(provider_of(double)).email_verified


@pytest.mark.parametrize(
    ("groups", "names"),
    [
        ("cdc-ops", {"cdc-ops"}),
        (["cdc-ops", 7, None, {"a": 1}], {"cdc-ops"}),
        *((other, set()) for other in (None, 7, {"cdc-admins": True}, [])),
    ],
)
def test_groups_are_a_name_or_a_list_of_names(double: OpenIdDouble, groups: Any, names: set[str]) -> None:
    double.person["groups"] = groups
    assert sign_in(provider_of(double)).groups == names


NOW = int(time.time())


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"nonce": "another"}, Refusal.TOKEN_NONCE),
        ({"nonce": 7}, Refusal.TOKEN_NONCE),
        ({"aud": "another-client"}, Refusal.TOKEN_AUDIENCE),
        ({"aud": ["another-client"]}, Refusal.TOKEN_AUDIENCE),
        ({"aud": ["headgate", "another-client"]}, Refusal.TOKEN_AUDIENCE),
        ({"aud": ["headgate", "another-client"], "azp": "another-client"}, Refusal.TOKEN_AUDIENCE),
        ({"azp": "another-client"}, Refusal.TOKEN_AUDIENCE),
        ({"iss": "http://127.0.0.1:1"}, Refusal.TOKEN_ISSUER),
        ({"exp": NOW - 3600, "iat": NOW - 7200}, Refusal.TOKEN_TIME),
        ({"iat": NOW + 3600}, Refusal.TOKEN_TIME),
        ({"nbf": NOW + 3600}, Refusal.TOKEN_TIME),
        ({"exp": "never"}, Refusal.TOKEN_MALFORMED),
        ({"sub": ""}, Refusal.TOKEN_MALFORMED),
        ({"sub": 7}, Refusal.TOKEN_MALFORMED),
        ({"sub": "a" * 256}, Refusal.TOKEN_MALFORMED),
        ({"sub": "a\x00b"}, Refusal.TOKEN_MALFORMED),
    ],
)
def test_a_token_for_another_purpose_is_refused(double: OpenIdDouble, changes: Any, reason: Refusal) -> None:
    double.changes = changes
    assert refusal(provider_of(double)) is reason


@pytest.mark.parametrize("claim", ["iss", "sub", "aud", "exp", "iat", "nonce"])
def test_a_token_without_one_of_its_claims_is_refused(double: OpenIdDouble, claim: str) -> None:
    double.removed = (claim,)
    assert refusal(provider_of(double)) is Refusal.TOKEN_MALFORMED


def test_a_token_for_several_receivers_counts_when_it_names_this_one_as_its_party(double: OpenIdDouble) -> None:
    double.changes = {"aud": ["headgate", "another-client"], "azp": "headgate"}
    assert sign_in(provider_of(double)).subject == "alice"


def test_a_token_without_a_signature_is_refused(double: OpenIdDouble) -> None:
    double.tokens = lambda claims: unsigned(claims, kid=double.key_id)
    assert refusal(provider_of(double)) is Refusal.TOKEN_ALGORITHM


@pytest.mark.parametrize("form", ["pem", "modulus"])
def test_a_token_that_was_signed_with_the_public_key_as_a_shared_secret_is_refused(
    double: OpenIdDouble, form: str
) -> None:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    pem = double.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    secret = pem if form == "pem" else double.public_key["n"].encode()

    def forged(claims: dict[str, Any]) -> str:
        head, payload, _ = unsigned(claims, alg="HS256", kid=double.key_id).split(".")
        mac = hmac.digest(secret, f"{head}.{payload}".encode(), "sha256")
        return f"{head}.{payload}.{base64.urlsafe_b64encode(mac).decode().rstrip('=')}"

    double.tokens = forged
    assert refusal(provider_of(double)) is Refusal.TOKEN_ALGORITHM


def test_a_token_that_was_changed_after_it_was_signed_is_refused(double: OpenIdDouble) -> None:
    def changed(claims: dict[str, Any]) -> str:
        head, _, signature = double.signed(claims).split(".")
        payload = json.dumps({**claims, "groups": ["cdc-admins"]}).encode()
        return f"{head}.{base64.urlsafe_b64encode(payload).decode().rstrip('=')}.{signature}"

    double.tokens = changed
    assert refusal(provider_of(double)) is Refusal.TOKEN_SIGNATURE


def test_a_token_that_needs_an_extension_is_refused(double: OpenIdDouble) -> None:
    double.tokens = lambda claims: double.signed(claims, crit=["exp"], exp=1)
    assert refusal(provider_of(double)) is Refusal.TOKEN_MALFORMED


@pytest.mark.parametrize("token", ["", "a", "a.b", "a.b.c", "e30.e30.", "..", "é.é.é", "[" * 5000, "a" * 100_000])
def test_what_is_no_token_is_refused(double: OpenIdDouble, token: str) -> None:
    double.tokens = lambda _: token
    assert refusal(provider_of(double)) in (Refusal.TOKEN_MALFORMED, Refusal.TOKEN_ALGORITHM)


@pytest.mark.parametrize("body", [{"access_token": "a"}, {"id_token": 7}, {"id_token": None, "x": 1}])
def test_an_answer_without_a_token_is_refused(double: OpenIdDouble, body: Any) -> None:
    double.on("POST", "/token", Reply(body=body))
    assert refusal(provider_of(double)) is Refusal.TOKEN_MALFORMED


def test_a_key_that_is_not_known_is_looked_for_once(double: OpenIdDouble) -> None:
    provider = provider_of(double)
    sign_in(provider)
    double.exchange_keys()
    assert sign_in(provider).subject == "alice"
    assert double.count("GET", "/keys") == 2
    double.tokens = lambda claims: double.signed(claims, kid="nobody's")
    assert refusal(provider) is Refusal.TOKEN_KEY
    assert double.count("GET", "/keys") == 3


def test_a_key_that_the_provider_has_withdrawn_counts_no_longer_than_its_lifetime(double: OpenIdDouble) -> None:
    clock = VirtualClock()
    provider, old = provider_of(double, clock), (double.key, double.key_id)
    sign_in(provider)
    double.exchange_keys()

    def by_the_old_key(claims: dict[str, Any]) -> str:
        import jwt

        return jwt.encode(claims, old[0], algorithm="RS256", headers={"kid": old[1]})

    double.tokens = by_the_old_key
    assert sign_in(provider).subject == "alice"
    clock.now += LIFETIME + timedelta(seconds=1)
    assert refusal(provider) is Refusal.TOKEN_KEY


@pytest.mark.parametrize(
    "change", [{"use": "enc"}, {"alg": "PS256"}, {"kty": "oct", "k": "AAAA"}, {"kty": "EC"}, {"n": "AQAB"}, {"n": 7}]
)
def test_a_key_for_another_purpose_is_not_used(double: OpenIdDouble, change: Any) -> None:
    double.on("GET", "/keys", Reply(body={"keys": [{**double.public_key, **change}, 7, "key"]}))
    assert refusal(provider_of(double)) in (Refusal.TOKEN_KEY, Refusal.TOKEN_MALFORMED)


def test_a_token_that_names_no_key_needs_a_single_one(double: OpenIdDouble) -> None:
    def unnamed(claims: dict[str, Any]) -> str:
        import jwt

        return jwt.encode(claims, double.key, algorithm="RS256")

    double.tokens = unnamed
    assert sign_in(provider_of(double)).subject == "alice"
    double.on("GET", "/keys", Reply(body={"keys": [double.public_key, {**double.public_key, "kid": "second"}]}))
    assert refusal(provider_of(double)) is Refusal.TOKEN_KEY


@pytest.mark.parametrize("spent", [True, False], ids=["a code that was used", "a code of another browser"])
def test_a_code_is_good_once_and_for_its_own_browser(double: OpenIdDouble, spent: bool) -> None:
    provider, deadline = provider_of(double), Deadline.after(5)
    query = callback_of(provider, ATTEMPT, deadline)
    if spent:
        assert provider.person(ATTEMPT, query["code"], query["iss"], deadline).subject == "alice"
    attempt = ATTEMPT if spent else replace(ATTEMPT, verifier="w" * 43)
    with pytest.raises(SignOnRefused) as raised:
        provider.person(attempt, query["code"], query["iss"], deadline)
    assert raised.value.reason is Refusal.CODE_REFUSED


@pytest.mark.parametrize("issuer", ["https://login.example.net", "", None])
def test_a_code_that_another_provider_gave_is_not_sent_to_this_one(double: OpenIdDouble, issuer: str | None) -> None:
    assert refusal(provider_of(double), iss=issuer) is Refusal.WRONG_ISSUER
    assert double.count("POST", "/token") == 0


def test_an_issuer_that_a_provider_does_not_announce_may_be_left_out(double: OpenIdDouble) -> None:
    document = {**double.configuration(), "authorization_response_iss_parameter_supported": False}
    double.on("GET", "/.well-known/openid-configuration", Reply(body=document))
    assert sign_in(provider_of(double), iss=None).subject == "alice"
