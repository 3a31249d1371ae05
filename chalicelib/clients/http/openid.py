"""The client of the OpenID provider of the installation: the URL of a sign-in, and the person who has signed in.

Authorization code with PKCE, discovery, and keys that the provider publishes. Sources: OpenID Connect Core 1.0 and
Discovery 1.0, RFC 7636 (PKCE), RFC 9207 (`iss`), RFC 9700 (current practice). No text of the provider is passed on.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from chalicelib.clients.http.guarded import GuardedHttp, HttpAnswer, NoAnswer
from chalicelib.clients.http.id_tokens import Key, UnknownKey, verify_token
from chalicelib.clients.http.oauth import FORM_TYPE, client_authorization, is_token
from chalicelib.domain.accounts.sign_on import Person, Refusal, SignOnRefused
from chalicelib.errors import Invalid, TimedOut, Unavailable
from chalicelib.kit import strict_json
from chalicelib.kit.clock import Clock, Deadline
from chalicelib.kit.hosts import is_protected
from chalicelib.settings import OidcSettings

MAX_ANSWER_BYTES = 256 * 1024
LIFETIME = timedelta(minutes=10)
"""The configuration and the keys are cached so long. For an unknown key they are read again at once."""
_WELL_KNOWN = "/.well-known/openid-configuration"
_CLIENT_REFUSED = ("invalid_client", "unauthorized_client")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The values of one sign-in. `challenge` is the SHA-256 of `verifier`, which only the token endpoint gets."""

    state: str
    nonce: str
    verifier: str = field(repr=False)
    challenge: str
    redirect_uri: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Configuration:
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None
    takes_basic: bool
    names_issuer: bool
    read_at: datetime


@dataclass(frozen=True, slots=True)
class _Keys:
    keys: Sequence[Key]
    read_at: datetime


