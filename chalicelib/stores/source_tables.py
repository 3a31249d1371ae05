"""Discovered tables of sources, one row each.

Each discovery writes its rows under a new generation. `Source.generation` names the one that is shown: a discovery
changes it once, when all of its rows are stored, so that a reader sees the rows of one discovery only. Rows of other
generations are leftovers; a reader that meets their removal starts again with the new generation.

A body is compressed: the JSON of 100 columns takes 30 write units, and 3 compressed; 1,000 a second are allowed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from pynamodb.attributes import UnicodeAttribute

from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Deadline
from chalicelib.stores.batch_writer import delete, put, write_rows
from chalicelib.stores.counts import CountRow
from chalicelib.stores.rows import ROWS_PER_CALL, read_rows
from chalicelib.stores.sources import Sources
from chalicelib.stores.tables import Table, compress_body, decompress_body, meta, position, store_errors
from chalicelib.stores.transaction import Transaction
from chalicelib.stores.unreadable import read_row, readable

_MAX_READS = 4
_DELETED, _MAX_SWEPT = "deleted-sources", 5
_GENERATION_END = "\x1e"
_LAST_NAME = "\U0010ffff"
R = TypeVar("R")


class SourceTableRow(Table):
    """One table of one source, sorted by generation and full name."""

    Meta = meta("source-tables")  # type: ignore[assignment]
    source_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True)
    body = UnicodeAttribute()


@dataclass(frozen=True, slots=True)
class SourceTables:
    """Discovered tables. One discovery writes those of a source at a time: its job has the claim of the source."""

    sources: Sources

    def list(self, source_id: str) -> tuple[SourceTable, ...]:
        """All of a source's tables, by name; discovery stores at most 5,000. Raises NotFound."""

        def read(source: Source) -> tuple[SourceTable, ...] | None:
            rows = list(_rows(source.id, source.generation))
            # Fewer rows than were counted: another discovery removes this generation at the moment.
            return tuple(readable(rows, _table)) if len(rows) == source.tables else None

        return self._read_whole(source_id, read, ())

    def find(self, source: Source, names: Iterable[TableName]) -> dict[TableName, SourceTable]:
        """The discovered tables among `names`: by key when they fit one call, else from the whole list.

        `source` was read just before. Raises NotFound when it was deleted since then.
        """
        names = set(names)
        if len(names) > ROWS_PER_CALL:
            return {table.name: table for table in self.list(source.id) if table.name in names}

        def read(current: Source) -> dict[TableName, SourceTable] | None:
            rows = read_rows(*((SourceTableRow, current.id, _key(current.generation, name)) for name in names))
            if None in rows and self.sources.get(current.id).generation != current.generation:
                return None
            return {table.name: table for table in readable(filter(None, rows), _table)}

        return self._read_whole(source.id, read, {}, source) if names else {}

    def add(self, source_id: str, generation: str, tables: Iterable[SourceTable], deadline: Deadline) -> None:
        """Store tables under a generation that is not shown yet. Raises StoreUnavailable."""
        bodies = ((table.name, compress_body(adapter(SourceTable).dump_json(table))) for table in tables)
        rows = (SourceTableRow(source_id, _key(generation, name), body=body) for name, body in bodies)
        with store_errors():
            write_rows(SourceTableRow, map(put, rows), deadline)

    def remove(self, source_id: str, generation: str, deadline: Deadline) -> None:
        """Remove one generation that is no longer shown. Raises StoreUnavailable."""
        _delete(source_id, _rows(source_id, generation, attributes_to_get=["name"]), deadline)

    def remove_all_but(self, source_id: str, generation: str | None, deadline: Deadline) -> None:
        """Remove the rows of earlier discoveries, also of interrupted ones. Raises StoreUnavailable."""
        shown = f"{generation}{_GENERATION_END}"
        others = (SourceTableRow.name < shown, SourceTableRow.name > shown + _LAST_NAME)
        for names in others if generation else (None,):
            rows = SourceTableRow.query(source_id, names, consistent_read=True, attributes_to_get=["name"])
            _delete(source_id, rows, deadline)

    def note_deletion(self, transaction: Transaction, source_id: str, at: datetime) -> None:
        """Store in the transaction of a source's deletion that its tables are to be removed."""
        transaction.put(CountRow(_DELETED, position(at, source_id)), condition=None, label="source.deletion")

    def deletions_before(self, at: datetime) -> Sequence[str]:
        """The notes of deletions before that time, the oldest first, at most `_MAX_SWEPT`."""
        with store_errors():
            rows = CountRow.query(_DELETED, CountRow.part < position(at, ""), limit=_MAX_SWEPT)
            return tuple(row.part for row in rows)

    def sweep(self, note: str, deadline: Deadline) -> None:
        """Remove the tables of the deleted source, then the note. Raises StoreUnavailable; it is safe to repeat."""
        self.remove_all_but(deleted_source(note), None, deadline)
        with store_errors():
            CountRow(_DELETED, note).delete()

    def _read_whole(
        self, source_id: str, read: Callable[[Source], R | None], empty: R, first: Source | None = None
    ) -> R:
        """The result of `read`, which is None when another discovery replaced the generation meanwhile.

        `first` is the source for the first attempt.
        """
        with store_errors():
            for _ in range(_MAX_READS):
                source = first or self.sources.get(source_id)
                if source.tables is None:
                    return empty
                if (result := read(source)) is not None:
                    return result
                first = None
        raise StoreUnavailable("The source is being discovered at this moment. Try again.")


def deleted_source(note: str) -> str:
    """The id of the source in the note of its deletion."""
    return note.rpartition("#")[2]


def _rows(source_id: str, generation: str | None, **options: Any) -> Iterator[SourceTableRow]:
    names = SourceTableRow.name.startswith(f"{generation}{_GENERATION_END}")
    return iter(SourceTableRow.query(source_id, names, consistent_read=True, **options))


def _delete(source_id: str, rows: Iterable[SourceTableRow], deadline: Deadline) -> None:
    with store_errors():
        write_rows(SourceTableRow, (delete(SourceTableRow(source_id, row.name)) for row in rows), deadline)


def _table(row: SourceTableRow) -> SourceTable:
    # By the id of the source: the name of a table is not ours, and a discovery replaces all of them.
    table: SourceTable = read_row(
        "source_table", row.source_id, lambda: adapter(SourceTable).validate_json(decompress_body(row.body))
    )
    return table


def _key(generation: str | None, name: TableName) -> str:
    return f"{generation}{_GENERATION_END}{name.schema_name}\x1f{name.table_name}"
