"""What is left of the names in a trace: those that are known here, and no others."""

import pytest

from chalicelib.domain.diagnosis.candidates import candidates_in
from chalicelib.domain.diagnosis.cause import Candidates, CatalogName, Cause, known_cause
from chalicelib.domain.table import TableName

ORDERS, CUSTOMERS = TableName("public", "orders"), TableName("public", "customers")
SECRET = "AKIAIOSFODNN7EXAMPLE"
CATALOG = (
    CatalogName(ORDERS, "total_max", is_column=False),
    CatalogName(ORDERS, "total", is_column=True),
    CatalogName(CUSTOMERS, "total", is_column=True),
)


def cause_of(message: str, *tables: TableName) -> Cause:
    candidates = candidates_in(f"x.ConnectException: wrapper\n\tat x.y(z)\nCaused by: x.SQLException: {message}")
    assert candidates is not None
    return known_cause(candidates, tables, CATALOG)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            'ERROR: new row for relation "orders" violates check constraint "total_max"',
            ("public", "orders", "total_max", None, "23514"),
        ),
        (
            'ERROR: null value in column "total" of relation "orders" violates not-null constraint',
            ("public", "orders", None, "total", "23502"),
        ),
        ("ERROR: permission denied for table orders", ("public", "orders", None, None, "42501")),
        ("ERROR: permission denied for schema public", ("public", None, None, None, "42501")),
        # Only one table has such a constraint, and two have such a column.
        ("Check constraint 'total_max' is violated.", ("public", "orders", "total_max", None, "HY000")),
        ("Data too long for column 'total' at row 1", (None, None, None, "total", "22001")),
        ("Table 'public.customers' doesn't exist", ("public", "customers", None, None, "42S02")),
        ("INSERT command denied to user 'w'@'h' for table 'orders'", ("public", "orders", None, None, "42000")),
        ("Duplicate entry 'x' for key 'orders.total_max'", ("public", "orders", "total_max", None, "23000")),
        # What nobody here knows.
        (f'ERROR: new row for relation "{SECRET}" violates check constraint "total_max"', (None,) * 4 + ("23514",)),
        (
            f'ERROR: new row for relation "orders" violates check constraint "{SECRET}"',
            ("public", "orders", None, None, "23514"),
        ),
        (f"Unknown column '{SECRET}' in 'field list'", (None,) * 4 + ("42S22",)),
        (f"ERROR: permission denied for schema {SECRET}", (None,) * 4 + ("42501",)),
        ("Table 'other.orders' doesn't exist", (None,) * 4 + ("42S02",)),
    ],
)  # fmt: skip
def test_a_cause_has_only_names_that_are_known(message: str, expected: tuple[str | None, ...]) -> None:
    cause = cause_of(message, ORDERS, CUSTOMERS)
    assert (cause.schema, cause.table, cause.constraint, cause.column, cause.sqlstate) == expected
    assert SECRET not in f"{cause!r}{cause.sentence}"


def test_what_one_table_alone_can_refuse_is_about_that_table() -> None:
    cause = cause_of("Data too long for column 'other' at row 1", ORDERS)
    assert (cause.place, cause.column) == ("public.orders", None)


@pytest.mark.parametrize(
    "message",
    [
        'ERROR: deadlock\n  Detail: new row for relation "orders" violates check constraint "total_max"',
        'Batch entry 0 VALUES (\'relation "orders" violates check constraint "total_max"\') was aborted: deadlock',
        'failed at Struct{note=new row for relation "orders" violates check constraint "total_max"}',
    ],
)
def test_values_of_rows_name_nothing(message: str) -> None:
    assert candidates_in(f"org.postgresql.util.PSQLException: {message}") is None


@pytest.mark.parametrize(
    "text", ["'" * 200_000, 'relation "' * 20_000, "command denied to user " * 10_000, "\n" * 200_000]
)
def test_a_hostile_text_names_nothing(text: str) -> None:
    assert candidates_in(text) is None


@pytest.mark.parametrize("name", ["a\x1b[2Jb", "a\u202eb", "a\u200bb", "a\x00b"])
def test_a_name_that_is_not_as_it_looks_is_no_candidate(name: str) -> None:
    candidates = candidates_in(f'x: ERROR: new row for relation "orders" violates check constraint "{name}"')
    assert candidates is not None
    assert (candidates.table, candidates.constraint) == ("orders", None)


def test_candidates_are_not_shown_by_their_representation() -> None:
    assert SECRET not in repr(Candidates(schema=SECRET, table=SECRET, constraint=SECRET, column=SECRET))


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        (
            Cause(schema="public", table="orders", constraint="total_max", sqlstate="23514"),
            "It is about public.orders, check constraint total_max (SQLSTATE 23514).",
        ),
        (Cause(table="orders", column="note"), "It is about orders, column note."),
        (Cause(sqlstate="22001"), "The server reports SQLSTATE 22001."),
        (Cause(), None),
    ],
)
def test_a_cause_is_said_in_one_sentence(cause: Cause, sentence: str | None) -> None:
    assert cause.sentence == sentence
