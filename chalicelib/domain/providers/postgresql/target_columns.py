"""What a PostgreSQL target makes of the columns that arrive, by the kind of database that they were captured from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.postgresql import delivery_types
from chalicelib.domain.providers.postgresql.delivery_types import Stop
from chalicelib.domain.providers.postgresql.facts import PostgreSQLRawColumn
from chalicelib.domain.providers.postgresql.types import type_of
from chalicelib.domain.table import Column, SourceTable


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRules:
    """The rules for types of one kind of source. `fits` and `narrowing` take the source's and the target's spelling."""

    stop_of: Callable[[Column], Stop | None]
    auto_created_warning: Callable[[str], str | None]
    fits: Callable[[str, str], bool]
    narrowing: Callable[[str, str], str | None]
    equal_type: Callable[[Column], str | None]


_RULES: Mapping[DatabaseProvider, TypeRules] = {
    DatabaseProvider.POSTGRESQL: TypeRules(
        stop_of=lambda column: delivery_types.stop_of(type_of(column)),
        auto_created_warning=delivery_types.auto_created_type_warning,
        fits=delivery_types.fits,
        narrowing=delivery_types.narrowing,
        equal_type=lambda column: delivery_types.equal_type(type_of(column)),
    )
}
_UNKNOWN = TypeRules(
    stop_of=lambda _column: None,
    auto_created_warning=lambda _type: None,
    fits=lambda _source, _target: True,
    narrowing=lambda _source, _target: None,
    equal_type=lambda _column: None,
)
"""For a kind of source whose types were not measured with this target."""


def are_known(table: SourceTable) -> bool:
    """Whether it was measured how types of the table's kind of database arrive."""
    return table.provider in _RULES


def stops(table: SourceTable) -> Iterator[tuple[Column, Stop]]:
    """The columns at which a delivery of the table stops, each with when it does."""
    rules = _rules(table)
    for column in table.captured_columns:
        if (stop := rules.stop_of(column)) is not None:
            yield column, stop


def unsupported_columns(table: SourceTable) -> Sequence[str]:
    """The columns at which every delivery of the table stops, for any target table."""
    return [column.name for column, stop in stops(table) if stop is Stop.ALWAYS]


def auto_created_warnings(table: SourceTable) -> Iterator[tuple[Column, str | None]]:
    """For each column that arrives, what to know when the sink creates its table."""
    rules = _rules(table)
    return ((column, rules.auto_created_warning(column.type)) for column in table.captured_columns)


def equal_type(table: SourceTable, column: Column) -> str | None:
    """The type under which the column's values arrive equal; None where that was not measured."""
    return _rules(table).equal_type(column)


def type_warning(table: SourceTable, column: Column, to: PostgreSQLRawColumn) -> str | None:
    """What to know when values of the column are written into this one."""
    rules = _rules(table)
    if to.type == rules.equal_type(column):
        return None
    if not rules.fits(column.type, to.type):
        return f"{column.type} is written into {to.type}; the delivery stops at a value that does not fit."
    effect = rules.narrowing(column.type, to.type)
    return f"{column.type} is written into {to.type}; {effect}" if effect else None


def null_warning(column: Column, to: PostgreSQLRawColumn) -> str | None:
    """What to know when the source allows null and the target does not."""
    if column.nullable and not to.nullable:
        return "null is allowed at the source and not at the target; the delivery stops at the first one."
    return None


def _rules(table: SourceTable) -> TypeRules:
    return _RULES.get(table.provider, _UNKNOWN)
