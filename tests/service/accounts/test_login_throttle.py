"""How often passwords may be tried: exactly, before any hashing, and without locking anybody out."""

import threading
from collections import Counter
from dataclasses import replace

import pytest
from botocore.exceptions import ClientError

from chalicelib.domain.access import RequestContext
from chalicelib.domain.accounts.user import UserStatus
from chalicelib.errors import RateLimited
from chalicelib.secrets import passwords
from tests.security.login import AT_ONCE, HOME, KNOWN, PASSWORD, UNKNOWN, codes_at_once, make_person, try_wrong_password
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp

ELSEWHERE = "198.51.100.9"


@pytest.fixture(autouse=True)
def _person(app: InProcessApp) -> None:
    make_person(app)


def _from(app: InProcessApp, address: str) -> RequestContext:
    return replace(app.context(), source_address=address)


def _login(app: InProcessApp, address: str, cookie: str | None = None) -> str:
    made = app.services.sessions.login(_from(app, address), KNOWN, PASSWORD, replaces=cookie)
    assert made.token is not None
    return made.token.reveal()


@pytest.mark.parametrize("email", [KNOWN, UNKNOWN])
def test_after_ten_wrong_passwords_no_more_is_tried_until_retry_after_is_over(app: InProcessApp, email: str) -> None:
    assert [try_wrong_password(app, HOME, email) for _ in range(11)] == ["INVALID_CREDENTIALS"] * 10 + ["RATE_LIMITED"]
    with pytest.raises(RateLimited) as refused:
        app.services.sessions.login(_from(app, HOME), email, PASSWORD)
    app.clock.advance(refused.value.retry_after_seconds)
    assert try_wrong_password(app, HOME, email) == "INVALID_CREDENTIALS"


