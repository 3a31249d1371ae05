"""Values as the databases print them, in one form for both."""

import json
import re
from decimal import Decimal
from typing import Any

from chalicelib.domain.database import DatabaseProvider
from tests.types.cases import MYSQL, Meaning

_BIT = re.compile(r"bit\((\d+)\)")
_FRACTION = re.compile(r"(\.\d*?)0+(?=$|[^\d])")


def expression(provider: DatabaseProvider, column_type: str, meaning: Meaning, column: str = "v") -> str:
    """SQL that prints a value of this column."""
    return (_in_mysql if provider is MYSQL else _in_postgresql)(column_type, meaning, column)


def _in_mysql(column_type: str, meaning: Meaning, column: str) -> str:
    if meaning is Meaning.BYTES or "blob" in column_type or "binary" in column_type:
        return f"LOWER(HEX({column}))"
    if bits := _BIT.match(column_type):
        return f"LPAD(BIN({column} + 0), {bits[1]}, '0')"
    if meaning is Meaning.GEOMETRY:
        return f"CONCAT(ST_SRID({column}), ';', ST_AsText({column}))"
    # Printed as it is, a FLOAT has six digits.
    if column_type.startswith("float"):
        return f"CAST({column} + 0e0 AS CHAR)"
    return f"CONVERT({column} USING utf8mb4)"


def _in_postgresql(column_type: str, meaning: Meaning, column: str) -> str:
    if meaning is Meaning.GEOMETRY and column_type in _SHAPES:
        return _SHAPES[column_type].format(column)
    if column_type == "boolean" and meaning in (Meaning.BITS, Meaning.NUMBER):
        return f"{column}::int::text"
    # A cast to text would cut the blanks of a character(n), and add the length to an address.
    return _PRINTED.get(column_type, "CASE WHEN {0} IS NOT NULL THEN format('%s', {0}) END").format(column)


_PRINTED = {
    "bytea": "encode({0}, 'hex')",
    "real": "{0}::float8::text",
    "money": "{0}::numeric::text",
}
_SHAPES = {
    "geometry": "ST_SRID({0}) || ';' || ST_AsText({0})",
    "geography": "ST_SRID({0}::geometry) || ';' || ST_AsText({0})",
    "point": "'0;POINT(' || {0}[0] || ' ' || {0}[1] || ')'",
}
"""As MySQL prints them."""


def normalized(meaning: Meaning, text: str | None) -> Any:
    """The printed value, comparable with that of the other database; the text itself where it is no such value."""
    if text is None:
        return None
    try:
        return _NORMALIZED[meaning](text)
    except (ArithmeticError, ValueError):
        return text


def _json(text: str) -> Any:
    return _typed(json.loads(text, parse_float=Decimal, parse_int=Decimal))


def _typed(value: Any) -> Any:
    # To Python, true is equal to 1.
    match value:
        case bool():
            return str(value)
        case list():
            return [_typed(one) for one in value]
        case dict():
            return {key: _typed(one) for key, one in value.items()}
        case str():
            return repr(value)
    return value


def _time(text: str) -> str:
    without_zone = re.sub(r"\+00(:00)?$", "", text)
    return _FRACTION.sub(r"\1", without_zone).rstrip(".") if "." in without_zone else without_zone


_NORMALIZED = {
    Meaning.TEXT: str,
    Meaning.PADDED: lambda text: text.rstrip(" "),
    Meaning.NUMBER: Decimal,
    Meaning.FLOAT: float,
    Meaning.BYTES: str,
    Meaning.BITS: str,
    Meaning.TIME: _time,
    Meaning.JSON: _json,
    # The points of a MULTIPOINT have parentheses of their own, or none.
    Meaning.GEOMETRY: lambda text: text.replace("((", "(").replace("),(", ",").replace("))", ")"),
}
