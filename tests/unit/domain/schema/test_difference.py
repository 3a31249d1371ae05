"""Every change of a schema, and its impact."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.providers.mysql.table_schemas import TYPE_ORDER as MYSQL
from chalicelib.domain.providers.postgresql.table_schemas import TYPE_ORDER as POSTGRESQL
from chalicelib.domain.schema.change import MEANINGS, Alteration, SchemaImpact
from chalicelib.domain.schema.difference import changes
from chalicelib.domain.schema.table_schema import (
    ColumnSchema,
    ForeignKeySchema,
    TableSchema,
    UniqueKeySchema,
    canonical,
    schema_hash,
)
from chalicelib.domain.schema.type_order import TypeChange, TypeOrder

NONE, SOME, ALL = SchemaImpact


def column(name: str = "note", type_: str = "text", **fields: Any) -> ColumnSchema:
    return ColumnSchema(**{"name": name, "type": type_, "nullable": True, **fields})


ID, NOTE, PRICE = column("id", "bigint", nullable=False), column(), column("price", "numeric(10,2)")
ORDERS = TableSchema(columns=(ID, NOTE, PRICE), primary_key_columns=("id",), replica_identity="DEFAULT")
BY_NOTE = UniqueKeySchema(name="by_note", columns=("note",))
TO_SHOPS = ForeignKeySchema(name="shop", referenced="shop.shops", update_rule="NO ACTION", delete_rule="CASCADE")
KEYED = replace(ORDERS, unique_keys=(), foreign_keys=())


def with_note(**fields: Any) -> TableSchema:
    return replace(ORDERS, columns=(ID, replace(NOTE, **fields), PRICE))


def with_columns(*columns: ColumnSchema) -> TableSchema:
    return replace(ORDERS, columns=columns)


CASES: dict[str, tuple[TableSchema, TableSchema, Alteration, SchemaImpact]] = {
    "a nullable column": (ORDERS, with_columns(ID, NOTE, PRICE, column("x")), Alteration.NULLABLE_COLUMN_ADDED, NONE),
    "a column with a default": (
        ORDERS,
        with_columns(ID, NOTE, PRICE, column("x", nullable=False, has_default=True)),
        Alteration.COLUMN_WITH_DEFAULT_ADDED,
        SOME,
    ),
    "a NOT NULL column": (
        ORDERS,
        with_columns(ID, NOTE, PRICE, column("x", nullable=False)),
        Alteration.REQUIRED_COLUMN_ADDED,
        ALL,
    ),
    "a nullable column less": (ORDERS, with_columns(ID, PRICE), Alteration.NULLABLE_COLUMN_DROPPED, SOME),
    "a NOT NULL column less": (
        with_note(nullable=False),
        with_columns(ID, PRICE),
        Alteration.REQUIRED_COLUMN_DROPPED,
        ALL,
    ),
    "another name": (ORDERS, with_note(name="remark"), Alteration.COLUMN_PROBABLY_RENAMED, ALL),
    "a wider type": (with_note(type="varchar(20)"), with_note(type="varchar(30)"), Alteration.TYPE_WIDENED, SOME),
    "a narrower type": (with_note(type="numeric(9,2)"), with_note(type="numeric(7,2)"), Alteration.TYPE_NARROWED, SOME),
    "another type": (ORDERS, with_note(type="bytea"), Alteration.TYPE_CHANGED, ALL),
    "another spelling": (with_note(type="int(11)"), with_note(type="int"), Alteration.TYPE_RENAMED, NONE),
    "nulls": (with_note(nullable=False), ORDERS, Alteration.NULLS_ALLOWED, SOME),
    "no nulls": (ORDERS, with_note(nullable=False), Alteration.NULLS_FORBIDDEN, NONE),
    "a default": (ORDERS, with_note(has_default=True, default="x"), Alteration.DEFAULT_CHANGED, NONE),
    "a generated column": (ORDERS, with_note(generated="stored"), Alteration.GENERATION_CHANGED, SOME),
    "an invisible column": (ORDERS, with_note(invisible=True), Alteration.VISIBILITY_CHANGED, NONE),
    "a character set": (ORDERS, with_note(character_set="utf8mb4"), Alteration.CHARACTER_SET_CHANGED, SOME),
    "a collation": (ORDERS, with_note(collation="utf8mb4_bin"), Alteration.COLLATION_CHANGED, NONE),
    "a primary key": (ORDERS, replace(ORDERS, primary_key_columns=()), Alteration.PRIMARY_KEY_CHANGED, ALL),
    "a replica identity": (ORDERS, replace(ORDERS, replica_identity="FULL"), Alteration.REPLICA_IDENTITY_CHANGED, SOME),
    "a unique key": (KEYED, replace(KEYED, unique_keys=(BY_NOTE,)), Alteration.UNIQUE_KEY_ADDED, NONE),
    "a unique key less": (replace(KEYED, unique_keys=(BY_NOTE,)), KEYED, Alteration.UNIQUE_KEY_DROPPED, SOME),
    "a foreign key": (KEYED, replace(KEYED, foreign_keys=(TO_SHOPS,)), Alteration.FOREIGN_KEYS_CHANGED, NONE),
}
OF_TABLES = {Alteration.TABLE_ADDED, Alteration.TABLE_DROPPED, Alteration.TABLE_ADDED_AGAIN}
"""These follow from the versions: see `test_version.py`."""


@pytest.mark.parametrize("case", CASES)
def test_each_change_has_its_impact_and_another_hash(case: str) -> None:
    before, after, alteration, impact = CASES[case]
    order = MYSQL if alteration is Alteration.TYPE_RENAMED else POSTGRESQL
    (change,) = changes(before, after, order)
    assert (change.change, change.impact) == (alteration, impact)
    assert schema_hash(before) != schema_hash(after)


def test_every_change_is_tried_and_described() -> None:
    assert {case[2] for case in CASES.values()} | OF_TABLES == set(Alteration) == set(MEANINGS)


def test_a_renamed_column_is_found_where_the_former_one_was_and_its_other_changes_too() -> None:
    after = with_columns(ID, replace(NOTE, name="remark", nullable=False), PRICE)
    renamed, forbidden = changes(ORDERS, after, POSTGRESQL)
    assert (renamed.column, renamed.before, renamed.after) == ("note", "note", "remark")
    assert (forbidden.change, forbidden.column) == (Alteration.NULLS_FORBIDDEN, "remark")


@pytest.mark.parametrize(
    "after",
    [
        with_columns(ID, PRICE, column("remark")),
        with_columns(ID, column("remark", "bytea"), PRICE),
    ],
    ids=["at another place", "of another type"],
)
def test_a_column_that_is_dropped_beside_another_new_one_was_not_renamed(after: TableSchema) -> None:
    found = {change.change for change in changes(ORDERS, after, POSTGRESQL)}
    assert found == {Alteration.NULLABLE_COLUMN_DROPPED, Alteration.NULLABLE_COLUMN_ADDED}


def test_two_columns_that_change_their_names_at_once_are_told_apart_by_type_and_order() -> None:
    after = with_columns(ID, replace(NOTE, name="remark"), replace(PRICE, name="amount"))
    names = {change.before: change.after for change in changes(ORDERS, after, POSTGRESQL)}
    assert names == {"note": "remark", "price": "amount"}


def test_a_renamed_key_column_changes_the_key_as_well() -> None:
    after = replace(with_columns(replace(ID, name="number"), NOTE, PRICE), primary_key_columns=("number",))
    assert [change.change for change in changes(ORDERS, after, POSTGRESQL)] == [
        Alteration.COLUMN_PROBABLY_RENAMED,
        Alteration.PRIMARY_KEY_CHANGED,
    ]


def test_the_order_of_columns_and_keys_changes_nothing() -> None:
    keys = (BY_NOTE, replace(BY_NOTE, name="another"))
    before, after = replace(KEYED, unique_keys=keys), replace(KEYED, columns=(PRICE, ID, NOTE), unique_keys=keys[::-1])
    assert schema_hash(before) == schema_hash(after)
    assert changes(before, after, POSTGRESQL) == ()


def test_what_a_later_format_reads_is_no_part_of_the_comparison_with_an_earlier_one() -> None:
    added_in = {"collation": 2, "unique_keys": 2}
    later = replace(KEYED, columns=(ID, replace(NOTE, collation="C"), PRICE), unique_keys=(BY_NOTE,))
    assert canonical(later, 1, added_in) == canonical(replace(KEYED, unique_keys=None), 1, added_in)
    assert canonical(later, 2, added_in) != canonical(KEYED, 2, added_in)


def test_keys_that_were_not_read_have_not_changed() -> None:
    assert changes(ORDERS, replace(KEYED, unique_keys=(BY_NOTE,), foreign_keys=(TO_SHOPS,)), MYSQL) == ()


@pytest.mark.parametrize(
    ("order", "before", "after", "expected"),
    [
        (POSTGRESQL, "integer", "bigint", TypeChange.WIDENED),
        (POSTGRESQL, "bigint", "smallint", TypeChange.NARROWED),
        (POSTGRESQL, "character varying(10)", "text", TypeChange.WIDENED),
        (POSTGRESQL, "text", "character varying(10)", TypeChange.NARROWED),
        (POSTGRESQL, "character varying(10)", "character varying", TypeChange.WIDENED),
        (POSTGRESQL, "numeric(10,2)", "numeric(10,3)", TypeChange.OTHER),
        (POSTGRESQL, "numeric(10,2)", "numeric(12,4)", TypeChange.WIDENED),
        (POSTGRESQL, "numeric", "numeric(10,2)", TypeChange.NARROWED),
        (POSTGRESQL, "timestamp(3) without time zone", "timestamp without time zone", TypeChange.WIDENED),
        (POSTGRESQL, "timestamp without time zone", "timestamp with time zone", TypeChange.OTHER),
        (POSTGRESQL, "text", "integer", TypeChange.OTHER),
        (MYSQL, "int unsigned", "bigint unsigned", TypeChange.WIDENED),
        (MYSQL, "int", "int unsigned", TypeChange.OTHER),
        (MYSQL, "int(11) unsigned", "int unsigned", TypeChange.SAME),
        (MYSQL, "char(10)", "varchar(9)", TypeChange.OTHER),
        (MYSQL, "varchar(9)", "char(9)", TypeChange.NARROWED),
        (MYSQL, "datetime", "datetime(6)", TypeChange.WIDENED),
        (MYSQL, "longtext", "text", TypeChange.NARROWED),
        (MYSQL, "enum('a','b')", "enum('a','b','c')", TypeChange.WIDENED),
        (MYSQL, "enum('a','b')", "enum('b','a')", TypeChange.OTHER),
        (MYSQL, "set('a','b')", "set('a')", TypeChange.NARROWED),
    ],
)
def test_a_type_is_compared_by_the_values_that_it_takes(
    order: TypeOrder, before: str, after: str, expected: TypeChange
) -> None:
    assert order.compare(before, after) is expected
