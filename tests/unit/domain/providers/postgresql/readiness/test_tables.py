"""Captured tables, and the advice about them."""

from dataclasses import replace

from chalicelib.domain.providers.postgresql.facts import Persistence, ReplicaIdentity, RoleFacts
from chalicelib.domain.readiness import CheckOutcome
from chalicelib.domain.table import TableName
from tests.support.databases.postgresql_facts import COLUMN, PLAN, TABLE, failing, judged
from tests.support.databases.readiness import check_of


def test_names_in_sql_are_quoted() -> None:
    odd = replace(TABLE, name=TableName('sh"op', "Or ders"), schema_usage=False)
    plan = replace(PLAN, tables=(odd.name,))
    (check,) = judged(plan, tables=(odd,), role=RoleFacts(name='c"dc')).failures
    assert check.recommended_action == 'GRANT USAGE ON SCHEMA "sh""op" TO "c""dc";'


def test_many_faulty_tables_are_counted_not_listed() -> None:
    names = tuple(TableName("shop", f"t{number}") for number in range(500))
    readiness = judged(
        replace(PLAN, tables=names), tables=tuple(replace(TABLE, name=n, schema_usage=False) for n in names)
    )
    (check,) = readiness.failures
    assert check.current_value is not None
    assert check.current_value.endswith("and 490 more")
    assert len(check.recommended_action or "") < 2000


def test_costs_and_locks_of_statements_are_named() -> None:
    unlogged = replace(TABLE, persistence=Persistence.UNLOGGED)
    (check,) = judged(tables=(unlogged,)).failures
    assert "ACCESS EXCLUSIVE" in (check.recommended_action or "")
    nothing = replace(TABLE, replica_identity=ReplicaIdentity.NOTHING, identity_usable=False)
    (check,) = judged(tables=(nothing,)).failures
    assert "whole old row" in (check.recommended_action or "")


def test_without_a_plan_hindered_tables_are_counted() -> None:
    hidden = replace(COLUMN, can_select=False)
    tables = tuple(
        replace(TABLE, name=TableName("shop", f"t{number}"), raw_columns=(hidden if number < 3 else COLUMN,))
        for number in range(5)
    )
    check = check_of(judged(None, tables=tables), "select_privilege")
    assert (check.status, check.current_value) == (CheckOutcome.WARN, "3 of 5 tables: shop.t0, shop.t1, shop.t2")


def test_tables_with_one_topic_are_refused() -> None:
    tables = tuple(replace(TABLE, name=TableName("shop", name)) for name in ("two words", "two_words"))
    plan = replace(PLAN, tables=tuple(table.name for table in tables))
    assert failing(plan, tables=tables) == {"topic_names"}
