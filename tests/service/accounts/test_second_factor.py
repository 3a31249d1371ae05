"""Signing in with a second factor: asked for after the right password, taken once, and counted."""

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from chalicelib.domain.accounts.user import UserStatus
from chalicelib.errors import HeadgateError, RateLimited, Unauthenticated
from chalicelib.kit.masking import Secret
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.second_factors import HOME, PASSWORD, Person, make_person

ELSEWHERE = "198.51.100.9"


@pytest.fixture
def person(app: InProcessApp) -> Person:
    """Somebody with a second factor."""
    made = make_person(app)
    made.set_up()
    return made


def refusal(person: Person, code: str | None = None, **more: object) -> str:
    """The code of the error of a sign-in that must be refused."""
    with pytest.raises(HeadgateError) as refused:
        person.sign_in(code, **more)  # type: ignore[arg-type]
    return refused.value.code


def wrong_code(person: Person) -> str:
    """Six digits that are no code of now."""
    near = {person.code(steps) for steps in (-1, 0, 1)}
    return next(code for code in ("000000", "111111", "222222", "333333") if code not in near)


def test_the_password_alone_does_not_sign_in(person: Person) -> None:
    assert refusal(person) == "SECOND_FACTOR_REQUIRED"
    assert person.sign_in(person.code()).token


def test_a_wrong_password_says_nothing_about_a_second_factor(person: Person) -> None:
    for code in (None, person.code(), wrong_code(person)):
        assert refusal(person, code, password=Secret("a wrong password")) == "INVALID_CREDENTIALS"


def test_a_code_is_taken_once(person: Person) -> None:
    code = person.code()
    assert person.sign_in(code).token
    assert refusal(person, code) == "SECOND_FACTOR_REQUIRED"
    person.app.clock.advance(30)
    assert refusal(person, code) == "SECOND_FACTOR_REQUIRED"
    assert person.sign_in(person.code()).token


def test_the_code_that_confirmed_the_app_does_not_sign_in(app: InProcessApp) -> None:
    person = make_person(app)
    person.set_up()
    assert refusal(person, person.code(-1)) == "SECOND_FACTOR_REQUIRED"


def test_of_sign_ins_with_one_code_at_once_one_succeeds(person: Person) -> None:
    code, ready = person.code(), threading.Barrier(4)

    def try_it(_number: int) -> str:
        ready.wait()
        try:
            person.sign_in(code)
        except HeadgateError as error:
            return error.code
        return "signed in"

    with ThreadPoolExecutor(4) as browsers:
        assert Counter(browsers.map(try_it, range(4))) == {"signed in": 1, "SECOND_FACTOR_REQUIRED": 3}


@pytest.mark.parametrize(("steps", "taken"), [(-2, False), (-1, True), (1, True), (2, False)])
def test_one_step_of_the_clock_is_allowed(person: Person, steps: int, taken: bool) -> None:
    person.app.clock.advance(60)
    if taken:
        assert person.sign_in(person.code(steps)).token
    else:
        assert refusal(person, person.code(steps)) == "SECOND_FACTOR_REQUIRED"


def test_each_recovery_code_signs_in_once_however_it_is_written(person: Person) -> None:
    assert len(set(person.recovery_codes)) == 10
    for number, code in enumerate(person.recovery_codes):
        spelled = (code, code.upper(), code.replace("-", ""), f" {code} ")[number % 4]
        assert person.sign_in(spelled).token
        assert refusal(person, code) == "SECOND_FACTOR_REQUIRED"
        person.app.clock.advance(300)


def test_of_sign_ins_with_one_recovery_code_at_once_one_succeeds(person: Person) -> None:
    code = person.recovery_codes[0]
    ready = threading.Barrier(3)

    def try_it(_number: int) -> str:
        ready.wait()
        try:
            person.sign_in(code)
        except HeadgateError as error:
            return error.code
        return "signed in"

    with ThreadPoolExecutor(3) as browsers:
        assert Counter(browsers.map(try_it, range(3))) == {"signed in": 1, "SECOND_FACTOR_REQUIRED": 2}


def test_a_login_between_does_not_bring_a_used_recovery_code_back(person: Person) -> None:
    first, second = person.recovery_codes[:2]
    assert person.sign_in(first).token
    assert person.sign_in(person.code()).token
    assert person.sign_in(second).token
    assert refusal(person, first) == "SECOND_FACTOR_REQUIRED"


