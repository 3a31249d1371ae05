"""One column of each PostgreSQL type, and what happens to its values on the way."""

from dataclasses import dataclass

USER_TYPES = (
    "CREATE TYPE {schema}.mood AS ENUM ('glad', 'sad', 'größer')",
    "CREATE DOMAIN {schema}.email AS text CHECK (VALUE LIKE '%@%')",
    "CREATE TYPE {schema}.pair AS (a int, b text)",
    "ALTER TYPE {schema}.mood OWNER TO {role}",
    "ALTER DOMAIN {schema}.email OWNER TO {role}",
    "ALTER TYPE {schema}.pair OWNER TO {role}",
)


@dataclass(frozen=True)
class Typed:
    """A column's type with values, as SQL literals. `{schema}` stands for the schema of user types."""

    column: str
    type: str
    values: tuple[str, ...]


EQUAL = (
    Typed("smallint", "smallint", ("-32768", "32767")),
    Typed("int", "integer", ("-2147483648", "2147483647")),
    Typed("bigint", "bigint", ("-9223372036854775808", "9223372036854775807")),
    Typed("exact", "numeric(38,10)", ("1234567890123456789012345678.0123456789", "-0.0000000001")),
    Typed("whole", "numeric(30,0)", ("123456789012345678901234567890", "-1")),
    Typed("real", "real", ("3.4e38", "-1.1754944e-38")),
    Typed("double", "double precision", ("1.7976931348623157e308", "-0.1")),
    Typed("boolean", "boolean", ("true", "false")),
    Typed("text", "text", ("'Grüße 🧵 \\ \" '' ${x:y:z}'", "''")),
    Typed("date", "date", ("'0001-01-01'", "'2026-02-28'")),
    Typed("timestamp", "timestamp", ("'2026-03-29 02:30:00.123456'", "'1899-12-31 23:59:59.999999'")),
    Typed("timestamp3", "timestamp(3)", ("'2026-03-29 02:30:00.123'", "'1999-12-31 23:59:59.999'")),
    Typed("timestamptz", "timestamptz", ("'2026-03-29 02:30:00.123456+05:30'", "'infinity'")),
    Typed("time", "time", ("'00:00:00'", "'23:59:59.999999'")),
    Typed("uuid", "uuid", ("'0b0e0b0e-0000-4000-8000-000000000001'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'")),
    Typed("json", "json", ('\'{"b": 1,  "a": [null, "ü"]}\'', "'[]'")),
    Typed("bytea", "bytea", ("'\\x00ff10'", "'\\x'")),
    Typed("texts", "text[]", ("ARRAY['a,b', 'c\"d', NULL, '']", "'{}'")),
    Typed("ints", "integer[]", ("'{1,-2,3}'", "'{}'")),
    Typed("uuids", "uuid[]", ("'{0b0e0b0e-0000-4000-8000-000000000001}'", "'{}'")),
    Typed("tsvector", "tsvector", ("'''a'':1 ''b'':2A'", "'fat cat'")),
    Typed("bits", "bit(8)", ("B'10110001'", "B'00000000'")),
    Typed("booleans", "boolean[]", ("'{t,f,NULL}'", "'{}'")),
    Typed("bigints", "bigint[]", ("'{1,-9223372036854775808}'", "'{}'")),
    Typed("tsvectors", "tsvector[]", ("ARRAY['fat'::tsvector]", "'{}'")),
    Typed("jsons", "json[]", ("ARRAY['{\"a\":1}'::json]", "'{}'")),
)
"""Equal in a table made beforehand and in one that the sink makes, which has the same type."""

