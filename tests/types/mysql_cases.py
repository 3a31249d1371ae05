"""Every type of MySQL, with values at its edges."""

from collections.abc import Iterator, Mapping

from chalicelib.domain.database import DatabaseProvider
from tests.types.cases import MYSQL, POSTGRESQL, Case, Meaning
from tests.types.mysql_times import TIMES

_N, _F, _T, _B, _J = Meaning.NUMBER, Meaning.FLOAT, Meaning.TIME, Meaning.BYTES, Meaning.JSON

NUMBERS = (
    Case(type="tinyint", column="tinyint", literals=("-128", "0", "127"), meaning=_N),
    Case(type="tinyint unsigned", column="tinyint unsigned", literals=("0", "255"), meaning=_N),
    Case(type="tinyint(1)", column="tinyint(1)", literals=("-1", "0", "1", "127"), meaning=_N),
    Case(type="smallint", column="smallint", literals=("-32768", "32767"), meaning=_N),
    Case(type="smallint unsigned", column="smallint unsigned", literals=("0", "65535"), meaning=_N),
    Case(type="mediumint", column="mediumint", literals=("-8388608", "8388607"), meaning=_N),
    Case(type="mediumint unsigned", column="mediumint unsigned", literals=("0", "16777215"), meaning=_N),
    Case(type="int", column="int", literals=("-2147483648", "2147483647"), meaning=_N),
    Case(type="int unsigned", column="int unsigned", literals=("0", "4294967295"), meaning=_N),
    Case(
        type="int unsigned",
        values="with ZEROFILL",
        column="int(10) unsigned zerofill",
        literals=("7", "4294967295"),
        meaning=_N,
    ),
    Case(type="bigint", column="bigint", literals=("-9223372036854775808", "9223372036854775807"), meaning=_N),
    Case(
        type="bigint unsigned",
        column="bigint unsigned",
        meaning=_N,
        literals=("0", "9223372036854775807", "9223372036854775808", "18446744073709551615"),
    ),
    Case(
        type="decimal",
        column="decimal(38,10)",
        meaning=_N,
        literals=("9999999999999999999999999999.9999999999", "-0.0000000001", "1.5000000000"),
    ),
    Case(
        type="decimal",
        values="whole numbers",
        column="decimal(10,0)",
        literals=("-9999999999", "9999999999"),
        meaning=_N,
    ),
    Case(
        type="decimal", values="UNSIGNED", column="decimal(10,2) unsigned", literals=("0.00", "99999999.99"), meaning=_N
    ),
    Case(
        type="decimal of more than 38 digits",
        column="decimal(65,30)",
        literals=("1.5", "-0.000000000000000000000000000001"),
        meaning=_N,
    ),
    Case(
        type="decimal of more than 38 digits",
        values="numbers of more than 38 digits",
        column="decimal(65,30)",
        meaning=_N,
        literals=("99999999999999999999999999999999999.999999999999999999999999999999",),
    ),
    Case(type="float", column="float", literals=("1.5", "-0.25", "3.40282e38", "1.17549e-38", "0"), meaning=_F),
    Case(
        type="float",
        values="numbers of more than 6 digits",
        column="float",
        literals=("16777216", "0.1234567", "123456.78"),
        meaning=_F,
    ),
    Case(type="float", values="UNSIGNED", column="float unsigned", literals=("0", "1.5"), meaning=_F),
    Case(type="float(M,D)", column="float(7,3)", literals=("1234.567", "-0.125"), meaning=_F),
    Case(
        type="float(M,D)",
        values="numbers of more than 7 digits",
        column="float(12,4)",
        literals=("12345678.1234", "16777216"),
        meaning=_F,
    ),
    Case(
        type="double",
        column="double",
        literals=("1.7976931348623157e308", "2.2250738585072014e-308", "-0.1", "0"),
        meaning=_F,
    ),
    Case(type="double", values="declared as FLOAT(40)", column="float(40)", literals=("16777217", "-0.1"), meaning=_F),
    Case(type="double", values="UNSIGNED", column="double unsigned", literals=("0", "0.1"), meaning=_F),
    Case(type="double(M,D)", column="double(15,4)", literals=("12345678901.1234", "-0.5"), meaning=_F),
    Case(
        type="double(M,D)",
        values="numbers that binary floating point does not hold exactly",
        column="double(15,4)",
        literals=("-0.0001",),
        meaning=_F,
    ),
    Case(
        type="bit(1)",
        column="bit(1)",
        literals=("b'0'", "b'1'"),
        meaning=Meaning.BITS,
        others={POSTGRESQL: ("boolean", "smallint"), MYSQL: ("tinyint(1)",)},
    ),
    Case(type="bit", column="bit(12)", literals=("b'000000000000'", "b'111100001010'", "b'1'"), meaning=Meaning.BITS),
    Case(type="bit", values="8 bits", column="bit(8)", literals=("b'10110001'", "b'0'"), meaning=Meaning.BITS),
    Case(
        type="bit",
        values="64 bits",
        column="bit(64)",
        literals=("0xFFFFFFFFFFFFFFFF", "0x8000000000000001", "1"),
        meaning=Meaning.BITS,
    ),
)

