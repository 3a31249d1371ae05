"""Writes what was measured as the tables that discovery and previews read."""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.measured_types.model import (
    WITH_EXTENSION,
    ArrivalOutcome,
    Line,
    measured_values,
    table_file,
)
from chalicelib.domain.providers.measured_types.names import without_modifiers
from tests.types.cases import Case
from tests.types.deliver import Result
from tests.types.measure import CaseResult

_LONGEST = 44
_OBJECT = re.compile(r"@[0-9a-f]{5,8}")


def line_of(result: CaseResult) -> Line:
    """A case's line: a created table stands in it where it differs from the one made beforehand."""
    cells: dict[str, Sequence[str]] = {}
    for (target, into), phases in result.cells.items():
        key = str(target) if into == "made" else f"{target} {into}"
        cells[key] = _parts(phases)
    for target in DatabaseProvider:
        made, created = cells[str(target)], cells[f"{target} created"]
        same_type = without_modifiers(made[0]) == without_modifiers(created[0]) or not created[0]
        if same_type and made[1:] == created[1:]:
            del cells[f"{target} created"]
    return (result.case.type, result.case.values, cells)


def _parts(phases: tuple[Result, Result]) -> list[str]:
    column_type = phases[0].column_type or phases[1].column_type or ""
    snapshot, changes = map(_text, phases)
    if snapshot == changes:
        return [column_type] if snapshot == ArrivalOutcome.EQUAL else [column_type, snapshot]
    return [column_type, snapshot, changes]


def _text(result: Result) -> str:
    if result.outcome is ArrivalOutcome.CHANGED:
        return f"{_shown(result.sent)} -> {_shown(result.became)}"
    return str(result.outcome)


def _shown(text: str | None) -> str:
    """Short, printable, and the same in each run: Java prints some values with a number of its own."""
    text = "NULL" if text is None else _OBJECT.sub("@...", text)
    # Times of day without a date get the day of the run.
    text = text.replace(datetime.now(UTC).date().isoformat(), "(today)")
    text = "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def with_extension(known: Mapping[tuple[str, str], Line], line: Line) -> Line:
    """The known line with how the values arrive in a database with PostGIS, where `line` was measured."""
    name, values, cells = line
    return (name, values, {**known[name, values][2], _EXTENDED: cells[DatabaseProvider.POSTGRESQL]})


def without_extension(line: Line) -> Line:
    """The line as it is measured without PostGIS."""
    name, values, cells = line
    return (name, values, {key: parts for key, parts in cells.items() if key != _EXTENDED})


_EXTENDED = f"{DatabaseProvider.POSTGRESQL} {WITH_EXTENSION}"


def merged(cases: Sequence[Case], before: Sequence[Line], measured: Sequence[Line]) -> list[Line]:
    """The lines of all cases in their order, the newest of each."""
    known = {(line[0], line[1]): line for line in before}
    for line in measured:
        # What another server alone has was tried there.
        cells = known.get((line[0], line[1]), ("", "", {}))[2]
        kept = {key: parts for key, parts in cells.items() if key == _EXTENDED}
        known[line[0], line[1]] = (line[0], line[1], {**kept, **line[2]})
    return [known[key] for case in cases if (key := (case.type, case.values)) in known]


def write(source: DatabaseProvider, lines: Sequence[Line]) -> None:
    """Writes the table of one kind of source: each line in one of the file's."""
    rows = ",\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
    table_file(source).write_text(f"[\n{rows}\n]\n")
    measured_values.cache_clear()
