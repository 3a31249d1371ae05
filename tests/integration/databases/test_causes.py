"""What refusals of real servers name, by their own wording, and what of it their catalogues confirm."""

from collections.abc import Callable

import psycopg
import pymysql
import pytest

from chalicelib.clients.databases.contract import Database
from chalicelib.domain.diagnosis.candidates import candidates_in
from chalicelib.domain.diagnosis.cause import candidate_tables, known_cause
from chalicelib.domain.table import TableName
from chalicelib.kit.clock import Deadline
from tests.support.databases.mysql import MySQLServer, run
from tests.support.databases.mysql_target import MySQLCopy, open_mysql_copy
from tests.support.databases.postgresql import Shop, client

NOWHERE = (None, None, None)
Names = tuple[str | None, str | None, str | None]


def cause_of(refused: Callable[[], object], database: Database, *tables: TableName) -> tuple[Names, str | None]:
    """Table, constraint and column of what the server refuses, and the SQLSTATE. Trace and lookup are as in a tick."""
    with pytest.raises((psycopg.Error, pymysql.Error)) as error:
        refused()
    text = error.value.args[1] if isinstance(error.value, pymysql.Error) else f"ERROR: {error.value}"
    candidates = candidates_in(f"Caused by: java.sql.SQLException: {text}")
    assert candidates is not None
    about = candidate_tables(candidates, tables)
    names = database.catalog_names(about, candidates.in_tables, Deadline.after(15)) if candidates.in_tables else ()
    cause = known_cause(candidates, tables, names)
    return (cause.place, cause.constraint, cause.column), cause.sqlstate


@pytest.mark.parametrize(
    ("statement", "names", "sqlstate"),
    [
        ("INSERT INTO shop.paid VALUES (1, 2000, 'a', 1)", ("shop.paid", "total max", None), "23514"),
        ("INSERT INTO shop.paid VALUES (1, 1, NULL, 1)", ("shop.paid", None, "note"), "23502"),
        ("INSERT INTO shop.paid VALUES (1, 1, 'a', 9)", ("shop.paid", "paid_whose_fkey", None), "23503"),
        ("INSERT INTO shop.paid VALUES (1, 1, 'a', 1), (2, 2, 'a', 1)", ("shop.paid", "notes", None), "23505"),
        ("INSERT INTO shop.paid (id, missing) VALUES (1, 1)", ("shop.paid", None, None), "42703"),
        ("INSERT INTO shop.paid VALUES (1, 1, repeat('a', 50), 1)", NOWHERE, None),
        ("INSERT INTO shop.gone VALUES (1)", ("shop.gone", None, None), "42P01"),
        ("SET ROLE reader; INSERT INTO shop.paid VALUES (1, 1, 'a', 1)", ("shop.paid", None, None), "42501"),
    ],
)
def test_postgresql(shop: Shop, statement: str, names: Names, sqlstate: str | None) -> None:
    shop.run(
        "CREATE TABLE shop.whose (id int PRIMARY KEY)",
        "INSERT INTO shop.whose VALUES (1)",
        'CREATE TABLE shop.paid (id int PRIMARY KEY, total int CONSTRAINT "total max" CHECK (total < 1000),'
        " note varchar(20) NOT NULL, whose int REFERENCES shop.whose)",
        "CREATE UNIQUE INDEX notes ON shop.paid (note)",
        "DO $$ BEGIN CREATE ROLE reader; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "GRANT USAGE ON SCHEMA shop TO reader",
    )
    tables = (TableName("shop", "paid"), TableName("shop", "gone"))
    if names == NOWHERE:
        with pytest.raises(psycopg.Error) as error:
            shop.run(statement)
        assert candidates_in(f"Caused by: x: ERROR: {error.value}") is None
    else:
        assert cause_of(lambda: shop.run(statement), client(shop.endpoint), *tables) == (names, sqlstate)


@pytest.mark.parametrize(
    ("statement", "names", "sqlstate"),
    [
        ("INSERT INTO paid VALUES (1, 1, NULL, 1)", ("paid", None, "note"), "23000"),
        ("INSERT INTO paid VALUES (1, 1, 'a', 9)", ("paid", "paid_whose", "whose"), "23000"),
        ("INSERT INTO paid VALUES (1, 1, 'a', 1), (2, 2, 'a', 1)", ("paid", "notes", None), "23000"),
        ("INSERT INTO paid (id, missing) VALUES (1, 1)", ("paid", None, None), "42S22"),
        ("INSERT INTO paid VALUES (1, 1, REPEAT('a', 50), 1)", ("paid", None, "note"), "22001"),
        ("INSERT INTO paid VALUES (1, 99999999999, 'a', 1)", ("paid", None, "total"), "22003"),
    ],
)
def test_mysql(mysql_copy: MySQLCopy, statement: str, names: Names, sqlstate: str | None) -> None:
    mysql_copy.run(
        "CREATE TABLE whose (id INT PRIMARY KEY)",
        "INSERT INTO whose VALUES (1)",
        "CREATE TABLE paid (id INT PRIMARY KEY, total INT, note VARCHAR(20) NOT NULL, whose INT, UNIQUE notes (note),"
        " CONSTRAINT paid_whose FOREIGN KEY (whose) REFERENCES whose (id))",
    )
    place = names[0] and f"{mysql_copy.name}.{names[0]}"
    found = cause_of(lambda: mysql_copy.run(statement), mysql_copy.client, mysql_copy.table("paid"))
    assert found == ((place, *names[1:]), sqlstate)


def test_a_check_constraint_of_mysql(mysql_9: MySQLServer) -> None:
    """Older ones than 8.0.16 accept such a constraint and do not check it."""
    with open_mysql_copy(mysql_9) as copy:
        copy.run("CREATE TABLE paid (id INT PRIMARY KEY, CONSTRAINT `total max` CHECK (id < 1000))")
        found = cause_of(lambda: copy.run("INSERT INTO paid VALUES (2000)"), copy.client, copy.table("paid"))
        assert found == ((f"{copy.name}.paid", "total max", None), "HY000")


def test_a_right_that_was_revoked_in_mysql_names_the_table(mysql_copy: MySQLCopy) -> None:
    mysql_copy.run("CREATE TABLE paid (id INT PRIMARY KEY)")
    mysql_copy.grant("SELECT")
    with mysql_copy.as_role() as connection, pytest.raises(pymysql.Error) as error:
        run(connection, "INSERT INTO paid VALUES (1)")
    candidates = candidates_in(f"Caused by: java.sql.SQLSyntaxErrorException: {error.value.args[1]}")
    assert candidates is not None
    assert known_cause(candidates, [mysql_copy.table("paid")]).place == f"{mysql_copy.name}.paid"