_AWKWARD = ("''", "'Grüße 🧵'", r"""'it''s \\ "q" ${a:b:c}'""", "'日本語'")
_BLANKS = ("'ab  '", "'  ab'")

TEXTS = (
    Case(type="char", column="char(30)", literals=(*_AWKWARD, *_BLANKS), meaning=Meaning.PADDED),
    Case(type="varchar", column="varchar(60)", literals=(*_AWKWARD, *_BLANKS)),
    Case(
        type="varchar",
        values="texts of more than 255 characters",
        column="varchar(3000)",
        literals=("REPEAT('ü', 3000)",),
    ),
    Case(type="tinytext", column="tinytext", literals=(*_AWKWARD, *_BLANKS)),
    Case(type="text", column="text", literals=(*_AWKWARD, *_BLANKS)),
    Case(type="mediumtext", column="mediumtext", literals=_AWKWARD),
    Case(type="longtext", column="longtext", literals=(*_AWKWARD, "REPEAT('x', 400000)")),
    *(
        Case(type=name, values="texts with NUL (0x00)", column=definition, literals=("CONCAT('a', CHAR(0), 'b')",))
        for name, definition in (
            ("char", "char(5)"),
            ("varchar", "varchar(5)"),
            ("tinytext", "tinytext"),
            ("text", "text"),
            ("mediumtext", "mediumtext"),
            ("longtext", "longtext"),
        )
    ),
    Case(type="varchar", values="with a binary collation", column="varchar(20) COLLATE utf8mb4_bin", literals=_AWKWARD),
)

_IN_CHARACTER_SETS = {
    "ascii": "'plain ~ text'",
    "latin1": "'Grüße é ñ ¿ £ € ÿ'",
    "latin2": "'Grüße ąćęłńóśźż ř'",
    "latin5": "'Grüße ğışİ'",
    "latin7": "'Grüße āčēģīķļ'",
    "utf8mb3": "'Grüße 日本語 Ωж'",
    "ucs2": "'Grüße 日本語 Ωж'",
    "utf16": "'Grüße 日本語 🧵'",
    "utf16le": "'Grüße 日本語 🧵'",
    "utf32": "'Grüße 日本語 🧵'",
    "gbk": "'中文 汉字'",
    "gb2312": "'中文 汉字'",
    "gb18030": "'中文 汉字 🧵'",
    "big5": "'中文 漢字'",
    "sjis": "'日本語 カナ'",
    "cp932": "'日本語 カナ ①'",
    "ujis": "'日本語 カナ'",
    "eucjpms": "'日本語 カナ'",
    "euckr": "'한국어'",
    "cp1250": "'Grüße ąćęłńóśźż ř'",
    "cp1251": "'Привет ґє'",
    "cp1256": "'مرحبا'",
    "cp1257": "'Grüße āčēģīķļ'",
    "cp850": "'Grüße é ñ'",
    "cp852": "'Grüße ąćęłńóśźż ř'",
    "cp866": "'Привет'",
    "koi8r": "'Привет'",
    "koi8u": "'Привет ґє'",
    "greek": "'Καλημέρα'",
    "hebrew": "'שלום'",
    "tis620": "'สวัสดี'",
    "macce": "'Grüße ąćęłńóśźż ř'",
    "macroman": "'Grüße é ñ'",
    "dec8": "'Grüße é ñ ¿ £'",
    "hp8": "'Grüße é ñ'",
    "keybcs2": "'žluťoučký kůň'",
    "armscii8": "'Բարեւ'",
    "geostd8": "'გამარჯობა'",
    "swe7": "'åäö ÅÄÖ'",
}
CHARACTER_SETS = tuple(
    Case(type=f"text in {name}", column=f"varchar(40) CHARACTER SET {name}", literals=(text,))
    for name, text in _IN_CHARACTER_SETS.items()
)

