"""How PostgreSQL spells its types, and a column's type as a target has to know it."""

import re

from chalicelib.domain.providers.measured_types.names import spelled_type
from chalicelib.domain.providers.postgresql.facts import PostgreSQLRawColumn
from chalicelib.domain.table import CapturedType, Column

NUMERIC = re.compile(r"numeric\((\d+),(-?\d+)\)\Z")
RANGES = ("int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange")


def captured_type(raw: PostgreSQLRawColumn) -> CapturedType:
    base, generated = raw.base, raw.generated is not None
    # int2vector and oidvector are arrays to the catalog only.
    if base.is_array and not base.is_domain and not raw.type.endswith("]"):
        return CapturedType(name=raw.type, generated=generated)
    dimensions = max(1, base.dimensions) if base.is_array else 0
    return CapturedType(
        name=base.name,
        kind=base.kind,
        dimensions=dimensions,
        generated=generated,
        defaults_to_now=raw.defaults_to_now,
    )


def discovered_column(raw: PostgreSQLRawColumn) -> Column:
    captured = captured_type(raw)
    return Column(
        name=raw.name,
        type=raw.type,
        nullable=raw.nullable,
        ordinal=raw.ordinal,
        captured=None if captured == spelled_type(raw.type) else captured,
    )
