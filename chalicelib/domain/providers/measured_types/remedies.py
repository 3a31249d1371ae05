"""What a person can do about values that do not arrive equal."""

from collections.abc import Sequence
from typing import NamedTuple

from chalicelib.domain.providers.measured_types.model import ArrivalOutcome, MeasuredValues


class _Remedy(NamedTuple):
    """For types and values whose names begin so, and that meet one of these outcomes; none of them: any."""

    type: str
    values: str
    text: str
    outcomes: frozenset[ArrivalOutcome] = frozenset()


_STOPS, _CAPTURE_STOPS, _ABSENT = (
    frozenset({outcome}) for outcome in (ArrivalOutcome.STOPS, ArrivalOutcome.CAPTURE_STOPS, ArrivalOutcome.ABSENT)
)

_REMEDIES: Sequence[_Remedy] = (
    _Remedy("refcursor", "", "Leave the column out (options.exclude_columns)."),
    _Remedy("", "", "With options.on_conversion_error null they arrive as NULL.", _CAPTURE_STOPS),
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


def remedy(values: MeasuredValues) -> str | None:
    """The advice for these values; None where there is none but to know it."""
    return next((one.text for one in _REMEDIES if _fits(one, values)), None)


def _fits(one: _Remedy, values: MeasuredValues) -> bool:
    outcomes = frozenset(
        outcome
        for measured in values.targets.values()
        for into in (measured.made, measured.created)
        for outcome in into.outcomes
    )
    return (
        values.type.startswith(one.type)
        and values.values.startswith(one.values)
        and (not one.outcomes or bool(outcomes & one.outcomes))
    )
