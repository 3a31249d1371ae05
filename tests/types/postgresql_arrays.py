"""Arrays of every type of PostgreSQL: with a value, with NULL inside, and nested."""

from collections.abc import Iterator, Mapping

from tests.types.cases import Case

_ELEMENTS: Mapping[str, str] = {
    "smallint": "1",
    "integer": "1",
    "bigint": "-9223372036854775808",
    "oid": "1",
    "money": "1.50",
    "numeric": "1.5",
    "numeric(8,2)": "1.50",
    "real": "1.5",
    "double precision": "1.5",
    "boolean": "t",
    "text": '"a,b \\"c\\""',
    "character varying(9)": "ab",
    "character(3)": "abc",
    '"char"': "a",
    "name": "ab",
    "uuid": "0b0e0b0e-0000-4000-8000-000000000001",
    "tsvector": "fat",
    "bytea": '"\\\\\\\\x00ff"',
    "inet": "10.0.0.1",
    "cidr": "10.0.0.0/8",
    "macaddr": "08:00:2b:01:02:03",
    "macaddr8": "08:00:2b:01:02:03:04:05",
    "date": "2026-01-01",
    "timestamp without time zone": "2026-01-01 00:00:00",
    "timestamp with time zone": "2026-01-01 00:00:00+00",
    "time without time zone": "12:00:00",
    "time with time zone": "12:00:00+00",
    "interval": "1 day",
    "json": '"{\\"a\\": 1}"',
    "jsonb": '"{\\"a\\": 1}"',
    "bit(1)": "1",
    "bit(8)": "10110001",
    "bit varying(8)": "101",
    "point": '"(1,2)"',
    "int4range": '"[1,5)"',
    "int8range": '"[1,5)"',
    "numrange": '"[1.5,2.5]"',
    "tsrange": '"[2026-01-01 00:00,2026-02-01 00:00)"',
    "tstzrange": '"[2026-01-01 00:00+00,2026-02-01 00:00+00)"',
    "daterange": '"[2026-01-01,2026-02-01)"',
    "types.mood": "glad",
    "types.email": "a@b.example",
    "types.pair": '"(1,x)"',
    "line": '"{1,2,3}"',
    "lseg": '"[(0,0),(1,1)]"',
    "path": '"[(0,0),(1,1)]"',
    "polygon": '"((0,0),(1,1),(1,0))"',
    "circle": '"<(0,0),1>"',
    "tsquery": "a",
    "jsonpath": "$.a",
    "pg_lsn": "0/1",
    "xid": "42",
    "xid8": "42",
    "cid": "42",
    "tid": '"(0,1)"',
    "regclass": "pg_class",
    "regtype": "integer",
    "int4multirange": '"{[1,5)}"',
    "pg_snapshot": '"10:20:"',
    "txid_snapshot": '"10:20:"',
    "aclitem": "postgres=r/postgres",
    "refcursor": "c",
    "int2vector": '"1 2"',
    "oidvector": '"1 2"',
}
_NAMES = {"types.mood": "enum", "types.email": "domain", "types.pair": "composite"}
_BARE = {
    "character varying(9)": "character varying",
    "character(3)": "character",
    "bit(8)": "bit",
    "bit varying(8)": "bit varying",
    "numeric(8,2)": "numeric(p,s)",
}


def _arrays() -> Iterator[Case]:
    for element, item in _ELEMENTS.items():
        name = _NAMES.get(element) or _BARE.get(element, element)
        yield Case(type=f"{name}[]", column=f"{element}[]", literals=(f"'{{{item}}}'", "'{}'"))
        yield Case(
            type=f"{name}[]", values="arrays with NULL inside", column=f"{element}[]", literals=(f"'{{{item},NULL}}'",)
        )
    yield Case(type="box[]", column="box[]", literals=("'{(1,1),(0,0)}'", "'{}'"))
    for element, item in _ELEMENTS.items():
        name = _NAMES.get(element) or _BARE.get(element, element)
        yield Case(
            type=f"{name}[][]", column=f"{element}[][]", literals=(f"'{{{{{item},{item}}},{{{item},{item}}}}}'",)
        )
    yield Case(type="real[]", values="values NaN and infinity", column="real[]", literals=("'{NaN,infinity}'",))
    yield Case(
        type="double precision[]",
        values="values NaN and infinity",
        column="double precision[]",
        literals=("'{NaN,infinity}'",),
    )


ARRAYS = tuple(_arrays())
