"""Columns of each PostgreSQL type, in groups by what happens to their values between source and target."""

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
class TypedColumn:
    """A column's type with values, as SQL literals. `{schema}` is replaced by the schema of user types."""

    column: str
    type: str
    values: tuple[str, ...]


EQUAL = (
    TypedColumn("smallint", "smallint", ("-32768", "32767")),
    TypedColumn("int", "integer", ("-2147483648", "2147483647")),
    TypedColumn("bigint", "bigint", ("-9223372036854775808", "9223372036854775807")),
    TypedColumn("exact", "numeric(38,10)", ("1234567890123456789012345678.0123456789", "-0.0000000001")),
    TypedColumn("whole", "numeric(30,0)", ("123456789012345678901234567890", "-1")),
    TypedColumn("real", "real", ("3.4e38", "-1.1754944e-38")),
    TypedColumn("double", "double precision", ("1.7976931348623157e308", "-0.1")),
    TypedColumn("boolean", "boolean", ("true", "false")),
    TypedColumn("text", "text", ("'Grüße 🧵 \\ \" '' ${x:y:z}'", "''")),
    TypedColumn("date", "date", ("'0001-01-01'", "'2026-02-28'")),
    TypedColumn("timestamp", "timestamp", ("'2026-03-29 02:30:00.123456'", "'1899-12-31 23:59:59.999999'")),
    TypedColumn("timestamp3", "timestamp(3)", ("'2026-03-29 02:30:00.123'", "'1999-12-31 23:59:59.999'")),
    TypedColumn("timestamptz", "timestamptz", ("'2026-03-29 02:30:00.123456+05:30'", "'infinity'")),
    TypedColumn("time", "time", ("'00:00:00'", "'23:59:59.999999'")),
    TypedColumn("uuid", "uuid", ("'0b0e0b0e-0000-4000-8000-000000000001'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'")),
    TypedColumn("json", "json", ('\'{"b": 1,  "a": [null, "ü"]}\'', "'[]'")),
    TypedColumn("bytea", "bytea", ("'\\x00ff10'", "'\\x'")),
    TypedColumn("texts", "text[]", ("ARRAY['a,b', 'c\"d', NULL, '']", "'{}'")),
    TypedColumn("ints", "integer[]", ("'{1,-2,3}'", "'{}'")),
    TypedColumn("uuids", "uuid[]", ("'{0b0e0b0e-0000-4000-8000-000000000001}'", "'{}'")),
    TypedColumn("tsvector", "tsvector", ("'''a'':1 ''b'':2A'", "'fat cat'")),
    TypedColumn("bits", "bit(8)", ("B'10110001'", "B'00000000'")),
    TypedColumn("booleans", "boolean[]", ("'{t,f,NULL}'", "'{}'")),
    TypedColumn("bigints", "bigint[]", ("'{1,-9223372036854775808}'", "'{}'")),
    TypedColumn("tsvectors", "tsvector[]", ("ARRAY['fat'::tsvector]", "'{}'")),
    TypedColumn("jsons", "json[]", ("ARRAY['{\"a\":1}'::json]", "'{}'")),
)
"""Arrives equal, in a table that exists and in one that the sink creates; both have the same type."""

CHANGED_BY_AUTO_CREATE = (
    TypedColumn("jsonb", "jsonb", ('\'{"b": 1, "a": [null, "ü"]}\'', "'[]'")),
    TypedColumn("mood", "{schema}.mood", ("'glad'", "'größer'")),
    TypedColumn("varchar", "varchar(20)", ("'kurz'", "''")),
    TypedColumn("char", "char(5)", ("'ab'", "'abcde'")),
    TypedColumn("inet", "inet", ("'10.1.2.3/24'", "'::1'")),
    TypedColumn("cidr", "cidr", ("'10.1.0.0/16'", "'2001:db8::/32'")),
    TypedColumn("macaddr", "macaddr", ("'08:00:2b:01:02:03'", "'ff:ff:ff:ff:ff:ff'")),
    TypedColumn("int4range", "int4range", ("'[1,5)'", "'empty'")),
    TypedColumn("tstzrange", "tstzrange", ("'[2026-01-01 00:00+00, 2026-02-01 00:00+00)'", "'(,)'")),
    TypedColumn("money", "money", ("'12.34'", "'-1.00'")),
    TypedColumn("oid", "oid", ("'42'", "'4294967295'")),
    TypedColumn("email", "{schema}.email", ("'a@b.example'", "'ü@c.example'")),
    TypedColumn("loose", "numeric", ("12345678901234567890.123456789", "-1.5")),
    TypedColumn("long", "numeric(42,2)", ("12.34", "-1.00")),
    TypedColumn("moods", "varchar(9)[]", ("'{ab,NULL}'", "'{}'")),
    TypedColumn("jsonbs", "jsonb[]", ("ARRAY['{\"a\": 1}'::jsonb]", "'{}'")),
    TypedColumn("oids", "oid[]", ("'{1,2}'", "'{}'")),
)
"""Arrives equal in a table that exists; a table that the sink creates has another type, and the preview says so."""

