"""Invites end, are used once, and open for nothing but their own token."""

import base64
from datetime import timedelta

import pytest

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.user import UserStatus
from chalicelib.errors import Invalid, NotFound
from chalicelib.kit.masking import Secret
from chalicelib.services.accounts.invites import Invitation
from chalicelib.stores.accounts.users import UserRows
from tests.support.apps.in_process_app import InProcessApp

PASSWORD = Secret("four quiet lamps at noon")


def invited(app: InProcessApp) -> Invitation:
    return app.services.invites.invite(app.context(), "person@example.com", Role.ADMIN)


def test_an_invite_can_be_accepted_for_72_hours(app: InProcessApp) -> None:
    invite = invited(app)
    assert invite.invite.expires_at == app.clock() + timedelta(hours=72)
    assert app.services.invites.find(invite.token.reveal()).user.id == invite.user.id
    app.clock.advance(72 * 3600)
    with pytest.raises(NotFound):
        app.services.invites.accept(app.context(), invite.token.reveal(), PASSWORD)


def test_a_token_with_another_random_part_opens_nothing(app: InProcessApp) -> None:
    token = invited(app).token.reveal()
    raw = bytearray(base64.urlsafe_b64decode(token))
    raw[-1] ^= 1
    for wrong in (base64.urlsafe_b64encode(bytes(raw)).decode(), token[:-1], token + "A", "", "x" * 64, "ä" * 64):
        with pytest.raises(NotFound):
            app.services.invites.find(wrong)


def test_of_two_who_accept_at_the_same_moment_one_joins(app: InProcessApp) -> None:
    token = invited(app).token.reveal()

    other = Secret("nine loud bells at dawn")
    app.interceptor.before_first_write(lambda: app.services.invites.accept(app.context(), token, other))
    with pytest.raises(NotFound):
        app.services.invites.accept(app.context(), token, PASSWORD)
    app.services.sessions.login(app.context(), "person@example.com", other)
    assert app.services.stores.accounts.users.active_admins() == 1


def test_somebody_whose_role_changes_at_the_same_moment_joins_with_the_new_one(app: InProcessApp) -> None:
    invite = invited(app)
    change_role = app.services.users.change_role
    app.interceptor.before_first_write(lambda: change_role(app.context(), invite.user.id, Role.VIEWER))
    joined = app.services.invites.accept(app.context(), invite.token.reveal(), PASSWORD)
    assert (joined.role, joined.status) == (Role.VIEWER, UserStatus.ACTIVE)


def test_the_token_is_stored_nowhere(app: InProcessApp) -> None:
    token = invited(app).token.reveal()
    for table in ("users", "audit", "account-claims"):
        assert token not in str(app.tables.rows(table))
    assert UserRows.count() == 1


def test_a_password_that_is_the_own_address_is_refused(app: InProcessApp) -> None:
    invite = invited(app)
    with pytest.raises(Invalid):
        app.services.invites.accept(app.context(), invite.token.reveal(), Secret("person@example.com"))
