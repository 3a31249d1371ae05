"""Whether a server has what a connector reads next: by GTIDs where both have some, else by its files."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.providers.mysql.binlog import BinlogPosition, ServerBinlog, StoredPosition
from chalicelib.domain.providers.mysql.continuity import Gap, find_gap, is_newer
from chalicelib.domain.providers.mysql.gtid_set import GtidSet

A, B = "3e11fa47-71ca-11e1-9e33-c80aa9429562", "3d28f1e0-eaa6-11f1-a83b-02fc00000001"
FILES = {"bin.000003": 900, "bin.000004": 1000, "bin.000005": 500}


def binlog(executed: str | None = None, purged: str = "", **fields: object) -> ServerBinlog:
    """The log of a server; with `executed` it uses GTIDs."""
    sets = {} if executed is None else {"executed": GtidSet.parse(executed), "purged": GtidSet.parse(purged)}
    return ServerBinlog(**{"files": FILES, "uses_gtids": executed is not None, **sets, **fields})


def stored(file: str = "bin.000004", at: int = 700, gtids: str = "") -> StoredPosition:
    return StoredPosition(binlog=BinlogPosition(file, at), gtids=GtidSet.parse(gtids))


def gap(log: ServerBinlog, position: StoredPosition, *, other: bool = False, end: str | None = None) -> Gap | None:
    return find_gap(log, position, is_other_server=other, last_end=BinlogPosition.parse(end) if end else None)


@pytest.mark.parametrize(
    ("position", "expected"),
    [
        pytest.param(stored(), None, id="within a file"),
        pytest.param(stored("bin.000005", 500), None, id="at the end"),
        pytest.param(stored("bin.000003", 4), None, id="at the beginning"),
        pytest.param(stored("bin.000002", 4), Gap.PURGED, id="before the beginning"),
        pytest.param(stored("bin.000004", 1001), Gap.PURGED, id="behind the end of a file"),
        pytest.param(stored("bin.000005", 501), Gap.ROLLED_BACK, id="behind the end"),
        pytest.param(stored("bin.000006", 4), Gap.ROLLED_BACK, id="a file that is not written yet"),
        pytest.param(stored("other.000004", 4), Gap.PURGED, id="a log of another name"),
    ],
)
def test_without_gtids_a_position_is_looked_for_in_the_files(position: StoredPosition, expected: Gap | None) -> None:
    assert gap(binlog(), position) is expected
    assert gap(binlog(), position, other=True) is Gap.OTHER_SERVER


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        ("bin.000005:500", None),
        ("bin.000005:499", None),
        ("bin.000005:501", Gap.ROLLED_BACK),
        ("bin.000017:4", Gap.ROLLED_BACK),
        ("older.000017:4", None),
    ],
)
def test_a_log_that_ends_before_where_it_ended_was_begun_anew(end: str, expected: Gap | None) -> None:
    assert gap(binlog(), stored(), end=end) is expected
    assert gap(binlog(f"{A}:1-9"), stored(gtids=f"{A}:1-5"), end=end) is expected


@pytest.mark.parametrize(
    ("executed", "purged", "read", "other", "expected"),
    [
        pytest.param(f"{A}:1-9", "", f"{A}:1-5", False, None, id="the same server"),
        pytest.param(f"{A}:1-9,{B}:1-2", f"{A}:1-4", f"{A}:1-5", True, None, id="a failover to a replica that has all"),
        pytest.param(f"{A}:1-4", "", f"{A}:1-5", False, Gap.ROLLED_BACK, id="the server was put back"),
        pytest.param(f"{A}:1-4,{B}:1", "", f"{A}:1-5", True, Gap.ROLLED_BACK, id="a replica without the last one"),
        pytest.param(f"{B}:1-9", "", f"{A}:1-5", True, Gap.OTHER_SERVER, id="a stranger"),
        pytest.param("", "", f"{A}:1-5", True, Gap.OTHER_SERVER, id="an empty stranger"),
        pytest.param(f"{B}:1-9", "", f"{A}:1-5,{B}:1-7", True, Gap.OTHER_SERVER, id="another server, read from since"),
        pytest.param(f"{A}:1-4,{B}:1", "", f"{A}:1-5,{B}:1", True, Gap.ROLLED_BACK, id="a replica, read from since"),
        pytest.param("", "", f"{A}:1-5", False, Gap.ROLLED_BACK, id="RESET MASTER"),
        pytest.param(f"{A}:1-9", f"{A}:1-6", f"{A}:1-5", False, Gap.PURGED, id="purged"),
        pytest.param(f"{A}:1-9,{B}:1-2", f"{A}:1-4,{B}:1", f"{A}:1-5", True, Gap.PURGED, id="purged on the replica"),
        pytest.param(f"{A}:1-9,{A}:t:1", f"{A}:t:1", f"{A}:1-5", False, Gap.PURGED, id="purged with a tag"),
    ],
)
def test_with_gtids_the_sets_decide(
    executed: str, purged: str, read: str, expected: Gap | None, *, other: bool
) -> None:
    position = stored("somewhere.000001", 4, read)
    assert gap(binlog(executed, purged), position, other=other) is expected


def test_a_server_that_uses_no_gtids_any_more_is_asked_for_the_file_as_well() -> None:
    log = binlog(f"{A}:1-9", uses_gtids=False)
    assert gap(log, stored(gtids=f"{A}:1-5")) is None
    assert gap(log, stored("bin.000001", 4, f"{A}:1-5")) is Gap.PURGED
    assert gap(log, stored(gtids=f"{A}:1-5"), other=True) is Gap.OTHER_SERVER


def test_a_position_without_gtids_means_nothing_on_another_server() -> None:
    assert gap(binlog(f"{A}:1-9"), stored(), other=True) is Gap.OTHER_SERVER


@pytest.mark.parametrize(
    "log", [binlog(uses_gtids=True), ServerBinlog(files=None), ServerBinlog()], ids=["no set", "denied", "off"]
)
def test_what_cannot_be_compared_has_no_gap(log: ServerBinlog) -> None:
    assert gap(log, stored(gtids=f"{A}:1-5" if log.uses_gtids else "")) is None


def test_a_set_that_cannot_be_read_has_no_gap() -> None:
    position = StoredPosition.of(StoredOffset({"file": "bin.000001", "pos": 4, "gtids": ""}))
    assert position is not None
    assert position.gtids is None
    assert gap(binlog(f"{A}:1-4"), position) is None


@pytest.mark.parametrize(
    ("log", "position", "expected"),
    [
        (binlog(f"{A}:1-9"), stored(gtids=f"{A}:1-9"), False),
        (binlog(f"{A}:1-9"), stored(gtids=f"{A}:1-10"), True),
        (binlog(), stored("bin.000005", 500), False),
        (binlog(), stored("bin.000005", 501), True),
        (ServerBinlog(files=None), stored("bin.000009", 4), False),
    ],
)
def test_a_position_that_is_newer_than_the_log_was_read(
    log: ServerBinlog, position: StoredPosition, *, expected: bool
) -> None:
    assert is_newer(log, position) is expected


def test_a_stored_position_is_read_from_the_offset_of_debezium() -> None:
    offset = {"ts_sec": 1795812706, "file": "mysql-bin.000001", "pos": 63490, "gtids": f"{A}:1-31", "server_id": 1}
    assert StoredPosition.of(StoredOffset(offset)) == StoredPosition(
        binlog=BinlogPosition("mysql-bin.000001", 63490),
        gtids=GtidSet.parse(f"{A}:1-31"),
        at=datetime(2026, 11, 27, 20, 51, 46, tzinfo=UTC),
    )
    assert StoredPosition.of(StoredOffset()) is None
    nothing = StoredPosition.of(StoredOffset({"ts_sec": "x", "file": "", "pos": 4}))
    assert nothing == StoredPosition(binlog=None, gtids=GtidSet())


@pytest.mark.parametrize("text", ["", "bin.000001", ":5", "bin.000001:", "bin.000001:x", None, 5])
def test_other_texts_are_no_positions(text: object) -> None:
    assert BinlogPosition.parse(text) is None


def test_the_bytes_from_a_position_to_the_end() -> None:
    assert binlog().bytes_from(BinlogPosition("bin.000004", 700)) == 300 + 500
    assert binlog().bytes_from(BinlogPosition("bin.000002", 4)) is None


def test_the_file_after_the_999999th_is_a_later_one() -> None:
    assert BinlogPosition("bin.999999", 900).is_before(BinlogPosition("bin.1000000", 4))
    assert not BinlogPosition("bin.1000000", 4).is_before(BinlogPosition("bin.999999", 900))
