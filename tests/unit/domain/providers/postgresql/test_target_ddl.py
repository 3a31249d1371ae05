"""The proposed target tables. That the statements run, and that values arrive equal: integration and e2e tests."""

from dataclasses import replace
from typing import Any, cast

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import TableMapping, TableWriting, WriteMode
from chalicelib.domain.providers.postgresql.target_ddl import target_statements
from chalicelib.domain.table import CapturedType, Column, IssueCode, IssueSeverity, SourceTable, TableIssue, TypeKind
from tests.support.entities import make_source_table

MAPPING = TableMapping(topic="t", schema_name="dwh", table_name='Odd "name"')


def source(*columns: Column, key: tuple[str, ...] = (), issues: tuple[TableIssue, ...] = ()) -> SourceTable:
    return make_source_table(primary_key_columns=key, columns=columns, issues=issues)


def column(type_: str, captured: CapturedType | None = None, name: str = "c") -> Column:
    return Column(name=name, type=type_, nullable=False, ordinal=1, captured=captured)


def statement(table: SourceTable, **options: Any) -> str:
    (made,) = target_statements(TableWriting(mappings=(MAPPING,), **options), {MAPPING.topic: table})
    assert made.table_name == MAPPING.table_name
    return made.statement


def test_names_are_quoted_and_the_key_is_not_null() -> None:
    table = source(column("bigint", name="Id"), column("text", name='a"b'), key=("Id",))
    assert statement(table) == (
        'CREATE TABLE "dwh"."Odd ""name""" (\n  "Id" bigint NOT NULL,\n  "a""b" text,\n  PRIMARY KEY ("Id")\n);'
    )
    inserting = statement(table, write_mode=WriteMode.INSERT)
    assert ("PRIMARY KEY" in inserting, "NOT NULL" in inserting) == (False, False)


def test_no_statement_is_made_of_types_that_were_not_measured() -> None:
    table = replace(source(column("tinyint(1)")), provider=cast(DatabaseProvider, "another kind"))
    assert list(target_statements(TableWriting(mappings=(MAPPING,)), {MAPPING.topic: table})) == []


def test_a_column_that_never_arrives_is_left_out() -> None:
    lost = TableIssue(code=IssueCode.TYPE_NOT_CAPTURED, severity=IssueSeverity.WARN, column="p", message="m")
    table = source(column("bigint", name="id"), column("shop.pair", name="p"), issues=(lost,))
    assert '"p"' not in statement(table)


@pytest.mark.parametrize(
    ("declared", "captured", "expected"),
    [
        ("numeric(10,2)", None, "numeric(10,2)"),
        ("timestamp(3) without time zone", None, "timestamp(3) without time zone"),
        ("jsonb", None, "jsonb"),
        ("integer[]", None, "integer[]"),
        ("bit(1)", None, "boolean"),
        ("inet[]", None, "text[]"),
        ("shop.mood", CapturedType(name="shop.mood", kind=TypeKind.ENUM), "text"),
        ("shop.mood[]", CapturedType(name="shop.mood", kind=TypeKind.ENUM, dimensions=1), "text[]"),
        ("shop.email", CapturedType(name="character varying(80)"), "character varying(80)"),
        ("public.citext", CapturedType(name="public.citext"), "text"),
        ("integer", CapturedType(name="integer", generated=True), "integer"),
    ],
)
def test_each_type_becomes_the_one_under_which_its_values_arrive_equal(
    declared: str, captured: CapturedType | None, expected: str
) -> None:
    assert f'"c" {expected}\n' in statement(source(column(declared, captured)))
