"""Pages of the audit trail, also of lists that are read from two indexes."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.audit.record import AuditRecord, Outcome
from chalicelib.errors import WriteConflict
from chalicelib.stores.audit.records import Audit
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage, lose_first_reply

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


@pytest.fixture
def audit(storage: Storage) -> Audit:
    """Twelve records, one per second: of a destination, one of its deliveries and another resource, in turn.

    Every other one is meaningful.
    """
    store = Audit()
    owners = [("destination", None), ("delivery", "destination"), ("other", None)]
    for number in range(12):
        resource, parent = owners[number % 3]
        transaction = Transaction()
        store.append(
            transaction,
            AuditRecord(
                id=f"record-{number:02}", at=NOW + timedelta(seconds=number), actor_id=None, actor_email=None,
                actor_via="system", action=f"{resource}.update", resource_type=resource, resource_id=resource,
                parent_id=parent, outcome=Outcome.SUCCESS, correlation_id="c", meaningful=number % 2 == 0,
            ),
        )  # fmt: skip
        transaction.commit()
    return store


def walk(
    audit: Audit, limit: int, resource_id: str | None = None, related: bool = False, meaningful: bool | None = None
) -> list[int]:
    """The numbers of all records of the list, read page by page."""
    seen: list[int] = []
    after: str | None = None
    while True:
        page = audit.list(
            limit=limit, after=after, resource_id=resource_id, include_related=related, meaningful=meaningful
        )
        assert len(page.items) <= limit
        seen += [int(record.id[-2:]) for record in page.items]
        if page.next_key is None:
            return seen
        after = page.next_key


@pytest.mark.parametrize("limit", [1, 2, 5, 12, 100])
def test_every_page_size_shows_the_same_list(audit: Audit, limit: int) -> None:
    assert walk(audit, limit) == list(reversed(range(12)))
    assert walk(audit, limit, "destination") == [9, 6, 3, 0]
    assert walk(audit, limit, "destination", related=True) == [10, 9, 7, 6, 4, 3, 1, 0]
    assert walk(audit, limit, "destination", related=True, meaningful=True) == [10, 6, 4, 0]
    assert walk(audit, limit, meaningful=True) == [10, 8, 6, 4, 2, 0]
    assert walk(audit, limit, "nothing") == []


def test_a_record_is_never_written_over(audit: Audit) -> None:
    (first,) = audit.list(limit=1, after=None, resource_id=None, include_related=False, meaningful=None).items
    transaction = Transaction()
    audit.append(transaction, replace(first, actor_email="somebody@example.com"))
    with pytest.raises(WriteConflict):
        transaction.commit()
    (now,) = audit.list(limit=1, after=None, resource_id=None, include_related=False, meaningful=None).items
    assert now == first


def test_a_record_is_one_write_of_the_transaction(storage: Storage) -> None:
    transaction = Transaction()
    Audit().append(transaction, _record("record"))
    storage.interceptor.watch()
    transaction.commit()
    (call,) = storage.interceptor.unwatch()
    assert call.operation == "TransactWriteItems"
    assert len(storage.tables.rows("audit")) == 1
    assert storage.tables.rows("audit-chain") == []


def test_a_lost_reply_is_one_record(storage: Storage) -> None:
    transaction = Transaction()
    Audit().append(transaction, _record("record"))
    storage.interceptor.watch(lose_first_reply)
    transaction.commit()
    storage.interceptor.unwatch()
    assert len(storage.tables.rows("audit")) == 1


def test_a_list_of_all_reads_the_keys_and_then_the_rows_by_hundreds(storage: Storage) -> None:
    for number in range(101):
        transaction = Transaction()
        Audit().append(transaction, _record(f"record {number}"))
        transaction.commit()
    for limit, calls in ((100, ["Query", "BatchGetItem"]), (500, ["Query", "BatchGetItem", "BatchGetItem"])):
        storage.interceptor.watch()
        page = Audit().list(limit=limit, after=None, resource_id=None, include_related=False, meaningful=True)
        assert [point.operation for point in storage.interceptor.unwatch()] == calls
        assert len(page.items) == min(limit, 101)


def _record(record_id: str) -> AuditRecord:
    return AuditRecord(
        id=record_id, at=NOW, actor_id=None, actor_email=None, actor_via="system", action="source.update",
        resource_type="source", resource_id="r", outcome=Outcome.SUCCESS, correlation_id="c",
    )  # fmt: skip
