"""Issues of discovered MySQL tables."""

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.domain.providers.mysql.capture_tables import source_tables, table_issues
from chalicelib.domain.providers.mysql.facts import ForeignKey
from chalicelib.domain.table import IssueCode, IssueSeverity, TableName
from tests.support.databases.mysql_facts import COLUMN, NOW, TABLE

CASCADE = ForeignKey(name="fk", referenced=TableName("shop", "x"), update_rule="NO ACTION", delete_rule="CASCADE")

KEY = replace(COLUMN, name="my_row_id", invisible=True)


def issues(**changes: Any) -> list[tuple[IssueCode, IssueSeverity]]:
    return [(issue.code, issue.severity) for issue in table_issues(replace(TABLE, **changes))]


def test_a_plain_table_has_none() -> None:
    assert issues() == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"primary_key_columns": ()}, (IssueCode.NO_PRIMARY_KEY, IssueSeverity.WARN)),
        ({"raw_columns": ()}, (IssueCode.NO_PRIVILEGE, IssueSeverity.FAIL)),
        ({"partly_readable": True}, (IssueCode.NO_PRIVILEGE, IssueSeverity.FAIL)),
        ({"raw_columns": (replace(COLUMN, can_select=False),)}, (IssueCode.NO_PRIVILEGE, IssueSeverity.FAIL)),
        (
            {"raw_columns": (KEY, COLUMN), "primary_key_columns": ("my_row_id",), "hides_keys": True},
            (IssueCode.NO_PRIMARY_KEY, IssueSeverity.FAIL),
        ),
        ({"engine": "MyISAM"}, (IssueCode.UNLOGGED, IssueSeverity.WARN)),
        ({"engine": "MEMORY"}, (IssueCode.UNLOGGED, IssueSeverity.WARN)),
        ({"foreign_keys": (CASCADE,)}, (IssueCode.UNLOGGED, IssueSeverity.WARN)),
        ({"partitioned": True}, (IssueCode.UNLOGGED, IssueSeverity.INFO)),
    ],
)
def test_each_issue_has_its_code_and_severity(
    changes: dict[str, Any], expected: tuple[IssueCode, IssueSeverity]
) -> None:
    assert issues(**changes) == [expected]


def test_cascades_that_are_logged_are_no_issue() -> None:
    assert issues(foreign_keys=(CASCADE,), cascades_logged=True) == []


def test_only_what_fails_prevents_a_capture_and_the_worst_comes_first() -> None:
    (table,) = source_tables([replace(TABLE, partly_readable=True, primary_key_columns=(), partitioned=True)], "s", NOW)
    assert not table.cdc_ready
    assert [issue.severity for issue in table.issues] == [IssueSeverity.FAIL, IssueSeverity.WARN, IssueSeverity.INFO]
    (warned,) = source_tables([replace(TABLE, engine="CSV")], "s", NOW)
    assert warned.cdc_ready


def test_tables_of_different_databases_may_share_a_topic() -> None:
    names = (TableName("a b", "t"), TableName("a_b", "t"), TableName("c", "t"))
    tables = source_tables([replace(TABLE, name=name) for name in names], "s", NOW)
    collisions = {
        table.name: [issue.message for issue in table.issues if issue.code is IssueCode.TOPIC_COLLISION]
        for table in tables
    }
    assert ["a_b.t" in message for message in collisions[names[0]]] == [True]
    assert ["a b.t" in message for message in collisions[names[1]]] == [True]
    assert collisions[names[2]] == []
