"""Rows that are read before they are asked for: with the first call of a request, and never past a write of its own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.errors import StoreUnavailable, WriteConflict
from chalicelib.stores.claims import ClaimRow, Targets
from chalicelib.stores.rows import AT_MOST, expect, one_request, read_rows
from chalicelib.stores.transaction import Transaction
from tests.integration.stores.conftest import Room
from tests.support.call_interceptor import Point, RequestContext


def claim(key: str, holder: str) -> None:
    """Stored past everything that this process remembers."""
    ClaimRow(key, holder=holder, write_id=holder).save()


def holder(key: str) -> str | None:
    (row,) = read_rows((ClaimRow, key))
    return row and row.holder


def reads(room: Room) -> int:
    return sum(point.what == "BatchGetItem" for point in room.gate.unwatch())


@contextmanager
def a_request_with_a_here() -> Iterator[None]:
    """The row `a` has been read and not yet handed out."""
    with one_request():
        expect((ClaimRow, "a"))
        assert holder("b") is None
        yield


def test_what_is_expected_comes_with_the_first_row_that_is_asked_for(room: Room) -> None:
    claim("a", "anna")
    claim("b", "bert")
    room.gate.watch()
    with one_request():
        expect((ClaimRow, "b"), (ClaimRow, "c"))
        assert [holder("a"), holder("b"), holder("c")] == ["anna", "bert", None]
    assert reads(room) == 1


def test_one_that_is_expected_may_be_the_first_that_is_asked_for(room: Room) -> None:
    claim("a", "anna")
    room.gate.watch()
    with one_request():
        expect((ClaimRow, "a"))
        assert holder("a") == "anna"
    assert reads(room) == 1


def test_only_what_is_not_here_yet_is_read(room: Room) -> None:
    for key in "abc":
        claim(key, key)
    seen: list[int] = []

    def count(point: Point, call: RequestContext) -> object:
        seen.append(point.turn)
        return call()

    with one_request():
        expect((ClaimRow, "b"))
        holder("a")
        claim("b", "later")
        room.gate.watch(count)
        assert [row.holder for row in read_rows((ClaimRow, "b"), (ClaimRow, "c"))] == ["b", "c"]
        room.gate.unwatch()
    assert len(seen) == 1


def test_a_row_is_handed_out_once(room: Room) -> None:
    claim("a", "anna")
    with a_request_with_a_here():
        claim("a", "berta")
        assert [holder("a"), holder("a")] == ["anna", "berta"]


def test_a_row_asked_for_twice_in_one_call_is_there_twice(room: Room) -> None:
    claim("a", "anna")
    with a_request_with_a_here():
        assert [row.holder for row in read_rows((ClaimRow, "a"), (ClaimRow, "a"))] == ["anna", "anna"]


def test_a_row_that_the_request_has_written_is_read_again(room: Room) -> None:
    claim("a", "anna")
    with a_request_with_a_here():
        transaction = Transaction()
        transaction.put(ClaimRow("a", holder="berta", write_id="w"), condition=None, label="a")
        transaction.commit()
        assert holder("a") == "berta"


def test_a_row_whose_write_was_refused_is_read_again(room: Room) -> None:
    with a_request_with_a_here():
        claim("a", "somebody else")
        transaction = Transaction()
        transaction.put(ClaimRow("a", holder="anna", write_id="w"), condition=ClaimRow.id.does_not_exist(), label="a")
        with pytest.raises(WriteConflict):
            transaction.commit()
        assert holder("a") == "somebody else"


def test_what_was_written_to_be_asked_for_again_needs_no_reading(room: Room) -> None:
    targets, transaction = Targets(), Transaction()
    with one_request():
        targets.replace(transaction, "target/x", {"orders": "delivery-1"}, expected_version=0)
        transaction.commit()
        room.gate.watch()
        assert targets.holders("target/x") == ({"orders": "delivery-1"}, 1)
        assert reads(room) == 0


def test_what_another_has_written_over_that_is_found_out_and_then_read(room: Room) -> None:
    targets, transaction = Targets(), Transaction()
    with one_request():
        targets.replace(transaction, "target/x", {"orders": "mine"}, expected_version=0)
        transaction.commit()
        ClaimRow("target/x", tables={"orders": "theirs"}, version=2, write_id="w").save()
        _, version = targets.holders("target/x")
        again = Transaction()
        targets.replace(again, "target/x", {}, expected_version=version)
        with pytest.raises(WriteConflict):
            again.commit()
        assert targets.holders("target/x") == ({"orders": "theirs"}, 2)


def test_what_was_expected_ends_with_the_request(room: Room) -> None:
    claim("a", "anna")
    with a_request_with_a_here():
        pass
    claim("a", "berta")
    with one_request():
        assert holder("a") == "berta"


def test_a_request_inside_another_is_part_of_it(room: Room) -> None:
    claim("a", "anna")
    room.gate.watch()
    with one_request():
        with a_request_with_a_here():
            pass
        assert holder("a") == "anna"
    assert reads(room) == 1


def test_another_thread_has_a_request_of_its_own(room: Room) -> None:
    claim("a", "anna")
    with a_request_with_a_here(), ThreadPoolExecutor(1) as pool:
        claim("a", "berta")
        assert pool.submit(holder, "a").result() == "berta"


def test_outside_of_a_request_nothing_is_expected(room: Room) -> None:
    expect((ClaimRow, "a"))
    room.gate.watch()
    assert [holder("b"), holder("a")] == [None, None]
    assert reads(room) == 2


def test_more_than_fits_one_call_is_read_when_it_is_asked_for(room: Room) -> None:
    claim("last", "anna")
    with one_request():
        expect(*((ClaimRow, f"key-{number}") for number in range(AT_MOST)), (ClaimRow, "last"))
        assert [holder("first"), holder("last")] == [None, "anna"]


def test_guesses_make_room_for_what_is_asked_for(room: Room) -> None:
    keys = [(ClaimRow, f"key-{number}") for number in range(AT_MOST)]
    claim("key-0", "anna")
    claim(f"key-{AT_MOST - 1}", "zoe")
    with one_request():
        expect((ClaimRow, "x"), (ClaimRow, "y"))
        rows = read_rows(*keys)
    assert [row.holder for row in rows if row] == ["anna", "zoe"]


def test_a_look_that_may_be_old_takes_nothing_from_what_is_here(room: Room) -> None:
    claim("a", "anna")
    with a_request_with_a_here():
        claim("a", "berta")
        (row,) = read_rows((ClaimRow, "a"), consistent=False)
        assert (row.holder, holder("a")) == ("berta", "anna")


def test_after_a_call_that_failed_the_row_is_asked_for_again(room: Room) -> None:
    claim("a", "anna")
    with one_request():
        expect((ClaimRow, "a"))
        room.gate.watch(_lost)
        with pytest.raises(StoreUnavailable):
            Targets().holders("b")
        room.gate.unwatch()
        assert holder("a") == "anna"


def _lost(point: Point, call: RequestContext) -> object:
    raise EndpointConnectionError(endpoint_url="nowhere")
