"""Tables that are known to break captures, each with rows for the snapshot and changes for the stream."""

from collections.abc import Sequence
from dataclasses import dataclass

SOURCE_SCHEMA = "Läden & Söhne"
LARGE_TEXT = 900_000
BULK_ROWS = 20_000


@dataclass(frozen=True, kw_only=True)
class UnusualTable:
    """A table. `{t}` in statements is its full name, quoted; `columns` are those after all changes.

    `full_identity`: it has columns for large values, and a key that Debezium cannot read them again by.
    """

    name: str
    create_statement: str
    columns: tuple[str, ...]
    rows: Sequence[str] = ()
    changes: Sequence[str] = ()
    keyless: bool = False
    full_identity: bool = False

    def statements(self, templates: Sequence[str], schema: str) -> list[str]:
        """Statements for the table of this name in that schema."""
        return [template.replace("{t}", f'"{schema}"."{self.name}"') for template in templates]

    def create(self, schema: str) -> list[str]:
        """Statements that create it, owned by the account."""
        return self.statements([self.create_statement, "ALTER TABLE {t} OWNER TO {role}"], schema)


_RANDOM_TEXT = f"(SELECT string_agg(md5(random()::text || n), '') FROM generate_series(1, {LARGE_TEXT // 32}) n)"
_WIDE = tuple(f"Spalte {number}" for number in range(1, 121))
_WIDE_COLUMNS = ", ".join(f'"{column}" text' for column in _WIDE)
_WIDE_VALUES = ", ".join(f"'{number}.' || g" for number in range(len(_WIDE)))

