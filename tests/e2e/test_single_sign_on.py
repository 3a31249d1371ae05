"""Single sign-on over HTTP with a real OpenID provider: the whole way of a browser."""

import base64
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from infra.local.app.addresses import StackAddresses
from infra.local.app.environment import Keys, environment
from infra.local.process.ports import kept_ports
from tests.support.apps.sandbox import ADMIN, running_process
from tests.support.openid import real as real_openid
from tests.support.openid.real import RealOpenIdProvider, browser_signs_in, real_openid_provider

pytestmark = pytest.mark.real
ROLES = "cdc-admins=Admin,cdc-ops=Ops,everyone=Viewer"


@dataclass(frozen=True, kw_only=True)
class Browser:
    """A browser with its cookies. It follows redirects one by one."""

    url: str
    http: httpx.Client

    def sign_in(self, name: str) -> httpx.Response:
        """Headgate's answer to somebody who comes back from the provider."""
        sent = self.get("/auth/oidc/login")
        assert sent.status_code == 302, sent.text
        return self.http.get(browser_signs_in(self.http, sent.headers["location"], name))

    def get(self, path: str) -> httpx.Response:
        return self.http.get(f"{self.url}/api/v1{path}")

    def post(self, path: str, body: Any = None) -> httpx.Response:
        return self.http.post(f"{self.url}/api/v1{path}", json=body, headers={"X-Correlation-ID": "e2e"})

    def session(self) -> Any:
        answer = self.get("/session")
        assert answer.status_code == 200, answer.text
        return answer.json()


@dataclass(frozen=True, kw_only=True)
class SignOn:
    url: str
    provider: RealOpenIdProvider
    log: Path
    ends: ExitStack = field(repr=False)

    def browser(self) -> Browser:
        return Browser(url=self.url, http=self.ends.enter_context(httpx.Client(timeout=30, trust_env=False)))

    def admin(self) -> Browser:
        """The first Admin, who signs in with a password."""
        browser = self.browser()
        assert browser.post("/auth/login", {"email": ADMIN.email, "password": ADMIN.password}).status_code == 200
        return browser

    def person(self, name: str, *groups: str, **claims: Any) -> str:
        """Somebody whom the provider knows."""
        known = {"email": f"{name}@example.com", "email_verified": True, "groups": list(groups), **claims}
        self.provider.set_person(name, **known)
        return name

    def user(self, email: str) -> Any:
        [found] = [user for user in self.admin().get("/users").json() if user["email"] == email]
        return found


@pytest.fixture(scope="module", params=["confidential client", "public client"])
def sign_on(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SignOn]:
    """A Headgate on doubles that signs people in at a real provider."""
    folder: Path = tmp_path_factory.mktemp("sign-on")
    port = kept_ports(folder / "ports.json", ["headgate"])["headgate"]
    url = f"http://127.0.0.1:{port}"
    secret = real_openid.CLIENT_SECRET if request.param == "confidential client" else ""
    with ExitStack() as ends:
        back = f"{url}/api/v1/auth/oidc/callback"
        made = real_openid_provider(folder, redirect_uri=back, client_secret=secret, claims_in_id_token=not secret)
        provider = ends.enter_context(made)
        keys = Keys(master_key=base64.b64encode(os.urandom(32)).decode(), service_credential="unused")
        variables = environment(ADMIN, keys, StackAddresses(kafka="", connect="", postgres="")) | {
            "HEADGATE_PUBLIC_URL": url,
            "HEADGATE_OIDC_ISSUER": provider.issuer,
            "HEADGATE_OIDC_CLIENT_ID": real_openid.CLIENT_ID,
            "HEADGATE_OIDC_CLIENT_SECRET": secret,
            "HEADGATE_OIDC_SCOPES": "openid email groups",
            "HEADGATE_OIDC_ROLES": ROLES,
        }
        ends.enter_context(running_process(port, variables, folder / "headgate.log"))
        yield SignOn(url=url, provider=provider, log=folder / "headgate.log", ends=ends)


