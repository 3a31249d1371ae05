"""The binary log of a server, and positions in it.

Facts: MySQL 8.0 manual, "SHOW BINARY LOGS", "Purging binary logs" and "GTID Life Cycle".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Self

from chalicelib.domain.offset import StoredOffset
from chalicelib.domain.providers.mysql.gtid_set import GtidSet


@dataclass(frozen=True, slots=True)
class BinlogPosition:
    """A place in the log: a file, and the bytes before it in that file."""

    file: str
    bytes: int

    def __str__(self) -> str:
        return f"{self.file}:{self.bytes}"

    @classmethod
    def parse(cls, text: object) -> Self | None:
        """The position that `str` has written."""
        file, _, number = str(text).rpartition(":")
        return cls(file, int(number)) if file and number.isascii() and number.isdecimal() else None

    def is_before(self, other: "BinlogPosition") -> bool:
        """Whether it is earlier in the same log. False where the names of the files belong to different logs."""
        (base, number), (other_base, other_number) = _numbered(self.file), _numbered(other.file)
        return base == other_base and (number, self.bytes) < (other_number, other.bytes)


def _numbered(file: str) -> tuple[str, int]:
    base, _, number = file.rpartition(".")
    return (base, int(number)) if number.isascii() and number.isdecimal() else (file, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerBinlog:
    """What a server tells about its binary log. `files` are names and sizes in bytes, the oldest first; none where it
    writes no log, and null where the account may not see them.

    `executed` are the transactions that the server has, and `purged` those of them that are not in its log any more;
    null where it cannot be asked, or its answer is too long. With `uses_gtids` a reader is found by these sets alone.
    `retention_seconds` is how long a file stays after the last write to it; null where none is ever removed for its
    age, or that is not known. `space_limit` are the bytes above which the oldest files go (Percona Server).
    """

    files: Mapping[str, int] | None = field(default_factory=dict)
    executed: GtidSet | None = None
    purged: GtidSet | None = None
    uses_gtids: bool = False
    retention_seconds: int | None = None
    space_limit: int | None = None

    @property
    def end(self) -> BinlogPosition | None:
        """Where the log ended when it was read."""
        if not self.files:
            return None
        newest = list(self.files)[-1]
        return BinlogPosition(newest, self.files[newest])

    def bytes_from(self, position: BinlogPosition) -> int | None:
        """The bytes of the log from there to its end; None where it does not have the position."""
        if self.files is None or position.bytes > self.files.get(position.file, -1):
            return None
        names = list(self.files)
        return sum(self.files[name] for name in names[names.index(position.file) :]) - position.bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPosition:
    """Where a connector goes on, by the offset that Connect has stored for it. `gtids` are the transactions that it has
    read; empty without, and null where there is a set that cannot be read. `at` is when the last captured change before
    it was made, by the clock of the server; null before the first.
    """

    binlog: BinlogPosition | None
    gtids: GtidSet | None
    at: datetime | None = None

    @classmethod
    def of(cls, offset: StoredOffset) -> Self | None:
        """None where no offset is stored. Its keys: Debezium 3.6, BinlogOffsetContext."""
        values = offset.values
        if values is None:
            return None
        file, number, seconds = values.get("file"), values.get("pos"), values.get("ts_sec")
        set_text = values.get("gtids")
        return cls(
            binlog=BinlogPosition(str(file), number) if file and isinstance(number, int) else None,
            gtids=GtidSet() if set_text is None else _set_of(set_text),
            at=datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, int) and 0 < seconds < 2**33 else None,
        )


def _set_of(text: int | str | bool) -> GtidSet | None:
    # Connect's client leaves a text empty that it does not take.
    return GtidSet.parse(text) if isinstance(text, str) and text else None
