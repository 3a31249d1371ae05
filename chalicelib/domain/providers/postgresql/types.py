"""How PostgreSQL spells its types, and a column's type as a target has to know it."""

import re

from chalicelib.domain.providers.postgresql.facts import PostgreSQLRawColumn
from chalicelib.domain.table import CapturedType, Column

NUMERIC = re.compile(r"numeric\((\d+),(-?\d+)\)\Z")
_MODIFIER = re.compile(r"\s{0,20}\([^()]{0,200}\)")
"""Bounded: the text is a server's, and a search for an open end takes quadratic time."""
_INTERVAL_FIELDS = re.compile(r"\Ainterval [a-z ]+")

RANGES = ("int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange")


def without_modifiers(type_name: str) -> str:
    """`numeric(10,2)` -> `numeric`, `timestamp(3) with time zone` -> `timestamp with time zone`.

    An interval's fields are a modifier too: `interval day to second(3)` -> `interval`.
    """
    bare = _MODIFIER.sub("", type_name)
    return _INTERVAL_FIELDS.sub("interval", bare)


def captured_type(raw: PostgreSQLRawColumn) -> CapturedType:
    base, generated = raw.base, raw.generated is not None
    # int2vector and oidvector are arrays to the catalog only.
    if base.is_array and not base.is_domain and not raw.type.endswith("]"):
        return CapturedType(name=raw.type, generated=generated)
    dimensions = max(1, base.dimensions) if base.is_array else 0
    return CapturedType(name=base.name, kind=base.kind, dimensions=dimensions, generated=generated)


def discovered_column(raw: PostgreSQLRawColumn) -> Column:
    captured = captured_type(raw)
    return Column(
        name=raw.name,
        type=raw.type,
        nullable=raw.nullable,
        ordinal=raw.ordinal,
        captured=None if captured == _spelled_type(raw.type) else captured,
    )


def type_of(column: Column) -> CapturedType:
    return column.captured or _spelled_type(column.type)


def _spelled_type(type_name: str) -> CapturedType:
    """What the declared type alone says: right for every type that is no domain, no enum and no array of arrays."""
    element = type_name.removesuffix("[]")
    return CapturedType(name=element, dimensions=int(element != type_name))
