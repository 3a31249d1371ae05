"""A user whom this release cannot read signs in by no way, and nobody learns that there is one."""

from dataclasses import replace

import pytest

from chalicelib.domain.access import Role
from chalicelib.errors import Conflict, NotFound, Unauthenticated, UnreadableRow
from chalicelib.kit.masking import Secret
from chalicelib.services.accounts.sessions import actor_of
from tests.support.apps.in_process_app import InProcessApp
from tests.support.unreadable import make_unreadable

EMAIL, PASSWORD = "ada@example.com", Secret("correct horse battery staple")


@pytest.fixture
def user_id(app: InProcessApp) -> str:
    """A user with a password, a session, a token and, so far, a role."""
    invitation = app.services.invites.invite(app.context(), EMAIL, Role.OPS)
    app.services.invites.accept(app.context(), invitation.token.reveal(), PASSWORD)
    return invitation.user.id


def spoil(app: InProcessApp, user_id: str) -> None:
    make_unreadable(app.services.stores.accounts.users, user_id, "role")


def test_the_right_password_is_as_wrong_as_any_other(app: InProcessApp, user_id: str) -> None:
    spoil(app, user_id)
    for password in (PASSWORD, Secret("another password altogether")):
        with pytest.raises(Unauthenticated) as refused:
            app.services.sessions.login(app.context(), EMAIL, password)
        assert (refused.value.code, refused.value.message) == ("INVALID_CREDENTIALS", "Email or password is wrong.")


def test_a_session_and_a_token_of_before_are_not_valid(app: InProcessApp, user_id: str) -> None:
    signed_in = app.services.sessions.login(app.context(), EMAIL, PASSWORD)
    assert signed_in.token is not None
    context = replace(app.context(), actor=actor_of(signed_in.user, signed_in.session))
    token = app.services.api_tokens.create(context, "ci", Role.VIEWER, None)
    spoil(app, user_id)
    with pytest.raises(Unauthenticated):
        app.services.sessions.signed_in(signed_in.token.reveal())
    with pytest.raises(Unauthenticated):
        app.services.api_tokens.authenticate(token.text.reveal())


def test_an_invite_of_an_unreadable_user_is_as_an_unknown_one(app: InProcessApp) -> None:
    invitation = app.services.invites.invite(app.context(), EMAIL, Role.OPS)
    spoil(app, invitation.user.id)
    with pytest.raises(NotFound):
        app.services.invites.find(invitation.token.reveal())


def test_the_address_of_an_unreadable_user_stays_taken(app: InProcessApp, user_id: str) -> None:
    spoil(app, user_id)
    with pytest.raises(Conflict) as refused:
        app.services.invites.invite(app.context(), EMAIL, Role.VIEWER)
    assert refused.value.code == "NAME_CONFLICT"


def test_an_unreadable_token_is_shown_to_those_only_who_manage_users(app: InProcessApp, user_id: str) -> None:
    signed_in = app.services.sessions.login(app.context(), EMAIL, PASSWORD)
    context = replace(app.context(), actor=actor_of(signed_in.user, signed_in.session))
    token = app.services.api_tokens.create(context, "ci", Role.VIEWER, None).token
    make_unreadable(app.services.stores.accounts.api_tokens, token.id, "role")
    with pytest.raises(NotFound):
        app.services.api_tokens.get(context, token.id)
    with pytest.raises(UnreadableRow):
        app.services.api_tokens.get(app.context(), token.id)
