"""Which answer of a server is one to a question, and for how long."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.live_reads import LiveAnswer, LiveQuestion

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
QUESTION = LiveQuestion[str](server=("db", 5432), subject=("readiness", "source", 1), answer=str)


def test_another_version_is_another_question_to_the_same_server() -> None:
    changed = replace(QUESTION, subject=("readiness", "source", 2))
    assert changed.key != QUESTION.key
    assert changed.lease_key == QUESTION.lease_key


def test_the_same_question_to_another_server_is_another_question() -> None:
    moved = replace(QUESTION, server=("db2", 5432))
    assert moved.key != QUESTION.key
    assert moved.lease_key != QUESTION.lease_key


@pytest.mark.parametrize(("age", "counts"), [(0, True), (4.9, True), (5, False), (-4, True), (-6, False)])
def test_an_answer_counts_for_five_seconds_unless_it_is_of_a_time_to_come(age: float, counts: bool) -> None:
    answer = LiveAnswer("yes", NOW - timedelta(seconds=age + 10), NOW - timedelta(seconds=age))
    assert answer.counts(QUESTION, NOW, None) is counts


@pytest.mark.parametrize(("asked", "counts"), [(-1, False), (0, False), (1, True)])
def test_a_fresh_answer_was_asked_for_after_the_caller_came(asked: float, counts: bool) -> None:
    answer = LiveAnswer("yes", NOW + timedelta(seconds=asked), NOW + timedelta(seconds=2))
    assert answer.counts(QUESTION, NOW + timedelta(seconds=2), NOW) is counts