class OpenIdProvider:
    """Safe to use from several threads: cached values are replaced as a whole."""

    def __init__(self, config: OidcSettings, *, make_http: Callable[[str], GuardedHttp], clock: Clock) -> None:
        """`make_http` makes a client for one exchange with a URL."""
        self._config, self._make_http, self._clock = config, make_http, clock
        self._configuration: _Configuration | None = None
        self._keys: _Keys | None = None

    def authorization_url(self, attempt: Attempt, deadline: Deadline) -> str:
        """The URL to which a browser is sent. Raises Unavailable and TimedOut."""
        endpoint = self._current_configuration(deadline).authorization_endpoint
        query = {
            "response_type": "code",
            "client_id": self._config.client_id,
            "redirect_uri": attempt.redirect_uri,
            "scope": self._config.scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def person(self, attempt: Attempt, code: str, named_issuer: str | None, deadline: Deadline) -> Person:
        """The person who has signed in. `named_issuer` is the `iss` in the callback of the browser.

        Raises SignOnRefused; Unavailable and TimedOut when the provider cannot be reached: then the code is spent.
        """
        configuration = self._current_configuration(deadline)
        # Before the code is sent: otherwise another provider's code could be tried at this one (RFC 9207).
        if (named_issuer is not None or configuration.names_issuer) and named_issuer != self._config.issuer:
            raise SignOnRefused(Refusal.WRONG_ISSUER)
        tokens = self._exchange(configuration, attempt, code, deadline)
        id_token = tokens.get("id_token")
        if not isinstance(id_token, str):
            raise SignOnRefused(Refusal.TOKEN_MALFORMED)
        claims = self._verify(id_token, attempt.nonce, deadline)
        user_info: Mapping[str, Any] = {}
        if not {"email", "email_verified", self._config.groups_claim} <= claims.keys():
            user_info = self._user_info(configuration, tokens.get("access_token"), claims["sub"], deadline)
        return self._to_person(claims, user_info)

    def _exchange(
        self, configuration: _Configuration, attempt: Attempt, code: str, deadline: Deadline
    ) -> Mapping[str, Any]:
        """The answer of the token endpoint to the code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": attempt.redirect_uri,
            "code_verifier": attempt.verifier,
        }
        headers, secret = {"Content-Type": FORM_TYPE}, self._config.client_secret
        if secret and configuration.takes_basic:
            headers["Authorization"] = client_authorization(self._config.client_id, secret)
        else:
            form["client_id"] = self._config.client_id
            form |= {"client_secret": secret.reveal()} if secret else {}
        answer = self._send("POST", configuration.token_endpoint, deadline, headers, urlencode(form).encode())
        if answer.status in (400, 401, 403):
            if answer.status == 401 or _json_of(answer).get("error") in _CLIENT_REFUSED:
                raise _unavailable("It refuses Headgate: check client id and client secret.")
            raise SignOnRefused(Refusal.CODE_REFUSED)
        return self._object(answer)

    def _verify(self, id_token: str, nonce: str, deadline: Deadline) -> dict[str, Any]:
        """The claims of the token. For an unknown key, the keys are read again."""
        cached = self._keys
        expected = {"issuer": self._config.issuer, "client_id": self._config.client_id, "nonce": nonce}
        if cached and self._clock() - cached.read_at <= LIFETIME:
            try:
                return verify_token(id_token, cached.keys, **expected)
            except UnknownKey:
                pass  # the provider may have replaced its keys
        return verify_token(id_token, self._read_keys(deadline), **expected)

    def _user_info(
        self, configuration: _Configuration, access_token: object, subject: str, deadline: Deadline
    ) -> Mapping[str, Any]:
        """The claims of the user-info endpoint; empty when the provider has none, or no token that can be sent."""
        url = configuration.userinfo_endpoint
        if url is None or not is_token(access_token):
            return {}
        answer = self._object(self._send("GET", url, deadline, {"Authorization": f"Bearer {access_token}"}))
        if answer.get("sub") != subject:
            raise SignOnRefused(Refusal.OTHER_SUBJECT)
        return answer

    def _to_person(self, claims: Mapping[str, Any], user_info: Mapping[str, Any]) -> Person:
        """Claims of the token come first. The address and its verification are from the same source."""
        source = claims if "email_verified" in claims or "email" not in user_info else user_info
        email, verified = source.get("email"), source.get("email_verified")
        groups = claims.get(self._config.groups_claim, user_info.get(self._config.groups_claim))
        names = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        return Person(
            issuer=self._config.issuer,
            subject=claims["sub"],
            email=email.strip() if isinstance(email, str) else "",
            email_verified=verified is True or verified == "true",  # some providers write it as text
            groups=frozenset(name for name in names if isinstance(name, str)),
        )

    def _current_configuration(self, deadline: Deadline) -> _Configuration:
        cached = self._configuration
        if cached is None or self._clock() - cached.read_at > LIFETIME:
            cached = self._configuration = self._read_configuration(deadline)
        return cached

    def _read_configuration(self, deadline: Deadline) -> _Configuration:
        read_at, url = self._clock(), self._config.issuer.rstrip("/") + _WELL_KNOWN
        document = self._object(self._send("GET", url, deadline))
        if document.get("issuer") != self._config.issuer:
            raise _unavailable("It names another issuer than HEADGATE_OIDC_ISSUER: both have to be the same text.")
        methods = document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
        return _Configuration(
            authorization_endpoint=_endpoint(document, "authorization_endpoint"),
            token_endpoint=_endpoint(document, "token_endpoint"),
            jwks_uri=_endpoint(document, "jwks_uri"),
            userinfo_endpoint=_endpoint(document, "userinfo_endpoint") if "userinfo_endpoint" in document else None,
            takes_basic=isinstance(methods, list) and "client_secret_basic" in methods,
            names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
            read_at=read_at,
        )

    def _read_keys(self, deadline: Deadline) -> Sequence[Key]:
        read_at = self._clock()
        keys = self._object(self._send("GET", self._current_configuration(deadline).jwks_uri, deadline)).get("keys")
        if not isinstance(keys, list):
            raise _unavailable("It publishes no keys.")
        self._keys = _Keys([key for key in keys if isinstance(key, dict)], read_at)
        return self._keys.keys

    def _object(self, answer: HttpAnswer) -> Mapping[str, Any]:
        """The JSON object of a successful answer. Raises Unavailable."""
        value = _json_of(answer)
        if answer.status != 200 or not value:
            raise _unavailable("It did not answer as an OpenID provider does.")
        return value

    def _send(
        self,
        method: str,
        url: str,
        deadline: Deadline,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
    ) -> HttpAnswer:
        with closing(self._make_http(url)) as http:
            try:
                return http.send(
                    method,
                    headers={"Accept": "application/json", **(headers or {})},
                    content=content,
                    deadline=deadline,
                    max_bytes=MAX_ANSWER_BYTES,
                )
            except Invalid:
                raise _unavailable("Its host leads to an address that is never contacted.") from None
            except Unavailable:
                raise _unavailable("It cannot be reached.") from None
            except NoAnswer as failure:
                if failure.late:
                    raise TimedOut("The identity provider did not answer in time. Sign in again.") from None
                raise _unavailable("It did not answer as an OpenID provider does.") from None


def _endpoint(document: Mapping[str, Any], name: str) -> str:
    url = document.get(name)
    if not isinstance(url, str) or not is_protected(url):
        raise _unavailable(f"Its configuration has no {name} that can be used.")
    return url


def _json_of(answer: HttpAnswer) -> Mapping[str, Any]:
    """The JSON object of an answer, read strictly; empty when there is none."""
    try:
        value = strict_json.loads(answer.content or b"")
    except strict_json.NotStrictJson:
        return {}
    return value if isinstance(value, dict) else {}


def _unavailable(why: str) -> Unavailable:
    return Unavailable(f"Single sign-on does not work at this moment: {why}", code="IDENTITY_PROVIDER_UNAVAILABLE")
