"""The rules for types of one kind of source at one kind of target, from how values were measured."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.jdbc.target_types import Stop, TargetTypes, TypeRules, ValueWarning
from chalicelib.domain.providers.measured_types.discovery import is_told_exactly
from chalicelib.domain.providers.measured_types.model import Into, Measured, MeasuredValues, values_of
from chalicelib.domain.providers.measured_types.names import measured_names, without_modifiers
from chalicelib.domain.providers.measured_types.sentences import sentence
from chalicelib.domain.table import Column, IssueCode

EqualType = Callable[[Column], str | None]
"""The target's type in which values of a column arrive equal, or as equal as they can; None where that is not known."""

Effect = Callable[[str, str], str | None]
"""What a column of the second type does to values of the first, both types of the target; None where it takes all."""


def measured_types(
    target: DatabaseProvider, equal_types: Mapping[DatabaseProvider, EqualType], effect: Effect
) -> TargetTypes:
    """What a kind of target makes of the types of each kind of source. `effect` is asked where it was not measured."""
    return TargetTypes({source: _rules(source, target, equal, effect) for source, equal in equal_types.items()})


def _rules(source: DatabaseProvider, target: DatabaseProvider, equal_type: EqualType, effect: Effect) -> TypeRules:
    measured = _MeasuredPair(source, target)

    def effect_in(column: Column, to_type: str) -> str | None:
        equal = equal_type(column)
        if equal is None or to_type == equal:
            return None
        into = measured.arrival_in(column, to_type)
        if into is not None and not into.is_equal:
            text = sentence("", into)
            return f"{text[:1].lower()}{text[1:]}"
        return None if into is not None and to_type == column.type else effect(equal, to_type)

    return TypeRules(
        stop_of=measured.stop_of,
        equal_type=equal_type,
        effect_in=effect_in,
        stops_in=lambda column, to_type: (into := measured.arrival_in(column, to_type)) is not None and into.stops,
        # Between databases of one kind people expect the column's own type.
        created_warning=lambda column: measured.created_warning(
            column, column.type if source is target else equal_type(column)
        ),
        value_warnings=measured.value_warnings,
    )


class _MeasuredPair(NamedTuple):
    source: DatabaseProvider
    target: DatabaseProvider

    def stop_of(self, column: Column) -> Stop | None:
        ordinary = [measured for measured, _ in self._measured(column) if not measured.values]
        made, created = any(one.made.stops for one in ordinary), any(one.created.stops for one in ordinary)
        if made and created:
            has_extension = any(one.extended and one.extended.is_equal for one in ordinary)
            return Stop.WITHOUT_EXTENSION if has_extension else Stop.ALWAYS
        if created:
            return Stop.CREATED_TABLE
        return Stop.EXISTING_TABLE if made or any(into.stops for one in ordinary for into in one.others) else None

    def arrival_in(self, column: Column, to_type: str) -> Into | None:
        """How ordinary values arrive in a column of this type, where that was measured; the worst of them."""
        to_name = _name(to_type)
        found = [
            into
            for measured, _ in self._measured(column)
            if not measured.values
            for into in (measured.made, measured.extended, *measured.others)
            if into is not None and _name(into.column_type) == to_name
        ]
        return next((into for into in found if not into.is_equal), found[0] if found else None)

    def created_warning(self, column: Column, expected: str | None) -> str | None:
        """What to know when the sink makes the table: another type, and values that arrive equal in others only."""
        sentences = [text for measured, _ in self._measured(column) for text in _created(measured, expected)]
        return " ".join(dict.fromkeys(sentences)) or None

    def value_warnings(self, column: Column) -> Sequence[ValueWarning]:
        """What becomes of values at this kind of target that discovery has not told. Where a delivery stops at every
        value, as without an extension that knows the type, it is refused.
        """
        return [
            (IssueCode.TYPE_STOPS_TASK if into.stops else IssueCode.TYPE_CHANGES_VALUE, sentence(values.values, into))
            for measured, values in self._measured(column)
            if not (into := measured.extended or measured.made).is_equal
            and not is_told_exactly(values)
            and (values.values or not into.stops)
        ]

    def _measured(self, column: Column) -> Iterator[tuple[Measured, MeasuredValues]]:
        for values in values_of(self.source, measured_names(self.source, column)):
            if self.target in values.targets:
                yield values.targets[self.target], values


def _name(type_name: str) -> str:
    """The type without its size. All types of users are one."""
    bare = without_modifiers(type_name)
    return f".{'[]' * bare.endswith('[]')}" if "." in bare else bare


def _created(measured: Measured, expected: str | None) -> Iterator[str]:
    created = measured.created
    if (created.stops and not measured.values) or measured.extended:
        return  # The delivery is refused, unless the target has the extension.
    if not measured.values and expected and _differs(created, expected):
        yield f"A created table gets {without_modifiers(created.column_type)} instead of {without_modifiers(expected)}."
    if not created.is_equal and not created.arrives_as(measured.made):
        yield sentence(measured.values, created)


def _differs(created: Into, expected: str) -> bool:
    return without_modifiers(created.column_type) not in ("", without_modifiers(expected))