def test_a_person_signs_in_with_the_role_of_their_groups_and_out_again(sign_on: SignOn) -> None:
    browser = sign_on.browser()
    answer = browser.sign_in(sign_on.person("olga", "cdc-ops", "everyone"))
    assert (answer.status_code, answer.headers["location"]) == (302, f"{sign_on.url}/console")
    session = browser.session()
    assert session["user"]["email"] == "olga@example.com"
    assert (session["via"], session["permissions"]) == ("session", ["read", "write", "operate"])
    assert browser.get("/users").status_code == 403
    assert browser.post("/auth/logout").status_code == 204
    assert browser.get("/session").status_code == 401


def test_the_cookies_of_a_sign_in_are_for_this_host_alone_and_no_script_reads_them(sign_on: SignOn) -> None:
    browser = sign_on.browser()
    started = browser.get("/auth/oidc/login")
    answer = browser.sign_in(sign_on.person("cora", "everyone"))
    for header in (started.headers["set-cookie"], *answer.headers.get_list("set-cookie")):
        for attribute in ("HttpOnly", "SameSite=Lax", "Path=/"):
            assert attribute in header
    secure = httpx.get(
        f"{sign_on.url}/api/v1/auth/oidc/login", headers={"X-Forwarded-Proto": "https", "Host": "cdc.example.com"}
    )
    assert secure.headers["set-cookie"].startswith("__Host-headgate_sign_on=")
    assert "; Secure" in secure.headers["set-cookie"]


def test_a_change_of_groups_acts_at_the_next_login(sign_on: SignOn) -> None:
    browser = sign_on.browser()
    browser.sign_in(sign_on.person("gina", "everyone"))
    assert browser.session()["user"]["role"] == "Viewer"
    sign_on.person("gina", "cdc-admins")
    assert browser.session()["user"]["role"] == "Viewer"
    browser.sign_in("gina")
    assert browser.session()["user"]["role"] == "Admin"
    assert browser.get("/users").status_code == 200
    sign_on.person("gina")
    refused = sign_on.browser().sign_in("gina")
    assert refused.status_code == 403
    assert refused.json()["error"]["details"] == {"reason": "no_role"}


def test_a_disabled_user_is_out_at_once_and_stays_out(sign_on: SignOn) -> None:
    browser = sign_on.browser()
    browser.sign_in(sign_on.person("dora", "cdc-ops"))
    user = sign_on.user("dora@example.com")
    assert sign_on.admin().post(f"/users/{user['id']}/disable").status_code == 200
    assert browser.get("/session").status_code == 401
    refused = browser.sign_in("dora")
    assert (refused.status_code, refused.json()["error"]["details"]) == (403, {"reason": "disabled"})
    assert browser.get("/session").status_code == 401


def test_a_new_login_ends_the_session_that_it_came_with(sign_on: SignOn) -> None:
    browser = sign_on.browser()
    browser.sign_in(sign_on.person("nina", "everyone"))
    old = dict(browser.http.cookies)
    browser.sign_in("nina")
    assert browser.session()["user"]["email"] == "nina@example.com"
    with httpx.Client(cookies={"headgate_session": old["headgate_session"]}, trust_env=False) as stolen:
        assert stolen.get(f"{sign_on.url}/api/v1/session").status_code == 401


def test_the_account_of_the_first_admin_is_not_taken_over_by_its_address(sign_on: SignOn) -> None:
    refused = sign_on.browser().sign_in(sign_on.person("mallory", "cdc-admins", email=ADMIN.email))
    assert (refused.status_code, refused.json()["error"]["details"]) == (403, {"reason": "email_in_use"})
    records = sign_on.admin().get("/audit").json()
    assert "email_in_use" in [(record["after"] or {}).get("reason") for record in records]