BYTES = (
    Case(
        type="binary",
        column="binary(16)",
        literals=("0x00112233445566778899AABBCCDDEE00", "0x01", "x''", "0xFF00000000000000000000000000FF00"),
        meaning=_B,
    ),
    Case(type="varbinary", column="varbinary(20)", literals=("x''", "0x00", "0x00FF1000", "0x20"), meaning=_B),
    Case(type="tinyblob", column="tinyblob", literals=("x''", "0x00FF10"), meaning=_B),
    Case(type="blob", column="blob", literals=("x''", "0x00FF10"), meaning=_B),
    Case(type="mediumblob", column="mediumblob", literals=("x''", "0x00FF10"), meaning=_B),
    Case(type="longblob", column="longblob", literals=("x''", "0x00FF10", "REPEAT(0x00FF7F, 100000)"), meaning=_B),
)


def _choices() -> Iterator[Case]:
    yield Case(type="enum", column="enum('small','größer','a b')", literals=("'small'", "'größer'", "'a b'"))
    yield Case(type="enum", values="error values ('')", column="enum('small','big')", literals=("0",), lenient=True)
    yield Case(type="set", column="set('red','grün','a b')", literals=("''", "'red'", "'red,a b'", "'red,grün,a b'"))
    awkward = {
        "an apostrophe": "it''s",
        "a backslash": r"b\\c",
        "a character beyond the BMP": "🧵",
    }
    for name in ("enum", "set"):
        yield Case(
            type=name,
            values="members with quotation marks and parentheses",
            column=f"{name}('5\" x 7\"','a) b(')",
            literals=("'5\" x 7\"'", "'a) b('"),
        )
    for name, members in (("enum", {"a comma": "a,b", **awkward}), ("set", awkward)):
        for label, member in members.items():
            column = f"{name}('{member}','plain')"
            others = {MYSQL: (column,)}
            yield Case(
                type=f"{name} with {label} in a member",
                column=column,
                literals=(f"'{member}'", "'plain'"),
                others=others,
            )


CHOICES = tuple(_choices())

JSON = (
    Case(
        type="json",
        meaning=_J,
        column="json",
        literals=(
            r"""'{"b": 1, "a": [null, true, "ü 🧵 \\u0001 \\" \\\\"], "n": {"x": {}}, "e": []}'""",
            "'123'",
            "'-1.5'",
            "'\"text\"'",
            "'true'",
            "'null'",
            "'[]'",
            "'9007199254740991'",
        ),
    ),
    Case(
        type="json",
        values="texts with NUL (\\u0000)",
        meaning=_J,
        column="json",
        literals=(r"""'"a\\u0000b"'""",),
        others={POSTGRESQL: ("jsonb",)},
    ),
    Case(
        type="json",
        values="whole numbers of more than 53 bits",
        meaning=_J,
        column="json",
        literals=("'9007199254740993'", "'18446744073709551615'", "'-9223372036854775808'"),
    ),
    Case(
        type="json",
        values="decimals",
        meaning=_J,
        column="json",
        literals=("JSON_OBJECT('d', CAST(1.10 AS DECIMAL(10,2)))",),
    ),
    Case(
        type="json",
        values="decimals of more than 17 digits",
        meaning=_J,
        column="json",
        literals=("JSON_ARRAY(CAST('12345678901234567890.123456789' AS DECIMAL(40,9)))",),
    ),
    Case(type="json", values="doubles", meaning=_J, column="json", literals=("'0.1'", "'1.25'", "'-123456.789'")),
    Case(
        type="json",
        values="doubles with an exponent",
        meaning=_J,
        column="json",
        literals=("'1.7976931348623157e308'", "'1e-7'", "'1e21'"),
    ),
    Case(
        type="json",
        values="times of day and points in time",
        meaning=_J,
        column="json",
        literals=(
            "JSON_OBJECT('t', CAST('12:30:00.5' AS TIME(6)))",
            "JSON_ARRAY(CAST('2026-01-02 03:04:05.5' AS DATETIME(6)))",
        ),
    ),
    Case(
        type="json",
        values="dates",
        meaning=_J,
        column="json",
        literals=("JSON_OBJECT('d', CAST('2026-01-02' AS DATE))",),
    ),
    Case(
        type="json",
        values="binary values",
        meaning=_J,
        column="json",
        literals=("JSON_OBJECT('b', CAST(0x00FF AS BINARY))",),
    ),
    Case(type="json", values="bits", meaning=_J, column="json", literals=("JSON_ARRAY(b'10110001')",)),
)

