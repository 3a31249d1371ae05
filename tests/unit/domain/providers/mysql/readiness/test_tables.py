"""Tables and the heartbeat table, from facts."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.providers.mysql.facts import ForeignKey, MySQLGenerated, MySQLRawTable, UniqueKey
from chalicelib.domain.readiness import CheckOutcome
from chalicelib.domain.table import ColumnName, TableName
from tests.support.databases.mysql_facts import (
    BEATING,
    COLUMN,
    FACTS,
    HEARTBEAT,
    ORDERS,
    PLAN,
    TABLE,
    failing,
    judged,
    warning,
)
from tests.support.databases.readiness import check_of

OTHER = TableName("shop", "salaries")


def test_a_table_that_is_missing_and_one_that_is_denied_have_different_checks() -> None:
    two = replace(PLAN, tables=(ORDERS, OTHER))
    assert failing(two) == {"tables"}
    assert failing(two, denied=frozenset({OTHER})) == {"grant_select"}
    assert failing(two, tables=(TABLE, replace(TABLE, name=OTHER, is_table=False, engine=None))) == {"tables"}


@pytest.mark.parametrize(
    "changes",
    [
        {"raw_columns": ()},
        {"raw_columns": (replace(COLUMN, can_select=False),)},
        {"partly_readable": True},
    ],
    ids=["no column is seen", "no column may be read", "some columns only"],
)
def test_a_table_that_cannot_be_read_whole_is_refused(changes: dict[str, Any]) -> None:
    tables = (replace(TABLE, **changes),)
    check = check_of(judged(tables=tables), "grant_select")
    assert check.status is CheckOutcome.FAIL
    assert check.recommended_action == "GRANT SELECT ON `shop`.`orders` TO `cdc`@`%`;"
    # Without a plan these are all tables of the source, and a capture may leave some out.
    assert check_of(judged(None, tables=tables), "grant_select").status is CheckOutcome.WARN


def test_a_definition_that_is_hidden_stops_the_capture_of_its_neighbours() -> None:
    check = check_of(judged(hidden_definitions=(OTHER,)), "definitions")
    assert check.status is CheckOutcome.FAIL
    assert (check.recommended_action or "").startswith("GRANT SELECT ON `shop`.`salaries` TO `cdc`@`%`;")
    # Of a captured table another check speaks.
    assert failing(hidden_definitions=(ORDERS,)) == set()


def test_names_are_quoted() -> None:
    odd = TableName("my`shop", "or`ders")
    report = judged(replace(PLAN, tables=(odd,)), tables=(replace(TABLE, name=odd, partly_readable=True),))
    assert "ON `my``shop`.`or``ders` TO" in (check_of(report, "grant_select").recommended_action or "")


def test_two_tables_of_one_topic_are_refused() -> None:
    names = (TableName("shop", "a b"), TableName("shop", "a_b"))
    tables = tuple(replace(TABLE, name=name) for name in names)
    assert failing(replace(PLAN, tables=names), tables=tables) == {"topic_names"}


@pytest.mark.parametrize("engine", ["MyISAM", "MEMORY", "BLACKHOLE", "CSV", "FEDERATED", "ARCHIVE", "MRG_MYISAM"])
def test_other_engines_than_innodb_are_warned_of(engine: str) -> None:
    assert warning(tables=(replace(TABLE, engine=engine),)) == {"engine"}


@pytest.mark.parametrize(("engine", "expected"), [("InnoDB", set[str]()), ("ROCKSDB", set())])
def test_engines_with_transactions_pass(engine: str, expected: set[str]) -> None:
    assert warning(tables=(replace(TABLE, engine=engine),)) == expected


def foreign_key(update: str, delete: str) -> ForeignKey:
    return ForeignKey(name="fk", referenced=OTHER, update_rule=update, delete_rule=delete)


@pytest.mark.parametrize(
    ("update", "delete", "expected"),
    [
        ("NO ACTION", "RESTRICT", set[str]()),
        ("NO ACTION", "CASCADE", {"fk_cascades"}),
        ("SET NULL", "NO ACTION", {"fk_cascades"}),
        ("NO ACTION", "SET DEFAULT", {"fk_cascades"}),
    ],
)
def test_foreign_keys_that_change_rows_are_warned_of_where_they_are_not_logged(
    update: str, delete: str, expected: set[str]
) -> None:
    table = replace(TABLE, foreign_keys=(foreign_key(update, delete),))
    assert warning(tables=(table,)) == expected
    assert warning(tables=(replace(table, cascades_logged=True),)) == set()


def test_a_key_that_the_server_has_made_and_hides_stops_the_capture() -> None:
    key = replace(COLUMN, name="my_row_id", invisible=True, auto_increment=True)
    made = replace(TABLE, raw_columns=(key, COLUMN), primary_key_columns=("my_row_id",))
    assert failing(tables=(made,)) == set()
    assert warning(tables=(made,)) == set()
    report = judged(tables=(replace(made, hides_keys=True),))
    assert {check.key for check in report.failures} == {"hidden_keys"}
    assert check_of(report, "hidden_keys").recommended_action == (
        "SET PERSIST show_gipk_in_create_table_and_information_schema = ON;"
    )
    # Keys that people have made are shown.
    assert failing(tables=(replace(TABLE, hides_keys=True),)) == set()


def test_partitions_and_missing_keys_are_warned_of() -> None:
    assert warning(tables=(replace(TABLE, partitioned=True),)) == {"partitions"}
    assert warning(tables=(replace(TABLE, primary_key_columns=()),)) == {"primary_key"}


@pytest.mark.parametrize("character_set", ["hp8", "keybcs2", "armscii8", "geostd8"])
def test_character_sets_that_debezium_reads_wrong_are_warned_of_once(character_set: str) -> None:
    column = replace(COLUMN, name="note", type="varchar(20)", character_set=character_set)
    assert warning(tables=(replace(TABLE, raw_columns=(COLUMN, column)),)) == {"charset"}
    left_out = replace(PLAN, excluded_columns=(ColumnName("shop", "orders", "note"),))
    assert warning(left_out, tables=(replace(TABLE, raw_columns=(COLUMN, column)),)) == set()


def test_types_whose_values_arrive_changed_are_warned_of() -> None:
    column = replace(COLUMN, name="size", type="enum('a,b','c')")
    assert warning(tables=(replace(TABLE, raw_columns=(COLUMN, column)),)) == {"column_types"}


def test_generated_and_invisible_columns_are_shown_and_pass() -> None:
    columns = (
        COLUMN,
        replace(COLUMN, name="total", generated=MySQLGenerated.STORED),
        replace(COLUMN, name="hidden", invisible=True),
    )
    report = judged(tables=(replace(TABLE, raw_columns=columns),))
    for key, shown in (("generated", "total"), ("invisible", "hidden")):
        check = check_of(report, key)
        assert (check.status, check.current_value) == (CheckOutcome.PASS, f"shop.orders (columns {shown})")


# the heartbeat table


def beating(**changes: Any) -> MySQLRawTable:
    return replace(HEARTBEAT, **changes)


def test_a_heartbeat_table_passes_and_none_is_needed() -> None:
    for plan in (PLAN, BEATING):
        assert check_of(judged(plan, tables=(TABLE, HEARTBEAT)), "heartbeat").status is CheckOutcome.PASS


def test_a_capture_without_heartbeats_is_warned_of() -> None:
    check = check_of(judged(replace(PLAN, heartbeats=False)), "heartbeat")
    assert (check.status, check.current_value) == (CheckOutcome.WARN, "off")


HEARTBEAT_FAULTS = {
    "no such table": None,
    "no column ts": beating(raw_columns=(COLUMN,)),
    "no key": beating(primary_key_columns=()),
    "another key": beating(primary_key_columns=("ts",)),
    "column that needs a value": beating(raw_columns=(*HEARTBEAT.raw_columns, replace(COLUMN, name="more"))),
    "no right to write": beating(raw_columns=tuple(replace(c, can_write=False) for c in HEARTBEAT.raw_columns)),
    "no right to read": beating(raw_columns=tuple(replace(c, can_select=False) for c in HEARTBEAT.raw_columns)),
}


@pytest.mark.parametrize("name", HEARTBEAT_FAULTS)
def test_a_heartbeat_table_that_would_not_take_a_row_is_refused(name: str) -> None:
    table = HEARTBEAT_FAULTS[name]
    report = judged(BEATING, tables=(TABLE, table) if table else (TABLE,))
    assert {check.key for check in report.failures} == {"heartbeat"}
    assert check_of(report, "heartbeat").recommended_action


@pytest.mark.parametrize(
    "more",
    [
        {"name": "more", "nullable": True},
        {"name": "more", "default": "1"},
        {"name": "more", "auto_increment": True},
        {"name": "more", "generated": MySQLGenerated.VIRTUAL},
    ],
)
def test_columns_that_have_a_value_of_their_own_do_no_harm(more: dict[str, Any]) -> None:
    table = beating(
        primary_key_columns=("other",),
        unique_keys=(UniqueKey(name="u", columns=("id",)),),
        raw_columns=(*HEARTBEAT.raw_columns, replace(COLUMN, **more)),
    )
    assert failing(BEATING, tables=(TABLE, table)) == set()


def test_a_heartbeat_table_in_a_database_without_log_is_found() -> None:
    elsewhere = beating(name=TableName("quiet", "heartbeat"))
    plan = replace(PLAN, heartbeat_table=elsewhere.name)
    filtered = replace(FACTS.binlog, ignored_databases=frozenset({"quiet"}))
    assert failing(plan, tables=(TABLE, elsewhere), binlog=filtered) == {"binlog_status"}