CHANGED_WHEN_MADE = (
    Typed("jsonb", "jsonb", ('\'{"b": 1, "a": [null, "ü"]}\'', "'[]'")),
    Typed("mood", "{schema}.mood", ("'glad'", "'größer'")),
    Typed("varchar", "varchar(20)", ("'kurz'", "''")),
    Typed("char", "char(5)", ("'ab'", "'abcde'")),
    Typed("inet", "inet", ("'10.1.2.3/24'", "'::1'")),
    Typed("cidr", "cidr", ("'10.1.0.0/16'", "'2001:db8::/32'")),
    Typed("macaddr", "macaddr", ("'08:00:2b:01:02:03'", "'ff:ff:ff:ff:ff:ff'")),
    Typed("int4range", "int4range", ("'[1,5)'", "'empty'")),
    Typed("tstzrange", "tstzrange", ("'[2026-01-01 00:00+00, 2026-02-01 00:00+00)'", "'(,)'")),
    Typed("money", "money", ("'12.34'", "'-1.00'")),
    Typed("oid", "oid", ("'42'", "'4294967295'")),
    Typed("email", "{schema}.email", ("'a@b.example'", "'ü@c.example'")),
    Typed("loose", "numeric", ("12345678901234567890.123456789", "-1.5")),
    Typed("long", "numeric(42,2)", ("12.34", "-1.00")),
    Typed("moods", "varchar(9)[]", ("'{ab,NULL}'", "'{}'")),
    Typed("jsonbs", "jsonb[]", ("ARRAY['{\"a\": 1}'::jsonb]", "'{}'")),
    Typed("oids", "oid[]", ("'{1,2}'", "'{}'")),
)
"""Equal in a table made beforehand; one that the sink makes has another type, which the preview says."""

CHANGED = (
    Typed("real", "real", ("'NaN'", "'infinity'")),
    Typed("double", "double precision", ("'NaN'", "'-infinity'")),
    Typed("loose", "numeric", ("'NaN'", "'infinity'")),
    Typed("zeros", "numeric", ("1.50", "2.00")),
    Typed("scaled", "numeric(10,2)", ("'NaN'", "'NaN'")),
    Typed("timestamp", "timestamp", ("'infinity'", "'-infinity'")),
    Typed("date", "date", ("'0044-03-15 BC'", "'0001-12-31 BC'")),
    Typed("timetz", "timetz", ("'12:00:00+05:30'", "'23:00:00-08'")),
    Typed("interval", "interval", ("'1 year 2 months'", "'3 months'")),
    Typed("nested", "integer[][]", ("'{{1,2},{3,4}}'", "'{{5},{6}}'")),
    Typed("varbit", "bit varying(20)", ("B'101'", "B'1'")),
    Typed("pair", "{schema}.pair", ("ROW(1, 'x')", "ROW(2, 'y')")),
    Typed("tsquery", "tsquery", ("'a & b'", "'c'")),
    Typed("lsn", "pg_lsn", ("'0/1'", "'0/2'")),
    Typed("multirange", "int4multirange", ("'{[1,5)}'", "'{[2,3)}'")),
    Typed("intervals", "interval[]", ("'{1 day}'", "'{2 days}'")),
    Typed("moneys", "money[]", ("'{1.50}'", "'{2.50}'")),
    Typed("emails", "{schema}.email[]", ("'{a@b.example}'", "'{c@d.example}'")),
    Typed("polygon", "polygon", ("'((0,0),(1,1),(1,0))'", "'((0,0),(2,2),(2,0))'")),
)
"""Does not arrive as it is, which discovery says of every one."""


STOPPING = (
    Typed("sums", "numeric[]", ("'{1.5}'", "'{2.5}'")),
    Typed("days", "date[]", ("'{2026-01-01}'", "'{2026-01-02}'")),
    Typed("moments", "timestamptz[]", ("'{2026-01-01 00:00+00}'", "'{}'")),
    Typed("blobs", "bytea[]", ("ARRAY['\\x00ff'::bytea]", "'{}'")),
    Typed("feelings", "{schema}.mood[]", ("'{glad}'", "'{sad}'")),
    Typed("hosts", "inet[]", ("'{10.0.0.1}'", "'{}'")),
    Typed("flag", "bit(1)", ("B'1'", "B'0'")),
    Typed("place", "point", ("'(1,2)'", "'(3,4)'")),
)
"""Stops a delivery into a table made beforehand, which is refused."""


def definitions(columns: tuple[Typed, ...], schema: str) -> str:
    """The columns of a table, with a key."""
    return ", ".join(
        ["id int PRIMARY KEY", *(f'"{c.column}" {c.type}'.replace("{schema}", f'"{schema}"') for c in columns)]
    )


def rows(columns: tuple[Typed, ...], first_id: int) -> str:
    """Two rows of values and one of NULLs, as the VALUES of an INSERT."""
    lines = [", ".join([str(first_id + at), *(column.values[at] for column in columns)]) for at in range(2)]
    nulls = ", ".join([str(first_id + 2), *("NULL" for _ in columns)])
    return ", ".join(f"({line})" for line in [*lines, nulls])
