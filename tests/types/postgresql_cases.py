"""Every type of PostgreSQL, with values at its edges."""

from collections.abc import Mapping

from chalicelib.domain.database import DatabaseProvider
from tests.types.cases import MYSQL, POSTGRESQL, Case, Meaning
from tests.types.postgresql_arrays import ARRAYS
from tests.types.postgresql_times import TIMES

_N, _F, _T, _B, _J = Meaning.NUMBER, Meaning.FLOAT, Meaning.TIME, Meaning.BYTES, Meaning.JSON

SETUP = (
    "CREATE TYPE types.mood AS ENUM ('glad', 'sad', 'größer')",
    "CREATE TYPE types.size AS ENUM ('small', 'größer', 'a b')",
    "CREATE TYPE types.awkward AS ENUM ('it''s', 'plain')",
    "CREATE TYPE types.listed AS ENUM ('a,b', 'plain')",
    "CREATE TYPE types.slashed AS ENUM ('a\\b', 'plain')",
    "CREATE TYPE types.pictured AS ENUM ('🧵', 'plain')",
    "CREATE DOMAIN types.email AS text CHECK (VALUE LIKE '%@%')",
    "CREATE DOMAIN types.counter AS bigint",
    "CREATE DOMAIN types.price AS numeric(10,2)",
    "CREATE TYPE types.pair AS (a int, b text)",
    "CREATE TYPE types.span AS RANGE (subtype = float8)",
)

NUMBERS = (
    Case(type="smallint", column="smallint", literals=("-32768", "32767"), meaning=_N),
    Case(type="integer", column="integer", literals=("-2147483648", "2147483647"), meaning=_N),
    Case(type="bigint", column="bigint", literals=("-9223372036854775808", "9223372036854775807"), meaning=_N),
    Case(type="oid", column="oid", literals=("0", "42", "4294967295"), meaning=_N),
    Case(type="money", column="money", literals=("12.34", "-1.00", "92233720368547758.07"), meaning=_N),
    Case(
        type="numeric(p,s)",
        column="numeric(38,10)",
        meaning=_N,
        literals=("1234567890123456789012345678.0123456789", "-0.0000000001", "1.5000000000"),
    ),
    Case(
        type="numeric(p,s)",
        values="whole numbers",
        column="numeric(30,0)",
        meaning=_N,
        literals=("123456789012345678901234567890", "-1"),
    ),
    Case(type="numeric(p,s)", values="values NaN", column="numeric(10,2)", meaning=_N, literals=("'NaN'",), alone=True),
    Case(type="numeric of more than 38 digits", column="numeric(42,2)", meaning=_N, literals=("12.34", "-1.00")),
    Case(
        type="numeric of more than 38 digits",
        values="numbers of more than 38 digits",
        column="numeric(42,2)",
        meaning=_N,
        literals=("1234567890123456789012345678901234567890.12",),
    ),
    Case(type="numeric of more than 65 digits", column="numeric(80,10)", meaning=_N, literals=("1.5",)),
    Case(
        type="numeric of more than 65 digits",
        values="numbers of more than 65 digits",
        column="numeric(80,10)",
        meaning=_N,
        literals=("1" * 70 + ".5",),
    ),
    Case(type="numeric with a scale below 0", column="numeric(5,-2)", meaning=_N, literals=("1200", "-9999900")),
    Case(
        type="numeric with a scale over 30",
        column="numeric(38,35)",
        meaning=_N,
        literals=("123.12345678901234567890123456789012345",),
    ),
    Case(type="numeric", column="numeric", meaning=_N, literals=("0", "1.5", "-123456.789", "1000000")),
    Case(
        type="numeric",
        values="numbers of more than 17 digits",
        column="numeric",
        meaning=_N,
        literals=("12345678901234567890.123456789", "-1234567890123456789012345678901234.5"),
    ),
    Case(
        type="numeric",
        values="numbers of more than 65 digits, or of more than 30 behind the point",
        column="numeric",
        meaning=_N,
        literals=("1" * 70, "0." + "0" * 34 + "1"),
    ),
    Case(type="numeric", values="zeros at the end of a fraction", column="numeric", literals=("1.50", "2.00")),
    Case(type="numeric", values="values NaN", column="numeric", literals=("'NaN'",), meaning=_N, alone=True),
    Case(type="numeric", values="values infinity", column="numeric", literals=("'Infinity'",), meaning=_N, alone=True),
    Case(
        type="real",
        column="real",
        literals=("3.4e38", "-1.1754944e-38", "16777216", "0.1"),
        meaning=_F,
        others={MYSQL: ("double",)},
    ),
    Case(
        type="real", values="the largest numbers (3.4028235e38)", column="real", literals=("3.4028235e38",), meaning=_F
    ),
    Case(
        type="real",
        values="values NaN and infinity",
        column="real",
        literals=("'NaN'", "'infinity'", "'-infinity'"),
        meaning=_F,
    ),
    Case(
        type="double precision",
        column="double precision",
        literals=("1.7976931348623157e308", "-0.1", "5e-324"),
        meaning=_F,
    ),
    Case(
        type="double precision",
        values="values NaN and infinity",
        column="double precision",
        literals=("'NaN'", "'infinity'"),
        meaning=_F,
    ),
    Case(type="boolean", column="boolean", literals=("true", "false"), meaning=_N),
    Case(
        type="bit(1)",
        column="bit(1)",
        literals=("B'1'", "B'0'"),
        meaning=Meaning.BITS,
        others={POSTGRESQL: ("bit(1)", "boolean")},
    ),
    Case(type="bit", column="bit(8)", literals=("B'10110001'", "B'00000000'"), meaning=Meaning.BITS),
    Case(
        type="bit",
        values="12 bits",
        column="bit(12)",
        literals=("B'101100010011'", "B'000000000001'"),
        meaning=Meaning.BITS,
    ),
    Case(type="bit of more than 64 bits", column="bit(70)", literals=("B'" + "10" * 35 + "'",), meaning=Meaning.BITS),
    Case(type="bit varying", column="bit varying(20)", literals=("B'101'", "B'1'"), meaning=Meaning.BITS),
    Case(
        type="bit varying",
        values="values of the full length",
        column="bit varying(16)",
        literals=("B'1011000110110001'",),
        meaning=Meaning.BITS,
    ),
    Case(type="bit varying without a length", column="bit varying", literals=("B'101'",), meaning=Meaning.BITS),
)

