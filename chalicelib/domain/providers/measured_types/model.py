"""How values of each type arrive: what was measured with Debezium 3.6 and its JDBC sink on real servers.

`python -m tests.types` measures, and writes the tables `mysql.json` and `postgresql.json` beside this file and the page
`infra/docs/types.md`. Discovery and previews read them here.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path

from chalicelib.domain.database import DatabaseProvider

Line = tuple[str, str, Mapping[str, Sequence[str]]]
"""One line of a table: the name of a type (`names.py`), which of its values ("" are all that no other line names),
and where they went.

A key is a target (`mysql`: a table made beforehand, with the type in which values arrive best), a target with `created`
(the table was made by the sink), with `with PostGIS` (made beforehand in a database that has it, where that makes a
difference) or with the type of another column that was tried. The parts are the type of the
target's column, then what became of the values in the snapshot and in later changes: nothing more for equal, one part
for the same in both.
"""

_CHANGED = " -> "
_CREATED = "created"
WITH_EXTENSION = "with PostGIS"


class ArrivalOutcome(StrEnum):
    """What became of values: `absent` ones have no column in the target."""

    EQUAL = "equal"
    CHANGED = "changed"
    STOPS = "stops"
    CAPTURE_STOPS = "capture stops"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Arrival:
    """What became of values. `sent` and `became` show one that changed."""

    outcome: ArrivalOutcome
    sent: str = ""
    became: str = ""

    @classmethod
    def read(cls, text: str) -> "Arrival":
        sent, arrow, became = text.partition(_CHANGED)
        return cls(ArrivalOutcome.CHANGED, sent, became) if arrow else cls(ArrivalOutcome(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Into:
    """How values arrive in a target column of this type; `column_type` is "" where there is none."""

    column_type: str
    snapshot: Arrival
    changes: Arrival

    @classmethod
    def read(cls, parts: Sequence[str]) -> "Into":
        column_type, *texts = parts
        first, last = (texts[0], texts[-1]) if texts else (ArrivalOutcome.EQUAL, ArrivalOutcome.EQUAL)
        return cls(column_type=column_type, snapshot=Arrival.read(first), changes=Arrival.read(last))

    @property
    def outcomes(self) -> frozenset[ArrivalOutcome]:
        return frozenset((self.snapshot.outcome, self.changes.outcome))

    def arrives_as(self, other: "Into") -> bool:
        """Whether the same becomes of values in the other column."""
        return (self.snapshot, self.changes) == (other.snapshot, other.changes)

    @property
    def is_equal(self) -> bool:
        return self.outcomes == {ArrivalOutcome.EQUAL}

    @property
    def stops(self) -> bool:
        """Whether the delivery stops, in the snapshot or later."""
        return ArrivalOutcome.STOPS in self.outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How some values of a type arrive at one kind of target.

    `made` is a table that was made beforehand with the type in which the values arrive best, `created` one that the
    sink made. `extended` is a table that was made in a database with PostGIS; null where that makes no difference.
    `others` are columns of further types.
    """

    type: str
    values: str
    made: Into
    created: Into
    extended: Into | None = None
    others: tuple[Into, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredValues:
    """Some values of a type, and how they arrive at each kind of target."""

    type: str
    values: str
    targets: Mapping[DatabaseProvider, Measured] = field(default_factory=dict)

    @property
    def outcomes(self) -> frozenset[ArrivalOutcome]:
        """In tables that were made beforehand, whatever the target."""
        return frozenset(outcome for measured in self.targets.values() for outcome in measured.made.outcomes)


def table_file(source: DatabaseProvider) -> Path:
    """The table of the types of one kind of source: JSON, with one line for each of its lines."""
    return Path(__file__).with_name(f"{source}.json")


def measured_lines(source: DatabaseProvider) -> tuple[Line, ...]:
    """The table as it is stored."""
    return tuple((name, values, cells) for name, values, cells in json.loads(table_file(source).read_text()))


@cache
def measured_values(source: DatabaseProvider) -> Mapping[str, tuple[MeasuredValues, ...]]:
    """All that was measured of a kind of source, by the name of the type."""
    found: dict[str, list[MeasuredValues]] = {}
    for line in measured_lines(source):
        found.setdefault(line[0], []).append(_read(line))
    return {name: tuple(values) for name, values in found.items()}


def is_measured(source: DatabaseProvider, names: Iterable[str]) -> bool:
    """Whether a type with these names stands in the tables."""
    return any(name in measured_values(source) for name in names)


def values_of(source: DatabaseProvider, names: Iterable[str]) -> Iterator[MeasuredValues]:
    """What was measured of a type with these names."""
    known = measured_values(source)
    return (values for name in names for values in known.get(name, ()))


def _read(line: Line) -> MeasuredValues:
    name, values, cells = line
    return MeasuredValues(
        type=name, values=values, targets={target: _at(target, line) for target in DatabaseProvider if target in cells}
    )


def _at(target: DatabaseProvider, line: Line) -> Measured:
    name, values, cells = line
    into = {
        key.removeprefix(f"{target} "): Into.read(parts) for key, parts in cells.items() if key.startswith(f"{target} ")
    }
    made = Into.read(cells[target])
    return Measured(
        type=name,
        values=values,
        made=made,
        created=into.pop(_CREATED, made),
        extended=into.pop(WITH_EXTENSION, None),
        others=tuple(into.values()),
    )
