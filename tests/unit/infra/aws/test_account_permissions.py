"""The API's function may do what people and their programs ask of it."""

from dataclasses import replace

from chalicelib.domain.access import Role
from chalicelib.kit.masking import Secret
from chalicelib.services.accounts.sessions import actor_of
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module
from tests.unit.infra.aws.test_permissions import refused, taken

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
    services.sessions.logout(own)
    services.users.list(limit=10, after=None)
    services.users.change_role(context, invited.user.id, Role.ADMIN)
    services.users.disable(context, invited.user.id)
    services.users.enable(context, invited.user.id)
    services.users.delete(context, invited.user.id)


def test_the_api_may_do_what_accounts_need(app: InProcessApp) -> None:
    with taken() as calls:
        _a_day(app)
    assert refused("api_handler", calls) == set()
