"""The types of MySQL in which values that were captured from PostgreSQL arrive equal, or as equal as they can."""

from collections.abc import Callable, Mapping

from chalicelib.domain.providers.measured_types.names import modifiers, type_of, without_modifiers
from chalicelib.domain.table import Column, TypeKind

_Numbers = tuple[int, ...]

MAX_DIGITS, MAX_SCALE = 65, 30
"""Of a decimal (MySQL 8.0 reference, "Precision Math")."""
_MAX_CHAR, _MAX_VARCHAR, _MAX_BITS = 255, 16_383, 64
"""Characters of four bytes; a row with several long ones is refused, so longer ones become longtext."""
_MICROSECONDS = 6
_NAME = "varchar(63)"
"""PostgreSQL's names have at most 63 bytes, and so have the members of its enums."""

_EQUAL: Mapping[str, str] = {
    **{name: name for name in ("smallint", "bigint", "date", "json")},
    "integer": "int",
    "oid": "int unsigned",
    "money": "decimal(19,2)",
    "real": "float",
    "double precision": "double",
    "boolean": "tinyint(1)",
    **dict.fromkeys(("text", "bpchar", "xml", "tsvector"), "longtext"),
    '"char"': "varchar(1)",
    "name": _NAME,
    "uuid": "char(36)",
    "jsonb": "json",
    "bytea": "longblob",
    **dict.fromkeys(("inet", "cidr"), "varchar(43)"),
    "macaddr": "char(17)",
    "macaddr8": "char(23)",
    "interval": "bigint",
    "time with time zone": "varchar(24)",
    "point": "point",
    # Types of PostGIS.
    **dict.fromkeys(("geometry", "geography"), "geometry"),
}
"""By the type's name without modifiers."""


def equal_type(column: Column) -> str:
    captured = type_of(column)
    if captured.dimensions:
        return "longtext"
    if captured.kind is TypeKind.ENUM:
        return _NAME
    bare, numbers = without_modifiers(captured.name), modifiers(captured.name)
    sized = _SIZED.get(bare)
    return sized(numbers) if sized else _EQUAL.get(bare.rpartition(".")[2], "longtext")


def _decimal(numbers: _Numbers) -> str:
    digits, scale = numbers or (MAX_DIGITS, MAX_SCALE)
    if scale < 0:
        digits, scale = digits - scale, 0
    scale = min(scale, MAX_SCALE)
    return f"decimal({min(max(digits, scale), MAX_DIGITS)},{scale})"


def _varchar(numbers: _Numbers) -> str:
    return f"varchar({numbers[0]})" if numbers and numbers[0] <= _MAX_VARCHAR else "longtext"


def _char(numbers: _Numbers) -> str:
    return f"char({numbers[0]})" if numbers and numbers[0] <= _MAX_CHAR else _varchar(numbers)


def _bit(numbers: _Numbers) -> str:
    return f"bit({numbers[0]})" if numbers and numbers[0] <= _MAX_BITS else "longblob"


def _with_fraction(type_name: str) -> Callable[[_Numbers], str]:
    def sized(numbers: _Numbers) -> str:
        digits = numbers[0] if numbers else _MICROSECONDS
        return f"{type_name}({digits})" if digits else type_name

    return sized


_SIZED: Mapping[str, Callable[[_Numbers], str]] = {
    "numeric": _decimal,
    "character varying": _varchar,
    "character": _char,
    "bit": _bit,
    "bit varying": _bit,
    # A timestamp of MySQL ends in 2038.
    "timestamp without time zone": _with_fraction("datetime"),
    "timestamp with time zone": _with_fraction("datetime"),
    "time without time zone": _with_fraction("time"),
}
"""Types whose size decides; by the numbers of their modifiers."""
