"""Issues of whole tables, and how discovered tables are stored."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.providers.postgresql.capture_tables import source_tables, table_issues
from chalicelib.domain.providers.postgresql.facts import (
    Persistence,
    PostgreSQLRawColumn,
    PostgreSQLRawTable,
    ReplicaIdentity,
    TypeFacts,
)
from chalicelib.domain.table import CapturedType, IssueCode, IssueSeverity, SourceTable, TableName
from chalicelib.kit.adapters import adapter

NOW = datetime(2026, 1, 31, tzinfo=UTC)


def column(type_name: str) -> PostgreSQLRawColumn:
    facts = TypeFacts(name=type_name.removesuffix("[]"), is_array=type_name.endswith("[]"))
    return PostgreSQLRawColumn(name="c", ordinal=1, type=type_name, base=facts)


GOOD = PostgreSQLRawTable(name=TableName("shop", "orders"), raw_columns=(column("bigint"),), primary_key_columns=("c",))


def codes(raw: PostgreSQLRawTable) -> list[tuple[IssueCode, IssueSeverity, str | None]]:
    return [(issue.code, issue.severity, issue.column) for issue in table_issues(raw)]


def test_a_capturable_table_has_no_issue() -> None:
    assert codes(GOOD) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"schema_usage": False}, IssueCode.NO_PRIVILEGE),
        ({"persistence": Persistence.UNLOGGED}, IssueCode.UNLOGGED),
        ({"row_security_active": True}, IssueCode.ROW_SECURITY),
        ({"identity_usable": False, "replica_identity": ReplicaIdentity.NOTHING}, IssueCode.REPLICA_IDENTITY),
    ],
)
def test_a_problem_of_the_table_prevents_its_capture(changes: dict[str, object], code: IssueCode) -> None:
    assert codes(replace(GOOD, **changes)) == [(code, IssueSeverity.FAIL, None)]  # type: ignore[arg-type]


def test_unreadable_table_is_one_issue_and_unreadable_columns_are_one_each() -> None:
    hidden, seen = replace(column("text"), name="h", can_select=False), column("text")
    assert codes(replace(GOOD, raw_columns=(hidden,))) == [(IssueCode.NO_PRIVILEGE, IssueSeverity.FAIL, None)]
    assert codes(replace(GOOD, raw_columns=(hidden, seen))) == [(IssueCode.NO_PRIVILEGE, IssueSeverity.FAIL, "h")]


def test_columns_that_differ_by_case_are_all_named() -> None:
    names = ("Name", "name", "other", "STRASSE", "straße", "Ä", "ä")
    columns = tuple(replace(column("text"), name=name) for name in names)
    found = [(code, name) for code, _, name in codes(replace(GOOD, raw_columns=columns))]
    assert found == [(IssueCode.COLUMNS_DIFFER_BY_CASE, name) for name in ("Name", "name", "Ä", "ä")]


def test_worst_issue_comes_first() -> None:
    types = ("real", "interval", "refcursor")
    raw = replace(GOOD, raw_columns=tuple(replace(column(name), name=name) for name in types))
    assert [severity for _, severity, _ in codes(raw)] == [IssueSeverity.FAIL, IssueSeverity.WARN, IssueSeverity.INFO]


def test_a_topic_collision_names_the_other_table() -> None:
    (issue,) = table_issues(GOOD, {GOOD.name: (TableName("shop", "or ders"),)})
    assert (issue.code, issue.severity) == (IssueCode.TOPIC_COLLISION, IssueSeverity.WARN)
    assert "shop.or ders" in issue.message


def kept(*raw: PostgreSQLRawTable) -> tuple[SourceTable, ...]:
    return tuple(source_tables(raw, "s", NOW))


def test_table_is_kept_with_its_provider_and_the_same_id_each_time() -> None:
    (table,) = kept(GOOD)
    assert (table.source_id, table.provider, table.name) == ("s", DatabaseProvider.POSTGRESQL, GOOD.name)
    assert table.id == kept(GOOD)[0].id != source_tables([GOOD], "other", NOW)[0].id


def test_table_whose_column_only_stops_a_delivery_is_ready_for_capture() -> None:
    (table,) = kept(replace(GOOD, raw_columns=(column("numeric[]"),)))
    assert [(issue.code, issue.severity) for issue in table.issues] == [(IssueCode.TYPE_STOPS_TASK, IssueSeverity.WARN)]
    assert table.cdc_ready


def test_tables_of_one_discovery_are_judged_for_the_topic_that_they_share() -> None:
    twin = replace(GOOD, name=TableName("shop", "or ders")), replace(GOOD, name=TableName("shop", "or_ders"))
    assert [[issue.code for issue in table.issues] for table in kept(*twin)] == [[IssueCode.TOPIC_COLLISION]] * 2


def test_type_of_a_column_is_kept_where_its_spelling_does_not_say_it() -> None:
    domain = replace(column("shop.price"), base=TypeFacts(name="numeric(12,2)", is_domain=True))
    (table,) = kept(replace(GOOD, raw_columns=(column("numeric(12,2)[]"), domain)))
    assert [one.captured for one in table.columns] == [None, CapturedType(name="numeric(12,2)")]
    stored = adapter(SourceTable).dump_json(table)
    assert adapter(SourceTable).validate_json(stored) == table
