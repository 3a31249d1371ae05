"""The types of PostgreSQL in which values that were captured from MySQL arrive equal, or as equal as they can."""

from collections.abc import Mapping

from chalicelib.domain.providers.measured_types.names import modifiers, type_of, without_modifiers
from chalicelib.domain.table import Column

_SHAPES = (
    *("geometry", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon"),
    *("geomcollection", "geometrycollection"),
)
"""Their type is one of PostGIS. The sink writes a point into PostgreSQL's own type, with functions of PostGIS."""

_EQUAL: Mapping[str, str] = {
    **dict.fromkeys(("tinyint", "tinyint unsigned", "smallint"), "smallint"),
    **dict.fromkeys(("smallint unsigned", "mediumint", "mediumint unsigned", "int", "year"), "integer"),
    **dict.fromkeys(("int unsigned", "bigint"), "bigint"),
    "bigint unsigned": "numeric(20,0)",
    **dict.fromkeys(("decimal", "decimal unsigned"), "numeric({0},{1})"),
    **dict.fromkeys(("float", "float unsigned"), "real"),
    **dict.fromkeys(("double", "double unsigned"), "double precision"),
    "bit": "bit({0})",
    **dict.fromkeys(("char", "varchar"), "character varying({0})"),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext", "enum", "set"), "text"),
    **dict.fromkeys(("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob"), "bytea"),
    "date": "date",
    "datetime": "timestamp({0}) without time zone",
    "timestamp": "timestamp({0}) with time zone",
    "time": "time({0}) without time zone",
    "json": "json",
    "vector": "vector({0})",
    "point": "point",
    **dict.fromkeys(_SHAPES, "geometry"),
}
"""By the type's name without modifiers, whose numbers are filled in; 0 where there are none."""

_WIDER_FLOATS = ("float", "float unsigned")


def equal_type(column: Column) -> str | None:
    """None for a type that Headgate does not know."""
    name = type_of(column).name
    bare, numbers = without_modifiers(name).removesuffix(" zerofill"), modifiers(name)
    if bare in _WIDER_FLOATS and len(numbers) == 2:
        return "double precision"
    equal = _EQUAL.get(bare)
    return equal.format(*numbers, *(0,) * (2 - len(numbers))) if equal else None
