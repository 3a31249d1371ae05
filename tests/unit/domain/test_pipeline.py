"""Which topics and tables a capture has."""

from chalicelib.domain.pipeline import Capture, CaptureOptions
from chalicelib.domain.table import Column, ColumnName, IssueCode, IssueSeverity, TableIssue, TableName
from tests.support.entities import make_pipeline, make_source_table

ORDERS, BEAT = TableName("shop", "orders"), TableName("ops", "beat")


def capture(properties: dict[str, str] | None = None, **options: object) -> Capture:
    chosen = CaptureOptions(**options)  # type: ignore[arg-type]
    return Capture(topic_prefix="p", tables=(ORDERS,), options=chosen, properties=properties or {})


def test_a_heartbeat_table_is_captured_and_its_topic_cannot_be_delivered() -> None:
    found = capture(heartbeat_table=BEAT)
    assert found.captured_tables == (ORDERS, BEAT)
    assert found.topics == ("p.shop.orders",)
    assert found.internal_topics == ("p.headgate-heartbeat", "p.ops.beat")


def test_a_heartbeat_table_that_is_to_be_delivered_is_an_ordinary_table() -> None:
    found = capture(heartbeat_table=ORDERS)
    assert found.captured_tables == (ORDERS,)
    assert found.topics == ("p.shop.orders",)
    assert found.internal_topics == ("p.headgate-heartbeat",)


def test_all_topics_are_below_the_prefix() -> None:
    found = capture({"provide.transaction.metadata": "true"}, heartbeat_table=BEAT)
    assert found.internal_topics == ("p.headgate-heartbeat", "p.ops.beat", "p.transaction")


def test_without_heartbeats_there_is_no_topic_for_them() -> None:
    assert capture(heartbeat_interval_ms=0).internal_topics == ()


def test_a_captured_table_has_neither_the_excluded_columns_nor_their_issues() -> None:
    names = ("id", "secret", "note")
    table = make_source_table(
        columns=tuple(Column(name=name, type="text", nullable=True, ordinal=at) for at, name in enumerate(names, 1)),
        issues=tuple(
            TableIssue(code=IssueCode.NO_PRIVILEGE, severity=IssueSeverity.FAIL, column=name, message="m")
            for name in (None, "secret", "note")
        ),
    )
    found = capture(exclude_columns=(ColumnName("shop", "orders", "secret"),)).as_captured(table)
    assert [column.name for column in found.columns] == ["id", "note"]
    assert [issue.column for issue in found.issues] == [None, "note"]
    other = capture(exclude_columns=(ColumnName("shop", "lines", "secret"),)).as_captured(table)
    assert other == table


def test_a_pipeline_makes_what_does_not_exist_and_keeps_what_it_may_have_made_before() -> None:
    draft = make_pipeline()
    first = draft.making(("slot", "publication"), {"slot"})
    assert (draft.made_in_source, first.made_in_source) == (None, ("publication",))
    assert first.making(("slot", "publication"), {"slot", "publication"}).made_in_source == ("publication",)
    assert first.making(("slot", "publication"), {"publication"}).made_in_source == ("publication", "slot")
    assert draft.making(("slot",), {"slot"}).made_in_source == ()
