"""What reaches the topic of values of each MySQL type.

The tables below were measured with Debezium 3.6, snapshot and stream.
"""

from collections.abc import Mapping

from chalicelib.domain.providers.mysql.facts import MySQLRawColumn
from chalicelib.domain.providers.mysql.types import base_type, modifiers
from chalicelib.domain.table import IssueCode, IssueSeverity, TableIssue

_Verdict = tuple[IssueCode, IssueSeverity, str]
_CHANGES, _STOPS = IssueCode.TYPE_CHANGES_VALUE, IssueCode.TYPE_STOPS_TASK
_INFO, _WARN = IssueSeverity.INFO, IssueSeverity.WARN

_ZERO_NULL: _Verdict = (_CHANGES, _INFO, "Zero dates (0000-00-00, 2024-00-00) arrive as NULL; others arrive equal.")
_ZERO_DEFAULT: _Verdict = (
    _CHANGES,
    _WARN,
    "Zero dates (0000-00-00, 2024-00-00) arrive as the column's default, or as 1970-01-01; others arrive equal.",
)
_GEOMETRY: _Verdict = (
    _STOPS,
    _WARN,
    (
        "A delivery to PostgreSQL stops at this column unless its target has PostGIS; in MySQL the axes of values with a "
        "spatial reference system are swapped."
    ),
)
_TYPES: Mapping[str, _Verdict] = {
    "json": (
        _CHANGES,
        _INFO,
        (
            "Times and binary values inside are written in another form by the snapshot than by changes; doubles with an "
            "exponent are written out. All other values arrive equal."
        ),
    ),
    "time": (_STOPS, _WARN, "A delivery stops at a value below 00:00:00, or from 24:00:00 on."),
    "year": (_CHANGES, _INFO, "The year 0000 arrives as 2000 in the snapshot and as 1900 in a change."),
    **dict.fromkeys(
        ("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"), _GEOMETRY
    ),
    **dict.fromkeys(("geometrycollection", "geomcollection"), _GEOMETRY),
}
"""By the type's name without modifiers."""

_WRONG_CHARACTER_SETS = frozenset({"hp8", "keybcs2", "armscii8", "geostd8"})


def column_issue(column: MySQLRawColumn) -> TableIssue | None:
    """What happens to this column's values, when it is not "they arrive equal"."""
    verdict = _verdict(column)
    if verdict is None:
        return None
    code, severity, sentence = verdict
    message = f"Column of type {_shown(column.type)}: {sentence}"
    return TableIssue(code=code, severity=severity, column=column.name, message=message)


def _shown(type_name: str) -> str:
    # The members of an enum may be thousands of characters of a user's text.
    return base_type(type_name) if base_type(type_name) in ("enum", "set") else type_name


def _verdict(column: MySQLRawColumn) -> _Verdict | None:
    base = base_type(column.type)
    if column.character_set in _WRONG_CHARACTER_SETS:
        return (
            _CHANGES,
            _WARN,
            (
                f"Changes arrive with other letters, because of its character set "
                f"{column.character_set}. Convert the column to utf8mb4."
            ),
        )
    if base in ("date", "datetime", "timestamp"):
        return _ZERO_NULL if column.nullable else _ZERO_DEFAULT
    if base == "float" and not modifiers(column.type):
        return (_CHANGES, _INFO, "The snapshot has 6 digits of a value, as the server prints it; changes have all.")
    if (
        base in ("enum", "set")
        and any(sign in column.type for sign in (",", "\\"))
        and _has_awkward_member(column.type)
    ):
        return (
            _CHANGES,
            _WARN,
            "A comma or a backslash inside a member arrives with a backslash before it in changes.",
        )
    return _TYPES.get(base)


def _has_awkward_member(type_name: str) -> bool:
    inside = type_name.partition("(")[2].rpartition(")")[0]
    return any("," in member or "\\" in member for member in inside.strip("'").split("','"))
