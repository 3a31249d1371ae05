"""The proposed target tables. That the statements run, and that values arrive equal: integration and e2e tests."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.delivery import DeliveryOptions, Mapping, WriteMode
from chalicelib.domain.providers.postgresql.target_ddl import target_statement
from chalicelib.domain.table import CapturedType, Column, IssueCode, Severity, SourceTable, TableIssue, TypeKind

MAPPING = Mapping(topic="t", schema_name="dwh", table_name='Odd "name"')


def source(*columns: Column, key: tuple[str, ...] = (), issues: tuple[TableIssue, ...] = ()) -> SourceTable:
    return SourceTable(
        id="t", source_id="s", schema_name="shop", table_name="orders", primary_key_columns=key, columns=columns,
        estimated_rows=None, estimated_size_bytes=None, replica_identity=None, issues=issues,
        discovered_at=datetime(2026, 1, 2, tzinfo=UTC),
    )  # fmt: skip


def column(type_: str, captured: CapturedType | None = None, name: str = "c") -> Column:
    return Column(name=name, type=type_, nullable=False, ordinal=1, captured=captured)


def test_names_are_quoted_and_the_key_is_not_null() -> None:
    table = source(column("bigint", name="Id"), column("text", name='a"b'), key=("Id",))
    assert target_statement(MAPPING, table, DeliveryOptions()) == (
        'CREATE TABLE "dwh"."Odd ""name""" (\n  "Id" bigint NOT NULL,\n  "a""b" text,\n  PRIMARY KEY ("Id")\n);'
    )
    assert "NOT NULL" not in target_statement(MAPPING, table, DeliveryOptions(write_mode=WriteMode.INSERT))


def test_a_column_that_never_arrives_is_left_out() -> None:
    lost = TableIssue(code=IssueCode.TYPE_NOT_CAPTURED, severity=Severity.WARN, column="p", message="m")
    table = source(column("bigint", name="id"), column("shop.pair", name="p"), issues=(lost,))
    assert '"p"' not in target_statement(MAPPING, table, DeliveryOptions())


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
    assert f'"c" {expected}\n' in target_statement(MAPPING, source(column(declared, captured)), DeliveryOptions())
