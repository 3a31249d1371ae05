"""Leases of servers, and the answers that are kept."""

import os
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from chalicelib.domain.live_reads import KEPT, LEASE, LiveAnswer, LiveQuestion
from chalicelib.stores.live_reads import LiveAnswers
from tests.service.stores.conftest import Storage, lose_first_reply
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.entities import NOW

QUESTION = LiveQuestion[str](server=("db", 5432), subject=("readiness", 1), answer=str)
MOMENT = timedelta(milliseconds=1)


@pytest.fixture
def store(storage: Storage) -> LiveAnswers:
    return LiveAnswers()


def take(store: LiveAnswers, after: timedelta = timedelta(0)) -> str:
    token = store.leases.take(QUESTION.lease_key, NOW + after)
    assert token
    return token


def looked(
    store: LiveAnswers, after: timedelta = timedelta(0), question: LiveQuestion[Any] = QUESTION
) -> tuple[LiveAnswer[Any] | None, bool]:
    """What is kept, and whether the lease is free."""
    answer, lease = store.find(question, NOW + after)
    return answer, lease.is_free


def test_one_caller_has_the_lease_of_a_server_until_it_is_given_back(store: LiveAnswers) -> None:
    token = take(store)
    assert store.leases.take(QUESTION.lease_key, NOW) is None
    assert looked(store) == (None, False)
    store.leases.give_back(QUESTION.lease_key, token)
    assert looked(store) == (None, True)
    take(store)


def test_the_lease_of_a_dead_holder_ends_and_its_late_answer_is_not_kept(store: LiveAnswers) -> None:
    dead = take(store)
    assert store.leases.take(QUESTION.lease_key, NOW + LEASE - MOMENT) is None
    living = take(store, LEASE)
    store.finish(QUESTION, LiveAnswer("late", NOW, NOW), dead)
    store.leases.give_back(QUESTION.lease_key, dead)
    assert looked(store, LEASE) == (None, False)
    store.finish(QUESTION, LiveAnswer("right", NOW + LEASE, NOW + LEASE), living)
    assert looked(store, LEASE) == (LiveAnswer("right", NOW + LEASE, NOW + LEASE), True)


def test_a_lease_is_not_taken_by_who_has_seen_it_before_another_one_had_it(store: LiveAnswers) -> None:
    for _ in range(2):  # there is no row of it at first
        _, seen = store.find(QUESTION, NOW)
        store.finish(QUESTION, LiveAnswer("yes", NOW, NOW), take(store))
        assert store.leases.take(QUESTION.lease_key, NOW, seen) is None
    _, seen = store.find(QUESTION, NOW)
    assert store.leases.take(QUESTION.lease_key, NOW, seen)


def test_the_ended_lease_of_a_dead_holder_is_taken_by_who_has_seen_it(store: LiveAnswers) -> None:
    take(store)
    _, seen = store.find(QUESTION, NOW + LEASE)
    assert store.leases.take(QUESTION.lease_key, NOW + LEASE, seen)


def test_a_lease_that_was_given_back_is_free_also_for_slow_clocks(store: LiveAnswers) -> None:
    store.leases.give_back(QUESTION.lease_key, take(store))
    assert store.leases.take(QUESTION.lease_key, NOW - timedelta(hours=1))


def test_a_lease_whose_reply_was_lost_is_ours(store: LiveAnswers, storage: Storage) -> None:
    storage.interceptor.watch(lose_first_reply)
    take(store)
    assert len(storage.interceptor.unwatch()) == 2


def test_a_lease_that_its_holder_ends_at_this_moment_is_not_free_yet(store: LiveAnswers, storage: Storage) -> None:
    def refuse(point: Point, _send: InterceptedCall) -> object:
        raise ClientError({"Error": {"Code": "TransactionConflictException"}}, point.operation)

    storage.interceptor.watch(refuse)
    assert store.leases.take(QUESTION.lease_key, NOW) is None


def test_an_answer_is_kept_for_five_minutes_although_its_row_may_stay(store: LiveAnswers) -> None:
    store.finish(QUESTION, LiveAnswer("yes", NOW, NOW), take(store))
    assert store.find(QUESTION, NOW + KEPT - timedelta(seconds=1))[0] == LiveAnswer("yes", NOW, NOW)
    assert store.find(QUESTION, NOW + KEPT)[0] is None


def test_an_answer_that_is_too_large_for_a_row_is_not_kept(store: LiveAnswers) -> None:
    store.finish(QUESTION, LiveAnswer(os.urandom(400_000).hex(), NOW, NOW), take(store))
    assert looked(store) == (None, True)


def test_an_answer_that_this_release_cannot_read_is_none(store: LiveAnswers) -> None:
    store.finish(QUESTION, LiveAnswer("yes", NOW, NOW), take(store))
    assert looked(store, question=replace(QUESTION, answer=int)) == (None, True)


def test_of_several_leases_the_free_ones_are_known(store: LiveAnswers) -> None:
    store.leases.take("b", NOW)
    assert store.leases.free_of(["a", "b", "c"], NOW) == ["a", "c"]
    assert store.leases.free_of(["a", "b", "c"], NOW + LEASE) == ["a", "b", "c"]
