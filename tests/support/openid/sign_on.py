"""A Headgate with single sign-on at a double of a provider, for tests of its service.

A test module imports the fixture `sign_on` with those that it needs: `running_double`, `app`, `app_of_the_module`.
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest

from chalicelib.domain.access import Actor, RequestContext, Role
from chalicelib.domain.accounts.user import User
from chalicelib.errors import HeadgateError, NotPermitted, Unauthenticated
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from chalicelib.services.accounts.sessions import UserSession
from chalicelib.services.accounts.single_sign_on import SignOnCallback, SingleSignOn
from chalicelib.settings import OidcSettings
from chalicelib.wiring import Services
from tests.support.apps.in_process_app import SETTINGS, CachedClients, InProcessApp
from tests.support.entities import make_user, store_new
from tests.support.openid.double import OpenIdDouble, follow

PUBLIC_URL = "https://headgate.example.com"
PASSWORD = Secret("correct horse battery staple")


ADDRESS = "203.0.113.7"
"""From where people sign in."""


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

    def with_settings(self, config: OidcSettings, **more: Any) -> "SignOn":
        settings = replace(SETTINGS, public_url=PUBLIC_URL, oidc=config, **more)
        clients = CachedClients(self.app.database, self.app.connections, self.app.interceptor)
        self.services = Services(settings, clients=clients, clock=self.app.clock)
        return self

    def context(self) -> RequestContext:
        anonymous = Actor(id=None, email=None, role=None, via="anonymous")
        return replace(self.app.context(), actor=anonymous, source_address=ADDRESS)

    def go(self) -> tuple[SignOnCallback, str]:
        """The parameters with which a browser returns from the provider, and its ticket."""
        started = self.service.start(self.context())
        return to_callback(follow(started.url)), started.ticket

    def sign_in(self, *, replaces: str | None = None) -> UserSession:
        return self.finish(*self.go(), replaces=replaces)

    def finish(self, callback: SignOnCallback, ticket: str | None, **named: Any) -> UserSession:
        return self.service.finish(self.context(), callback, ticket, **named)

    def refusal(self, callback: SignOnCallback, ticket: str | None) -> str:
        """The reason of the refusal."""
        with pytest.raises(Unauthenticated) as raised:
            self.finish(callback, ticket)
        return str(raised.value.details["reason"])  # type: ignore[index]

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
        page = self.services.audit.list(limit=100)
        return [record for record in page.items if action in (None, record.action)]

    def users(self) -> list[User]:
        return list(self.services.users.list(limit=100, after=None).items)

    def password_account(self, email: str, role: Role = Role.ADMIN) -> User:
        user = make_user(email=email, role=role, password_hash=hash_password(PASSWORD))
        store_new(self.services.stores.accounts.users, user)
        return user


def to_callback(fields: dict[str, str]) -> SignOnCallback:
    return SignOnCallback(
        state=fields.get("state"), code=fields.get("code"), issuer=fields.get("iss"), error=fields.get("error")
    )


@pytest.fixture
def sign_on(app: InProcessApp, running_double: OpenIdDouble) -> SignOn:
    running_double.reset()
    return SignOn(app, running_double, app.services).with_settings(running_double.settings())
