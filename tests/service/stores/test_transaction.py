"""Transactions: which refused write is named, and which failures are repeated."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from chalicelib.domain.counts import RegisteredCounts
from chalicelib.errors import Contention, HeadgateError, StoreBusy, StoreRefused, StoreUnavailable, WriteConflict
from chalicelib.stores.claims import Claims
from chalicelib.stores.counts import Counts
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage, lose_first_reply
from tests.support.apps.call_interceptor import InterceptedCall, Point


def claims_of(*keys: str) -> Transaction:
    """A transaction that claims these keys, each with its key as label."""
    transaction = Transaction()
    for key in keys:
        Claims().take(transaction, key, "holder", label=key)
    return transaction


def refused(code: str, *reasons: str) -> tuple[int, dict[str, str], bytes]:
    """An answer of DynamoDB that refuses a transaction."""
    body = {"__type": f"com.amazonaws.dynamodb#{code}", "Message": f"refused [{', '.join(reasons)}]"}
    if reasons:
        body["CancellationReasons"] = [{"Code": reason} for reason in reasons]  # type: ignore[assignment]
    return 400, {"x-amzn-RequestId": "r"}, json.dumps(body).encode()


@contextmanager
def answers(store: Storage, answer: object, *, times: int) -> Iterator[list[Point]]:
    """The first calls get this answer; yields the list of calls, which is filled at the end."""
    seen: list[Point] = []

    def intercept(point: Point, call: InterceptedCall) -> object:
        return answer if point.number_on_side < times else call()

    store.interceptor.watch(intercept)
    try:
        yield seen
    finally:
        seen += store.interceptor.unwatch()


def test_the_first_write_that_is_refused_is_named(storage: Storage) -> None:
    claims_of("b", "c").commit()
    with pytest.raises(WriteConflict) as conflict:
        claims_of("a", "b", "c").commit()
    assert conflict.value.label == "b"
    assert Claims().find("a") is None


def test_the_refused_write_is_named_whatever_the_order_of_the_kinds_of_writes(storage: Storage) -> None:
    """PynamoDB sends deletions, puts and updates in this order."""
    claims_of("a", "b").commit()
    transaction = claims_of("c")
    Claims().release(transaction, "a", "another holder")
    with pytest.raises(WriteConflict) as conflict:
        transaction.commit()
    assert conflict.value.label == "claim.other_holder"


@pytest.mark.parametrize(
    "answer",
    [
        refused("TransactionCanceledException", "TransactionConflict"),
        refused("TransactionCanceledException", "ThrottlingError"),
        refused("TransactionInProgressException"),
    ],
    ids=["conflict", "throttled", "in progress"],
)
def test_contention_is_repeated(storage: Storage, answer: object) -> None:
    with answers(storage, answer, times=1):
        claims_of("a").commit()
    assert Claims().find("a") == "holder"


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refused("TransactionCanceledException", "TransactionConflict"), Contention),
        (refused("TransactionCanceledException", "None", "ThrottlingError"), StoreBusy),
        (refused("TransactionCanceledException", "ProvisionedThroughputExceeded"), StoreBusy),
        (refused("ThrottlingException"), StoreBusy),
    ],
)
def test_contention_that_does_not_end_is_a_busy_store(
    storage: Storage, answer: object, kind: type[StoreBusy], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    with pytest.raises(StoreBusy) as busy, answers(storage, answer, times=999):
        claims_of("a", "b").commit()
    assert type(busy.value) is kind
    assert Claims().find("a") is None


def test_a_condition_that_does_not_hold_is_named_also_when_another_write_meets_contention(storage: Storage) -> None:
    answer = refused("TransactionCanceledException", "TransactionConflict", "ConditionalCheckFailed")
    with pytest.raises(WriteConflict) as conflict, answers(storage, answer, times=99):
        claims_of("a", "b").commit()
    assert conflict.value.label == "b"


def test_a_condition_that_does_not_hold_is_not_repeated(storage: Storage) -> None:
    answer = refused("TransactionCanceledException", "None", "ConditionalCheckFailed")
    with pytest.raises(WriteConflict) as conflict, answers(storage, answer, times=99) as calls:
        claims_of("a", "b").commit()
    assert (conflict.value.label, len(calls)) == ("b", 1)


@pytest.mark.parametrize(
    "answer",
    [
        refused("ValidationException"),
        refused("TransactionCanceledException", "None", "ValidationError"),
        refused("TransactionCanceledException", "None", "ItemCollectionSizeLimitExceeded"),
    ],
)
def test_a_write_that_the_store_refuses_for_good_is_a_definite_failure(storage: Storage, answer: object) -> None:
    with pytest.raises(StoreRefused), answers(storage, answer, times=99) as calls:
        claims_of("a", "b").commit()
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ValidationException", StoreRefused),
        ("ItemCollectionSizeLimitExceededException", StoreRefused),
        ("ThrottlingException", StoreBusy),
        ("RequestLimitExceeded", StoreBusy),
        ("ProvisionedThroughputExceededException", StoreBusy),
        ("TransactionConflictException", Contention),
        ("InternalServerError", StoreUnavailable),
    ],
)
def test_a_single_write_that_is_refused_is_only_unknown_where_it_may_have_happened(
    storage: Storage, code: str, kind: type[HeadgateError]
) -> None:
    counts = RegisteredCounts(at=datetime(2026, 1, 1, tzinfo=UTC), by_type={})
    with pytest.raises(HeadgateError) as error, answers(storage, refused(code), times=99):
        Counts.write(counts)
    assert type(error.value) is kind


def test_a_row_over_the_limit_of_dynamodb_is_a_definite_failure_and_nothing_is_written(storage: Storage) -> None:
    transaction = claims_of("a")
    Claims().take(transaction, "large", "h" * 410_000, label="large")
    with pytest.raises(StoreRefused):
        transaction.commit()
    assert Claims().find("a") is None


def test_another_refusal_is_unavailable_and_is_not_repeated(storage: Storage) -> None:
    answer = refused("AccessDeniedException")
    with pytest.raises(StoreUnavailable), answers(storage, answer, times=99) as calls:
        claims_of("a").commit()
    assert len(calls) == 1


def test_a_commit_whose_reply_was_lost_has_happened_once(storage: Storage) -> None:
    storage.interceptor.watch(lose_first_reply)
    claims_of("a").commit()
    storage.interceptor.unwatch()
    with pytest.raises(WriteConflict):
        claims_of("a").commit()
