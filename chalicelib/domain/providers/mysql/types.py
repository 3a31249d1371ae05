"""How MySQL spells its types, and a column's type as a target has to know it."""

import re

from chalicelib.domain.providers.mysql.facts import MySQLRawColumn
from chalicelib.domain.table import CapturedType, Column, TypeKind

_BASE = re.compile(r"[a-z]+( precision)?")
_NOW = ("CURRENT_TIMESTAMP", "NOW()")


def base_type(type_name: str) -> str:
    """`int(10) unsigned` -> `int`, `enum('a')` -> `enum`."""
    match = _BASE.match(type_name)
    return match[0] if match else type_name


def discovered_column(raw: MySQLRawColumn) -> Column:
    captured = captured_type(raw)
    plain = CapturedType(name=raw.type)
    return Column(
        name=raw.name,
        type=raw.type,
        nullable=raw.nullable,
        ordinal=raw.ordinal,
        captured=None if captured == plain else captured,
    )


def captured_type(raw: MySQLRawColumn) -> CapturedType:
    return CapturedType(
        name=raw.type,
        kind=TypeKind.ENUM if base_type(raw.type) == "enum" else TypeKind.BASE,
        generated=raw.generated is not None,
        defaults_to_now=raw.default is not None and raw.default.upper().startswith(_NOW),
    )
