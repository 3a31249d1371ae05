"""The last count of registered resources, by the schedule: `infra/decisions/016-overview.md`."""

from pynamodb.attributes import TTLAttribute, UnicodeAttribute, UnicodeSetAttribute, UTCDateTimeAttribute

from chalicelib.domain.counts import RegisteredCounts
from chalicelib.kit.adapters import adapter
from chalicelib.stores.rows import Key
from chalicelib.stores.tables import Table, meta, store_errors

REGISTERED = ("registered", "all")
"""The key of the one row of `Counts`."""


class CountRow(Table):
    """Small rows of several kinds: `registered` (JSON in `numbers`), `findings` of `stores/monitoring`,
    and notes of deleted sources.
    """

    Meta = meta("counts")  # type: ignore[assignment]
    kind = UnicodeAttribute(hash_key=True)
    part = UnicodeAttribute(range_key=True)
    numbers = UnicodeAttribute(null=True)
    at = UTCDateTimeAttribute(null=True)
    pipelines = UnicodeSetAttribute(null=True)
    expires_at = TTLAttribute(null=True)


class Counts:
    @staticmethod
    def key(part: tuple[str, str]) -> Key:
        return CountRow, *part

    @staticmethod
    def decode(row: CountRow | None) -> RegisteredCounts | None:
        """The numbers in a row that was read by `key`; None before the first count."""
        return adapter(RegisteredCounts).validate_json(row.numbers) if row else None

    @staticmethod
    def write(counts: RegisteredCounts) -> None:
        """Store a new count. Raises StoreUnavailable."""
        row = CountRow(*REGISTERED, numbers=adapter(RegisteredCounts).dump_json(counts).decode())
        with store_errors():
            row.save()
