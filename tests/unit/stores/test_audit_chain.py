"""Appending to the chains of the audit trail: what it costs, and what happens when several append at the same time."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import pytest

from chalicelib.domain.audit import AuditRecord, Outcome
from chalicelib.domain.integrity.chain import SHARDS, ChainKey
from chalicelib.errors import StoreUnavailable, WriteConflict
from chalicelib.kit.ids import new_id
from chalicelib.stores.audit import Audit
from chalicelib.stores.audit_chain import AuditChain
from chalicelib.stores.claims import Claims
from chalicelib.stores.transaction import Transaction
from tests.support.audit_tampering import CHAIN, StoredTrail, chain_faults
from tests.support.call_interceptor import InterceptedCall, Point
from tests.unit.stores.conftest import Storage, lose_first_reply
from tests.unit.stores.test_transaction import refused

KEY = bytes(32)
NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def process() -> Audit:
    """The store of a new process."""
    return Audit(AuditChain(lambda: ChainKey(key=KEY, since=None)))


def record() -> AuditRecord:
    return AuditRecord(
        id=new_id(), at=NOW, actor_id=None, actor_email=None, actor_via="system", action="source.update",
        resource_type="source", resource_id="r", outcome=Outcome.SUCCESS, correlation_id="c",
    )  # fmt: skip


def append(audit: Audit, count: int = 1) -> None:
    transaction = Transaction()
    for _ in range(count):
        audit.append(transaction, record())
    transaction.commit()


def calls(storage: Storage, request: Callable[[], object]) -> Counter[str]:
    storage.interceptor.watch()
    try:
        request()
    finally:
        points = storage.interceptor.unwatch()
    return Counter(point.operation for point in points)


def lengths(storage: Storage) -> dict[str, int]:
    """How many records each shard has, after a check that every chain is whole."""
    assert list(chain_faults(storage.tables, KEY)) == []
    return {one.shard: one.sequence for one in process().chain.heads().values()}


def test_a_process_reads_the_ends_once_and_then_appends_with_one_call(storage: Storage) -> None:
    audit = process()
    assert calls(storage, lambda: append(audit)) == {"BatchGetItem": 1, "TransactWriteItems": 1}
    assert calls(storage, lambda: append(audit)) == {"TransactWriteItems": 1}
    assert list(lengths(storage).values()) == [2]


def test_records_of_one_transaction_are_links_of_one_shard(storage: Storage) -> None:
    append(process(), 3)
    assert list(lengths(storage).values()) == [3]


def test_a_process_whose_shard_was_used_by_another_one_appends_behind_that_and_goes_elsewhere(
    storage: Storage,
) -> None:
    one, other = process(), process()
    other.chain._shards = one.chain._shards = list(SHARDS)
    append(one)
    append(other)
    assert calls(storage, lambda: append(one)) == {"TransactWriteItems": 2}
    assert lengths(storage) == {"0": 3}
    for _ in range(8):
        append(one)
        append(other)
    assert calls(storage, lambda: append(one)) == calls(storage, lambda: append(other)) == {"TransactWriteItems": 1}
    assert lengths(storage)["0"] < 21
    assert sum(lengths(storage).values()) == 21


def test_a_lost_reply_is_one_record(storage: Storage) -> None:
    audit = process()
    append(audit)
    storage.interceptor.watch(lose_first_reply)
    append(audit)
    storage.interceptor.unwatch()
    append(audit)
    assert list(lengths(storage).values()) == [3]


def test_a_lost_reply_is_recognised_when_others_have_appended_since(storage: Storage) -> None:
    one, other = process(), process()
    other.chain._shards = one.chain._shards = list(SHARDS)
    append(one)

    def lose(point: Point, send: InterceptedCall) -> object:
        answer = lose_first_reply
        if point.number_on_side == 0:
            try:
                return answer(point, send)
            finally:
                with storage.interceptor.unrecorded():
                    append(other)
        return send()

    storage.interceptor.watch(lose)
    append(one)
    storage.interceptor.unwatch()
    append(one)
    assert sum(lengths(storage).values()) == 4


def test_a_conflict_of_the_change_itself_is_named_and_leaves_no_record(storage: Storage) -> None:
    audit = process()
    for expected in (None, "claim"):
        transaction = Transaction()
        audit.append(transaction, record())
        Claims().take(transaction, "key", "holder", label="claim")
        if expected is None:
            transaction.commit()
            continue
        with pytest.raises(WriteConflict) as conflict:
            transaction.commit()
        assert conflict.value.label == expected
    append(audit)
    assert list(lengths(storage).values()) == [2]


def test_a_shard_that_is_contended_is_left_for_another_one(storage: Storage) -> None:
    audit, answers = process(), list[Point]()

    def contended(point: Point, send: InterceptedCall) -> object:
        if point.operation == "TransactWriteItems" and len(answers) < 12:
            answers.append(point)
            return refused("TransactionCanceledException", "None", "None", "TransactionConflict")
        return send()

    storage.interceptor.watch(contended)
    append(audit)
    storage.interceptor.unwatch()
    assert sum(lengths(storage).values()) == 1


def test_an_unknown_outcome_is_looked_up_before_the_next_record(storage: Storage) -> None:
    audit = process()
    append(audit)

    def fail(point: Point, send: InterceptedCall) -> object:
        send()
        return refused("InternalServerError") if point.number_on_side else refused("AccessDeniedException")

    storage.interceptor.watch(fail)
    with pytest.raises(StoreUnavailable):
        append(audit)
    storage.interceptor.unwatch()
    assert calls(storage, lambda: append(audit)) == {"BatchGetItem": 1, "TransactWriteItems": 1}
    assert list(lengths(storage).values()) == [3]


def test_many_threads_of_several_processes_append_without_a_failure(storage: Storage) -> None:
    processes = [process() for _ in range(4)]
    with ThreadPoolExecutor(16) as pool:
        assert len(list(pool.map(append, processes * 30))) == 120
    assert sum(lengths(storage).values()) == 120


def test_a_chain_whose_head_was_deleted_is_left_for_another_one(storage: Storage) -> None:
    """Tampering with one shard must not stop changes."""
    audit = process()
    append(audit)
    trail = StoredTrail(storage.tables)
    trail.delete(CHAIN, trail.heads()[0])
    append(audit)
    append(process())
    assert len(trail.records()) == 3
