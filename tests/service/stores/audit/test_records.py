"""Pages of the audit trail, also of lists that are read from two indexes."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.audit.filter import AuditFilter
from chalicelib.domain.audit.record import AuditRecord, Outcome
from chalicelib.errors import WriteConflict
from chalicelib.kit.pages import Page
from chalicelib.stores.audit import records
from chalicelib.stores.audit.records import Audit
from chalicelib.stores.transaction import Transaction
from tests.service.stores.conftest import Storage, ids_by_pages
from tests.support.entities import NOW


def record(record_id: str, **fields: Any) -> AuditRecord:
    ordinary = {"at": NOW, "actor_id": None, "actor_email": None, "actor_via": "system", "action": "source.update"}
    ordinary |= {"resource_type": "source", "resource_id": "r", "outcome": Outcome.SUCCESS, "correlation_id": "c"}
    return AuditRecord(id=record_id, **{**ordinary, **fields})


def append(store: Audit, record: AuditRecord) -> None:
    with Transaction() as transaction:
        store.append(transaction, record)


@pytest.fixture
def audit(storage: Storage) -> Audit:
    """Twelve records, one per second: of a destination, one of its deliveries and another resource, in turn.

    Every other one is meaningful.
    """
    store = Audit()
    owners = [("destination", None), ("delivery", "destination"), ("other", None)]
    for number in range(12):
        resource, parent = owners[number % 3]
        append(
            store,
            record(
                f"record-{number:02}", at=NOW + timedelta(seconds=number), resource_id=resource, parent_id=parent,
                meaningful=number % 2 == 0,
            ),
        )  # fmt: skip
    return store


def walk(audit: Audit, limit: int, resource_id: str | None = None, **filters: Any) -> list[int]:
    """The numbers of all records of the list, read page by page."""

    def list_after(after: str | None) -> Page[AuditRecord]:
        page = audit.list(limit=limit, after=after, resource_id=resource_id, **filters)
        assert len(page.items) <= limit
        return page

    return [int(record_id[-2:]) for record_id in ids_by_pages(list_after)]


@pytest.mark.parametrize("limit", [1, 2, 5, 12, 100])
def test_every_page_size_shows_the_same_list(audit: Audit, limit: int) -> None:
    assert walk(audit, limit) == list(reversed(range(12)))
    assert walk(audit, limit, "destination") == [9, 6, 3, 0]
    assert walk(audit, limit, "destination", include_related=True) == [10, 9, 7, 6, 4, 3, 1, 0]
    assert walk(audit, limit, "destination", include_related=True, meaningful=True) == [10, 6, 4, 0]
    assert walk(audit, limit, meaningful=True) == [10, 8, 6, 4, 2, 0]
    assert walk(audit, limit, "nothing") == []


@pytest.mark.parametrize("limit", [1, 2, 12])
def test_a_time_and_values_select_records_on_pages_of_every_size(audit: Audit, limit: int) -> None:
    for number, fields in (
        (12, {"actor_email": "Ann@example.com"}),
        (13, {"actor_id": "ann"}),
        (14, {"action": "a.b"}),
    ):
        append(
            audit, record(f"record-{number}", at=NOW + timedelta(seconds=number), **{"resource_id": "other", **fields})
        )
    middle = AuditFilter(since=NOW + timedelta(seconds=3), until=NOW + timedelta(seconds=9))
    assert walk(audit, limit, shown=middle) == [8, 7, 6, 5, 4, 3]
    assert walk(audit, limit, "destination", include_related=True, shown=middle) == [7, 6, 4, 3]
    assert walk(audit, limit, shown=replace(middle, since=None), meaningful=True) == [8, 6, 4, 2, 0]
    assert walk(audit, limit, shown=AuditFilter(actor="ann@EXAMPLE.com")) == [12]
    assert walk(audit, limit, "other", shown=AuditFilter(actor="ann")) == [13]
    assert walk(audit, limit, shown=AuditFilter(action="a.b", outcome=Outcome.SUCCESS)) == [14]
    assert walk(audit, limit, shown=AuditFilter(action="a.b", outcome=Outcome.FAILED)) == []
    assert walk(audit, limit, shown=replace(middle, correlation_id="c")) == [8, 7, 6, 5, 4, 3]


def test_a_request_reads_a_bounded_number_of_records_and_the_list_goes_on(
    audit: Audit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_FILTERED_ROWS", 4)
    append(audit, record("record-99", at=NOW - timedelta(seconds=1), action="a.b"))
    wanted = AuditFilter(action="a.b")
    first = audit.list(limit=5, shown=wanted)
    assert (first.items, first.more) == ((), True)
    assert walk(audit, 5, shown=wanted) == [99]


def test_a_record_is_never_written_over(audit: Audit) -> None:
    (first,) = audit.list(limit=1).items
    with pytest.raises(WriteConflict):
        append(audit, replace(first, actor_email="somebody@example.com"))
    (now,) = audit.list(limit=1).items
    assert now == first


def test_a_record_is_one_write_of_the_transaction(storage: Storage) -> None:
    storage.interceptor.watch()
    append(Audit(), record("record"))
    (call,) = storage.interceptor.unwatch()
    assert call.operation == "TransactWriteItems"
    assert len(storage.tables.rows("audit")) == 1
    assert storage.tables.rows("audit-chain") == []


def test_a_list_of_all_reads_the_keys_and_then_the_rows_by_hundreds(storage: Storage) -> None:
    for number in range(101):
        append(Audit(), record(f"record {number}"))
    for limit, calls in ((100, ["Query", "BatchGetItem"]), (500, ["Query", "BatchGetItem", "BatchGetItem"])):
        storage.interceptor.watch()
        page = Audit().list(limit=limit, meaningful=True)
        assert [point.operation for point in storage.interceptor.unwatch()] == calls
        assert len(page.items) == min(limit, 101)
