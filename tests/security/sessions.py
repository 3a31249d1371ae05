"""S7: how long a session lives, what is stored of it, and what ends it."""

from collections.abc import Callable
from dataclasses import replace

from chalicelib.api.framework.authentication import session_cookie
from chalicelib.api.framework.http import HttpRequest
from chalicelib.domain.access import RequestContext, Role
from chalicelib.domain.accounts.user import User
from chalicelib.errors import Unauthenticated
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from chalicelib.services.accounts.sessions import SignedIn, actor_of
from chalicelib.stores.transaction import Transaction
from tests.security.figure import Figure
from tests.support.apps.in_process_app import InProcessApp, in_process_app

PASSWORD, ANOTHER = Secret("four quiet lamps at noon"), Secret("nine loud bells at dawn")
_HASHED = hash_password(PASSWORD)
Ends = Callable[[InProcessApp, RequestContext, User], object]
ENDS: dict[str, Ends] = {
    "logout": lambda app, context, _: app.services.sessions.logout(context),
    "disable": lambda app, _, user: app.services.users.disable(app.context(), user.id),
    "disable, then enable": lambda app, _, user: (
        app.services.users.disable(app.context(), user.id),
        app.services.users.enable(app.context(), user.id),
    ),
    "delete": lambda app, _, user: app.services.users.delete(app.context(), user.id),
    "another password": lambda app, context, _: app.services.sessions.change_password(context, PASSWORD, ANOTHER),
    "a new login with its cookie": lambda _app, _context, _user: None,
}
"""What ends a session. The last one is done by `_ends`, which has the cookie."""


def figures() -> list[Figure]:
    """The figures of S7."""
    with in_process_app() as app:
        signed_in = _signed_in(app, _user(app))
        request = HttpRequest(method="POST", route="", path="", headers={"host": "headgate.example.com"})
        cookie = session_cookie(request, signed_in).split("; ")
        flags = [one for one in cookie if one in ("Path=/", "HttpOnly", "SameSite=Lax", "Secure")]
        token = _cookie(signed_in).partition(".")[2]
        stored = sum(token in str(app.tables.rows(table)) for table in ("sessions", "users", "audit"))
        idle, absolute = _minutes_idle(app), _hours_used(app)
        alive = [name for name in ENDS if not _ends(app, name)]
    return [
        Figure(
            "cookie over https", f"{cookie[0].partition('=')[0]}; {', '.join(flags)}", "__Host-, all four flags",
            cookie[0].startswith("__Host-") and len(flags) == 4,
        ),
        Figure("tables in which the token stands", str(stored), "0: its hash is stored", stored == 0),
        Figure("an unused session ends after", f"{idle} min", "30 min", idle == 30),
        Figure("a used session ends after", f"{absolute} h", "8 h", absolute == 8),
        Figure(
            f"alive at the next request after {', '.join(ENDS)}", ", ".join(alive) or "none", "none", not alive
        ),
    ]  # fmt: skip


def _user(app: InProcessApp) -> User:
    now, transaction = app.clock(), Transaction()
    email = f"{new_id()}@example.com"
    user = User(id=new_id(), email=email, role=Role.OPS, password_hash=_HASHED, created_at=now, updated_at=now)
    stored = app.services.stores.accounts.users.put_new(transaction, user)
    transaction.commit()
    return stored


def _signed_in(app: InProcessApp, user: User, replaces: str | None = None) -> SignedIn:
    return app.services.sessions.login(app.context(), user.email, PASSWORD, replaces=replaces)


def _cookie(signed_in: SignedIn) -> str:
    return signed_in.token.reveal() if signed_in.token else ""


def _is_valid(app: InProcessApp, cookie: str) -> bool:
    try:
        app.services.sessions.signed_in(cookie)
    except Unauthenticated:
        return False
    return True


def _minutes_idle(app: InProcessApp) -> int:
    """After how many minutes without a use a session is over."""
    user = _user(app)
    for minutes in range(1, 120):
        cookie = _cookie(_signed_in(app, user))
        app.clock.advance(minutes * 60)
        if not _is_valid(app, cookie):
            return minutes
    return 0


def _hours_used(app: InProcessApp) -> float:
    """After how many hours a session is over that is used every ten minutes."""
    cookie = _cookie(_signed_in(app, _user(app)))
    for tens in range(1, 200):
        app.clock.advance(600)
        if not _is_valid(app, cookie):
            return tens / 6
    return 0


def _ends(app: InProcessApp, name: str) -> bool:
    """Whether the session is over at the next request."""
    user = _user(app)
    signed_in = _signed_in(app, user)
    context = replace(app.context(), actor=actor_of(signed_in.user, signed_in.session))
    ENDS[name](app, context, user)
    if name == "a new login with its cookie":
        _signed_in(app, user, replaces=_cookie(signed_in))
    return not _is_valid(app, _cookie(signed_in))
