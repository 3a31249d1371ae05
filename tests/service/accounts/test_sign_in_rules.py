"""Installations without passwords, and with second factors for everybody."""

import logging
from dataclasses import replace

import pytest

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.user import SecondFactor, UserStatus
from chalicelib.domain.credentials import Credentials
from chalicelib.errors import Conflict, HeadgateError, Unauthenticated
from chalicelib.kit.log import get_logger
from chalicelib.kit.masking import Secret
from chalicelib.secrets import passwords
from tests.support.openid.client import running_double
from tests.support.openid.sign_on import ADDRESS, PASSWORD, SignOn, sign_on

__all__ = ["running_double", "sign_on"]
FIRST_ADMIN = "root@example.com"


@pytest.fixture
def without_passwords(sign_on: SignOn) -> SignOn:
    """An installation with `HEADGATE_PASSWORD_LOGIN=false`, whose first Admin has a password."""
    sign_on.with_settings(sign_on.double.settings(), password_login=False, admin_email=FIRST_ADMIN)
    sign_on.password_account(FIRST_ADMIN)
    return sign_on


def login(sign_on: SignOn, email: str, password: Secret = PASSWORD) -> object:
    return sign_on.services.sessions.login(sign_on.context(), email, password)


def test_a_right_password_is_refused_like_a_wrong_one_and_is_not_hashed(
    without_passwords: SignOn, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_passwords.password_account("person@example.com", Role.OPS)
    with pytest.raises(Unauthenticated) as wrong:
        login(without_passwords, FIRST_ADMIN, Secret("a wrong password"))
    monkeypatch.setattr(passwords, "_hash_permit", None)
    for email in ("person@example.com", "nobody@example.com"):
        with pytest.raises(Unauthenticated) as refused:
            login(without_passwords, email)
        assert (refused.value.code, refused.value.message) == (wrong.value.code, wrong.value.message)
    assert without_passwords.reasons().count("password_login_off") == 2


def test_refused_passwords_are_counted_as_well(without_passwords: SignOn) -> None:
    codes = []
    for _ in range(11):
        with pytest.raises(HeadgateError) as refused:
            login(without_passwords, "person@example.com")
        codes.append(refused.value.code)
    assert codes == ["INVALID_CREDENTIALS"] * 10 + ["RATE_LIMITED"]


def test_the_first_admin_gets_back_in_and_each_time_it_is_logged_and_audited(
    without_passwords: SignOn, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger=get_logger().name):
        assert login(without_passwords, FIRST_ADMIN.upper())
    assert [line.getMessage() for line in caplog.records if "first Admin" in line.getMessage()]
    [record] = without_passwords.records("session.login")
    assert record.after == {"via": "password", "source_address": ADDRESS, "password_login": "off"}


def test_with_passwords_the_first_admin_signs_in_like_everybody(
    sign_on: SignOn, caplog: pytest.LogCaptureFixture
) -> None:
    sign_on.with_settings(sign_on.double.settings(), admin_email=FIRST_ADMIN)
    sign_on.password_account(FIRST_ADMIN)
    with caplog.at_level(logging.WARNING, logger=get_logger().name):
        assert login(sign_on, FIRST_ADMIN)
    assert "first Admin" not in caplog.text
    assert sign_on.records("session.login")[0].after == {"via": "password", "source_address": ADDRESS}


def test_an_invite_leads_to_single_sign_on_where_passwords_are_off(without_passwords: SignOn) -> None:
    services, context = without_passwords.services, without_passwords.app.context()
    invited = services.invites.invite(context, "alice@example.com", Role.ADMIN)
    with pytest.raises(Conflict) as refused:
        services.invites.accept(context, invited.token.reveal(), PASSWORD)
    assert "/api/v1/auth/oidc/login" in refused.value.message
    joined = without_passwords.sign_in().user
    assert (joined.id, joined.role, joined.status) == (invited.user.id, Role.OPS, UserStatus.ACTIVE)
    assert joined.invite is None


def test_with_passwords_an_invite_is_not_taken_over_by_its_address(sign_on: SignOn) -> None:
    sign_on.services.invites.invite(sign_on.app.context(), "alice@example.com", Role.ADMIN)
    sign_on.refused("email_in_use")


def test_without_passwords_an_account_that_has_joined_is_still_not_taken_over(without_passwords: SignOn) -> None:
    without_passwords.password_account("alice@example.com")
    without_passwords.refused("email_in_use")


def test_a_session_of_single_sign_on_needs_no_second_factor_here(sign_on: SignOn) -> None:
    sign_on.with_settings(sign_on.double.settings(), require_second_factor=True)
    signed_in = sign_on.sign_in()
    assert signed_in.token is not None
    assert not sign_on.services.sessions.signed_in(signed_in.token.reveal()).lacks_second_factor


def test_a_session_by_password_lacks_one_until_it_is_set_up(sign_on: SignOn) -> None:
    sign_on.with_settings(sign_on.double.settings(), require_second_factor=True)
    user = sign_on.password_account("person@example.com")
    users = sign_on.services.stores.accounts.users
    signed_in = sign_on.services.sessions.login(sign_on.context(), "person@example.com", PASSWORD)
    assert signed_in.token is not None
    cookie = signed_in.token.reveal()
    assert sign_on.services.sessions.signed_in(cookie).lacks_second_factor
    factor = SecondFactor(id="f", credentials=Credentials(id="c"))
    for confirmed_at, lacks in ((None, True), (sign_on.app.clock.now, False)):
        users.save_alone(replace(users.get(user.id), second_factor=replace(factor, confirmed_at=confirmed_at)))
        assert sign_on.services.sessions.signed_in(cookie).lacks_second_factor is lacks
