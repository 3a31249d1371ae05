"""Versions of the schemas of tables: each version is a row, and the newest of each table is known by another row.

All rows of a source at one address are one history, which `Source.schema_history` names. Rows of other histories are
leftovers, as those of other generations are of discovered tables: a source that was moved begins anew. A version is
written with the row of the newest in one transaction, on the condition that none was written since that was read: so a
discovery that is repeated writes nothing twice, and one that ends too early leaves whole versions only.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from operator import and_
from typing import Any

from pynamodb.attributes import NumberAttribute, UnicodeAttribute, UTCDateTimeAttribute
from pynamodb.expressions.condition import Condition

from chalicelib.domain.schema.version import MAX_VERSIONS, Newest, NewestVersion, SchemaVersion, VersionFilter
from chalicelib.domain.table import TableName
from chalicelib.errors import StoreBusy
from chalicelib.kit.adapters import adapter
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page, page_of
from chalicelib.stores.batch_writer import delete, write_rows
from chalicelib.stores.rows import read_rows
from chalicelib.stores.tables import (
    Table,
    compress_body,
    decompress_body,
    index_on,
    meta,
    position,
    position_of,
    store_errors,
)
from chalicelib.stores.transaction import Transaction
from chalicelib.stores.unreadable import read_row, readable, readable_page

TABLES_PER_TRANSACTION = 25
"""Each is up to four of its hundred items, with the one that a caller adds."""

_NEWEST, _VERSION = "newest", "version"
_END = "\x1e"
_LAST_NAME = "\U0010ffff"
_KEYS = ["source_id", "name"]
_FILTERED_PAGE = 1_000
"""Rows that one call reads when filters select from them."""


class SchemaVersionRow(Table):
    """A version of one table of one source, or what is to be known of the newest one: `body` is null then.

    `history` and `position` are those of a version, for the list; `size` is bytes of its body before compression.
    """

    Meta = meta("schema-versions")  # type: ignore[assignment]
    source_id = UnicodeAttribute(hash_key=True)
    name = UnicodeAttribute(range_key=True)
    schema_name = UnicodeAttribute()
    table_name = UnicodeAttribute()
    version = NumberAttribute()
    schema_format = NumberAttribute()
    schema_hash = UnicodeAttribute(null=True)
    discovered_at = UTCDateTimeAttribute()
    body = UnicodeAttribute(null=True)
    size = NumberAttribute(null=True)
    history = UnicodeAttribute(null=True)
    position = UnicodeAttribute(null=True)
    write_id = UnicodeAttribute()
    by_history = index_on("history")


class SchemaVersions:
    """Versions of schemas. One discovery writes those of a source at a time: its job has the claim of the source."""

    def newest(self, source_id: str, history: str) -> Newest:
        """What is to be known of the newest version of each table. Consistent. Raises StoreUnavailable."""
        names = SchemaVersionRow.name.startswith(f"{history}{_END}{_NEWEST}{_END}")
        with store_errors():
            rows = SchemaVersionRow.query(source_id, names, consistent_read=True)
            return {TableName(row.schema_name, row.table_name): _newest(row) for row in rows}

    def find(self, source_id: str, history: str, versions: Mapping[TableName, int]) -> dict[TableName, SchemaVersion]:
        """These versions, without those that do not exist or cannot be read. Raises StoreUnavailable."""
        keys = (_version_key(history, name, version) for name, version in versions.items())
        rows = read_rows(*((SchemaVersionRow, source_id, key) for key in keys))
        return {version.name: version for version in readable(filter(None, rows), _version)}

    def add(
        self,
        history: str,
        versions: Sequence[SchemaVersion],
        deadline: Deadline,
        beside: Callable[[Transaction, SchemaVersion], None] = lambda _transaction, _version: None,
    ) -> None:
        """Store versions, a number of tables in each transaction; the oldest ones of a table that has too many go.
        `beside` may add one item to the transaction of a version.

        Raises WriteConflict when another discovery has written a version of one of these tables, StoreUnavailable;
        StoreBusy at the deadline: who repeats it with the versions that are missing goes on.
        """
        for start in range(0, len(versions), TABLES_PER_TRANSACTION):
            if deadline.passed:
                raise StoreBusy("There was no time to store all schemas. The next attempt stores the rest.")
            with Transaction() as transaction:
                for version in versions[start : start + TABLES_PER_TRANSACTION]:
                    _add(transaction, history, version)
                    beside(transaction, version)

    def list(
        self, history: str, version_filter: VersionFilter, *, limit: int, after: str | None
    ) -> Page[SchemaVersion]:
        """Versions, newest first; a page also ends when the bodies reach `PAGE_BYTES`. Raises StoreUnavailable."""
        index = SchemaVersionRow.by_history
        keys = SchemaVersionRow.position < after if after else None
        conditions = list(_conditions(version_filter))
        chosen = reduce(and_, conditions) if conditions else None
        size = max(limit + 1, _FILTERED_PAGE) if conditions else limit + 1
        with store_errors():
            rows = index.query(history, keys, chosen, scan_index_forward=False, limit=limit + 1, page_size=size)
            page = page_of(rows, key=position_of, limit=limit, size=lambda row: int(row.size))
        return readable_page(page, _version)

    def forget(self, source_id: str, history: str, tables: Iterable[TableName], deadline: Deadline) -> None:
        """Remove all versions of these tables. Raises StoreUnavailable; it is safe to repeat."""
        for name in tables:
            versions = SchemaVersionRow.name.startswith(_version_prefix(history, name))
            # The row of the newest goes last: while it is there, the removal is repeated.
            _delete(SchemaVersionRow.query(source_id, versions, attributes_to_get=_KEYS), deadline)
            _delete([SchemaVersionRow(source_id, _newest_key(history, name))], deadline)

    def remove(self, source_id: str, history: str, deadline: Deadline) -> None:
        """Remove the versions of one history that is no longer shown. Raises StoreUnavailable."""
        names = SchemaVersionRow.name.startswith(f"{history}{_END}")
        _delete(SchemaVersionRow.query(source_id, names, attributes_to_get=_KEYS), deadline)

    def remove_all_but(self, source_id: str, history: str | None, deadline: Deadline) -> None:
        """Remove the versions of former addresses; of all without a history. Raises StoreUnavailable."""
        shown = f"{history}{_END}"
        others = (SchemaVersionRow.name < shown, SchemaVersionRow.name > shown + _LAST_NAME)
        for names in others if history else (None,):
            rows = SchemaVersionRow.query(source_id, names, consistent_read=True, attributes_to_get=_KEYS)
            _delete(rows, deadline)


def _conditions(version_filter: VersionFilter) -> Iterator[Condition]:
    if version_filter.schema is not None:
        yield SchemaVersionRow.schema_name == version_filter.schema
    if version_filter.table is not None:
        yield SchemaVersionRow.table_name == version_filter.table
    if version_filter.version is not None:
        yield SchemaVersionRow.version == version_filter.version


def _add(transaction: Transaction, history: str, version: SchemaVersion) -> None:
    number, body = version.version, adapter(SchemaVersion).dump_json(version)
    shared: dict[str, Any] = {
        "schema_name": version.schema_name,
        "table_name": version.table_name,
        "version": number,
        "schema_format": version.schema_format,
        "schema_hash": version.schema_hash,
        "discovered_at": version.discovered_at,
        "write_id": transaction.write_id,
    }
    key = _version_key(history, version.name, number)
    row = SchemaVersionRow(
        version.source_id,
        key,
        **shared,
        body=compress_body(body),
        size=len(body),
        history=history,
        position=position(version.discovered_at, key.removeprefix(history)),
    )
    newest = SchemaVersionRow(version.source_id, _newest_key(history, version.name), **shared)
    unchanged = SchemaVersionRow.version == number - 1 if number > 1 else SchemaVersionRow.name.does_not_exist()
    transaction.put(newest, condition=unchanged, label="schema_version.newer")
    transaction.put(row, condition=SchemaVersionRow.name.does_not_exist(), label="schema_version.exists")
    if number > MAX_VERSIONS:
        oldest = SchemaVersionRow(version.source_id, _version_key(history, version.name, number - MAX_VERSIONS))
        transaction.delete(oldest, condition=None, label="schema_version.oldest")


def _newest(row: SchemaVersionRow) -> NewestVersion:
    return NewestVersion(
        version=int(row.version),
        schema_format=int(row.schema_format),
        schema_hash=row.schema_hash,
        discovered_at=row.discovered_at,
    )


def _version(row: SchemaVersionRow) -> SchemaVersion:
    # By the id of the source: the name of a table is not ours.
    version: SchemaVersion = read_row(
        "schema_version", row.source_id, lambda: adapter(SchemaVersion).validate_json(decompress_body(row.body))
    )
    return version


def _delete(rows: Iterable[SchemaVersionRow], deadline: Deadline) -> None:
    with store_errors():
        write_rows(SchemaVersionRow, (delete(SchemaVersionRow(row.source_id, row.name)) for row in rows), deadline)


def _newest_key(history: str, name: TableName) -> str:
    return f"{history}{_END}{_NEWEST}{_END}{name.schema_name}\x1f{name.table_name}"


def _version_prefix(history: str, name: TableName) -> str:
    return f"{history}{_END}{_VERSION}{_END}{name.schema_name}\x1f{name.table_name}{_END}"


def _version_key(history: str, name: TableName, version: int) -> str:
    return f"{_version_prefix(history, name)}{version:08}"