_AWKWARD = ("''", "'Grüße 🧵'", """'it''s \\ "q" ${a:b:c}'""", "'日本語'", "'ab  '")
TEXTS = (
    Case(type="text", column="text", literals=(*_AWKWARD, "repeat('x', 900000)", "repeat('ü', 20000)")),
    Case(type="character varying", column="character varying(60)", literals=_AWKWARD),
    Case(type="character varying without a length", column="character varying", literals=_AWKWARD),
    Case(type="character", column="character(8)", literals=("''", "'ü🧵'", "'abcdefgh'"), meaning=Meaning.PADDED),
    Case(
        type="character",
        values="more than 255 characters",
        column="character(300)",
        literals=("repeat('ü', 300)",),
        meaning=Meaning.PADDED,
    ),
    Case(type="bpchar", column="bpchar", literals=("'ab'", "'ü🧵'"), meaning=Meaning.PADDED),
    Case(type='"char"', column='"char"', literals=("'a'", "''")),
    Case(type="name", column="name", literals=("'ab'", "'größer'")),
    Case(
        type="uuid",
        column="uuid",
        literals=("'0b0e0b0e-0000-4000-8000-000000000001'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
    ),
    Case(type="tsvector", column="tsvector", literals=("'''a'':1 ''b'':2A'", "'fat cat'")),
    Case(type="bytea", column="bytea", literals=("'\\x00ff10'", "'\\x'", "'\\x20'"), meaning=_B),
    Case(type="inet", column="inet", literals=("'10.1.2.3/24'", "'::1'", "'10.1.2.3'")),
    Case(type="cidr", column="cidr", literals=("'10.1.0.0/16'", "'2001:db8::/32'")),
    Case(type="macaddr", column="macaddr", literals=("'08:00:2b:01:02:03'",)),
    Case(type="macaddr8", column="macaddr8", literals=("'08:00:2b:01:02:03:04:05'",)),
)

JSON = (
    Case(
        type="json",
        column="json",
        meaning=_J,
        literals=('\'{"b": 1,  "a": [null, "ü 🧵 \\\\ \\""]}\'', "'[]'", "'null'", "'9007199254740991'"),
    ),
    Case(
        type="json",
        values="blanks, the order of keys and repeated keys",
        column="json",
        literals=('\'{"b": 1,  "a": 2, "a": 3}\'',),
    ),
    Case(
        type="json",
        values="numbers of more than 17 digits",
        column="json",
        meaning=_J,
        literals=("'12345678901234567890.123456789'", "'123456789012345678901234567890'"),
    ),
    Case(
        type="json",
        values="doubles with an exponent",
        column="json",
        meaning=_J,
        literals=("'1.7976931348623157e308'", "'1e-7'"),
    ),
    Case(type="json", values="texts with NUL (\\u0000)", column="json", meaning=_J, literals=("'\"a\\u0000b\"'",)),
    Case(
        type="jsonb",
        column="jsonb",
        meaning=_J,
        literals=('\'{"b": 1, "a": [null, "ü 🧵 \\\\ \\""]}\'', "'[]'", "'null'", "'9007199254740991'"),
    ),
    Case(
        type="jsonb",
        values="numbers of more than 17 digits",
        column="jsonb",
        meaning=_J,
        literals=("'12345678901234567890.123456789'", "'123456789012345678901234567890'"),
    ),
    Case(
        type="jsonb",
        values="doubles with an exponent",
        column="jsonb",
        meaning=_J,
        literals=("'1.7976931348623157e308'", "'1e-7'"),
    ),
)

_RANGES: Mapping[str, tuple[str, ...]] = {
    "int4range": ("'[1,5)'", "'empty'"),
    "int8range": ("'[1,5)'",),
    "numrange": ("'[1.5,2.5]'",),
    "tsrange": ("'[2026-01-01 00:00,2026-02-01 00:00)'",),
    "tstzrange": ("'[2026-01-01 00:00+00,2026-02-01 00:00+00)'", "'(,)'"),
    "daterange": ("'[2026-01-01,2026-02-01)'",),
}
_MULTIRANGES = {
    name.replace("range", "multirange"): tuple(f"'{{{v[1:-1]}}}'" for v in values[:1])
    for name, values in _RANGES.items()
}
_UNDELIVERED: Mapping[str, tuple[str, ...]] = {
    "line": ("'{1,2,3}'",),
    "lseg": ("'[(0,0),(1,1)]'",),
    "box": ("'(1,1),(0,0)'",),
    "path": ("'[(0,0),(1,1)]'",),
    "polygon": ("'((0,0),(1,1),(1,0))'",),
    "circle": ("'<(0,0),1>'",),
    "tsquery": ("'a & b'",),
    "jsonpath": ("'$.a'",),
    "pg_lsn": ("'0/1'",),
    "txid_snapshot": ("'10:20:10,14'",),
    "pg_snapshot": ("'10:20:10,14'",),
    "xid": ("'42'",),
    "xid8": ("'42'",),
    "cid": ("'42'",),
    "tid": ("'(0,1)'",),
    "aclitem": ("'postgres=r/postgres'",),
    "regclass": ("'pg_class'",),
    "regcollation": ("'\"C\"'",),
    "regconfig": ("'simple'",),
    "regdictionary": ("'simple'",),
    "regnamespace": ("'pg_catalog'",),
    "regoper": ("'pg_catalog.||/'",),
    "regoperator": ("'+(integer,integer)'",),
    "regproc": ("'now'",),
    "regprocedure": ("'abs(integer)'",),
    "regrole": ("'postgres'",),
    "regtype": ("'integer'",),
    "int2vector": ("'1 2'",),
    "oidvector": ("'1 2'",),
}
OTHERS = (
    *(Case(type=name, column=name, literals=literals) for name, literals in _RANGES.items()),
    *(Case(type=name, column=name, literals=literals) for name, literals in _MULTIRANGES.items()),
    *(Case(type=name, column=name, literals=literals) for name, literals in _UNDELIVERED.items()),
    Case(
        type="point",
        column="point",
        literals=("'(1,2)'", "'(3,4)'"),
        meaning=Meaning.GEOMETRY,
        others={POSTGRESQL: ("text", "bytea"), MYSQL: ("longblob",)},
    ),
    Case(type="refcursor", column="refcursor", literals=("'c'",), alone=True),
)

USER_TYPES = (
    Case(type="enum", column="types.mood", literals=("'glad'", "'größer'")),
    Case(type="enum", values="members with an apostrophe", column="types.awkward", literals=("'it''s'", "'plain'")),
    Case(type="enum", values="members with a comma", column="types.listed", literals=("'a,b'", "'plain'")),
    Case(type="enum", values="members with a backslash", column="types.slashed", literals=("'a\\b'", "'plain'")),
    Case(
        type="enum",
        values="members with a character beyond the BMP",
        column="types.pictured",
        literals=("'🧵'", "'plain'"),
    ),
    Case(type="text", values="in a domain", column="types.email", literals=("'a@b.example'",)),
    Case(type="bigint", values="in a domain", column="types.counter", literals=("42",), meaning=_N),
    Case(type="numeric(p,s)", values="in a domain", column="types.price", literals=("1.50",), meaning=_N),
    Case(type="composite", column="types.pair", literals=("ROW(1, 'x')",)),
    Case(type="range of a user", column="types.span", literals=("'[1,2)'",)),
)

COLUMNS = (
    Case(type="generated column", column="int GENERATED ALWAYS AS (n * 2) STORED", literals=None, meaning=_N),
    Case(
        type="generated column",
        values="values that are not stored",
        column="int GENERATED ALWAYS AS (n * 2) VIRTUAL",
        literals=None,
        meaning=_N,
    ),
    Case(type="column with a default", column="text NOT NULL DEFAULT 'it''s'", literals=None),
    *(
        Case(
            type=f"{type_} that defaults to the current time",
            values=values,
            column=f"{type_}{'' if values else ' NOT NULL'} DEFAULT {now}",
            literals=None,
            meaning=_T,
        )
        for type_, now, values in (
            ("timestamp with time zone", "now()", ""),
            ("timestamp with time zone", "now()", "values of a column that may be NULL"),
            ("timestamp without time zone", "now()", ""),
            ("date", "CURRENT_DATE", ""),
            ("time without time zone", "LOCALTIME", ""),
        )
    ),
    Case(type="identity column", column="int GENERATED BY DEFAULT AS IDENTITY", literals=None, meaning=_N),
)

_OTHERS: Mapping[str, Mapping[DatabaseProvider, tuple[str, ...]]] = {
    "integer": {POSTGRESQL: ("bigint", "numeric", "text"), MYSQL: ("bigint", "decimal(20,0)")},
    "numeric(p,s)": {POSTGRESQL: ("numeric", "double precision"), MYSQL: ("double",)},
    "numeric": {POSTGRESQL: ("numeric(38,10)",), MYSQL: ("decimal(38,10)",)},
    "real": {POSTGRESQL: ("double precision",), MYSQL: ("double",)},
    "money": {POSTGRESQL: ("numeric(19,2)",), MYSQL: ("double",)},
    "boolean": {POSTGRESQL: ("integer",), MYSQL: ("bit(1)",)},
    "text": {POSTGRESQL: ("character varying",)},
    "character varying": {POSTGRESQL: ("text", "character(60)"), MYSQL: ("longtext",)},
    "uuid": {POSTGRESQL: ("text",), MYSQL: ("binary(16)", "varchar(36)")},
    "bytea": {MYSQL: ("blob", "varbinary(20)")},
    "inet": {POSTGRESQL: ("text",)},
    "date": {POSTGRESQL: ("timestamp without time zone",), MYSQL: ("datetime",)},
    "timestamp without time zone": {POSTGRESQL: ("timestamp with time zone",)},
    "timestamp with time zone": {POSTGRESQL: ("timestamp without time zone",), MYSQL: ("timestamp(6)",)},
    "time without time zone": {POSTGRESQL: ("text",), MYSQL: ("varchar(20)",)},
    "interval": {POSTGRESQL: ("text",), MYSQL: ("varchar(64)", "time(6)")},
    "json": {POSTGRESQL: ("jsonb", "text"), MYSQL: ("longtext",)},
    "jsonb": {POSTGRESQL: ("json", "text"), MYSQL: ("longtext",)},
    "enum": {MYSQL: ("enum('glad','sad','größer')",)},
    "text[]": {POSTGRESQL: ("text",), MYSQL: ("json",)},
    "integer[]": {POSTGRESQL: ("bigint[]",), MYSQL: ("json",)},
}
"""Other types that somebody may have made for a column, in which all of its ordinary values fit."""

_ALL = (*NUMBERS, *TEXTS, *TIMES, *JSON, *OTHERS, *USER_TYPES, *ARRAYS, *COLUMNS)
POSTGRESQL_CASES = tuple(case.trying(_OTHERS) for case in _ALL)
