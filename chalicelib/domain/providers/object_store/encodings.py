"""Columns whose values JSON shows in another form than the database, by their type (Debezium 3.6, "Data type mappings";
the representation `exact`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.table import Column, SourceTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """One form: its warning, and whether the representation `readable` writes text instead."""

    code: str
    message: str
    ends_with_readable: bool


_DECIMALS = Encoding(
    code="DECIMALS_ENCODED",
    message="Columns {columns} of {table} are written as base64 of the unscaled number, without their scale. A new "
    "pipeline with the representation readable writes them as text.",
    ends_with_readable=True,
)
_TIMES = Encoding(
    code="TIMES_ENCODED",
    message="Columns {columns} of {table} are written as numbers: days, milliseconds or microseconds since 1970 or "
    "midnight. A new pipeline with the representation readable writes them as text.",
    ends_with_readable=True,
)
_BYTES = Encoding(
    code="BYTES_ENCODED",
    message="Columns {columns} of {table} are written as base64.",
    ends_with_readable=False,
)
_TYPES: Mapping[DatabaseProvider, Mapping[str, Encoding]] = {
    DatabaseProvider.POSTGRESQL: {
        **dict.fromkeys(("numeric", "decimal", "money"), _DECIMALS),
        **dict.fromkeys(("date", "timestamp", "timestamp without time zone"), _TIMES),
        **dict.fromkeys(("time", "time without time zone", "interval"), _TIMES),
        **dict.fromkeys(("bytea", "bit", "bit varying", "varbit"), _BYTES),
    },
    DatabaseProvider.MYSQL: {
        **dict.fromkeys(("decimal", "numeric"), _DECIMALS),
        **dict.fromkeys(("date", "datetime", "time"), _TIMES),
        **dict.fromkeys(("blob", "tinyblob", "mediumblob", "longblob", "binary", "varbinary", "bit"), _BYTES),
    },
}
"""By the name of a type without its modifiers."""
_MODIFIERS = frozenset({"unsigned", "zerofill"})


def encodings_of(table: SourceTable, *, readable: bool) -> Iterator[tuple[Encoding, list[str]]]:
    """Each form that values of the table have, with the names of its columns."""
    columns: dict[str, list[str]] = {}
    forms: dict[str, Encoding] = {}
    for column in table.captured_columns:
        form = _encoding(table.provider, column)
        if form is not None and not (readable and form.ends_with_readable):
            forms[form.code] = form
            columns.setdefault(form.code, []).append(column.name)
    for code, names in columns.items():
        yield forms[code], names


def _encoding(provider: DatabaseProvider, column: Column) -> Encoding | None:
    name = column.captured.name if column.captured else column.type
    before, _, after = name.lower().removesuffix("[]").partition("(")
    words = f"{before} {after.partition(')')[2]}".split()
    return _TYPES[provider].get(" ".join(word for word in words if word not in _MODIFIERS))