def test_an_address_that_is_not_verified_is_refused(sign_on: SignOn) -> None:
    refused = sign_on.browser().sign_in(sign_on.person("vera", "cdc-ops", email_verified=False))
    assert (refused.status_code, refused.json()["error"]["details"]) == (403, {"reason": "email_not_verified"})


def test_what_one_browser_brings_back_signs_in_no_other_and_works_once(sign_on: SignOn) -> None:
    browser, other = sign_on.browser(), sign_on.browser()
    sign_on.person("rita", "everyone")
    back = browser_signs_in(browser.http, browser.get("/auth/oidc/login").headers["location"], "rita")
    other.get("/auth/oidc/login")
    assert other.http.get(back).json()["error"]["details"] == {"reason": "not_started_here"}
    ticket = browser.http.cookies["headgate_sign_on"]
    assert browser.http.get(back).status_code == 302
    again = httpx.get(back, headers={"Cookie": f"headgate_sign_on={ticket}"})
    assert (again.status_code, again.json()["error"]["details"]) == (401, {"reason": "code_refused"})


def test_nothing_in_the_query_leads_a_browser_elsewhere(sign_on: SignOn) -> None:
    browser = sign_on.browser()
    sign_on.person("lena", "everyone")
    back = browser_signs_in(browser.http, browser.get("/auth/oidc/login").headers["location"], "lena")
    extra = "&next=https://evil.example.com&redirect_uri=https://evil.example.com&RelayState=//evil.example.com"
    assert browser.http.get(back + extra).headers["location"] == f"{sign_on.url}/console"


@pytest.mark.parametrize(
    ("extra", "reason"),
    [
        ("&code=another", "provider_error"),
        ("&state=another", "not_started_here"),
        ("&iss=https://login.example.net", "wrong_issuer"),
        ("&error=access_denied", "declined"),
        ("&error=a&error=b", "provider_error"),
    ],
)
def test_a_field_that_somebody_adds_to_the_query_signs_nobody_in(sign_on: SignOn, extra: str, reason: str) -> None:
    browser = sign_on.browser()
    sign_on.person("dina", "everyone")
    back = browser_signs_in(browser.http, browser.get("/auth/oidc/login").headers["location"], "dina")
    refused = browser.http.get(back + extra)
    assert (refused.status_code, refused.json()["error"]["details"]) == (401, {"reason": reason})
    assert browser.get("/session").status_code == 401


def test_the_log_has_no_code_ticket_or_client_secret(sign_on: SignOn) -> None:
    browser = sign_on.browser()
    sign_on.person("saul", "everyone")
    back = browser_signs_in(browser.http, browser.get("/auth/oidc/login").headers["location"], "saul")
    ticket = browser.http.cookies["headgate_sign_on"]
    assert browser.http.get(back).status_code == 302
    log, code = sign_on.log.read_text(), parse_qs(urlsplit(back).query)["code"][0]
    assert "/api/v1/auth/oidc/callback" in log
    for secret in (code, ticket.partition(".")[0], browser.http.cookies["headgate_session"], real_openid.CLIENT_SECRET):
        assert secret not in log


def test_keys_that_the_provider_exchanges_are_found(sign_on: SignOn) -> None:
    sign_on.browser().sign_in(sign_on.person("kira", "everyone"))
    sign_on.provider.exchange_keys()
    assert sign_on.browser().sign_in("kira").status_code == 302


def test_a_provider_that_is_down_is_said_and_comes_back(sign_on: SignOn) -> None:
    browser = sign_on.browser()
    sign_on.person("paul", "everyone")
    back = browser_signs_in(browser.http, browser.get("/auth/oidc/login").headers["location"], "paul")
    sign_on.provider.server.stop()
    try:
        refused = browser.http.get(back)
    finally:
        sign_on.provider.server.start()
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "IDENTITY_PROVIDER_UNAVAILABLE")
    assert browser.sign_in("paul").status_code == 302
