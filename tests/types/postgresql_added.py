"""Types of extensions of PostgreSQL, and one that a PostgreSQL built without libxml does not have."""

from tests.types.cases import Case, Meaning

_SHAPE = "ST_GeomFromText('POINT(1 2)'{})"
ADDED_CASES = (
    Case(type="xml", column="xml", literals=("'<a b=\"1\">ü</a>'",)),
    Case(type="xml[]", column="xml[]", literals=("'{<a/>}'", "'{}'")),
    Case(type="xml[]", values="arrays with NULL inside", column="xml[]", literals=("'{<a/>,NULL}'",)),
    Case(type="citext", column="citext", literals=("'Grüße'", "''")),
    Case(type="citext[]", column="citext[]", literals=("'{a,B}'", "'{}'")),
    Case(type="hstore", column="hstore", literals=("'a=>1, b=>NULL'", "''")),
    Case(type="ltree", column="ltree", literals=("'a.b.c'",)),
    Case(type="ltree[]", column="ltree[]", literals=("'{a.b,c}'",)),
    Case(type="isbn", column="isbn", literals=("'978-0-393-04002-9'",)),
    Case(type="cube", column="cube", literals=("'(1,2)'",)),
    Case(type="geometry", column="geometry", literals=(_SHAPE.format(""),), meaning=Meaning.GEOMETRY),
    Case(
        type="geometry",
        values="shapes with a spatial reference system",
        column="geometry",
        literals=(_SHAPE.format(", 4326"),),
        meaning=Meaning.GEOMETRY,
    ),
    Case(
        type="geography",
        column="geography",
        literals=(f"{_SHAPE.format(', 4326')}::geography",),
        meaning=Meaning.GEOMETRY,
    ),
)
ADDED_EXTENSIONS = ("citext", "hstore", "ltree", "isn", "cube", "postgis")