def test_a_refused_try_hashes_nothing(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(10):
        try_wrong_password(app, HOME)
    monkeypatch.setattr(passwords, "MAX_HASHES", 0)
    monkeypatch.setattr(passwords, "_permits", threading.BoundedSemaphore(1))
    assert passwords._permits.acquire(blocking=False)
    monkeypatch.setattr(passwords, "_WAIT_SECONDS", 0.01)
    with pytest.raises(RateLimited) as refused:
        app.services.sessions.login(_from(app, HOME), KNOWN, PASSWORD)
    assert "passwords were tried" in refused.value.message


def test_who_signs_in_gets_the_tries_back(app: InProcessApp) -> None:
    for _ in range(30):
        _login(app, HOME)
    assert try_wrong_password(app, HOME) == "INVALID_CREDENTIALS"


def test_others_elsewhere_do_not_keep_a_person_out_of_the_usual_network(app: InProcessApp) -> None:
    _login(app, HOME)
    for number in range(60):
        try_wrong_password(app, f"203.0.{number}.1")
    assert [try_wrong_password(app, "203.0.113.1") for _ in range(2)] == ["INVALID_CREDENTIALS", "RATE_LIMITED"]
    assert _login(app, HOME)


def _attacked(app: InProcessApp) -> None:
    """Fifty wrong passwords from five networks, and then more of them from each."""
    for number in range(75):
        try_wrong_password(app, f"203.0.{number % 5}.1")


def test_tries_from_five_networks_do_not_keep_the_owner_out_who_comes_from_a_new_one(app: InProcessApp) -> None:
    for _ in range(3):
        _attacked(app)
        assert _login(app, ELSEWHERE)
        app.clock.advance(300)


def test_while_an_account_is_attacked_each_new_network_has_one_try_a_minute(app: InProcessApp) -> None:
    _attacked(app)
    for _ in range(3):
        assert [try_wrong_password(app, ELSEWHERE) for _ in range(3)] == [
            *("INVALID_CREDENTIALS", "RATE_LIMITED", "RATE_LIMITED")
        ]
        assert try_wrong_password(app, "203.0.77.1") == "INVALID_CREDENTIALS"
        with pytest.raises(RateLimited) as refused:
            app.services.sessions.login(_from(app, "203.0.77.1"), KNOWN, PASSWORD)
        assert refused.value.retry_after_seconds <= 61
        app.clock.advance(61)


def test_after_ten_wrong_passwords_the_usual_network_waits_and_is_not_shut_out(app: InProcessApp) -> None:
    _login(app, HOME)
    for _ in range(12):
        try_wrong_password(app, HOME)
    with pytest.raises(RateLimited) as refused:
        app.services.sessions.login(_from(app, HOME), KNOWN, PASSWORD)
    assert refused.value.retry_after_seconds <= 31
    app.clock.advance(refused.value.retry_after_seconds)
    assert _login(app, HOME)


def test_refused_tries_at_many_addresses_write_no_counters(app: InProcessApp) -> None:
    for number in range(100):
        try_wrong_password(app, ELSEWHERE, f"person-{number}@example.com")
    counters = _counters(app)
    for number in range(400):
        assert try_wrong_password(app, ELSEWHERE, f"stranger-{number}@example.com") == "RATE_LIMITED"
    assert _counters(app) == counters
    assert len(counters) <= 2 * 100 + 1


def _counters(app: InProcessApp) -> set[str]:
    return {row["id"] for row in app.tables.rows("login-tries") if not row["id"].startswith("refusals/")}


def test_the_answers_for_an_account_and_for_none_are_the_same(app: InProcessApp) -> None:
    answers: dict[str, list[str]] = {}
    for number, email in enumerate((KNOWN, UNKNOWN)):
        app.clock.advance(300)
        answers[email] = []
        for seconds in (0, 0, 31, 0, 61, 300):
            app.clock.advance(seconds)
            for network in (*range(6), 0):
                answers[email] += [try_wrong_password(app, f"203.{number}.{network}.1", email) for _ in range(12)]
    assert answers[KNOWN] == answers[UNKNOWN]
    assert set(answers[KNOWN]) == {"INVALID_CREDENTIALS", "RATE_LIMITED"}


def test_who_has_a_session_is_not_kept_out_by_anybody(app: InProcessApp) -> None:
    cookie = _login(app, HOME)
    for _ in range(11):
        try_wrong_password(app, HOME)
    with pytest.raises(RateLimited):
        app.services.sessions.login(_from(app, HOME), KNOWN, PASSWORD)
    assert app.services.sessions.signed_in(cookie)
    assert _login(app, HOME, cookie)


def test_with_a_stolen_session_no_more_passwords_are_tried_than_without(app: InProcessApp) -> None:
    cookie = _login(app, HOME)
    codes = [try_wrong_password(app, ELSEWHERE, cookie=cookie) for _ in range(11)]
    assert codes == ["INVALID_CREDENTIALS"] * 10 + ["RATE_LIMITED"]


def test_the_session_of_somebody_else_opens_no_way_round(app: InProcessApp) -> None:
    cookie = _login(app, HOME)
    for _ in range(10):
        try_wrong_password(app, HOME, "other@example.com")
    assert try_wrong_password(app, HOME, "other@example.com", cookie=cookie) == "RATE_LIMITED"


def test_one_network_that_tries_many_accounts_is_stopped(app: InProcessApp) -> None:
    codes = Counter(try_wrong_password(app, ELSEWHERE, f"person-{number}@example.com") for number in range(101))
    assert codes == {"INVALID_CREDENTIALS": 100, "RATE_LIMITED": 1}


def test_tries_at_the_same_time_are_counted_exactly(app: InProcessApp) -> None:
    assert codes_at_once(app) == AT_ONCE


def test_a_login_that_writes_the_same_counter_keeps_nobody_out(app: InProcessApp) -> None:
    conflicts = iter(range(3))

    def writes_at_the_same_moment(point: Point, send: InterceptedCall) -> object:
        if point.operation == "UpdateItem" and next(conflicts, None) is not None:
            raise ClientError({"Error": {"Code": "TransactionConflictException"}}, point.operation)
        return send()

    app.interceptor.watch(writes_at_the_same_moment)
    assert _login(app, HOME)
    assert next(conflicts, None) is None


def test_a_refused_try_is_routine_and_not_recent_activity(app: InProcessApp) -> None:
    for _ in range(11):
        try_wrong_password(app, HOME)
    refused = app.services.audit.list(limit=50)
    assert {record.meaningful for record in refused.items if record.action == "session.login"} == {False}


def test_a_restart_forgets_no_try(app: InProcessApp) -> None:
    for _ in range(10):
        try_wrong_password(app, HOME)
    app.restart()
    assert try_wrong_password(app, HOME) == "RATE_LIMITED"


def test_a_disabled_user_is_refused_like_a_wrong_password(app: InProcessApp) -> None:
    users = app.services.stores.accounts.users
    user = users.by_email(KNOWN)
    assert user is not None
    users.save_alone(replace(user, status=UserStatus.DISABLED))
    assert [try_wrong_password(app, HOME) for _ in range(11)] == ["INVALID_CREDENTIALS"] * 10 + ["RATE_LIMITED"]
