"""What a PostgreSQL target makes of types that were captured from PostgreSQL.

The tables below were measured: Debezium 3.6 and its JDBC sink between two PostgreSQL 18 servers, snapshot and stream.
"""

import re
from collections.abc import Mapping

from chalicelib.domain.providers.jdbc.target_types import Stop
from chalicelib.domain.providers.postgresql.types import NUMERIC, RANGES, without_modifiers
from chalicelib.domain.table import CapturedType, TypeKind

_STOPPING: Mapping[str, Stop] = {
    "bit(1)": Stop.EXISTING_TABLE,
    "point": Stop.WITHOUT_EXTENSION,
    **dict.fromkeys(("int2vector", "oidvector"), Stop.ALWAYS),
}
"""By the type's name, with modifiers where only that one is meant."""

_STOPPING_ARRAYS: Mapping[str, Stop] = {
    **dict.fromkeys(
        (
            *("numeric", "date", "timestamp without time zone", "timestamp with time zone"),
            *("time without time zone", "time with time zone", "bytea", "bit"),
        ),
        Stop.ALWAYS,
    ),
    **dict.fromkeys(("inet", "cidr", "macaddr", "macaddr8", *RANGES), Stop.EXISTING_TABLE),
}
"""By the element's name without modifiers."""

_AUTO_CREATED: Mapping[str, str] = {
    "jsonb": "json",
    **dict.fromkeys(("character varying", "character", "bpchar", '"char"', "name"), "text"),
    **dict.fromkeys(("inet", "cidr", "macaddr", "macaddr8", *RANGES), "text"),
    "bit(1)": "boolean",
    "money": "numeric(38,2)",
    "oid": "bigint",
}
"""Types, of columns and of elements, that arrive equal in a table made beforehand -> what the sink creates for them."""

MAX_DIGITS = 38
"""The longest numeric in a table that the sink creates."""

_WIDENING: tuple[tuple[str, ...], ...] = (
    ("smallint", "integer", "bigint", "numeric"),
    ("real", "double precision"),
    ("character", "character varying", "text"),
    ("json", "jsonb"),
    ("jsonb", "json"),
)
"""Each type can be written into those after it in the same row."""


def stop_of(captured: CapturedType) -> Stop | None:
    """When a delivery stops at a column of this type; None where it never does for its type alone."""
    if captured.generated:
        return None
    bare = without_modifiers(captured.name)
    if not captured.dimensions:
        is_base = captured.kind is TypeKind.BASE
        return (_STOPPING.get(captured.name) or _STOPPING.get(bare)) if is_base else None
    if captured.kind is TypeKind.ENUM:
        return Stop.EXISTING_TABLE
    if captured.dimensions > 1 and bare == "uuid":
        return Stop.ALWAYS
    return _STOPPING_ARRAYS.get(bare)


def equal_type(captured: CapturedType) -> str:
    """The type of a target column in which values of this type arrive equal, or as equal as they can.

    Types of users are unknown to the target: their values arrive as text.
    """
    name = captured.name
    if captured.kind is TypeKind.ENUM or "." in without_modifiers(name):
        name = "text"
    elif stop_of(captured) is Stop.EXISTING_TABLE:
        name = _AUTO_CREATED.get(name, "text")
    return name + "[]" * min(1, captured.dimensions)


def auto_created_type_warning(type_name: str) -> str | None:
    """What to know about a column of this type when the sink creates the target table; None when it stays the same.

    `type_name` is a column's type as discovery spells it. Only types of the system come without a schema name.
    """
    bare = without_modifiers(type_name)
    if "." in bare:
        return "A created table does not know this type of your own: it gets text or the type below it."
    if bare == "numeric":
        return _created_numeric(type_name)
    element, array = bare.removesuffix("[]"), "[]" if bare.endswith("[]") else ""
    created = _AUTO_CREATED.get(type_name) or _AUTO_CREATED.get(element)
    return f"A created table gets {created}{array} instead of {bare}." if created else None


def _created_numeric(type_name: str) -> str | None:
    match = NUMERIC.match(type_name)
    if match is None:
        return "A created table gets double precision for numeric without a scale: digits are lost."
    if int(match[1]) > MAX_DIGITS:
        return f"A created table takes {MAX_DIGITS} digits; the delivery stops at a longer number."
    if int(match[2]) < 0:
        return "The sink cannot create a table with a negative scale: make the table beforehand."
    return None


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
_WHOLE_DIGITS = {"smallint": 5, "integer": 10, "bigint": 19}


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
