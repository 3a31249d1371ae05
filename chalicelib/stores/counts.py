"""The last count of registered resources, by the schedule: `infra/decisions/016-overview.md`."""

from datetime import datetime

from pynamodb.attributes import (
    TTLAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
)

from chalicelib.domain.counts import RegisteredCounts
from chalicelib.kit.adapters import adapter
from chalicelib.stores.rows import Key, read_rows
from chalicelib.stores.tables import Table, meta, store_errors
from chalicelib.stores.unreadable import FAULTS

REGISTERED = ("registered", "all")
_DISPATCH = ("dispatch", "last")
"""The keys of the two rows of `Counts`."""


class CountRow(Table):
    """Small rows of several kinds: `registered` (JSON in `numbers`), `dispatch` (`at`: its last run), `findings` of
    `stores/monitoring`, `audit/begun` and `audit/verified` of `stores/audit/chain`, and notes of what was deleted and
    of rows that cannot be read.
    """

    Meta = meta("counts")  # type: ignore[assignment]
    kind = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    numbers = UnicodeAttribute(null=True)
    at = UTCDateTimeAttribute(null=True)
    pipelines = UnicodeSetAttribute(null=True)
    losing_log = UnicodeSetAttribute(null=True)
    noted = UnicodeSetAttribute(null=True)
    expires_at = TTLAttribute(null=True)


class Counts:
    @staticmethod
    def key(part: tuple[str, str]) -> Key:
        return CountRow, *part

    @staticmethod
    def decode(row: CountRow | None) -> RegisteredCounts | None:
        """The numbers in a row that was read by `key`; None before the first count, and when it cannot be read: they
        are counted again then.
        """
        try:
            return adapter(RegisteredCounts).validate_json(row.numbers) if row else None
        except FAULTS:
            return None

    @staticmethod
    def write(counts: RegisteredCounts) -> None:
        """Store a new count. Raises StoreUnavailable."""
        row = CountRow(*REGISTERED, numbers=adapter(RegisteredCounts).dump_json(counts).decode())
        with store_errors():
            row.save()

    @staticmethod
    def note_dispatch(now: datetime) -> datetime | None:
        """Store that the dispatcher runs now; when it ran before, None the first time. Raises StoreUnavailable."""
        (before,) = read_rows((CountRow, *_DISPATCH))
        with store_errors():
            CountRow(*_DISPATCH, at=now).save()
        return before.at if before else None
