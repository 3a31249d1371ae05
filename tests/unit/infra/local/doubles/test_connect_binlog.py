"""What the Connect double keeps of a MySQL server's binary log."""

import struct
import uuid

import pytest

from infra.local.doubles.connect_binlog import GTID, HEADER, ROTATE, TABLE_MAP, GtidSet, Position

SERVER, OTHER = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "4350f323-7565-4e59-8763-4b1b83a0ce0e"
WRITE_ROWS, QUERY = 30, 2


@pytest.mark.parametrize(
    ("before", "added", "after"),
    [
        ("", (SERVER, 1), f"{SERVER}:1"),
        (f"{SERVER}:1-5", (SERVER, 6), f"{SERVER}:1-6"),
        (f"{SERVER}:1-5", (SERVER, 9), f"{SERVER}:1-5:9"),
        (f"{SERVER}:1-5:7", (SERVER, 6), f"{SERVER}:1-7"),
        (f"{SERVER}:1-5", (SERVER, 3), f"{SERVER}:1-5"),
        (f"{SERVER}:1-5,\n{OTHER}:2", (OTHER, 3), f"{SERVER}:1-5,{OTHER}:2-3"),
    ],
)
def test_a_transaction_is_added_to_a_set(before: str, added: tuple[str, int], after: str) -> None:
    gtids = GtidSet(before)
    gtids.add(*added)
    assert str(gtids) == after


def test_a_set_is_packed_with_exclusive_ends() -> None:
    packed = GtidSet(f"{SERVER}:1-5:7").packed()
    assert packed == struct.pack("<Q", 1) + uuid.UUID(SERVER).bytes + struct.pack("<QQQQQ", 2, 1, 6, 7, 8)


def event(kind: int, body: bytes = b"", end: int = 0, seconds: int = 1000) -> bytes:
    return HEADER.pack(seconds, kind, 1, HEADER.size + len(body), end, 0) + body


def transaction(number: int, end: int, table: str, seconds: int = 1000) -> list[bytes]:
    """The events of an insert into a table of the database `shop`."""
    table_id, name = b"\x07" + bytes(5), table.encode()
    mapped = table_id + bytes(2) + b"\x04shop\x00" + bytes([len(name)]) + name + b"\x00"
    return [
        event(GTID, b"\x00" + uuid.UUID(SERVER).bytes + struct.pack("<q", number), end),
        event(QUERY, end=end + 10),
        event(TABLE_MAP, mapped, end + 20),
        event(WRITE_ROWS, table_id + bytes(10), end + 30, seconds),
    ]


def position(*, has_heartbeats: bool) -> Position:
    return Position(
        is_captured=lambda database, table: (database, table) == ("shop", "orders"),
        has_heartbeats=has_heartbeats,
        file="mysql-bin.000001",
        pos=100,
        gtids=GtidSet(f"{SERVER}:1-3"),
    )


def test_a_row_of_a_captured_table_stores_where_its_transaction_begins() -> None:
    reader = position(has_heartbeats=False)
    for one in transaction(4, 179, "orders", seconds=1234):
        reader.read(one)
    assert reader.stored == {
        "ts_sec": 1234,
        "file": "mysql-bin.000001",
        "pos": 179,
        "gtids": f"{SERVER}:1-3",
        "server_id": 1,
        "row": 1,
        "event": 2,
    }


def test_a_row_of_another_table_stores_something_only_with_heartbeats() -> None:
    for has_heartbeats in (False, True):
        reader = position(has_heartbeats=has_heartbeats)
        for one in [*transaction(4, 179, "other"), *transaction(5, 279, "other")]:
            reader.read(one)
        assert ("pos" in reader.stored) is has_heartbeats
    assert (reader.stored["pos"], reader.stored["gtids"]) == (279, f"{SERVER}:1-4")
    assert "row" not in reader.stored


def test_another_file_begins_at_its_first_position() -> None:
    reader = position(has_heartbeats=True)
    reader.read(event(ROTATE, struct.pack("<Q", 4) + b"mysql-bin.000002"))
    assert (reader.stored["file"], reader.stored["pos"]) == ("mysql-bin.000002", 4)
