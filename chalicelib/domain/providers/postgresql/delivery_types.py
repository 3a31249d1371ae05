"""Types of PostgreSQL as targets: in which one a type of PostgreSQL itself arrives equal, and what others do to values.

Measured: Debezium 3.6 and its JDBC sink between two PostgreSQL 18 servers, snapshot and stream.
"""

import re
from collections.abc import Mapping

from chalicelib.domain.providers.measured_types.names import type_of, without_modifiers
from chalicelib.domain.providers.postgresql.types import NUMERIC, RANGES
from chalicelib.domain.table import Column, TypeKind

_NETWORK = ("inet", "cidr", "macaddr", "macaddr8")
_ARRAYS_AS_TEXT = frozenset({*_NETWORK, *RANGES})
"""Elements of arrays that arrive as texts: a delivery into an array of their own type stops."""

_WIDENING: tuple[tuple[str, ...], ...] = (
    ("smallint", "integer", "bigint", "numeric"),
    ("real", "double precision"),
    ("character", "character varying", "text"),
    ("json", "jsonb"),
    ("jsonb", "json"),
)
"""Each type can be written into those after it in the same row."""


def equal_type(column: Column) -> str:
    """The type of a target column in which values of this type arrive equal, or as equal as they can.

    Types of users are unknown to the target: their values arrive as text.
    """
    captured = type_of(column)
    bare = without_modifiers(captured.name)
    is_text = captured.kind is TypeKind.ENUM or "." in bare or (captured.dimensions and bare in _ARRAYS_AS_TEXT)
    name = "text" if is_text else "boolean" if captured.name == "bit(1)" else captured.name
    return name + "[]" * min(1, captured.dimensions)


def effect(source_type: str, target_type: str) -> str | None:
    """What a column of the second type does to values of the first; None where it takes all of them."""
    if not fits(source_type, target_type):
        return "the delivery stops at a value that does not fit."
    return narrowing(source_type, target_type)


def fits(source_type: str, target_type: str) -> bool:
    """Whether every value of the source's type fits the target's. Types of users are not judged."""
    source, target = without_modifiers(source_type), without_modifiers(target_type)
    if source == target or "." in source or "." in target:
        return True
    if source == "text" and target == "character varying":
        return target_type == target
    return any(source in row and target in row and row.index(source) < row.index(target) for row in _WIDENING)


_LENGTHS = ("character varying", "character", "bit varying")
_DIGITS = re.compile(r"\((\d+)(?:,(-?\d+))?\)")


def narrowing(source_type: str, target_type: str) -> str | None:
    """What a target of the same kind with a smaller size does to longer values; None where it is not smaller."""
    source, target = without_modifiers(source_type), without_modifiers(target_type)
    if target == "numeric" and (to := NUMERIC.match(target_type)):
        return _smaller_numeric(source_type, int(to[1]), int(to[2]))
    if source != target:
        return None
    wide, narrow = _first_modifier(source_type), _first_modifier(target_type)
    if narrow is None or (wide is not None and wide <= narrow):
        return None
    if source in _LENGTHS:
        return _TOO_LONG
    return _ROUNDED if source.startswith(("timestamp", "time")) else None


_ROUNDED = "digits that do not fit are rounded off, silently."
_TOO_LONG = "the delivery stops at a value that is longer."
_WHOLE_DIGITS: Mapping[str, int] = {"smallint": 5, "integer": 10, "bigint": 19}


def _smaller_numeric(source_type: str, digits: int, scale: int) -> str | None:
    if whole := _WHOLE_DIGITS.get(source_type):
        return _TOO_LONG if digits - scale < whole else None
    of_source = NUMERIC.match(source_type)
    if of_source is None:
        return _ROUNDED if source_type == "numeric" else None
    if int(of_source[2]) > scale:
        return _ROUNDED
    return _TOO_LONG if digits - scale < int(of_source[1]) - int(of_source[2]) else None


def _first_modifier(type_name: str) -> int | None:
    match = _DIGITS.search(type_name)
    return int(match[1]) if match else None
