"""The page of the documentation about types, from the tables of the package."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.model import (
    Arrival,
    ArrivalOutcome,
    Into,
    Measured,
    MeasuredValues,
    measured_values,
)
from chalicelib.domain.providers.measured_types.names import without_modifiers
from chalicelib.domain.providers.measured_types.remedies import remedy
from infra.local.stack.layout import ROOT
from tests.types.cases import MYSQL, POSTGRESQL

PAGE = ROOT / "infra" / "docs" / "types.md"
TITLES = {MYSQL: "MySQL", POSTGRESQL: "PostgreSQL"}

_INTRODUCTION = """# Types

How values arrive, by the type of their column: each type of MySQL and PostgreSQL, into tables of both. Everything here
was measured: Debezium 3.6 and its JDBC sink, with the configuration that Headgate makes; MySQL 8.0.15 and
PostgreSQL 18, each as source and as target. Types that these do not have were measured with MySQL 9.7, and with
PostgreSQL 15 with PostGIS 3.3 and other extensions. Each value went once through the snapshot and once through a later
change, into a table that was made beforehand and into one that the sink made. Values that have no line of their own
arrive as the ordinary values of their type do.

Discovery and the preview of a delivery say the same about the columns of a table. The preview also has the statement of
a table in which everything arrives equal that can (`target_ddl`).

| word | means |
|---|---|
| equal | the target's value is the source's, in the snapshot and in later changes |
| changed | another value arrives; nothing fails, and nobody is told |
| stops | the task of the delivery fails at the value, and the rows behind it wait |
| capture stops | the task of the pipeline fails at the value, and nothing behind it is captured |
| left out | Debezium does not capture the column |
| made by the sink | what is different in a table that the sink has made (`auto_create`) |

`python -m tests.types` measures everything again and writes this page ([developing](developing.md#types)).
"""


def write() -> Path:
    PAGE.write_text(text())
    return PAGE


def text() -> str:
    return "\n".join([_INTRODUCTION, *(line for source in (MYSQL, POSTGRESQL) for line in _source(source))])


def _source(source: DatabaseProvider) -> Iterator[str]:
    rows = [values for of_type in measured_values(source).values() for values in of_type]
    ordinary = {one.type: _difference(one)[1:] for one in rows if not one.values}
    equal = [one for one in rows if _is_equal(one)]
    different = [
        one for one in rows if not _is_equal(one) and (not one.values or _difference(one)[1:] != ordinary.get(one.type))
    ]
    yield from (f"## From {TITLES[source]}", "", "### What does not arrive equal", "")
    yield from ("| type | values | to PostgreSQL | to MySQL | what to do |", "|---|---|---|---|---|")
    yield from _table(different, _difference)
    yield from ("", "### What arrives equal everywhere", "")
    yield from ("| type | values | type in PostgreSQL | type in MySQL |", "|---|---|---|---|")
    yield from _table(equal, _types)
    yield ""


def _is_equal(values: MeasuredValues) -> bool:
    return all(one.made.is_equal and one.created.is_equal for one in values.targets.values())


def _table(rows: Sequence[MeasuredValues], cells_of) -> Iterator[str]:
    """One line for all types of which the same is true."""
    types: dict[tuple[str, ...], list[str]] = {}
    for values in rows:
        types.setdefault(cells_of(values), []).append(values.type)
    for cells, names in types.items():
        listed = ", ".join(f"`{name}`" for name in dict.fromkeys(names))
        yield f"| {listed} | {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")


def _types(values: MeasuredValues) -> tuple[str, ...]:
    return (values.values, *(_column_types(values.targets[target]) for target in (POSTGRESQL, MYSQL)))


def _column_types(measured: Measured) -> str:
    made, created = measured.made.column_type, measured.created.column_type
    if without_modifiers(made) == without_modifiers(created):
        return f"`{made}`"
    return f"`{made}`; made by the sink: `{created}`"


def _difference(values: MeasuredValues) -> tuple[str, ...]:
    cells = (_arrivals(values.targets[target]) for target in (POSTGRESQL, MYSQL))
    return (values.values, *cells, remedy(values) or "")


def _arrivals(measured: Measured) -> str:
    made, created = measured.made, measured.created
    parts = [_arrival(made)]
    if not made.arrives_as(created):
        parts.append(f"made by the sink: {_arrival(created)}")
    if measured.extended:
        parts.append(f"with PostGIS: {_arrival(measured.extended)}")
    return "; ".join(parts)


def _arrival(into: Into) -> str:
    column = f"`{into.column_type}`: " if into.column_type and not into.outcomes & _WITHOUT_COLUMN else ""
    if into.snapshot == into.changes:
        return f"{column}{_outcome(into.snapshot)}"
    if into.outcomes == {ArrivalOutcome.CHANGED} and into.snapshot.sent == into.changes.sent:
        became = f"{_value(into.snapshot.became)} in the snapshot, {_value(into.changes.became)} later"
        return f"{column}changed, {_value(into.snapshot.sent)} is {became}"
    return f"{column}{_outcome(into.snapshot)} in the snapshot, {_outcome(into.changes)} later"


_WITHOUT_COLUMN = frozenset({ArrivalOutcome.ABSENT, ArrivalOutcome.CAPTURE_STOPS})


def _outcome(arrival: Arrival) -> str:
    if arrival.outcome is ArrivalOutcome.CHANGED:
        return f"changed, {_value(arrival.sent)} is {_value(arrival.became)}"
    return "left out" if arrival.outcome is ArrivalOutcome.ABSENT else str(arrival.outcome)


def _value(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else "``''``"
