"""Who becomes whom by single sign-on, against a double of a provider."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.user import UserStatus
from chalicelib.errors import Conflict, HeadgateError, NotPermitted, Unauthenticated
from chalicelib.kit.masking import Secret
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.openid.client import running_double
from tests.support.openid.double import OpenIdDouble
from tests.support.openid.sign_on import PASSWORD, SignOn, sign_on

__all__ = ["running_double", "sign_on"]


def test_a_person_gets_an_account_without_a_password_and_a_session_like_a_logins(sign_on: SignOn) -> None:
    signed_in = sign_on.sign_in()
    assert (signed_in.user.email, signed_in.user.role) == ("alice@example.com", Role.OPS)
    assert signed_in.user.password_hash is None
    assert signed_in.token is not None
    assert sign_on.services.sessions.signed_in(signed_in.token.reveal()).user.id == signed_in.user.id
    [record] = sign_on.records("session.login")
    assert record.after == {"via": "oidc", "source_address": "203.0.113.7"}
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
    callbacks = [sign_on.go() for _ in range(4)]
    with ThreadPoolExecutor(len(callbacks)) as browsers:
        done = list(browsers.map(lambda arguments: sign_on.finish(*arguments), callbacks))
    assert len({signed_in.user.id for signed_in in done}) == len(sign_on.users()) == 1
    assert len({signed_in.session.id for signed_in in done}) == len(callbacks)


def test_a_new_login_ends_the_session_that_it_came_with(sign_on: SignOn) -> None:
    first = sign_on.sign_in().token
    assert first is not None
    sign_on.sign_in(replaces=first.reveal())
    with pytest.raises(Unauthenticated):
        sign_on.services.sessions.signed_in(first.reveal())


@pytest.mark.parametrize("groups", [[], ["unknown"], [["cdc-admins"]], None])
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
    assert sign_on.services.stores.accounts.users.active_admins() == 1


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


def test_linking_gives_nobody_more_than_the_role_of_their_groups(sign_on: SignOn) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    only_admin = sign_on.password_account("alice@example.com")
    sign_on.double.person["groups"] = ["everyone"]
    sign_on.refused("last_admin")
    user = sign_on.services.users.get(only_admin.id)
    assert (user.identity, user.role) == (None, Role.ADMIN)
    assert sign_on.records("user.link_identity") == []


def test_an_account_is_not_linked_when_its_other_admin_goes_at_the_same_moment(sign_on: SignOn) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    alice, other = sign_on.password_account("alice@example.com"), sign_on.password_account("root@example.com")
    callback, ticket = sign_on.go()
    meanwhile = iter([other.id])

    def demote_the_other(point: Point, send: InterceptedCall) -> object:
        if point.operation == "TransactWriteItems":
            for user_id in meanwhile:
                sign_on.services.users.change_role(sign_on.app.context(), user_id, Role.VIEWER)
        return send()

    sign_on.app.interceptor.watch(demote_the_other)
    with pytest.raises(NotPermitted) as refused:
        sign_on.finish(callback, ticket)
    assert refused.value.details == {"reason": "last_admin"}
    assert sign_on.services.users.get(alice.id).role is Role.ADMIN


@pytest.mark.parametrize(
    ("here", "at_the_provider"),
    [
        ("fiona@example.com", "\ufb01ona@example.com"),
        ("\ufb01ona@example.com", "fiona@example.com"),
        ("kim@example.com", "\u212aim@example.com"),
        ("strasse@example.com", "stra\u00dfe@example.com"),
        ("alice@example.com", "alice@\uff45xample.com"),
    ],
)
def test_an_address_that_only_resembles_another_is_somebody_else(
    sign_on: SignOn, here: str, at_the_provider: str
) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    holder = sign_on.password_account(here)
    sign_on.double.person["email"] = at_the_provider
    assert sign_on.sign_in().user.id != holder.id
    assert sign_on.services.users.get(holder.id).identity is None


@pytest.mark.parametrize("verified", [False, None, "false", 1, "yes"])
def test_an_address_that_is_not_verified_links_and_makes_nothing(sign_on: SignOn, verified: Any) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=True))
    holder = sign_on.password_account("alice@example.com")
    sign_on.double.person["email_verified"] = verified
    sign_on.refused("email_not_verified")
    assert sign_on.services.users.get(holder.id).identity is None


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


@pytest.mark.parametrize("link_accounts", [True, False])
def test_an_address_that_another_person_gets_at_the_provider_does_not_become_their_account(
    sign_on: SignOn, link_accounts: bool
) -> None:
    sign_on.with_settings(sign_on.double.settings(link_accounts=link_accounts))
    first = sign_on.sign_in().user
    sign_on.double.person.update({"sub": "bob", "groups": ["cdc-admins"]})
    sign_on.refused("email_in_use")
    user = sign_on.services.users.get(first.id)
    assert (user.identity, user.role) == (first.identity, Role.OPS)


def test_a_new_address_of_a_person_is_taken_over_and_the_old_one_is_free(sign_on: SignOn) -> None:
    first = sign_on.sign_in().user
    sign_on.double.person["email"] = "alice.smith@example.com"
    changed = sign_on.sign_in().user
    assert (changed.id, changed.email) == (first.id, "alice.smith@example.com")
    users = sign_on.services.stores.accounts.users
    assert users.by_email("alice@example.com") is None
    found = users.by_email("ALICE.SMITH@example.com")
    assert found is not None
    assert found.id == first.id


def test_a_new_address_that_somebody_has_here_is_not_taken_from_them(sign_on: SignOn) -> None:
    holder, first = sign_on.password_account("root@example.com"), sign_on.sign_in().user
    sign_on.double.person["email"] = "root@example.com"
    assert sign_on.sign_in().user.email == "alice@example.com"
    assert "email_in_use" in sign_on.reasons()
    found = sign_on.services.stores.accounts.users.by_email("root@example.com")
    assert found is not None
    assert found.id == holder.id != first.id


@pytest.mark.parametrize("email", [None, "", "alice", "${file:/etc/passwd}@example.com", 7, ["alice@example.com"]])
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
