"""When a vanished connector is created again, and what is said about it."""

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.connectors.recreations import (
    CONTESTED_PAUSES,
    CREATED_PER_TICK,
    PAUSES,
    STEADY_AFTER,
    VANISHED_TIMES,
    VANISHED_WITHIN,
    Recreations,
    choose,
    is_due,
    reasons,
    when_missing,
    when_present,
    with_attempt,
)
from chalicelib.domain.health import Failure
from chalicelib.domain.observation import MISSING

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECOND, MINUTE = timedelta(seconds=1), timedelta(minutes=1)


def vanished(*minutes: float) -> Recreations:
    """What is remembered of a connector that vanished at these minutes and was seen again in between."""
    known: Recreations | None = None
    for minute in minutes:
        known = when_present(known, NOW + minute * MINUTE - SECOND)
        known = when_missing(known, NOW + minute * MINUTE)
    assert known
    return known


def test_the_first_attempt_is_at_once() -> None:
    assert is_due(when_missing(None, NOW), NOW)


@pytest.mark.parametrize("count", range(1, 12))
def test_the_pause_after_an_attempt_grows_up_to_half_an_hour(count: int) -> None:
    tried = Recreations(count=count, tried_at=NOW, vanished=(NOW,))
    pause = PAUSES[min(count, len(PAUSES)) - 1]
    assert pause <= 30 * MINUTE
    assert not is_due(tried, NOW + pause - SECOND)
    assert is_due(tried, NOW + pause)


def test_there_are_at_most_six_attempts_in_six_minutes() -> None:
    known, attempts = when_missing(None, NOW), []
    for second in range(0, 3600, 10):
        now = NOW + second * SECOND
        if is_due(known, now):
            known = with_attempt(known, now)
            attempts.append(second)
    assert attempts[:5] == [0, 10, 70, 190, 430]
    assert max(sum(begin <= one < begin + 360 for one in attempts) for begin in range(3600)) <= 6


def test_one_tick_creates_a_bounded_number_first_those_that_were_tried_least() -> None:
    fresh = {f"fresh {number}": Recreations() for number in range(CREATED_PER_TICK - 1)}
    tried = {f"tried {number}": Recreations(count=number + 1, tried_at=NOW - 99 * MINUTE) for number in range(3)}
    assert set(choose(tried | fresh, NOW)) == {*fresh, "tried 0"}


def test_attempts_are_forgotten_after_the_connector_has_existed_for_a_while() -> None:
    back = when_present(Recreations(count=3, tried_at=NOW), NOW)
    assert back == Recreations(count=3, tried_at=NOW, seen_since=NOW)
    assert when_present(back, NOW + STEADY_AFTER - SECOND) == back
    assert when_present(back, NOW + STEADY_AFTER) is None


def test_a_connector_that_stays_missing_has_vanished_once() -> None:
    assert when_missing(vanished(0), NOW + MINUTE) == vanished(0)


@pytest.mark.parametrize(("minutes", "contested"), [((0, 1), False), ((0, 7, 15), True), ((0, 7, 15.1), False)])
def test_one_that_vanishes_three_times_within_a_quarter_of_an_hour_has_another_owner(
    minutes: tuple[float, ...], contested: bool
) -> None:
    assert vanished(*minutes).contested is contested
    assert (VANISHED_TIMES, VANISHED_WITHIN) == (3, 15 * MINUTE)


def test_the_pauses_of_a_connector_with_another_owner_grow_up_to_an_hour() -> None:
    known = vanished(0, 2, 4)
    pauses = []
    for number in range(8):
        tried = with_attempt(Recreations(count=2 + number, contested=known.contested), NOW)
        assert tried.next_at
        pauses.append(tried.next_at - NOW)
    assert pauses[:4] == list(CONTESTED_PAUSES)
    assert set(pauses[4:]) == {60 * MINUTE}


def test_it_stays_with_its_other_owner_until_it_is_steady() -> None:
    assert vanished(0, 2, 4, 16, 30).contested


def test_the_reasons_say_what_was_tried_and_when_the_next_attempt_is() -> None:
    assert reasons(None, None) == (MISSING,)
    assert reasons(vanished(0), None) == (MISSING,)
    first, tried = reasons(with_attempt(vanished(0), NOW), None)
    assert first == MISSING
    assert tried.startswith("Headgate has tried to create it again once; next try at 2026-01-01T00:00:10.000Z.")


def test_the_reasons_contain_the_error_of_the_last_attempt_and_no_older_one() -> None:
    tried = with_attempt(vanished(0), NOW)
    failure = Failure(code="CONNECT_UNAVAILABLE", message="It cannot be reached.", at=NOW)
    older = Failure(code="VALIDATION_FAILED", message="Long ago.", at=NOW - MINUTE)
    assert reasons(tried, failure)[1] == "The last attempt failed: It cannot be reached."
    assert reasons(tried, older) == reasons(tried, None)


@pytest.mark.parametrize(
    "known",
    [
        with_attempt(vanished(0, 2, 4), NOW),
        Recreations(count=3, tried_at=NOW, vanished=(NOW,)),
    ],
    ids=["seen again in between", "removed before any look"],
)
def test_the_reasons_name_another_owner_and_what_to_do(known: Recreations) -> None:
    assert "strimzi.io/use-connector-resources" in reasons(known, None)[1]
    assert "deploy the pipeline again" in reasons(known, None)[2]