def test_after_ten_wrong_codes_no_more_is_tried_for_an_hour(person: Person) -> None:
    codes = []
    for _ in range(12):
        codes.append(refusal(person, wrong_code(person)))
        person.app.clock.advance(61)
    assert codes == ["SECOND_FACTOR_REQUIRED"] * 10 + ["RATE_LIMITED"] * 2
    with pytest.raises(RateLimited) as refused:
        person.sign_in(person.code())
    person.app.clock.advance(refused.value.retry_after_seconds)
    assert person.sign_in(person.code()).token


def test_wrong_codes_from_many_networks_are_counted_together_and_do_not_keep_the_owner_out(person: Person) -> None:
    codes = Counter(refusal(person, wrong_code(person), address=f"203.0.{number}.1") for number in range(15))
    assert codes == {"SECOND_FACTOR_REQUIRED": 10, "RATE_LIMITED": 5}
    assert person.sign_in(person.code(), address=HOME).token
    assert person.sign_in(person.recovery_codes[0], address=ELSEWHERE).token


def test_a_wrong_code_is_recorded_as_a_failed_sign_in_without_the_code(person: Person) -> None:
    code = wrong_code(person)
    refusal(person, code)
    [record] = [one for one in person.app.audit_records(person.user.id) if one.outcome == "denied"]
    assert (record.action, record.after and record.after["reason"]) == ("session.login", "wrong_code")
    assert code not in str(person.app.tables.rows("audit"))


def test_who_knows_the_password_and_has_no_code_does_not_go_unseen(person: Person) -> None:
    refusal(person)
    [record] = [one for one in person.app.audit_records(person.user.id) if one.outcome == "denied"]
    assert (record.action, record.after and record.after["reason"]) == ("session.login", "code_missing")


def test_the_record_of_a_sign_in_says_which_factor_there_was(person: Person) -> None:
    person.sign_in(person.code())
    person.sign_in(person.recovery_codes[0])
    signed_in = [one.after or {} for one in person.app.audit_records(person.user.id) if one.action == "session.login"]
    seen = [(after["via"], after.get("second_factor")) for after in signed_in]
    assert {("password", "app"), ("password", "recovery_code")} <= set(seen)


def test_no_secret_and_no_recovery_code_is_stored_in_clear(person: Person) -> None:
    person.sign_in(person.recovery_codes[0])
    names = ("users", "secrets", "audit", "sessions", "login-tries", "account-claims", "idempotency")
    stored = "".join(str(person.app.tables.rows(name)) for name in names)
    for secret in (person.secret, *person.recovery_codes, *(code.replace("-", "") for code in person.recovery_codes)):
        assert secret not in stored


def test_a_second_factor_survives_a_restart(person: Person) -> None:
    person.app.restart()
    assert refusal(person) == "SECOND_FACTOR_REQUIRED"
    assert person.sign_in(person.code()).token


def test_a_disabled_user_is_refused_like_a_wrong_password_whatever_the_code_is(person: Person) -> None:
    users = person.app.services.stores.accounts.users
    users.save_alone(replace(users.get(person.user.id), status=UserStatus.DISABLED))
    for code in (person.code(), None, wrong_code(person)):
        assert refusal(person, code) == "INVALID_CREDENTIALS"


def test_who_sets_a_second_factor_up_during_a_login_is_not_signed_in_without_it(app: InProcessApp) -> None:
    person = make_person(app)
    app.interceptor.before_first_write(person.set_up)
    with pytest.raises(Unauthenticated):
        person.sign_in()


def test_a_wrong_password_costs_the_same_calls_with_and_without_a_second_factor(person: Person) -> None:
    person.app.restart()
    person.app.interceptor.watch()
    refusal(person, person.code(), password=Secret("a wrong password"))
    wrong = len(person.app.interceptor.unwatch())
    stranger = make_person(person.app)
    stranger.sign_in()
    person.app.interceptor.watch()
    refusal(stranger, "123456", password=Secret("a wrong password"))
    assert len(person.app.interceptor.unwatch()) == wrong


def test_the_password_alone_is_counted_as_a_try(person: Person) -> None:
    codes = [refusal(person) for _ in range(11)]
    assert codes == ["SECOND_FACTOR_REQUIRED"] * 10 + ["RATE_LIMITED"]
    assert PASSWORD.reveal() not in str(person.app.tables.rows("audit"))
