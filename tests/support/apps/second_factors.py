"""A person with an authenticator app, for tests of second factors."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import pyotp

from chalicelib.domain.access import RequestContext
from chalicelib.domain.accounts.user import User
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from chalicelib.services.accounts.sessions import UserSession, actor_of
from tests.support.apps.in_process_app import InProcessApp
from tests.support.entities import make_user, store_new

PASSWORD = Secret("four quiet lamps at noon")
HOME = "192.0.2.1"


def app_code(secret: str, at: datetime, steps: int = 0) -> str:
    """What the app shows at that time, or so many steps of 30 s later."""
    return pyotp.TOTP(secret).at(at, counter_offset=steps)


@dataclass(kw_only=True)
class Person:
    """Somebody with a password; after `set_up` with an app that has `secret`, and with recovery codes."""

    app: InProcessApp
    user: User
    secret: str = ""
    recovery_codes: Sequence[str] = ()

    def code(self, steps: int = 0) -> str:
        return app_code(self.secret, self.app.clock.now, steps)

    def sign_in(self, code: str | None = None, *, address: str = HOME, password: Secret = PASSWORD) -> UserSession:
        context = replace(self.app.context(), source_address=address, user_agent="Browser/1.0")
        return self.app.services.sessions.login(context, self.user.email, password, Secret(code) if code else None)

    def context(self, signed_in: UserSession) -> RequestContext:
        """A request with this session."""
        return replace(self.app.context(), actor=actor_of(signed_in.user, signed_in.session), source_address=HOME)

    def set_up(self) -> UserSession:
        """Set the second factor up, in a session that is returned; then time passes until the app's next code."""
        signed_in = self.sign_in()
        own, service = self.context(signed_in), self.app.services.second_factor
        self.secret = service.start(own).secret.reveal()
        self.recovery_codes = [code.reveal() for code in service.confirm(own, Secret(self.code()))]
        self.app.clock.advance(30)
        return signed_in

    def is_valid(self, signed_in: UserSession) -> bool:
        assert signed_in.token is not None
        try:
            self.app.services.sessions.signed_in(signed_in.token.reveal())
        except Exception:  # noqa: BLE001 - every error means that it is not
            return False
        return True


def make_person(app: InProcessApp, **fields: object) -> Person:
    user = make_user(password_hash=hash_password(PASSWORD), **fields)
    store_new(app.services.stores.accounts.users, user)
    return Person(app=app, user=user)
