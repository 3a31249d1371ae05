"""The API's function may do what people and their programs ask of it."""

from dataclasses import replace

from chalicelib.domain.access import RequestContext, Role
from chalicelib.domain.accounts.user import User
from chalicelib.kit.masking import Secret
from chalicelib.services.accounts.sessions import actor_of
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module
from tests.support.apps.second_factors import app_code
from tests.unit.infra.aws.taken_actions import refused, taken

__all__ = ["app", "app_of_the_module"]
PASSWORD, ANOTHER = Secret("four quiet lamps at noon"), Secret("nine loud bells at dawn")


def _a_day(app: InProcessApp) -> None:
    services, context = app.services, app.context()
    services.users.install_admin("admin@example.com", PASSWORD)
    invited = services.invites.invite(context, "person@example.com", Role.OPS)
    services.invites.invite(context, "person@example.com", Role.ADMIN)
    token = services.invites.invite(context, "person@example.com", Role.VIEWER).token.reveal()
    person = services.invites.accept(context, services.invites.find(token).token.reveal(), PASSWORD)
    signed_in = services.sessions.login(context, person.email, PASSWORD)
    own = replace(context, actor=actor_of(signed_in.user, signed_in.session))
    services.sessions.change_password(own, PASSWORD, ANOTHER)
    made = services.api_tokens.create(own, "program", Role.VIEWER, None)
    services.api_tokens.authenticate(made.text.reveal())
    services.api_tokens.list(own, limit=10, after=None)
    services.api_tokens.list(context, limit=10, after=None)
    services.api_tokens.delete(own, services.api_tokens.create(own, "another", Role.VIEWER, None).token.id)
    services.own_sessions.list(own, limit=10, after=None)
    _second_factor(app, own, person)
    services.sessions.logout(own)
    services.users.list(limit=10, after=None)
    services.users.change_role(context, invited.user.id, Role.ADMIN)
    services.users.disable(context, invited.user.id)
    services.users.enable(context, invited.user.id)
    services.users.delete(context, invited.user.id)


def _second_factor(app: InProcessApp, own: RequestContext, person: User) -> None:
    services, context = app.services, app.context()
    own = replace(own, actor=replace(own.actor, credential_id=_fresh_session(app, own, person)))
    secret = services.second_factor.start(own).secret.reveal()
    recovery = services.second_factor.confirm(own, Secret(app_code(secret, app.clock.now)))
    services.sessions.login(context, person.email, ANOTHER, recovery[0])
    app.clock.advance(30)
    services.sessions.login(context, person.email, ANOTHER, Secret(app_code(secret, app.clock.now)))
    services.own_sessions.end_others(own)
    services.second_factor.remove(own, ANOTHER, recovery[1])
    services.second_factor.start(own)
    services.second_factor.remove_of(context, person.id)


def _fresh_session(app: InProcessApp, own: RequestContext, person: User) -> str:
    """A session of the person, after another one has been ended by its id."""
    first, second = (app.services.sessions.login(app.context(), person.email, ANOTHER).session for _ in range(2))
    own = replace(own, actor=replace(own.actor, credential_id=second.id))
    app.services.own_sessions.end(own, first.public_id)
    return second.id


def test_the_api_may_do_what_accounts_need(app: InProcessApp) -> None:
    with taken() as calls:
        _a_day(app)
    assert refused("api_handler", calls) == set()
