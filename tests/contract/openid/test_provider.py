"""What Headgate relies on in an OpenID provider, shown on the double and on a real one."""

import base64
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from chalicelib.clients.http.openid import Attempt, OpenIdProvider
from chalicelib.domain.accounts.sign_on import Refusal, SignOnRefused
from chalicelib.errors import Unavailable
from chalicelib.kit.clock import Deadline, utc_now
from chalicelib.kit.masking import Secret
from chalicelib.settings import OidcSettings
from tests.support.openid import real as real_openid
from tests.support.openid.double import ALICE, ROLES, OpenIdDouble, callback_query, loopback_http
from tests.support.openid.real import browser_signs_in, real_openid_provider

VERIFIER = "v" * 43
ATTEMPT = Attempt(
    state="the-state",
    nonce="the-nonce",
    verifier=VERIFIER,
    challenge=base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("="),
    redirect_uri="http://127.0.0.1:9/api/v1/auth/oidc/callback",
)


@dataclass(frozen=True, kw_only=True)
class Provider:
    """A provider that knows Alice, and what changes it."""

    settings: OidcSettings
    exchange_keys: Callable[[], None]
    put_claims_into_token: Callable[[], None]

    def client(self, **changes: object) -> OpenIdProvider:
        settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        return OpenIdProvider(settings, make_http=loopback_http, clock=utc_now)

    def callback_of(self, client: OpenIdProvider, attempt: Attempt = ATTEMPT) -> dict[str, str]:
        """What a browser comes back with."""
        with httpx.Client(trust_env=False) as browser:
            url = client.authorization_url(attempt, Deadline.after(10))
            return callback_query(browser_signs_in(browser, url, "alice"))


@pytest.fixture(params=["double", pytest.param("real", marks=pytest.mark.real)])
def provider(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Provider]:
    """The double, or a real provider."""
    if request.param == "real":
        with real_openid_provider(tmp_path, redirect_uri=ATTEMPT.redirect_uri) as real:
            real.set_person("alice", **{name: value for name, value in ALICE.items() if name != "sub"})
            settings = OidcSettings(
                issuer=real.issuer,
                client_id=real_openid.CLIENT_ID,
                client_secret=Secret(real_openid.CLIENT_SECRET),
                scopes="openid email groups",
                groups_claim="groups",
                roles=ROLES,
                link_accounts=False,
            )
            yield Provider(
                settings=settings,
                exchange_keys=real.exchange_keys,
                put_claims_into_token=lambda: real.configure(claims_in_id_token=True),
            )
        return
    double = OpenIdDouble()
    double.in_user_info = ("email", "email_verified", "groups")
    yield Provider(
        settings=double.settings(),
        exchange_keys=double.exchange_keys,
        put_claims_into_token=lambda: setattr(double, "in_user_info", ()),
    )
    double.stop()


def refusal(client: OpenIdProvider, back: dict[str, str], attempt: Attempt = ATTEMPT) -> Refusal:
    with pytest.raises(SignOnRefused) as raised:
        client.person(attempt, back["code"], back.get("iss"), Deadline.after(10))
    return raised.value.reason


def test_the_person_is_the_same_from_the_user_info_and_from_the_token(provider: Provider) -> None:
    client = provider.client()
    back = provider.callback_of(client)
    assert (back["state"], back["iss"]) == ("the-state", provider.settings.issuer)
    found = client.person(ATTEMPT, back["code"], back["iss"], Deadline.after(10))
    assert (found.subject, found.email, found.email_verified) == ("alice", "alice@example.com", True)
    assert found.groups == {"cdc-ops", "everyone"}
    provider.put_claims_into_token()
    client = provider.client()
    back = provider.callback_of(client)
    assert client.person(ATTEMPT, back["code"], back["iss"], Deadline.after(10)) == found


def test_a_code_is_refused_the_second_time_with_another_verifier_and_at_another_address(provider: Provider) -> None:
    client = provider.client()
    back = provider.callback_of(client)
    client.person(ATTEMPT, back["code"], back["iss"], Deadline.after(10))
    assert refusal(client, back) is Refusal.CODE_REFUSED
    for other in (replace(ATTEMPT, verifier="w" * 43), replace(ATTEMPT, redirect_uri="http://127.0.0.1:9/other")):
        assert refusal(client, provider.callback_of(client), other) is Refusal.CODE_REFUSED
    assert refusal(client, {**back, "code": "made-up"}) is Refusal.CODE_REFUSED


def test_the_nonce_of_another_sign_in_is_refused(provider: Provider) -> None:
    client = provider.client()
    assert refusal(client, provider.callback_of(client), replace(ATTEMPT, nonce="another")) is Refusal.TOKEN_NONCE


def test_a_client_with_a_wrong_secret_is_refused(provider: Provider) -> None:
    back = provider.callback_of(provider.client())
    with pytest.raises(Unavailable, match="check client id and client secret"):
        provider.client(client_secret=Secret("wrong")).person(ATTEMPT, back["code"], back["iss"], Deadline.after(10))


def test_exchanged_keys_are_found(provider: Provider) -> None:
    client = provider.client()
    back = provider.callback_of(client)
    client.person(ATTEMPT, back["code"], back["iss"], Deadline.after(10))
    provider.exchange_keys()
    back = provider.callback_of(client)
    assert client.person(ATTEMPT, back["code"], back["iss"], Deadline.after(10)).subject == "alice"
