"""S6: how a password is hashed, what a login reveals, and how often a password may be tried."""

import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from statistics import median

from chalicelib.domain.access import Role
from chalicelib.errors import HeadgateError
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from tests.security import second_factor
from tests.security.figure import Figure
from tests.support.apps.in_process_app import InProcessApp, in_process_app
from tests.support.entities import make_user, store_new

PASSWORD = Secret("four quiet lamps at noon")
KNOWN, UNKNOWN = "person@example.com", "nobody@example.com"
HOME = "192.0.2.1"
AT_ONCE = Counter({"INVALID_CREDENTIALS": 10, "RATE_LIMITED": 40})
"""How wrong passwords that are tried at the same time are answered."""
PAIRS = 400
_PER_WINDOW = 9
"""Tries for each address in a window: fewer than the throttle allows."""


def figures() -> list[Figure]:
    with in_process_app() as app:
        hashed = make_person(app)
        parameters = re.fullmatch(r"\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$.*", hashed)
        memory, passes = (int(parameters[1]), int(parameters[2])) if parameters else (0, 0)
        difference, calls = _differences(app)
        app.clock.advance(600)
        codes = codes_at_once(app)
        app.restart()
        after_restart = try_wrong_password(app, HOME)
        locked = _kept_out(app)
        factors = second_factor.figures(app)
        returned = _returned(app)
    return [
        Figure(
            "hash of passwords", f"Argon2id, {memory // 1024} MiB, {passes} pass", "46 MiB, 1 pass", memory == 47104
        ),
        Figure(
            f"CPU of a refused login, known against unknown address, medians of {PAIRS} pairs",
            f"{difference:.1%} apart",
            "within 2 %",
            difference <= 0.02,
        ),
        Figure("calls of a refused login, known and unknown", str(calls), "the same", len(set(calls)) == 1),
        Figure(
            f"{AT_ONCE.total()} wrong passwords at once", str(dict(codes)), str(dict(AT_ONCE)), codes == AT_ONCE,
        ),
        Figure("the next one, after a restart", after_restart, "RATE_LIMITED", after_restart == "RATE_LIMITED"),
        Figure("people kept out by tries from elsewhere", str(locked), "0", locked == 0),
        *factors,
        Figure("first Admin returned after deletion, at three starts", str(returned), "0", returned == 0),
    ]  # fmt: skip


def make_person(app: InProcessApp) -> str:
    """The person whose password is tried. Returns the hash of the password."""
    hashed = hash_password(PASSWORD)
    store_new(app.services.stores.accounts.users, make_user(email=KNOWN, password_hash=hashed))
    return hashed


def try_wrong_password(app: InProcessApp, address: str, email: str = KNOWN, *, cookie: str | None = None) -> str:
    """The code of the error."""
    try:
        app.services.sessions.login(
            replace(app.context(), source_address=address), email, Secret("wrong"), replaces=cookie
        )
    except HeadgateError as error:
        return error.code
    return ""


def _differences(app: InProcessApp) -> tuple[float, list[int]]:
    """How far the medians are apart, as a share of the smaller one; and the calls of each kind of login."""
    spent: dict[str, list[float]] = {KNOWN: [], UNKNOWN: []}
    for number in range(PAIRS):
        if number % _PER_WINDOW == 0:
            app.clock.advance(300)
        for email in (KNOWN, UNKNOWN) if number % 2 else (UNKNOWN, KNOWN):
            began = time.thread_time()
            try_wrong_password(app, HOME, email)
            spent[email].append(time.thread_time() - began)
    app.clock.advance(300)
    calls = []
    for email in spent:
        app.interceptor.watch()
        try_wrong_password(app, HOME, email)
        calls.append(len(app.interceptor.unwatch()))
    known, unknown = median(spent[KNOWN]), median(spent[UNKNOWN])
    return abs(known - unknown) / min(known, unknown), calls


def codes_at_once(app: InProcessApp) -> Counter[str]:
    """The codes of wrong passwords that are tried at the same time."""
    with ThreadPoolExecutor(AT_ONCE.total()) as threads:
        return Counter(threads.map(lambda _: try_wrong_password(app, HOME), range(AT_ONCE.total())))


def _kept_out(app: InProcessApp) -> int:
    """How many of three people are kept out: one at the usual network, one at a new network, one with a session in the
    attacker's network.
    """
    app.clock.advance(600)
    sessions, home = app.services.sessions, replace(app.context(), source_address=HOME)
    first = sessions.login(home, KNOWN, PASSWORD)
    for number in range(60):
        try_wrong_password(app, f"203.0.{number}.1")
    elsewhere, new = (replace(home, source_address=address) for address in ("203.0.5.1", "198.51.100.1"))
    for _ in range(12):
        try_wrong_password(app, "203.0.5.1")
    kept_out = 0
    for context, cookie in ((home, None), (new, None), (elsewhere, first.token.reveal() if first.token else None)):
        try:
            sessions.login(context, KNOWN, PASSWORD, replaces=cookie)
        except HeadgateError:
            kept_out += 1
    return kept_out


def _returned(app: InProcessApp) -> int:
    """How many accounts of a deleted first Admin three starts make."""
    users, email = app.services.users, "first@example.com"
    store_new(app.services.stores.accounts.users, make_user(role=Role.ADMIN))
    store_new(app.services.stores.accounts.users, first := make_user(email=email, role=Role.ADMIN))
    users.delete(app.context(), first.id)
    for _ in range(3):
        app.restart()
        app.services.users.install_admin(email, PASSWORD)
    return sum(user.email == email for user in app.services.users.list(limit=500, after=None).items)
