"""A client of a double of an OpenID provider, and the steps of a browser between the two.

A test module imports the fixtures `double` and `running_double`.
"""

import base64
import hashlib
from collections.abc import Iterator
from typing import Any

import pytest

from chalicelib.clients.http.openid import Attempt, OpenIdProvider
from chalicelib.domain.accounts.sign_on import Person, Refusal, SignOnRefused
from chalicelib.kit.clock import Deadline
from tests.support.apps.in_process_app import VirtualClock
from tests.support.openid.double import OpenIdDouble, follow, loopback_http

VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
ATTEMPT = Attempt(
    state="the state",
    nonce="the nonce",
    verifier=VERIFIER,
    challenge=CHALLENGE,
    redirect_uri="http://127.0.0.1:9/api/v1/auth/oidc/callback",
)


@pytest.fixture(scope="module")
def running_double() -> Iterator[OpenIdDouble]:
    started = OpenIdDouble()
    yield started
    started.stop()


@pytest.fixture
def double(running_double: OpenIdDouble) -> Iterator[OpenIdDouble]:
    running_double.reset()
    yield running_double
    running_double.released.set()


def callback_of(provider: OpenIdProvider, attempt: Attempt, deadline: Deadline) -> dict[str, str]:
    """The parameters with which a browser returns from the provider."""
    return follow(provider.authorization_url(attempt, deadline))


def provider_of(double: OpenIdDouble, clock: Any = None, **settings: Any) -> OpenIdProvider:
    return OpenIdProvider(double.settings(**settings), make_http=loopback_http, clock=clock or VirtualClock())


def sign_in(provider: OpenIdProvider, attempt: Attempt = ATTEMPT, seconds: float = 5, **query: Any) -> Person:
    """The steps of a browser and Headgate: to the provider, back with a code, and the exchange of the code."""
    deadline = Deadline.after(seconds)
    fields = {**callback_of(provider, attempt, deadline), **query}
    return provider.person(attempt, fields["code"], fields.get("iss"), deadline)


def refusal(provider: OpenIdProvider, **arguments: Any) -> Refusal:
    with pytest.raises(SignOnRefused) as raised:
        sign_in(provider, **arguments)
    return raised.value.reason
