"""Reads MySQL's catalogue: tables with their columns, keys and foreign keys."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from chalicelib.clients.databases.errors import DatabaseFailure, FailureCode
from chalicelib.clients.databases.mysql import queries, rights
from chalicelib.domain.providers.mysql.facts import (
    ForeignKey,
    Grants,
    MySQLGenerated,
    MySQLRawColumn,
    MySQLRawTable,
    UniqueKey,
)
from chalicelib.domain.table import TableName

if TYPE_CHECKING:
    from chalicelib.clients.databases.mysql.connection import Row
    from chalicelib.clients.databases.mysql.session import MySQLSession

T = TypeVar("T")

MAX_COLUMNS = 100_000
"""Of all tables of a discovery: 20 for each of the 5,000."""
_MAX_INDEXED = 100_000
_PER_STATEMENT = 50
_MAX_OF_TABLE = 4_096
"""Columns that any table can have (MySQL 8.0 reference, limits)."""
_NO_GRANTS = Grants()
_PRIMARY = "PRIMARY"
_STORED, _VIRTUAL = "STORED GENERATED", "VIRTUAL GENERATED"
_WRITES = frozenset({"insert", "update"})


def discovered(session: "MySQLSession", database: str, bound: int, grants: Grants) -> tuple[list[MySQLRawTable], bool]:
    """The tables that can be captured, ordered by database and name, and whether there are more than the bound. Where
    there are, those of `database` come first.
    """
    rows = session.rows(queries.DISCOVERED_TABLES, [database, bound + 1], max_rows=bound + 1)
    tables, cut = _complete(session, rows[:bound], grants)
    return tables, cut or len(rows) > bound


def named(session: "MySQLSession", names: Sequence[TableName], grants: Grants = _NO_GRANTS) -> list[MySQLRawTable]:
    """Those of the tables that exist. Raises DatabaseFailure RESULT_TOO_LARGE for too many columns."""
    rows = [
        # On some versions names that differ by case are one here.
        row
        for some in chunks(names)
        for row in session.rows_of(queries.NAMED_TABLES, some, max_rows=2 * len(some))
    ]
    tables, cut = _complete(session, rows, grants)
    if cut:
        raise DatabaseFailure(FailureCode.RESULT_TOO_LARGE)
    return tables


def existing(session: "MySQLSession", names: Sequence[TableName]) -> list[TableName]:
    """Those of the tables that the account sees, as the server spells them."""
    # With names that are not told apart by case there can be more rows than names.
    return [
        _name(row)
        for some in chunks(names)
        for row in session.rows_of(queries.EXISTING_TABLES, some, max_rows=2 * len(some))
    ]


def _complete(session: "MySQLSession", rows: "Sequence[Row]", grants: Grants) -> tuple[list[MySQLRawTable], bool]:
    """The tables with all that belongs to them, and whether tables are missing because there are too many columns."""
    partly = rights.partly_readable(session, grants, [_name(row) for row in rows])
    ways = _ways_of(session)
    tables: list[MySQLRawTable] = []
    read = 0
    for some in chunks(sorted(rows, key=_name)):
        names = [_name(row) for row in some]
        columns = _columns(session, names)
        read += sum(map(len, columns.values()))
        if read > MAX_COLUMNS:
            return tables, True
        unique, foreign = _unique_keys(session, names), _foreign_keys(session, names)
        found = (_table(row, columns, unique[_name(row)], foreign[_name(row)]) for row in some)
        tables += [replace(one, partly_readable=one.name in partly, **ways) for one in found]
    return tables, False


def _ways_of(session: "MySQLSession") -> dict[str, Any]:
    """Fields of tables that the server itself decides."""
    rows = session.rows(queries.WAYS_OF_SERVER, max_rows=2)
    values = {str(name).lower(): str(value).upper() for name, value in rows}
    return {
        # From 9.6 on the server, and not InnoDB alone, carries foreign keys out where this is off.
        "cascades_logged": values.get("innodb_native_foreign_keys") == "OFF",
        "hides_keys": values.get("show_gipk_in_create_table_and_information_schema") == "OFF",
    }


def _table(
    row: "Row",
    columns: dict[TableName, list[MySQLRawColumn]],
    unique: dict[str, list[str | None]],
    foreign: list[ForeignKey],
) -> MySQLRawTable:
    _, _, engine, collation, partitioned, estimated_rows, size, is_table = row
    return MySQLRawTable(
        name=_name(row),
        raw_columns=tuple(columns.get(_name(row), ())),
        is_table=bool(is_table),
        engine=engine,
        collation=collation,
        partitioned=bool(partitioned),
        primary_key_columns=tuple(name for name in unique.pop(_PRIMARY, []) if name is not None),
        unique_keys=tuple(UniqueKey(name=name, columns=_all_named(indexed)) for name, indexed in unique.items()),
        foreign_keys=tuple(foreign),
        estimated_rows=estimated_rows,
        estimated_size_bytes=size,
    )


def _all_named(indexed: list[str | None]) -> tuple[str, ...] | None:
    # The column of an expression is NULL.
    names = tuple(name for name in indexed if name is not None)
    return names if len(names) == len(indexed) else None


def _columns(session: "MySQLSession", names: Sequence[TableName]) -> dict[TableName, list[MySQLRawColumn]]:
    query = queries.COLUMNS if session.version_number >= 80000 else queries.COLUMNS_BEFORE_8
    rows = session.rows_of(query, names, max_rows=len(names) * _MAX_OF_TABLE, order=queries.COLUMN_ORDER)
    columns: dict[TableName, list[MySQLRawColumn]] = defaultdict(list)
    for row in rows:
        columns[_name(row)].append(_column(row))
    return columns


def _column(row: "Row") -> MySQLRawColumn:
    _, _, name, ordinal, type_, nullable, default, extra, character_set, collation, privileges, srid = row
    extra, allowed = (extra or "").upper(), frozenset((privileges or "").split(","))
    return MySQLRawColumn(
        name=name,
        ordinal=int(ordinal),
        type=_text(type_),
        nullable=bool(nullable),
        default=None if default is None else _text(default),
        generated=MySQLGenerated.STORED if _STORED in extra else MySQLGenerated.VIRTUAL if _VIRTUAL in extra else None,
        invisible="INVISIBLE" in extra,
        auto_increment="AUTO_INCREMENT" in extra,
        character_set=character_set,
        collation=collation,
        spatial_reference=None if srid is None else int(srid),
        can_select="select" in allowed,
        can_write=allowed >= _WRITES,
    )


def _unique_keys(session: "MySQLSession", names: Sequence[TableName]) -> dict[TableName, dict[str, list[str | None]]]:
    rows = session.rows_of(queries.INDEXES, names, max_rows=_MAX_INDEXED, order=queries.INDEX_ORDER)
    keys: dict[TableName, dict[str, list[str | None]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        keys[_name(row)][row[2]].append(row[3])
    return keys


def _foreign_keys(session: "MySQLSession", names: Sequence[TableName]) -> dict[TableName, list[ForeignKey]]:
    keys: dict[TableName, list[ForeignKey]] = defaultdict(list)
    for row in session.rows_of(queries.FOREIGN_KEYS, names, max_rows=_MAX_INDEXED):
        keys[_name(row)].append(
            ForeignKey(name=row[2], referenced=TableName(row[3], row[4]), update_rule=row[5], delete_rule=row[6])
        )
    return keys


def _name(row: "Row") -> TableName:
    return TableName(row[0], row[1])


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def chunks(items: Sequence[T], size: int = _PER_STATEMENT) -> Iterator[Sequence[T]]:
    """The items in their order, at most so many at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
