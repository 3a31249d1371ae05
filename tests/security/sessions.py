"""S7: how long a session lives, what is stored of it, and what ends it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from chalicelib.api.framework.authentication import session_cookie
from chalicelib.api.framework.http import HttpRequest
from chalicelib.domain.access import RequestContext
from chalicelib.domain.accounts.user import User
from chalicelib.errors import NotFound, Unauthenticated
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from chalicelib.services.accounts.sessions import UserSession, actor_of
from tests.security.figure import Figure
from tests.support.apps.in_process_app import InProcessApp, in_process_app
from tests.support.apps.second_factors import app_code
from tests.support.entities import make_user, store_new

PASSWORD, ANOTHER = Secret("four quiet lamps at noon"), Secret("nine loud bells at dawn")
_HASHED = hash_password(PASSWORD)
End = Callable[[InProcessApp, RequestContext, UserSession], object]
ENDS: dict[str, End] = {
    "logout": lambda app, context, _: app.services.sessions.logout(context),
    "disable": lambda app, _, session: app.services.users.disable(app.context(), session.user.id),
    "disable, then enable": lambda app, _, session: (
        app.services.users.disable(app.context(), session.user.id),
        app.services.users.enable(app.context(), session.user.id),
    ),
    "delete": lambda app, _, session: app.services.users.delete(app.context(), session.user.id),
    "another password": lambda app, context, _: app.services.sessions.change_password(context, PASSWORD, ANOTHER),
    "its end by its id": lambda app, context, session: app.services.own_sessions.end(
        context, session.session.public_id
    ),
    "the end of all others": lambda app, _, session: app.services.own_sessions.end_others(
        _context(app, _signed_in(app, session.user))
    ),
    "a second factor": lambda app, _, session: _set_up(app, _context(app, _signed_in(app, session.user))),
    "a new login with its cookie": lambda app, _, session: _signed_in(app, session.user, replaces=_cookie(session)),
}
"""What ends a session."""


def figures() -> list[Figure]:
    with in_process_app() as app:
        signed_in = _signed_in(app, _user(app))
        request = HttpRequest(method="POST", route="", path="", headers={"host": "headgate.example.com"})
        cookie = session_cookie(request, signed_in).split("; ")
        flags = [part for part in cookie if part in ("Path=/", "HttpOnly", "SameSite=Lax", "Secure")]
        token = _cookie(signed_in).partition(".")[2]
        stored = sum(token in str(app.tables.rows(table)) for table in ("sessions", "users", "audit"))
        idle, absolute = _minutes_idle(app), _hours_used(app)
        alive = [name for name, end in ENDS.items() if not ends(app, end)]
        reached = sessions_of_others_reached(app)
    return [
        Figure(
            "cookie over https", f"{cookie[0].partition('=')[0]}; {', '.join(flags)}", "__Host-, all four flags",
            cookie[0].startswith("__Host-") and len(flags) == 4,
        ),
        Figure("tables in which the token stands", str(stored), "0: its hash is stored", stored == 0),
        Figure("an unused session ends after", f"{idle} min", "30 min", idle == 30),
        Figure("a used session ends after", f"{absolute} h", "8 h", absolute == 8),
        Figure("sessions of others seen or ended", str(reached), "0", reached == 0),
        Figure(
            f"alive at the next request after {', '.join(ENDS)}", ", ".join(alive) or "none", "none", not alive
        ),
    ]  # fmt: skip


def _user(app: InProcessApp) -> User:
    user = make_user(password_hash=_HASHED)
    store_new(app.services.stores.accounts.users, user)
    return user


def _signed_in(app: InProcessApp, user: User, replaces: str | None = None) -> UserSession:
    return app.services.sessions.login(app.context(), user.email, PASSWORD, replaces=replaces)


def _cookie(signed_in: UserSession) -> str:
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


def ends(app: InProcessApp, end: End) -> bool:
    """Whether a session is over at the next request."""
    session = _signed_in(app, _user(app))
    end(app, _context(app, session), session)
    return not _is_valid(app, _cookie(session))


def sessions_of_others_reached(app: InProcessApp) -> int:
    """How many sessions of another user somebody sees in the list, or ends: by id, with all others."""
    own, foreign = _signed_in(app, _user(app)), _signed_in(app, _user(app))
    context, service = _context(app, own), app.services.own_sessions
    listed = service.list(context, limit=500, after=None).items
    with suppress(NotFound):
        service.end(context, foreign.session.public_id)
    service.end_others(context)
    seen = sum(session.user_id != own.user.id for session in listed)
    return seen + (not _is_valid(app, _cookie(foreign)))


def _context(app: InProcessApp, session: UserSession) -> RequestContext:
    return replace(app.context(), actor=actor_of(session.user, session.session))


def _set_up(app: InProcessApp, context: RequestContext) -> None:
    secret = app.services.second_factor.start(context).secret.reveal()
    app.services.second_factor.confirm(context, Secret(app_code(secret, app.clock.now)))
