"""What a person can do about values that do not arrive equal."""

from collections.abc import Sequence
from typing import NamedTuple

from chalicelib.domain.providers.measured_types.model import ArrivalOutcome, MeasuredValues


class _Remedy(NamedTuple):
    """For a type of this name, or with a name that begins so where it ends in a blank, and values whose names begin so,
    that meet one of these outcomes; none of them: any.
    """

    type: str
    values: str
    text: str
    outcomes: frozenset[ArrivalOutcome] = frozenset()


_STOPS, _CAPTURE_STOPS, _ABSENT = (
    frozenset({outcome}) for outcome in (ArrivalOutcome.STOPS, ArrivalOutcome.CAPTURE_STOPS, ArrivalOutcome.ABSENT)
)

_REMEDIES: Sequence[_Remedy] = (
    _Remedy("refcursor", "", "Leave the column out (options.exclude_columns)."),
    _Remedy("", "", "With options.on_conversion_error null such values arrive as NULL.", _CAPTURE_STOPS),
    _Remedy("text in ", "", "Convert the column to utf8mb4."),
    _Remedy("enum with ", "", "Rename the member, or store it as varchar."),
    _Remedy("set with ", "", "Rename the member, or store it as varchar."),
    _Remedy("", "zero dates", "Replace them by NULL, and let sql_mode have NO_ZERO_DATE and NO_ZERO_IN_DATE."),
    _Remedy("time", "times ", "Store durations as a number of seconds, or leave the column out."),
    _Remedy("generated column", "", "Let the target compute the value, in a column of another name."),
    _Remedy("", "", "Copy the value into a column of text at the source, and capture that.", _ABSENT),
    _Remedy("", "", "Leave the column out (options.exclude_columns), or change such values at the source.", _STOPS),
)
"""The first one that fits counts."""


_CREATE_FIRST = "Create the table first (target_ddl), with auto_create off."
_EXTENSION = "Deliver to PostgreSQL with PostGIS, or leave the column out (options.exclude_columns)."


def remedy(values: MeasuredValues) -> str | None:
    """The advice for these values; None where there is none but to know it."""
    if all(measured.made.is_equal for measured in values.targets.values()):
        return _CREATE_FIRST
    if any(measured.extended and measured.made.stops for measured in values.targets.values()):
        return _EXTENSION
    return next((one.text for one in _REMEDIES if _fits(one, values)), None)


def _fits(one: _Remedy, values: MeasuredValues) -> bool:
    outcomes = frozenset(
        outcome
        for measured in values.targets.values()
        for into in (measured.made, measured.created)
        for outcome in into.outcomes
    )
    return (
        _is_named(values.type, one.type)
        and values.values.startswith(one.values)
        and (not one.outcomes or bool(outcomes & one.outcomes))
    )


def _is_named(type_name: str, name: str) -> bool:
    return type_name.startswith(name) if not name or name.endswith(" ") else type_name == name