CHANGED = (
    TypedColumn("real", "real", ("'NaN'", "'infinity'")),
    TypedColumn("double", "double precision", ("'NaN'", "'-infinity'")),
    TypedColumn("zeros", "numeric", ("1.50", "2.00")),
    TypedColumn("timestamp", "timestamp", ("'infinity'", "'-infinity'")),
    TypedColumn("date", "date", ("'0044-03-15 BC'", "'0001-12-31 BC'")),
    TypedColumn("timetz", "timetz", ("'12:00:00+05:30'", "'23:00:00-08'")),
    TypedColumn("interval", "interval", ("'1 year 2 months'", "'3 months'")),
    TypedColumn("nested", "integer[][]", ("'{{1,2},{3,4}}'", "'{{5},{6}}'")),
    TypedColumn("varbit", "bit varying(20)", ("B'101'", "B'1'")),
    TypedColumn("pair", "{schema}.pair", ("ROW(1, 'x')", "ROW(2, 'y')")),
    TypedColumn("tsquery", "tsquery", ("'a & b'", "'c'")),
    TypedColumn("lsn", "pg_lsn", ("'0/1'", "'0/2'")),
    TypedColumn("multirange", "int4multirange", ("'{[1,5)}'", "'{[2,3)}'")),
    TypedColumn("intervals", "interval[]", ("'{1 day}'", "'{2 days}'")),
    TypedColumn("moneys", "money[]", ("'{1.50}'", "'{2.50}'")),
    TypedColumn("emails", "{schema}.email[]", ("'{a@b.example}'", "'{c@d.example}'")),
    TypedColumn("polygon", "polygon", ("'((0,0),(1,1),(1,0))'", "'((0,0),(2,2),(2,0))'")),
)
"""Arrives changed; discovery reports each of these types. Values at which the capture stops: test_capture_options."""


STOPPING = (
    TypedColumn("sums", "numeric[]", ("'{1.5}'", "'{2.5}'")),
    TypedColumn("days", "date[]", ("'{2026-01-01}'", "'{2026-01-02}'")),
    TypedColumn("timestamps", "timestamptz[]", ("'{2026-01-01 00:00+00}'", "'{}'")),
    TypedColumn("blobs", "bytea[]", ("ARRAY['\\x00ff'::bytea]", "'{}'")),
    TypedColumn("feelings", "{schema}.mood[]", ("'{glad}'", "'{sad}'")),
    TypedColumn("hosts", "inet[]", ("'{10.0.0.1}'", "'{}'")),
    TypedColumn("flag", "bit(1)", ("B'1'", "B'0'")),
    TypedColumn("place", "point", ("'(1,2)'", "'(3,4)'")),
)
"""Would stop a delivery into a table that exists; such a delivery is refused."""


def definitions(columns: tuple[TypedColumn, ...], schema: str) -> str:
    """The columns of a table, with a key."""
    return ", ".join(
        ["id int PRIMARY KEY", *(f'"{c.column}" {c.type}'.replace("{schema}", f'"{schema}"') for c in columns)]
    )


def rows(columns: tuple[TypedColumn, ...], first_id: int) -> str:
    """Two rows of values and one of NULLs, as the VALUES of an INSERT."""
    lines = [", ".join([str(first_id + at), *(column.values[at] for column in columns)]) for at in range(2)]
    nulls = ", ".join([str(first_id + 2), *("NULL" for _ in columns)])
    return ", ".join(f"({line})" for line in [*lines, nulls])
