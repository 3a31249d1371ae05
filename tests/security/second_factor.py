"""What a second factor is worth: how often a code is taken, and how many are tried before no more is."""

from chalicelib.errors import HeadgateError
from tests.security.figure import Figure
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.second_factors import Person, make_person

TRIES = 30
"""Wrong codes, one a minute: the limits of passwords do not stop them."""


def figures(app: InProcessApp) -> list[Figure]:
    person = make_person(app)
    person.set_up()
    twice = _taken_twice(person)
    app.clock.advance(3600 - app.clock.now.timestamp() % 3600)  # codes are counted by the hour
    without = _signs_in(person, None)
    tried = _tried(person)
    return [
        Figure("codes accepted twice, of an app and for recovery", str(twice), "0", twice == 0),
        Figure("sign-ins without the second factor", str(int(without)), "0", not without),
        Figure("wrong codes in half an hour before the first refusal to try", str(tried), "10", tried == 10),
    ]


def _taken_twice(person: Person) -> int:
    codes = (person.code(), person.recovery_codes[0])
    first = [_signs_in(person, code) for code in codes]
    return sum(_signs_in(person, code) for code in codes) if all(first) else len(codes)


def _tried(person: Person) -> int:
    for number in range(TRIES):
        near = {person.code(steps) for steps in (-1, 0, 1)}
        code = next(f"{digits:06}" for digits in range(10) if f"{digits:06}" not in near)
        try:
            person.sign_in(code)
        except HeadgateError as error:
            if error.code == "RATE_LIMITED":
                return number
        person.app.clock.advance(60)
    return TRIES


def _signs_in(person: Person, code: str | None) -> bool:
    try:
        person.sign_in(code)
    except HeadgateError:
        return False
    return True
