"""When API tokens end, whatever happens at the same moment."""

from dataclasses import replace

import pytest

from chalicelib.domain.access import RequestContext, Role
from chalicelib.errors import Unauthenticated
from chalicelib.kit.masking import Secret
from chalicelib.services.accounts.api_tokens import NewToken
from chalicelib.services.accounts.sessions import actor_of
from tests.support.apps.in_process_app import InProcessApp

PASSWORD, ANOTHER = Secret("four quiet lamps at noon"), Secret("nine loud bells at dawn")


@pytest.fixture
def signed_in(app: InProcessApp) -> RequestContext:
    """A request of an Admin who has just signed in."""
    app.services.users.install_admin("admin@example.com", PASSWORD)
    signed_in = app.services.sessions.login(app.context(), "admin@example.com", PASSWORD)
    return replace(app.context(), actor=actor_of(signed_in.user, signed_in.session))


def make(app: InProcessApp, context: RequestContext) -> NewToken:
    return app.services.api_tokens.create(context, "program", Role.OPS)


def works(app: InProcessApp, token: NewToken) -> bool:
    try:
        app.services.api_tokens.authenticate(token.text.reveal())
    except Unauthenticated:
        return False
    return True


def test_a_token_that_is_made_while_tokens_end_has_ended_too(app: InProcessApp, signed_in: RequestContext) -> None:
    change = app.services.sessions.change_password
    app.interceptor.before_first_write(lambda: change(signed_in, PASSWORD, ANOTHER, end_tokens=True))
    made = make(app, signed_in)
    assert not works(app, made)


def test_a_token_that_is_made_afterwards_works(app: InProcessApp, signed_in: RequestContext) -> None:
    before = make(app, signed_in)
    after = app.services.sessions.change_password(signed_in, PASSWORD, ANOTHER, end_tokens=True)
    context = replace(app.context(), actor=actor_of(after.user, after.session))
    made = make(app, context)
    assert (works(app, before), works(app, made)) == (False, True)
    assert [token.id for token in app.services.api_tokens.list(context, limit=10, after=None).items] == [made.token.id]


def test_a_token_ends_at_the_second_that_it_says(app: InProcessApp, signed_in: RequestContext) -> None:
    made = make(app, signed_in)
    app.clock.advance(90 * 86_400 - 1)
    assert works(app, made)
    app.clock.advance(1)
    assert not works(app, made)
