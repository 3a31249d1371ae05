"""How often passwords may be tried: exactly, before any hashing, and without locking anybody out."""

import threading
from collections import Counter
from dataclasses import replace

import pytest
from botocore.exceptions import ClientError

from chalicelib.domain.access import RequestContext, Role
from chalicelib.domain.accounts.user import User, UserStatus
from chalicelib.errors import HeadgateError, RateLimited, Unauthenticated
from chalicelib.kit.ids import new_id
from chalicelib.kit.masking import Secret
from chalicelib.secrets import passwords
from chalicelib.secrets.passwords import hash_password
from chalicelib.stores.transaction import Transaction
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp

PASSWORD = Secret("correct horse battery staple")
EMAIL = "person@example.com"
HOME, ELSEWHERE = "192.0.2.7", "198.51.100.9"


@pytest.fixture(autouse=True)
def _person(app: InProcessApp) -> None:
    now, transaction = app.clock(), Transaction()
    user = User(
        id=new_id(), email=EMAIL, role=Role.OPS, password_hash=hash_password(PASSWORD), created_at=now, updated_at=now
    )
    app.services.stores.accounts.users.put_new(transaction, user)
    transaction.commit()


def _from(app: InProcessApp, address: str) -> RequestContext:
    return replace(app.context(), source_address=address)


def _fail(app: InProcessApp, address: str, email: str = EMAIL, *, cookie: str | None = None) -> str:
    """What a login with a wrong password raises."""
    with pytest.raises(HeadgateError) as refused:
        app.services.sessions.login(_from(app, address), email, Secret("wrong"), replaces=cookie)
    return refused.value.code


def _login(app: InProcessApp, address: str, cookie: str | None = None) -> str:
    made = app.services.sessions.login(_from(app, address), EMAIL, PASSWORD, replaces=cookie)
    assert made.token is not None
    return made.token.reveal()


@pytest.mark.parametrize("email", [EMAIL, "nobody@example.com"])
def test_after_ten_wrong_passwords_no_more_is_tried_until_the_window_ends(app: InProcessApp, email: str) -> None:
    assert [_fail(app, HOME, email) for _ in range(11)] == ["INVALID_CREDENTIALS"] * 10 + ["RATE_LIMITED"]
    with pytest.raises(RateLimited) as refused:
        app.services.sessions.login(_from(app, HOME), email, PASSWORD)
    app.clock.advance(refused.value.retry_after_seconds)
    assert _fail(app, HOME, email) == "INVALID_CREDENTIALS"


def test_a_refused_try_hashes_nothing(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(10):
        _fail(app, HOME)
    monkeypatch.setattr(passwords, "MAX_HASHES", 0)
    monkeypatch.setattr(passwords, "_permits", threading.BoundedSemaphore(1))
    assert passwords._permits.acquire(blocking=False)
    monkeypatch.setattr(passwords, "_WAIT_SECONDS", 0.01)
    with pytest.raises(RateLimited) as refused:
        app.services.sessions.login(_from(app, HOME), EMAIL, PASSWORD)
    assert "passwords were tried" in refused.value.message


def test_who_signs_in_gets_the_tries_back(app: InProcessApp) -> None:
    for _ in range(30):
        _login(app, HOME)
    assert _fail(app, HOME) == "INVALID_CREDENTIALS"


def test_others_elsewhere_do_not_keep_a_person_out_of_the_usual_network(app: InProcessApp) -> None:
    _login(app, HOME)
    for number in range(60):
        _fail(app, f"203.0.{number}.1")
    assert _fail(app, "203.0.113.1") == "RATE_LIMITED"
    assert _login(app, HOME)


def test_who_has_a_session_is_not_kept_out_by_anybody(app: InProcessApp) -> None:
    cookie = _login(app, HOME)
    for _ in range(11):
        _fail(app, HOME)
    with pytest.raises(RateLimited):
        app.services.sessions.login(_from(app, HOME), EMAIL, PASSWORD)
    assert app.services.sessions.signed_in(cookie)
    assert _login(app, HOME, cookie)


def test_with_a_stolen_session_no_more_passwords_are_tried_than_without(app: InProcessApp) -> None:
    cookie = _login(app, HOME)
    codes = [_fail(app, ELSEWHERE, cookie=cookie) for _ in range(11)]
    assert codes == ["INVALID_CREDENTIALS"] * 10 + ["RATE_LIMITED"]


def test_the_session_of_somebody_else_opens_no_way_round(app: InProcessApp) -> None:
    cookie = _login(app, HOME)
    for _ in range(10):
        _fail(app, HOME, "other@example.com")
    assert _fail(app, HOME, "other@example.com", cookie=cookie) == "RATE_LIMITED"


def test_one_network_that_tries_many_accounts_is_stopped(app: InProcessApp) -> None:
    codes = Counter(_fail(app, ELSEWHERE, f"person-{number}@example.com") for number in range(101))
    assert codes == {"INVALID_CREDENTIALS": 100, "RATE_LIMITED": 1}


def test_fifty_tries_at_the_same_time_are_counted_exactly(app: InProcessApp) -> None:
    codes: list[str] = []

    def attempt() -> None:
        try:
            app.services.sessions.login(_from(app, HOME), EMAIL, Secret("wrong"))
        except (Unauthenticated, RateLimited) as error:
            codes.append(error.code)

    threads = [threading.Thread(target=attempt) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(codes) == {"INVALID_CREDENTIALS": 10, "RATE_LIMITED": 40}


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
        _fail(app, HOME)
    refused = app.services.audit.list(limit=50, after=None, resource_id=None, include_related=False, meaningful=None)
    assert {one.meaningful for one in refused.items if one.action == "session.login"} == {False}


def test_a_restart_forgets_no_try(app: InProcessApp) -> None:
    for _ in range(10):
        _fail(app, HOME)
    app.restart()
    assert _fail(app, HOME) == "RATE_LIMITED"


def test_a_disabled_user_is_refused_like_a_wrong_password(app: InProcessApp) -> None:
    users = app.services.stores.accounts.users
    user = users.by_email(EMAIL)
    assert user is not None
    users.save_alone(replace(user, status=UserStatus.DISABLED))
    assert [_fail(app, HOME) for _ in range(11)] == ["INVALID_CREDENTIALS"] * 10 + ["RATE_LIMITED"]
