"""Who becomes whom by single sign-on, against a double of a provider."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import httpx
import pytest

from chalicelib.domain.access import Actor, RequestContext, Role
from chalicelib.domain.accounts.user import User, UserStatus
from chalicelib.errors import Conflict, HeadgateError, NotPermitted, RateLimited, Unauthenticated, Unavailable
from chalicelib.kit.masking import Secret
from chalicelib.services.accounts.sessions import SignedIn
from chalicelib.services.accounts.single_sign_on import CameBack, SingleSignOn
from chalicelib.settings import OidcSettings
from chalicelib.wiring import Services
from tests.support.connect_worker import Reply
from tests.support.in_process_app import SETTINGS, CachedClients, InProcessApp
from tests.support.openid_double import OpenIdDouble, came_back

PUBLIC_URL = "https://headgate.example.com"
PASSWORD = Secret("correct horse battery staple")


@dataclass
class SignOn:
    """A Headgate with single sign-on, its provider, and browsers that sign in there."""

    app: InProcessApp
    double: OpenIdDouble
    services: Services

    @property
    def service(self) -> SingleSignOn:
        assert self.services.single_sign_on is not None
        return self.services.single_sign_on

    def with_settings(self, config: OidcSettings) -> "SignOn":
        settings = replace(SETTINGS, public_url=PUBLIC_URL, oidc=config)
        clients = CachedClients(self.app.database, self.app.connections, self.app.interceptor)
        self.services = Services(settings, clients=clients, clock=self.app.clock)
        return self

    def context(self) -> RequestContext:
        anonymous = Actor(id=None, email=None, role=None, via="anonymous")
        return replace(self.app.context(), actor=anonymous, source_address="203.0.113.7")

    def go(self) -> tuple[CameBack, str]:
        """What a browser brings back from the provider, and its ticket."""
        started = self.service.start(self.context())
        with httpx.Client(verify=False, trust_env=False) as browser:  # noqa: S501 - plain http
            fields = came_back(browser.get(started.url).headers["location"])
        return back_with(fields), started.ticket

    def sign_in(self, *, replaces: str | None = None) -> SignedIn:
        back, ticket = self.go()
        return self.service.finish(self.context(), back, ticket, replaces=replaces)

    def refused(self, reason: str, kind: type[HeadgateError] = NotPermitted) -> HeadgateError:
        """The error of a sign-in that must be refused for this reason, which the audit trail names."""
        with pytest.raises(kind) as raised:
            self.sign_in()
        assert raised.value.details == {"reason": reason}
        assert reason in self.reasons()
        return raised.value

    def reasons(self) -> list[str]:
        """Why sign-ins were refused, by the audit trail."""
        return [record.after["reason"] for record in self.records() if record.after and "reason" in record.after]

    def records(self, action: str | None = None) -> list[Any]:
        page = self.services.audit.list(limit=100, after=None, resource_id=None, include_related=False, meaningful=None)
        return [record for record in page.items if action in (None, record.action)]

    def users(self) -> list[User]:
        return list(self.services.users.list(limit=100, after=None).items)

    def password_account(self, email: str, role: Role = Role.ADMIN) -> User:
        """An account that signs in with a password."""
        self.services.users.install_admin(email, PASSWORD)
        user = self.services.stores.users.by_email(email)
        assert user is not None
        return user if role is Role.ADMIN else self.services.users.change_role(self.app.context(), user.id, role)


def back_with(fields: dict[str, str]) -> CameBack:
    return CameBack(
        state=fields.get("state"), code=fields.get("code"), issuer=fields.get("iss"), error=fields.get("error")
    )


@pytest.fixture(scope="module")
def running_double() -> Iterator[OpenIdDouble]:
    started = OpenIdDouble()
    yield started
    started.stop()


@pytest.fixture
def sign_on(app: InProcessApp, running_double: OpenIdDouble) -> SignOn:
    running_double.reset()
    return SignOn(app, running_double, app.services).with_settings(running_double.settings())


def test_a_person_gets_an_account_without_a_password_and_a_session_like_a_logins(sign_on: SignOn) -> None:
    signed_in = sign_on.sign_in()
    assert (signed_in.user.email, signed_in.user.role) == ("alice@example.com", Role.OPS)
    assert signed_in.user.password_hash is None
    assert signed_in.token is not None
    assert sign_on.services.sessions.signed_in(signed_in.token.reveal()).user.id == signed_in.user.id
    [record] = sign_on.records("session.login")
    assert record.after == {"via": "oidc"}
    assert record.actor_id == signed_in.user.id
    [made] = sign_on.records("user.create")
    assert made.after == {"email": "alice@example.com", "role": "Ops", "status": "ACTIVE"}
    assert made.actor_via == "oidc"


def test_somebody_who_comes_again_is_the_same_user(sign_on: SignOn) -> None:
    first, second = sign_on.sign_in(), sign_on.sign_in()
    assert first.user.id == second.user.id
    assert len(sign_on.users()) == 1
    assert sign_on.records("user.update") == []


def test_somebody_who_signs_in_with_several_browsers_at_once_becomes_one_user(sign_on: SignOn) -> None:
    brought = [sign_on.go() for _ in range(4)]
    with ThreadPoolExecutor(len(brought)) as browsers:
        done = list(browsers.map(lambda one: sign_on.service.finish(sign_on.context(), *one), brought))
    assert len({signed_in.user.id for signed_in in done}) == len(sign_on.users()) == 1
    assert len({signed_in.session.id for signed_in in done}) == len(brought)


def test_a_new_login_ends_the_session_that_it_came_with(sign_on: SignOn) -> None:
    first = sign_on.sign_in().token
    assert first is not None
    sign_on.sign_in(replaces=first.reveal())
    with pytest.raises(Unauthenticated):
        sign_on.services.sessions.signed_in(first.reveal())


@pytest.mark.parametrize(
    ("groups", "role"),
    [
        (["everyone"], Role.VIEWER),
        (["everyone", "cdc-admins", "cdc-ops"], Role.ADMIN),
        (["cdc-ops", "unknown"], Role.OPS),
    ],
)
def test_the_highest_role_of_the_groups_counts(sign_on: SignOn, groups: list[str], role: Role) -> None:
    sign_on.double.person["groups"] = groups
    assert sign_on.sign_in().user.role is role


@pytest.mark.parametrize("groups", [[], ["CDC-ADMINS"], ["cdc-admins "], ["unknown"], [["cdc-admins"]], None])
def test_somebody_without_a_group_that_has_a_role_is_refused(sign_on: SignOn, groups: Any) -> None:
    sign_on.double.person["groups"] = groups
    sign_on.refused("no_role")
    assert sign_on.users() == []


def test_a_change_of_groups_acts_at_the_next_login_and_is_audited(sign_on: SignOn) -> None:
    sign_on.password_account("root@example.com")
    sign_on.double.person["groups"] = ["cdc-admins"]
    assert sign_on.sign_in().user.role is Role.ADMIN
    sign_on.double.person["groups"] = ["everyone"]
    user = sign_on.sign_in().user
    assert user.role is Role.VIEWER
    [record] = sign_on.records("user.update")
    assert (record.before, record.after) == ({"role": "Admin"}, {"role": "Viewer"})
    sign_on.double.person["groups"] = []
    sign_on.refused("no_role")


def test_the_last_active_admin_is_not_demoted_by_a_change_of_groups(sign_on: SignOn) -> None:
    sign_on.double.person["groups"] = ["cdc-admins"]
    sign_on.sign_in()
    sign_on.double.person["groups"] = ["everyone"]
    assert sign_on.sign_in().user.role is Role.ADMIN
    assert "last_admin" in sign_on.reasons()
    assert sign_on.services.stores.users.active_admins() == 1


def test_a_disabled_user_stays_out_whatever_the_groups_are(sign_on: SignOn) -> None:
    user = sign_on.sign_in().user
    sign_on.services.users.disable(sign_on.app.context(), user.id)
    for groups in (["cdc-admins"], []):
        sign_on.double.person["groups"] = groups
        sign_on.refused("disabled")
    sign_on.services.users.enable(sign_on.app.context(), user.id)
    sign_on.double.person["groups"] = ["everyone"]
    assert sign_on.sign_in().user.id == user.id


def test_a_deleted_user_who_comes_again_is_a_new_one(sign_on: SignOn) -> None:
    first = sign_on.sign_in()
    sign_on.services.users.delete(sign_on.app.context(), first.user.id)
    second = sign_on.sign_in()
    assert second.user.id != first.user.id
    assert first.token is not None
    with pytest.raises(Unauthenticated):
        sign_on.services.sessions.signed_in(first.token.reveal())


def test_an_account_with_a_password_is_never_taken_over_by_its_address(sign_on: SignOn) -> None:
    holder = sign_on.password_account("Alice@Example.com")
    sign_on.refused("email_in_use")
    assert sign_on.services.users.get(holder.id).identity is None
    assert len(sign_on.users()) == 1


def test_an_account_is_linked_where_the_operator_allows_it(sign_on: SignOn) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    holder, _ = sign_on.password_account("alice@example.com"), sign_on.password_account("root@example.com")
    linked = sign_on.sign_in().user
    assert (linked.id, linked.role) == (holder.id, Role.OPS)
    assert [record.resource_id for record in sign_on.records("user.link_identity")] == [holder.id]
    login = sign_on.services.sessions.login(sign_on.context(), "alice@example.com", PASSWORD)
    assert login.user.id == holder.id


@pytest.mark.parametrize("verified", [False, None, "false", 1, "yes"])
def test_an_address_that_is_not_verified_links_and_makes_nothing(sign_on: SignOn, verified: Any) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    holder = sign_on.password_account("alice@example.com")
    sign_on.double.person["email_verified"] = verified
    sign_on.refused("email_not_verified")
    assert sign_on.services.users.get(holder.id).identity is None


def test_an_account_that_belongs_to_another_identity_is_not_linked(sign_on: SignOn) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    first = sign_on.sign_in().user
    sign_on.double.person["sub"] = "mallory"
    sign_on.refused("email_in_use")
    assert sign_on.services.users.get(first.id).identity == first.identity


def test_a_disabled_account_is_not_linked(sign_on: SignOn) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    sign_on.password_account("root@example.com")
    holder = sign_on.password_account("alice@example.com")
    sign_on.services.users.disable(sign_on.app.context(), holder.id)
    sign_on.refused("disabled")


def test_an_invited_person_joins_by_single_sign_on_where_linking_is_allowed(sign_on: SignOn) -> None:
    invited = sign_on.services.invites.invite(sign_on.app.context(), "alice@example.com", Role.ADMIN)
    sign_on.refused("email_in_use")
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    joined = sign_on.sign_in().user
    assert (joined.id, joined.role, joined.status) == (invited.user.id, Role.OPS, UserStatus.ACTIVE)
    with pytest.raises(HeadgateError):
        sign_on.services.invites.find(invited.token.reveal())


def test_an_address_that_another_person_gets_at_the_provider_does_not_become_their_account(sign_on: SignOn) -> None:
    first = sign_on.sign_in().user
    sign_on.double.person.update({"sub": "bob", "groups": ["cdc-admins"]})
    sign_on.refused("email_in_use")
    assert sign_on.services.users.get(first.id).role is Role.OPS


def test_a_new_address_of_a_person_is_taken_over_and_the_old_one_is_free(sign_on: SignOn) -> None:
    first = sign_on.sign_in().user
    sign_on.double.person["email"] = "alice.smith@example.com"
    changed = sign_on.sign_in().user
    assert (changed.id, changed.email) == (first.id, "alice.smith@example.com")
    users = sign_on.services.stores.users
    assert users.by_email("alice@example.com") is None
    found = users.by_email("ALICE.SMITH@example.com")
    assert found is not None
    assert found.id == first.id


def test_a_new_address_that_somebody_has_here_is_not_taken_from_them(sign_on: SignOn) -> None:
    holder, first = sign_on.password_account("root@example.com"), sign_on.sign_in().user
    sign_on.double.person["email"] = "root@example.com"
    assert sign_on.sign_in().user.email == "alice@example.com"
    assert "email_in_use" in sign_on.reasons()
    found = sign_on.services.stores.users.by_email("root@example.com")
    assert found is not None
    assert found.id == holder.id != first.id


@pytest.mark.parametrize(
    "email",
    [
        *("", None, "alice", "@example.com", "alice@", "a@b@c", "alice@exam ple.com", "alice\n@example.com"),
        *("ali\u202ece@example.com", "ali\u200bce@example.com", "${file:/etc/passwd}@example.com"),
        *("a" * 65 + "@example.com", "a@" + "b" * 300, 7, ["alice@example.com"]),
    ],
)
def test_an_address_that_cannot_be_one_is_refused(sign_on: SignOn, email: Any) -> None:
    sign_on.double.person["email"] = email
    sign_on.refused("email_missing")
    assert sign_on.users() == []


def test_another_issuer_with_the_same_subject_is_another_person(sign_on: SignOn) -> None:
    first, other = sign_on.sign_in().user, OpenIdDouble()
    other.person["email"] = "alice@example.net"
    try:
        second = SignOn(sign_on.app, other, sign_on.services).with_settings(other.settings()).sign_in().user
    finally:
        other.stop()
    assert second.id != first.id


def test_a_browser_that_did_not_start_here_is_refused(sign_on: SignOn) -> None:
    back, ticket = sign_on.go()
    other = sign_on.service.start(sign_on.context()).ticket
    token, ends, signature = ticket.split(".")
    for presented in (
        *(None, "", "..", "a.b.c", other, f"{token}.{int(ends) + 600}.{signature}", f"{token}.{ends}.{signature}x"),
        *(f"{token}.{ends}", f"{other.split('.')[0]}.{ends}.{signature}", "é.1.é", "a.\ud800.b"),
    ):
        with pytest.raises(Unauthenticated) as raised:
            sign_on.service.finish(sign_on.context(), back, presented)
        assert raised.value.details == {"reason": "not_started_here"}
    for state in (None, "", "x", "é", "\ud800", (back.state or "")[:-1]):
        with pytest.raises(Unauthenticated) as raised:
            sign_on.service.finish(sign_on.context(), replace(back, state=state), ticket)
        assert raised.value.details == {"reason": "not_started_here"}
    assert sign_on.double.count("POST", "/token") == 0
    assert sign_on.service.finish(sign_on.context(), back, ticket).user.email == "alice@example.com"


def test_a_sign_in_may_take_ten_minutes_and_no_longer(sign_on: SignOn) -> None:
    (late, late_ticket), (early, early_ticket) = sign_on.go(), sign_on.go()
    sign_on.app.clock.advance(599)
    sign_on.service.finish(sign_on.context(), early, early_ticket)
    sign_on.app.clock.advance(1)
    with pytest.raises(Unauthenticated):
        sign_on.service.finish(sign_on.context(), late, late_ticket)


def test_what_a_browser_brought_back_works_once(sign_on: SignOn) -> None:
    back, ticket = sign_on.go()
    sign_on.service.finish(sign_on.context(), back, ticket)
    with pytest.raises(Unauthenticated) as raised:
        sign_on.service.finish(sign_on.context(), back, ticket)
    assert raised.value.details == {"reason": "code_refused"}


def test_a_ticket_works_once_even_if_the_provider_gives_another_code_for_it(sign_on: SignOn) -> None:
    started = sign_on.service.start(sign_on.context())
    with httpx.Client(verify=False, trust_env=False) as browser:  # noqa: S501 - plain http
        first, second = (back_with(came_back(browser.get(started.url).headers["location"])) for _ in range(2))
    sign_on.service.finish(sign_on.context(), first, started.ticket)
    with pytest.raises(Unauthenticated) as raised:
        sign_on.service.finish(sign_on.context(), second, started.ticket)
    assert raised.value.details == {"reason": "used"}
    assert len(sign_on.records("session.login")) == 2
    assert "used" in sign_on.reasons()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("access_denied", "declined"),
        ("server_error", "provider_error"),
        ("<script>", "provider_error"),
        ("", "provider_error"),
    ],
)
def test_an_error_of_the_provider_is_classified_and_not_repeated(sign_on: SignOn, error: str, reason: str) -> None:
    back, ticket = sign_on.go()
    with pytest.raises(Unauthenticated) as raised:
        sign_on.service.finish(sign_on.context(), replace(back, error=error), ticket)
    assert raised.value.details == {"reason": reason}
    assert "script" not in raised.value.message + str(sign_on.app.tables.rows("audit"))
    assert sign_on.double.count("POST", "/token") == 0


def test_a_return_without_a_code_is_refused(sign_on: SignOn) -> None:
    back, ticket = sign_on.go()
    for code in (None, ""):
        with pytest.raises(Unauthenticated):
            sign_on.service.finish(sign_on.context(), replace(back, code=code), ticket)


def test_a_token_that_does_not_hold_is_refused_with_its_reason(sign_on: SignOn) -> None:
    sign_on.double.changes = {"nonce": "another"}
    refused = sign_on.refused("token_nonce", Unauthenticated)
    assert "Start again" in refused.message
    assert sign_on.users() == []


def test_a_provider_that_is_down_is_audited_and_said(sign_on: SignOn) -> None:
    back, ticket = sign_on.go()
    sign_on.double.on("POST", "/token", Reply(503, "planted text"))
    with pytest.raises(Unavailable) as raised:
        sign_on.service.finish(sign_on.context(), back, ticket)
    assert raised.value.code == "IDENTITY_PROVIDER_UNAVAILABLE"
    assert "planted" not in raised.value.message
    assert sign_on.reasons() == ["provider_unavailable"]


def test_a_refusal_is_audited_with_its_reason_and_the_address_that_it_came_from(sign_on: SignOn) -> None:
    back, ticket = sign_on.go()
    with pytest.raises(Unauthenticated):
        sign_on.service.finish(sign_on.context(), replace(back, state="x"), ticket)
    [record] = sign_on.records("session.login")
    assert (record.outcome, record.actor_via) == ("denied", "oidc")
    assert record.after == {"reason": "not_started_here", "source_address": "203.0.113.7"}


def test_the_audit_trail_names_a_person_who_was_refused(sign_on: SignOn) -> None:
    sign_on.double.person["groups"] = []
    sign_on.refused("no_role")
    [record] = sign_on.records("session.login")
    assert record.actor_email == "alice@example.com"
    assert record.resource_id


def test_returns_that_fail_are_limited_for_each_network_and_logins_are_given_back(sign_on: SignOn) -> None:
    sign_on.double.changes = {"nonce": "another"}
    back, ticket = sign_on.go()
    for _ in range(100):
        with pytest.raises(Unauthenticated):
            sign_on.service.finish(sign_on.context(), back, ticket)
    asked = sign_on.double.count("POST", "/token")
    with pytest.raises(RateLimited):
        sign_on.service.finish(sign_on.context(), back, ticket)
    assert sign_on.double.count("POST", "/token") == asked
    elsewhere = replace(sign_on.context(), source_address="198.51.100.7")
    with pytest.raises(Unauthenticated):
        sign_on.service.finish(elsewhere, back, ticket)


def test_logins_count_for_nothing(sign_on: SignOn) -> None:
    for _ in range(3):
        sign_on.sign_in()
    counters = [row for row in sign_on.app.tables.rows("login-tries") if "sign-on/" in str(row)]
    assert [int(row["tries"]) for row in counters] == [0]


def test_no_token_code_or_verifier_is_stored(sign_on: SignOn) -> None:
    back, ticket = sign_on.go()
    sign_on.service.finish(sign_on.context(), back, ticket)
    stored = "".join(
        str(sign_on.app.tables.rows(name)) for name in ("users", "sessions", "audit", "claims", "login-tries")
    )
    for secret in (back.code, ticket.partition(".")[0], "access", sign_on.double.bodies):
        assert not secret or str(secret) not in stored


def test_a_user_of_single_sign_on_has_no_password_to_sign_in_with(sign_on: SignOn) -> None:
    sign_on.sign_in()
    for password in ("", "None", "correct horse battery staple"):
        with pytest.raises(Unauthenticated):
            sign_on.services.sessions.login(sign_on.context(), "alice@example.com", Secret(password))


def test_an_admin_cannot_delete_the_last_admin_of_single_sign_on(sign_on: SignOn) -> None:
    sign_on.double.person["groups"] = ["cdc-admins"]
    user = sign_on.sign_in().user
    with pytest.raises(Conflict):
        sign_on.services.users.delete(sign_on.app.context(), user.id)


def test_without_configuration_there_is_no_single_sign_on(app: InProcessApp) -> None:
    assert app.services.single_sign_on is None
