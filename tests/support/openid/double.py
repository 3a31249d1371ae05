"""A double of an OpenID provider, for faults that a real one never has: wrong tokens, odd answers, silence.

It signs `person` in at once, without a form. `script` (see `Worker`) replaces an answer, `changes` single claims,
`tokens` the making of ID tokens. Its contract with a real provider is tests/contract/openid.
"""

import base64
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from chalicelib.clients.http.addresses import AddressPolicy
from chalicelib.clients.http.guarded import GuardedHttp
from chalicelib.kit.masking import Secret
from chalicelib.settings import OidcSettings
from tests.support.apps.connect_worker import Reply, Worker

CLIENT_ID = "headgate"
CLIENT_SECRET = "hunter2/client"
ROLES = (("cdc-admins", "Admin"), ("cdc-ops", "Ops"), ("everyone", "Viewer"))
ALICE = {"sub": "alice", "email": "alice@example.com", "email_verified": True, "groups": ["cdc-ops", "everyone"]}
_FIRST_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)

Json = dict[str, Any]


def loopback_http(url: str) -> GuardedHttp:
    return GuardedHttp(url, check_host=AddressPolicy(allow_loopback=True))


class OpenIdDouble(Worker):
    """A provider with one client, at `url`, which is its issuer as well."""

    def reset(self) -> None:
        super().reset()
        self.person: Json = dict(ALICE)
        self.client_secret = CLIENT_SECRET
        self.changes: Json = {}
        self.removed: tuple[str, ...] = ()
        self.in_user_info: tuple[str, ...] = ()
        self.tokens: Callable[[Json], str] = self.signed
        self.key, self.key_id, self.algorithm = _FIRST_KEY, "first", "RS256"
        self.codes: dict[str, Json] = {}
        self.query: dict[str, str] = {}

    def settings(self, **changes: Any) -> OidcSettings:
        fields: Json = {
            "issuer": self.url,
            "client_id": CLIENT_ID,
            "client_secret": Secret(CLIENT_SECRET),
            "scopes": "openid email groups",
            "groups_claim": "groups",
            "roles": ROLES,
            "link_accounts": False,
        }
        return OidcSettings(**{**fields, **changes})

    def exchange_keys(self) -> None:
        """From now on tokens are signed with another key, and only that one is published."""
        self.key, self.key_id = rsa.generate_private_key(public_exponent=65537, key_size=2048), secrets.token_hex(4)

    def signed(self, claims: Json, **header: Any) -> str:
        """A token as the provider makes it; `header` replaces fields of its header."""
        fields = {"alg": self.algorithm, "kid": self.key_id, **header}
        return jwt.encode(claims, self.key, algorithm=fields["alg"], headers=fields)

    @property
    def public_key(self) -> Json:
        numbers = self.key.public_key().public_numbers()
        return {
            "kty": "RSA",
            "use": "sig",
            "kid": self.key_id,
            "alg": self.algorithm,
            "n": _base64(numbers.n.to_bytes(256)),
            "e": _base64(numbers.e.to_bytes(3)),
        }

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        path, _, query = handler.path.partition("?")
        if (handler.command, path) in self.script:
            super().answer(handler)
            return
        self.seen.append((handler.command, path))
        self.headers.append({name.lower(): value for name, value in handler.headers.items()})
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0)).decode()
        fields = {name: values[0] for name, values in parse_qs(body or query).items()}
        answers = {
            "/.well-known/openid-configuration": self._configuration,
            "/authorize": lambda: self._authorize(fields),
            "/token": lambda: self._token(fields, handler.headers.get("Authorization", "")),
            "/keys": lambda: Reply(body={"keys": [self.public_key]}),
            "/me": lambda: Reply(body={"sub": self.person["sub"], **self._shown(self.in_user_info)}),
        }.get(path, lambda: Reply(404, {}))
        self.write(handler, answers())

    def configuration(self) -> Json:
        """The discovery document."""
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "userinfo_endpoint": f"{self.url}/me",
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "authorization_response_iss_parameter_supported": True,
        }

    def _configuration(self) -> Reply:
        return Reply(body=self.configuration())

    def _authorize(self, fields: dict[str, str]) -> Reply:
        code = secrets.token_urlsafe(16)
        self.codes[code] = {**fields, "person": dict(self.person)}
        query = urlencode({"code": code, "state": fields["state"], "iss": self.url, **self.query})
        return Reply(303, headers={"Location": f"{fields['redirect_uri']}?{query}"})

    def _token(self, fields: dict[str, str], authorization: str) -> Reply:
        basic = base64.b64encode(f"{CLIENT_ID}:{self.client_secret.replace('/', '%2F')}".encode()).decode()
        if authorization != f"Basic {basic}" and fields.get("client_id") != CLIENT_ID:
            return Reply(401, {"error": "invalid_client"})
        request = self.codes.pop(fields["code"], None)
        digest = _base64(hashlib.sha256(fields["code_verifier"].encode()).digest())
        if request is None or (digest, fields["redirect_uri"]) != (request["code_challenge"], request["redirect_uri"]):
            return Reply(400, {"error": "invalid_grant", "error_description": "not to be repeated"})
        return Reply(
            body={"id_token": self.tokens(self.claims(request["nonce"])), "access_token": "access", "expires_in": 60}
        )

    def claims(self, nonce: str) -> Json:
        now = int(time.time())
        own = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": nonce}
        person = {name: value for name, value in self.person.items() if name not in self.in_user_info}
        claims = {**own, **person, **self.changes}
        return {name: value for name, value in claims.items() if name not in self.removed}

    def _shown(self, names: tuple[str, ...]) -> Json:
        return {name: self.person[name] for name in names if name in self.person}


def callback_query(location: str) -> dict[str, str]:
    """The query of the address to which a provider sent a browser back."""
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


def follow(url: str) -> dict[str, str]:
    """The query with which the provider sends back a browser that opens this URL."""
    with httpx.Client(verify=False, trust_env=False) as browser:  # noqa: S501 - plain http; loading certificates is slow
        return callback_query(browser.get(url).headers["location"])


def unsigned(claims: Json, **header: Any) -> str:
    """A token with `alg` none and no signature."""
    fields = {"alg": "none", "typ": "JWT", **header}
    return ".".join([_base64(json.dumps(fields).encode()), _base64(json.dumps(claims).encode()), ""])


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