TABLES = (
    UnusualTable(
        name="Order Items",
        create_statement='CREATE TABLE {t} (id int PRIMARY KEY, "Unit Price" numeric(12,3), "größe" text, "日本" text)',
        columns=("id", "Unit Price", "größe", "日本"),
        rows=["INSERT INTO {t} SELECT g, g * 1.125, 'Maß ' || g, '数量 🧵' FROM generate_series(1, 50) g"],
        changes=["""UPDATE {t} SET "größe" = 'weiß 🧶', "Unit Price" = NULL WHERE id % 7 = 0"""],
    ),
    UnusualTable(
        name="select",
        create_statement='CREATE TABLE {t} ("table" int PRIMARY KEY, "from" text, "group" int, "user" text)',
        columns=("table", "from", "group", "user"),
        rows=["INSERT INTO {t} VALUES (1, 'where', 2, 'order'), (2, 'by', 3, 'limit')"],
        changes=["""UPDATE {t} SET "from" = 'having', "group" = 9 WHERE "table" = 2"""],
        full_identity=True,
    ),
    UnusualTable(
        name="Twin",
        create_statement="CREATE TABLE {t} (id int PRIMARY KEY, note text)",
        columns=("id", "note"),
        rows=["INSERT INTO {t} VALUES (1, 'Upper'), (2, 'UPPER')"],
        changes=["INSERT INTO {t} VALUES (3, 'Upper again')"],
    ),
    UnusualTable(
        name="twin",
        create_statement="CREATE TABLE {t} (id int PRIMARY KEY, note text)",
        columns=("id", "note"),
        rows=["INSERT INTO {t} VALUES (1, 'lower')"],
        changes=["UPDATE {t} SET note = 'lower again'"],
    ),
    UnusualTable(
        name="composite",
        create_statement="CREATE TABLE {t} (region text, number int, note text, PRIMARY KEY (region, number))",
        columns=("region", "number", "note"),
        rows=["INSERT INTO {t} SELECT 'r' || g % 3, g, 'n' || g FROM generate_series(1, 30) g"],
        changes=[
            "UPDATE {t} SET region = 'moved' WHERE number = 4",
            "UPDATE {t} SET number = number + 1000 WHERE number < 4",
            "UPDATE {t} SET region = region || 'é', number = -number, note = NULL WHERE number BETWEEN 10 AND 12",
        ],
    ),
    UnusualTable(
        name="large",
        create_statement="CREATE TABLE {t} (id int PRIMARY KEY, large text, touched int)",
        columns=("id", "large", "touched"),
        rows=[f"INSERT INTO {{t}} SELECT g, {_RANDOM_TEXT}, 0 FROM generate_series(1, 2) g"],
        changes=[
            "UPDATE {t} SET touched = touched + 1",
            f"INSERT INTO {{t}} VALUES (3, {_RANDOM_TEXT}, 0)",
            "UPDATE {t} SET touched = touched + 1 WHERE id = 3",
        ],
    ),
    UnusualTable(
        name="growing",
        create_statement="CREATE TABLE {t} (id int PRIMARY KEY, note text)",
        columns=("id", "note", "Später"),
        rows=["INSERT INTO {t} SELECT g, 'before' FROM generate_series(1, 5) g"],
        changes=[
            'ALTER TABLE {t} ADD COLUMN "Später" numeric(8,2)',
            "INSERT INTO {t} VALUES (6, 'after', 12.34)",
            'UPDATE {t} SET "Später" = id WHERE id < 3',
        ],
    ),
    UnusualTable(
        name="wide",
        create_statement=f"CREATE TABLE {{t}} (id int PRIMARY KEY, {_WIDE_COLUMNS})",
        columns=("id", *_WIDE),
        rows=[
            f"INSERT INTO {{t}} SELECT g, {_WIDE_VALUES} FROM generate_series(1, 20) g",
        ],
        changes=['UPDATE {t} SET "Spalte 120" = NULL, "Spalte 60" = \'\' WHERE id > 10'],
    ),
    UnusualTable(
        name="bulk",
        create_statement="CREATE TABLE {t} (id bigint PRIMARY KEY, note text, amount numeric(12,2), at timestamptz)",
        columns=("id", "note", "amount", "at"),
        changes=[
            f"""INSERT INTO {{t}} SELECT g, md5(g::text), g / 7.0, timestamptz '2026-01-01 UTC' + g * interval '1 s'
            FROM generate_series(1, {BULK_ROWS}) g""",
        ],
        rows=["INSERT INTO {t} VALUES (0, 'first', 0, now())"],
    ),
    UnusualTable(
        name="going",
        create_statement="CREATE TABLE {t} (id int PRIMARY KEY, note text)",
        columns=("id", "note"),
        rows=["INSERT INTO {t} SELECT g, 'row' FROM generate_series(1, 40) g"],
        changes=[
            "DELETE FROM {t} WHERE id % 2 = 0",
            "INSERT INTO {t} VALUES (2, 'came back')",
            "UPDATE {t} SET id = id + 100 WHERE id < 10",
            "DELETE FROM {t} WHERE id = 101",
        ],
    ),
    UnusualTable(
        name="empty or null",
        create_statement="CREATE TABLE {t} (id int PRIMARY KEY, note text, bytes bytea, list text[])",
        columns=("id", "note", "bytes", "list"),
        rows=["INSERT INTO {t} VALUES (1, '', '', '{}'), (2, NULL, NULL, NULL), (3, 'x', '\\x00ff', '{\"\"}')"],
        changes=[
            "UPDATE {t} SET note = NULL, bytes = NULL, list = NULL WHERE id = 1",
            "UPDATE {t} SET note = '', bytes = '', list = '{}' WHERE id = 2",
        ],
    ),
    UnusualTable(
        name="parted",
        create_statement="CREATE TABLE {t} (id int, at date, note text, PRIMARY KEY (id, at)) PARTITION BY RANGE (at)",
        columns=("id", "at", "note"),
        rows=["INSERT INTO {t} SELECT g, date '2026-01-01' + g * 20, 'p' FROM generate_series(1, 17) g"],
        changes=[
            "UPDATE {t} SET note = 'q' WHERE id < 5",
            "UPDATE {t} SET at = at + 180 WHERE id IN (2, 3)",
            "DELETE FROM {t} WHERE id = 17",
            "INSERT INTO {t} VALUES (99, '2026-12-24', 'late')",
        ],
        full_identity=True,
    ),
    UnusualTable(
        name="no key",
        create_statement="CREATE TABLE {t} (number int, note text)",
        columns=("number", "note"),
        rows=["INSERT INTO {t} SELECT g % 5, 'same' FROM generate_series(1, 25) g"],
        changes=["INSERT INTO {t} VALUES (7, NULL), (7, ''), (7, 'new')"],
        keyless=True,
    ),
)
