"""Many rows, sent again and again until the store has taken them all."""

import pytest
from botocore.exceptions import ClientError

from chalicelib.errors import StoreUnavailable
from chalicelib.kit.clock import Deadline
from chalicelib.stores.batch_writer import WRITES_PER_CALL, delete, put, write_rows
from chalicelib.stores.source_tables import SourceTableRow
from tests.service.stores.conftest import Storage
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.throttled_store import throttled


def row(number: int, body: str = "x") -> SourceTableRow:
    return SourceTableRow("source", f"{number:04}", body=body)


def stored(storage: Storage) -> list[str]:
    return sorted(str(row["name"]) for row in storage.tables.rows("source-tables"))


def test_rows_are_put_and_deleted_25_at_a_time(storage: Storage) -> None:
    storage.interceptor.watch()
    write_rows(SourceTableRow, map(put, map(row, range(60))), Deadline.after(10))
    write_rows(SourceTableRow, map(delete, map(row, range(1, 60))), Deadline.after(10))
    assert len(storage.interceptor.unwatch()) == 2 * -(-60 // WRITES_PER_CALL)
    assert stored(storage) == ["0000"]


def test_what_is_not_processed_is_sent_again_after_growing_pauses(storage: Storage) -> None:
    """A refused call and one of which only a part was processed are the same to it."""
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        store.spent_in_moto -= 0.3 if seconds else 0  # as if so much time had passed

    with throttled(units_per_second=20) as store:
        write_rows(SourceTableRow, map(put, map(row, range(100))), Deadline.after(60), sleep=sleep)
    assert stored(storage) == [f"{number:04}" for number in range(100)]
    assert store.refused > 0
    assert 0 < max(pauses) <= 2.0


def test_a_store_that_stays_slow_is_given_up_at_the_deadline(storage: Storage) -> None:
    with throttled(units_per_second=0.001), pytest.raises(StoreUnavailable):
        write_rows(SourceTableRow, map(put, map(row, range(30))), Deadline.after(0.5))


def test_a_definite_refusal_is_not_repeated(storage: Storage) -> None:
    def refuse(point: Point, send: InterceptedCall) -> object:
        raise ClientError({"Error": {"Code": "AccessDeniedException"}}, point.operation)

    storage.interceptor.watch(refuse)
    with pytest.raises(ClientError):
        write_rows(SourceTableRow, [put(row(1))], Deadline.after(10))
    assert len(storage.interceptor.unwatch()) == 1
