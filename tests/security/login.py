"""S6: how a password is hashed, what a login reveals, and how often a password may be tried."""

import re
import threading
import time
from collections import Counter
from dataclasses import replace
from statistics import median

from chalicelib.domain.access import Role
from chalicelib.domain.accounts.user import User
from chalicelib.errors import HeadgateError
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.secrets.passwords import hash_password
from chalicelib.stores.transaction import Transaction
from tests.security.figure import Figure
from tests.support.apps.in_process_app import InProcessApp, in_process_app

PASSWORD = Secret("four quiet lamps at noon")
KNOWN, UNKNOWN = "person@example.com", "nobody@example.com"
PAIRS = 400
_PER_WINDOW = 9
"""Tries for each address in a window: fewer than the throttle allows."""


def figures() -> list[Figure]:
    """The figures of S6."""
    with in_process_app() as app:
        hashed = _make_user(app)
        parameters = re.fullmatch(r"\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$.*", hashed)
        memory, passes = (int(parameters[1]), int(parameters[2])) if parameters else (0, 0)
        difference, calls = _differences(app)
        app.clock.advance(600)
        counts = _at_once(app, 50)
        app.restart()
        after_restart = _try(app, KNOWN, "192.0.2.1")
        locked = _kept_out(app)
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
            "50 wrong passwords at once", str(dict(counts)), "10 tried, 40 refused",
            counts == {"INVALID_CREDENTIALS": 10, "RATE_LIMITED": 40},
        ),
        Figure("the next one, after a restart", after_restart, "RATE_LIMITED", after_restart == "RATE_LIMITED"),
        Figure("people kept out by tries from elsewhere", str(locked), "0", locked == 0),
    ]  # fmt: skip


def _make_user(app: InProcessApp) -> str:
    now, transaction, hashed = app.clock(), Transaction(), hash_password(PASSWORD)
    user = User(id=new_id(), email=KNOWN, role=Role.OPS, password_hash=hashed, created_at=now, updated_at=now)
    app.services.stores.accounts.users.put_new(transaction, user)
    transaction.commit()
    return hashed


def _try(app: InProcessApp, email: str, address: str) -> str:
    """The code of a login with a wrong password."""
    try:
        app.services.sessions.login(replace(app.context(), source_address=address), email, Secret("wrong"))
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
            _try(app, email, "192.0.2.1")
            spent[email].append(time.thread_time() - began)
    app.clock.advance(300)
    calls = []
    for email in spent:
        app.interceptor.watch()
        _try(app, email, "192.0.2.1")
        calls.append(len(app.interceptor.unwatch()))
    known, unknown = median(spent[KNOWN]), median(spent[UNKNOWN])
    return abs(known - unknown) / min(known, unknown), calls


def _at_once(app: InProcessApp, count: int) -> Counter[str]:
    codes: list[str] = []
    threads = [threading.Thread(target=lambda: codes.append(_try(app, KNOWN, "192.0.2.1"))) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Counter(codes)


def _kept_out(app: InProcessApp) -> int:
    """How many of two people are kept out: one at the usual network, one with a session in the attacker's network."""
    app.clock.advance(600)
    sessions, home = app.services.sessions, replace(app.context(), source_address="192.0.2.1")
    first = sessions.login(home, KNOWN, PASSWORD)
    for number in range(60):
        _try(app, KNOWN, f"203.0.{number}.1")
    elsewhere = replace(home, source_address="203.0.5.1")
    for _ in range(12):
        _try(app, KNOWN, "203.0.5.1")
    kept_out = 0
    for context, cookie in ((home, None), (elsewhere, first.token.reveal() if first.token else None)):
        try:
            sessions.login(context, KNOWN, PASSWORD, replaces=cookie)
        except HeadgateError:
            kept_out += 1
    return kept_out
