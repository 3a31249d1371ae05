"""What a target makes of the columns that arrive, by the kind of database that they were captured from."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.names import name_list
from chalicelib.domain.providers.measured_types.names import shown
from chalicelib.domain.table import Column, IssueCode, SourceTable


class Stop(Enum):
    """When a delivery stops at a column: always, in a table made beforehand, in one that the sink makes, or in a target
    without the extension that knows the type.
    """

    ALWAYS = auto()
    EXISTING_TABLE = auto()
    CREATED_TABLE = auto()
    WITHOUT_EXTENSION = auto()


_ADVICE: Mapping[Stop, str] = {
    Stop.ALWAYS: "Leave {0} out of the pipeline (options.exclude_columns).",
    Stop.EXISTING_TABLE: "{0} arrives in a target column of type {1}.",
    Stop.CREATED_TABLE: "Create the table first (target_ddl): {0} arrives in a column of type {1}.",
    Stop.WITHOUT_EXTENSION: "{0} needs PostGIS in the target database: CREATE EXTENSION postgis;",
}
"""With the name of the column, and the type in which it arrives."""

ValueWarning = tuple[IssueCode, str]
"""What becomes of some values of a type, with a stable code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeRules:
    """The rules for types of one kind of source, as they were measured with one kind of target.

    `equal_type` is the target's type in which values arrive equal, or as equal as they can. `effect_in` is what a
    column of another type does to them; None where it does nothing. `stops_in`: whether a delivery was seen to stop in
    a column of that type. `created_warning` is what to know when the sink creates the table; None when nothing changes.
    `value_warnings` are about some values, in whatever column.
    """

    stop_of: Callable[[Column], Stop | None]
    equal_type: Callable[[Column], str | None]
    effect_in: Callable[[Column, str], str | None]
    stops_in: Callable[[Column, str], bool]
    created_warning: Callable[[Column], str | None]
    value_warnings: Callable[[Column], Sequence[ValueWarning]]


_UNKNOWN = TypeRules(
    stop_of=lambda _column: None,
    equal_type=lambda _column: None,
    effect_in=lambda _column, _type: None,
    stops_in=lambda _column, _type: False,
    created_warning=lambda _column: None,
    value_warnings=lambda _column: (),
)
"""For a kind of source whose types were not measured with this target."""


@dataclass(frozen=True, slots=True)
class TargetTypes:
    """What one kind of target makes of types, by the kind of source."""

    rules: Mapping[DatabaseProvider, TypeRules]

    def are_known(self, table: SourceTable) -> bool:
        """Whether it was measured how types of the table's kind of database arrive."""
        return table.provider in self.rules

    def stops(self, table: SourceTable) -> Iterator[tuple[Column, Stop]]:
        """The columns at which a delivery of the table stops, each with when it does."""
        rules = self._rules(table)
        for column in table.captured_columns:
            if (stop := rules.stop_of(column)) is not None:
                yield column, stop

    def refusal(
        self, table: SourceTable, target_columns: Mapping[str, str] | None, *, has_extension: bool = False
    ) -> str | None:
        """Why no delivery of the table is made: the columns at which it would stop, and what to do about each; None
        where it stops at none. `target_columns` are the types of the target's columns by name, null where the sink
        makes the table. `has_extension`: the target has the one that knows the types which need it.
        """
        stopping = [
            (column, stop)
            for column, stop in self.stops(table)
            if self._applies(stop, table, column, target_columns, has_extension=has_extension)
        ]
        if not stopping:
            return None
        advice = (_ADVICE[stop].format(column.name, self.equal_type(table, column)) for column, stop in stopping)
        names = name_list(column.name for column, _ in stopping)
        return f"Columns {names} of {table.name} have types that stop the delivery. {' '.join(advice)}"

    def _applies(
        self,
        stop: Stop,
        table: SourceTable,
        column: Column,
        target_columns: Mapping[str, str] | None,
        *,
        has_extension: bool,
    ) -> bool:
        match stop:
            case Stop.ALWAYS:
                return True
            case Stop.CREATED_TABLE:
                return target_columns is None
            case Stop.WITHOUT_EXTENSION:
                return not has_extension
            case Stop.EXISTING_TABLE:
                to_type = (target_columns or {}).get(column.name)
                return to_type is not None and self.stops_in(table, column, to_type)

    def unsupported_columns(self, table: SourceTable) -> Sequence[str]:
        """The columns at which every delivery of the table stops, for any target table."""
        return [column.name for column, stop in self.stops(table) if stop is Stop.ALWAYS]

    def created_warnings(self, table: SourceTable) -> Iterator[tuple[Column, str | None]]:
        """For each column that arrives, what to know when the sink creates its table."""
        rules = self._rules(table)
        return ((column, rules.created_warning(column)) for column in table.captured_columns)

    def equal_type(self, table: SourceTable, column: Column) -> str | None:
        """The type under which the column's values arrive equal; None where that was not measured."""
        return self._rules(table).equal_type(column)

    def stops_in(self, table: SourceTable, column: Column, to_type: str) -> bool:
        """Whether a delivery stops at values of the column in a column of this type."""
        return self._rules(table).stops_in(column, to_type)

    def value_warnings(self, table: SourceTable) -> Mapping[IssueCode, Sequence[tuple[Column, str]]]:
        """For each column that arrives, what becomes of some of its values in every target table."""
        rules, found = self._rules(table), defaultdict[IssueCode, list[tuple[Column, str]]](list)
        for column in table.captured_columns:
            for code, sentence in rules.value_warnings(column):
                found[code].append((column, sentence))
        return found

    def type_warning(self, table: SourceTable, column: Column, to_type: str) -> str | None:
        """What to know when values of the column are written into a column of this type."""
        effect = self._rules(table).effect_in(column, to_type)
        return f"{shown(column.type)} is written into {shown(to_type)}; {effect}" if effect else None

    def _rules(self, table: SourceTable) -> TypeRules:
        return self.rules.get(table.provider, _UNKNOWN)


def null_warning(column: Column, *, to_nullable: bool) -> str | None:
    """What to know when the source allows null and the target does not."""
    if column.nullable and not to_nullable:
        return "null is allowed at the source and not at the target; the delivery stops at the first one."
    return None
