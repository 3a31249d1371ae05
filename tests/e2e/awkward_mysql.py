"""Tables of a MySQL source whose names, keys and values are awkward, with what changes in them, and how they arrive."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.e2e.equal_rows import Rows, in_mysql, in_postgresql, tick, until_equal, until_healthy
from tests.support.apps.real_headgate import Json, RealDatabase, RealHeadgate
from tests.support.apps.real_mysql import RealMySQLDatabase, open_database
from tests.support.databases.mysql import MySQLServer
from tests.support.waiting import eventually

NOT_STRICT = "SET SESSION sql_mode = ''"
"""In this mode the server takes zero dates."""

EQUAL = "Größen & 'Maße'"
"""A table whose values arrive equal: the key is a text and a number."""

COLUMNS = (
    *("Schlüssel teil", "nr", "it's", "big", "exact", "at", "stamp", "of day", "fixed", "raw", "doc", "mood", "tags"),
    *("note", "ratio", "bits"),
)
DOCUMENTS = (COLUMNS.index("doc"),)
MAKE_EQUAL = (
    f"CREATE TABLE `{EQUAL}` (`Schlüssel teil` VARCHAR(50) COLLATE utf8mb4_bin, nr BIGINT UNSIGNED, `it's` TEXT,"
    " big BIGINT UNSIGNED, exact DECIMAL(30, 10), at DATETIME(6), stamp TIMESTAMP(6) NULL, `of day` TIME(3),"
    " fixed BINARY(8), raw VARBINARY(300), doc JSON, mood ENUM('sad', 'so so', 'ü'), tags SET('x', 'y'),"
    " note LONGTEXT, ratio DOUBLE, bits BIT(8), PRIMARY KEY (`Schlüssel teil`, nr))"
)
FILL_EQUAL = (
    f"INSERT INTO `{EQUAL}` VALUES"
    " ('a', 18446744073709551615, 'emoji \U0001f600', 18446744073709551615, -99999999999999999999.9999999999,"
    " '1000-01-01', '2038-01-19 03:14:07.999999', '23:59:59.999', X'0102030000000000', X'00ff00',"
    " '{\"a\": [1, 2.5, null]}', 'so so', 'x,y',"
    " 'emoji \U0001f600 \\'quoted\\' \"twice\" \\\\ ? :x', 0.1, b'10000001'),"
    " ('A', 18446744073709551615, '', 0, 0, '9999-12-31 23:59:59.999999', '1970-01-01 00:00:01', '00:00:00', X'00',"
    " X'', 'null', 'sad', '', '', -1e300, b'0'),"
    " ('á', 0, REPEAT('long \U0001f600 ', 2000), 9223372036854775808, 10, NULL, NULL, NULL, X'ff00000000000000', NULL,"
    " '\"text\"', 'ü', 'y', NULL, NULL, NULL),"
    " ('\U0001f600', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
)
_NEW = (
    "('漢', 2, 'it''s', 18446744073709551615, -0.0000000001, '1969-12-31 23:59:59.999999',"
    " '2038-01-19 03:14:07.999999', '00:00:00.001', X'0000000000000000', X'00', '{\"\U0001f600\": \"\\\\\\\\\"}', 'ü',"
    " 'x,y', 'new', 1e-300, b'11111111')"
)
CHANGE_EQUAL = (
    f"UPDATE `{EQUAL}` SET note = 'changed', fixed = X'ff00', raw = X'0000', doc = '[true]' WHERE nr = 0",
    f"UPDATE `{EQUAL}` SET `Schlüssel teil` = 'ä \U0001f600', nr = 18446744073709551614 WHERE nr = 1",
    f"DELETE FROM `{EQUAL}` WHERE `Schlüssel teil` = 'a'",
    f"INSERT INTO `{EQUAL}` VALUES {_NEW}",
)

NAMED = "zero & commas"
"""A table of which discovery says which columns do not arrive equal."""

NAMED_COLUMNS = ("id", "zero", "zero_at", "must", "must_at", "member", "members", "note")
MAKE_NAMED = (
    f"CREATE TABLE `{NAMED}` (id INT PRIMARY KEY, zero DATE, zero_at DATETIME(3), must DATE NOT NULL,"
    " must_at DATETIME NOT NULL DEFAULT '2001-02-03 04:05:06', member ENUM('a,b', 'c'), members SET('x\\\\y', 'z'),"
    " note TEXT)"
)
MAKE_NAMED_TARGET = (
    f"CREATE TABLE `{NAMED}` (id INT PRIMARY KEY, zero DATE, zero_at DATETIME(3), must DATE, must_at DATETIME,"
    " member VARCHAR(255), members TEXT, note LONGTEXT)"
)
_NAMED_ROWS = (
    f"INSERT INTO `{NAMED}` VALUES"
    " ({id}, '0000-00-00', '0000-00-00', '0000-00-00', '0000-00-00', 'a,b', 'x\\\\y', 'zero'),"
    " ({id} + 1, '2024-00-00', '2024-01-00', '2024-00-00', '2024-01-00', 'c', 'z', 'in parts'),"
    " ({id} + 2, '2024-02-29', '2024-02-29', '2024-02-29', '2024-02-29', 'c', 'z', 'right')"
)
FILL_NAMED = (NOT_STRICT, _NAMED_ROWS.replace("{id}", "1"))
CHANGE_NAMED = (NOT_STRICT, _NAMED_ROWS.replace("{id}", "11"), f"UPDATE `{NAMED}` SET note = 'changed' WHERE id = 2")

LONG = "durations"
"""A table of which discovery says that a delivery stops at its longest times."""

MAKE_LONG = f"CREATE TABLE {LONG} (id INT PRIMARY KEY, lasts TIME(6), note TEXT)"
FILL_LONG = f"INSERT INTO {LONG} VALUES (1, '{{lasts}}', 'snapshot')"
CHANGE_LONG = f"INSERT INTO {LONG} VALUES (2, '{{lasts}}', 'change')"
LONGEST = ("838:59:59", "-838:59:59")

Target = RealDatabase | RealMySQLDatabase


def rows_of(target: Target, table: str, columns: Sequence[str], documents: Sequence[int] = ()) -> Rows:
    reader: Any = in_mysql if isinstance(target, RealMySQLDatabase) else in_postgresql
    rows: Rows = reader(target, table, columns, documents)
    return rows


def issues(table: Json) -> dict[str, str]:
    """The code of what discovery says of each column that it names."""
    return {issue["column"]: issue["code"] for issue in table["cdc_issues"] if issue["column"]}


def deploy(headgate: RealHeadgate, pipeline: Json, target: Target, table: str, topic: str) -> Json:
    """A delivery of the topic to a table of the same name. A table that its preview proposes is made before, unless it
    exists.
    """
    headgate.until_records(topic, 1)
    schema = target.name if isinstance(target, RealMySQLDatabase) else "shop"
    body = headgate.delivery_body(pipeline, {topic: table}, schema)
    destination = headgate.destination(target)
    preview = headgate.post(f"/destinations/{destination['id']}/preview", body, expect=(200, 422))
    for proposed in preview.get("target_ddl") or preview.get("error", {}).get("details", {}).get("target_ddl", ()):
        target.run(proposed["statement"].replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
        if isinstance(target, RealDatabase):
            target.run(f'ALTER TABLE shop."{table}" OWNER TO {{role}}')
    return dict(headgate.post(f"/destinations/{destination['id']}/deploy", body))


def check_equal_rows(headgate: RealHeadgate, server: MySQLServer, target: Target, columns: Sequence[str]) -> None:
    """Every value of the snapshot and of changes arrives equal in these columns."""
    source = open_database(server, "awkward", MAKE_EQUAL, FILL_EQUAL)
    pipeline = headgate.captured(source, EQUAL, schema=source.name)
    delivery = deploy(headgate, pipeline, target, EQUAL, pipeline["topics"][0])
    until_healthy(headgate, delivery)

    def expected() -> Rows:
        return rows_of(source, EQUAL, columns, DOCUMENTS)

    def arrived() -> Rows:
        return rows_of(target, EQUAL, columns, DOCUMENTS)

    assert len(expected()) == 4
    until_equal(expected, arrived)
    source.run(*CHANGE_EQUAL)
    until_equal(expected, arrived)
    assert len(arrived()) == 4


def check_named_columns(headgate: RealHeadgate, server: MySQLServer, target: Target) -> None:
    """What does not arrive equal is in a column that discovery has named, and all other columns are equal.

    In MySQL the target has no enums: one would refuse the member that arrives with a backslash.
    """
    source = open_database(server, "zeros", MAKE_NAMED, *FILL_NAMED)
    registered = headgate.source(source)
    named = issues(headgate.discover(registered)[f"{source.name}.{NAMED}"])
    pipeline = headgate.pipeline(registered, [(source.name, NAMED)])
    headgate.deploy(pipeline)
    if isinstance(target, RealMySQLDatabase):
        target.run(MAKE_NAMED_TARGET)
    delivery = deploy(headgate, pipeline, target, NAMED, pipeline["topics"][0])
    until_healthy(headgate, delivery)
    until_equal(lambda: rows_of(source, NAMED, ("id", "note")), lambda: rows_of(target, NAMED, ("id", "note")))
    source.run(*CHANGE_NAMED)
    until_equal(lambda: rows_of(source, NAMED, ("id", "note")), lambda: rows_of(target, NAMED, ("id", "note")))
    unequal = {
        column
        for column in NAMED_COLUMNS
        if rows_of(source, NAMED, ("id", column)) != rows_of(target, NAMED, ("id", column))
    }
    assert unequal >= {"zero", "zero_at", "must", "must_at", "member"}
    assert unequal <= set(named)


def check_long_times(
    headgate: RealHeadgate, server: MySQLServer, target: Target, lasts: str, *, streamed: bool
) -> None:
    """Discovery says that a delivery stops at such a time, and it does, in the snapshot as in a change."""
    rows = () if streamed else (FILL_LONG.replace("{lasts}", lasts),)
    first = f"INSERT INTO {LONG} VALUES (0, '23:59:59.999999', 'longest of a day')"
    source = open_database(server, "long", MAKE_LONG, first, *rows)
    registered = headgate.source(source)
    assert issues(headgate.discover(registered)[f"{source.name}.{LONG}"])["lasts"] == "TYPE_STOPS_TASK"
    pipeline = headgate.pipeline(registered, [(source.name, LONG)])
    headgate.deploy(pipeline)
    delivery = deploy(headgate, pipeline, target, LONG, pipeline["topics"][0])
    if streamed:
        until_healthy(headgate, delivery)
        source.run(CHANGE_LONG.replace("{lasts}", lasts))

    def state() -> Mapping[str, Any]:
        tick(headgate)
        return dict(headgate.get(f"/deliveries/{delivery['id']}/status?fresh=true"))

    seen = eventually(state, lambda seen: seen["tasks"] and seen["tasks"][0]["state"] == "FAILED", seconds=90)
    assert "A value does not fit its target column" in " ".join(seen["reasons"])
    headgate.delete(f"/deliveries/{delivery['id']}")