_SHAPES = {
    "point": "POINT(1 2)",
    "linestring": "LINESTRING(0 0,1 2,3 1)",
    "polygon": "POLYGON((0 0,4 0,4 3,0 0))",
    "multipoint": "MULTIPOINT((0 0),(1 2))",
    "multilinestring": "MULTILINESTRING((0 0,1 2),(2 2,3 1))",
    "multipolygon": "MULTIPOLYGON(((0 0,4 0,4 3,0 0)))",
    "geomcollection": "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 2))",
    "geometry": "POINT(1 2)",
}


def _shapes() -> Iterator[Case]:
    for name, shape in _SHAPES.items():
        others = {POSTGRESQL: ("bytea", "text"), MYSQL: ("longblob",)} if name == "point" else {}
        plain, located = f"ST_GeomFromText('{shape}')", f"ST_GeomFromText('{shape}', 4326)"
        yield Case(type=name, column=name, literals=(plain,), meaning=Meaning.GEOMETRY, others=others)
        values = "shapes with a spatial reference system"
        yield Case(type=name, values=values, column=name, literals=(located,), meaning=Meaning.GEOMETRY)


SHAPES = tuple(_shapes())

COLUMNS = (
    Case(type="generated column", column="int GENERATED ALWAYS AS (n * 2) STORED", literals=None, meaning=_N),
    Case(
        type="generated column",
        values="values that are not stored",
        column="int GENERATED ALWAYS AS (n * 2) VIRTUAL",
        literals=None,
        meaning=_N,
    ),
    Case(type="column with a default", column="varchar(20) NOT NULL DEFAULT 'it''s'", literals=None),
    Case(type="vector", column="vector(3)", literals=("STRING_TO_VECTOR('[1,2.5,-3]')",), meaning=_B, since=9),
    Case(type="invisible column", column="int INVISIBLE", literals=("1",), meaning=_N, since=9),
    Case(
        type="column with a default",
        values="an expression",
        column="varchar(20) DEFAULT (CONCAT('a', 'b'))",
        literals=None,
    ),
)

_OTHERS: Mapping[str, Mapping[DatabaseProvider, tuple[str, ...]]] = {
    "tinyint(1)": {POSTGRESQL: ("boolean",), MYSQL: ("tinyint",)},
    "int": {POSTGRESQL: ("bigint", "numeric", "text"), MYSQL: ("bigint", "varchar(20)")},
    "decimal": {POSTGRESQL: ("numeric", "double precision"), MYSQL: ("double",)},
    "float": {POSTGRESQL: ("double precision",), MYSQL: ("double",)},
    "bit": {POSTGRESQL: ("bit varying(64)", "bytea"), MYSQL: ("bigint unsigned",)},
    "char": {POSTGRESQL: ("character(30)", "text")},
    "varchar": {POSTGRESQL: ("text",), MYSQL: ("text", "longtext")},
    "date": {POSTGRESQL: ("timestamp without time zone",), MYSQL: ("datetime",)},
    "datetime": {POSTGRESQL: ("timestamp with time zone",)},
    "timestamp": {POSTGRESQL: ("timestamp without time zone",), MYSQL: ("datetime(6)",)},
    "time": {POSTGRESQL: ("interval", "text"), MYSQL: ("varchar(20)",)},
    "year": {POSTGRESQL: ("smallint", "date"), MYSQL: ("smallint",)},
    "enum": {POSTGRESQL: ("types.size",)},
    "set": {POSTGRESQL: ("text[]",)},
    "json": {POSTGRESQL: ("jsonb", "text"), MYSQL: ("longtext",)},
    "binary": {POSTGRESQL: ("uuid",)},
}
"""Other types that somebody may have made for a column, in which all of its ordinary values fit."""

_ALL = (*NUMBERS, *TEXTS, *CHARACTER_SETS, *BYTES, *TIMES, *CHOICES, *JSON, *SHAPES, *COLUMNS)
MYSQL_CASES = tuple(case.trying(_OTHERS) for case in _ALL)
