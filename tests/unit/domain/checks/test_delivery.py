from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.cluster import TopicFacts
from chalicelib.domain.connector_config import ConfigWarning
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.delivery import DeliveryVerdict, TableMapping, TableWriting, WriteMode
from chalicelib.domain.pipeline import Capture, Converter, Pipeline
from chalicelib.domain.providers.registry import target_provider
from chalicelib.domain.table import Column, IssueCode, IssueSeverity, SourceTable, TableIssue, TableName
from chalicelib.errors import Conflict, Details, HeadgateError, Invalid
from tests.support.entities import make_pipeline, make_source_table
from tests.support.faults import places

NOW = datetime(2026, 1, 2, tzinfo=UTC)
ORDERS, LINES = TableName("public", "orders"), TableName("public", "lines")
TARGET = target_provider(DatabaseProvider.POSTGRESQL)
TOPICS = TopicFacts(partitions={"shop.public.orders": 1, "shop.public.lines": 1})
TO_ORDERS = TableMapping(topic="shop.public.orders", schema_name="dwh", table_name="orders")
TO_LINES = TableMapping(topic="shop.public.lines", schema_name="dwh", table_name="lines")


def pipeline(converter: Converter = Converter.JSON_SCHEMA) -> Pipeline:
    return make_pipeline(capture=Capture(topic_prefix="shop", tables=(ORDERS, LINES), converter=converter))


def table(name: TableName, *, key: Sequence[str] = ("id",), types: Sequence[str] = ("integer",)) -> SourceTable:
    return make_source_table(
        name,
        primary_key_columns=tuple(key),
        columns=tuple(Column(name=f"c{i}", type=type_, nullable=True, ordinal=i + 1) for i, type_ in enumerate(types)),
    )


def issue(code: IssueCode, severity: IssueSeverity) -> TableIssue:
    return TableIssue(code=code, severity=severity, column="c0", message="m")


def check(
    *mappings: TableMapping,
    orders: SourceTable | None = None,
    topics: TopicFacts | None = TOPICS,
    converter: Converter = Converter.JSON_SCHEMA,
    tasks_max: int = 1,
    discovered: Collection[TableName] = (ORDERS, LINES),
    **options: Any,
) -> DeliveryVerdict:
    tables = {ORDERS: orders or table(ORDERS), LINES: table(LINES)}
    tables = {name: source for name, source in tables.items() if name in discovered}
    writing = TableWriting(mappings=mappings, **options)
    return TARGET.check_mappings(pipeline(converter), tables, writing, tasks_max, topics)


def only(verdict: DeliveryVerdict) -> HeadgateError:
    (problem,) = verdict.problems
    return problem


def of_this_delivery(verdict: DeliveryVerdict) -> list[ConfigWarning]:
    """The warnings beside those that every delivery gets."""
    assert verdict.warnings, "every delivery is warned of a TRUNCATE"
    of_all = ("TRUNCATE_NOT_DELIVERED", "SCHEMA_CHANGES", "AUTO_CREATE_AFTER_DROP")
    return [warning for warning in verdict.warnings if warning.code not in of_all]


def test_a_correct_delivery_has_no_problems_and_no_warnings_of_its_own() -> None:
    verdict = check(TO_ORDERS, TO_LINES)
    assert (verdict.problems, of_this_delivery(verdict)) == ((), [])
    verdict.require()


def at(*location: str | int, type_: str) -> tuple[str, Details]:
    """The code and the details of a wrong field."""
    return "VALIDATION_FAILED", [{"location": ["body", *location], "type": type_}]


def stopping(code: IssueCode) -> SourceTable:
    return replace(table(ORDERS), issues=(issue(code, IssueSeverity.FAIL),))


@pytest.mark.parametrize(
    ("mappings", "changes", "expected"),
    [
        pytest.param(
            (TO_ORDERS,), {"converter": Converter.JSON}, at("pipeline_id", type_="converter_without_schema"),
            id="pipeline without schemas",
        ),
        pytest.param(
            (TO_LINES, replace(TO_ORDERS, topic="other.public.orders")), {},
            ("TOPIC_NOT_IN_PIPELINE", {"mappings": [1]}), id="topic of another pipeline",
        ),
        pytest.param(
            (TO_ORDERS, TO_LINES), {"topics": TopicFacts(partitions={"shop.public.lines": 1})},
            ("TOPIC_NOT_FOUND", {"mappings": [0]}), id="topic that is not there yet",
        ),
        pytest.param(
            (TO_ORDERS, TO_LINES), {"discovered": (LINES,)}, ("TABLE_NOT_DISCOVERED", {"mappings": [0]}),
            id="table that was never discovered",
        ),
        pytest.param(
            (TO_ORDERS,), {"orders": table(ORDERS, key=())}, ("KEY_REQUIRED", {"mappings": [0]}),
            id="upserting without a key",
        ),
        *(
            pytest.param(
                (TO_ORDERS,), {"orders": stopping(code)}, ("TYPE_UNSUPPORTED", {"mappings": [0]}), id=f"capture: {code}"
            )
            for code in (IssueCode.TYPE_STOPS_TASK, IssueCode.COLUMNS_DIFFER_BY_CASE)
        ),
        pytest.param(
            (TO_LINES, TO_ORDERS), {"orders": table(ORDERS, types=("integer", "numeric[]"))},
            ("TYPE_UNSUPPORTED", {"mappings": [1]}), id="type that stops every delivery to the target",
        ),
        pytest.param(
            (TO_ORDERS, replace(TO_LINES, schema_name="other")), {}, at("mappings", type_="one_schema"),
            id="two target schemas",
        ),
        pytest.param(
            (TO_ORDERS, replace(TO_ORDERS, table_name="again")), {}, at("mappings", 1, "topic", type_="duplicate"),
            id="a topic twice",
        ),
        pytest.param(
            (TO_ORDERS, replace(TO_LINES, table_name="orders")), {}, ("TARGET_TABLE_CONFLICT", {"mappings": [1]}),
            id="two topics into one table",
        ),
    ],
)  # fmt: skip
def test_a_delivery_that_cannot_work_has_one_problem(
    mappings: tuple[TableMapping, ...], changes: dict[str, Any], expected: tuple[str, Details]
) -> None:
    problem = only(check(*mappings, **changes))
    code, details = expected
    assert problem.code == code
    assert (places(problem.details) if isinstance(details, list) else problem.details) == details
    assert isinstance(problem, Conflict) is (problem.code == "TARGET_TABLE_CONFLICT")


def test_topics_that_could_not_be_read_are_a_warning() -> None:
    verdict = check(TO_ORDERS, topics=None)
    assert verdict.problems == ()
    assert [warning.code for warning in of_this_delivery(verdict)] == ["TOPICS_NOT_CHECKED"]


def test_a_topic_that_has_lost_its_beginning_is_a_warning_that_says_what_to_do() -> None:
    topics = replace(TOPICS, truncated=frozenset({"shop.public.lines", "not.mapped"}))
    (warning,) = of_this_delivery(check(TO_ORDERS, TO_LINES, topics=topics))
    assert warning.code == "TOPIC_TRUNCATED"
    assert "shop.public.lines" in warning.message
    assert "new pipeline" in warning.message
    assert not {"shop.public.orders", "not.mapped"} & set(warning.message.replace(",", "").split())
    assert of_this_delivery(check(TO_ORDERS, topics=topics)) == []


def test_a_topic_whose_beginning_could_not_be_read_is_a_warning() -> None:
    topics = replace(TOPICS, unread=frozenset({"shop.public.orders"}))
    (warning,) = of_this_delivery(check(TO_ORDERS, TO_LINES, topics=topics))
    assert (warning.code, "shop.public.orders" in warning.message) == ("TOPICS_NOT_CHECKED", True)


@pytest.mark.parametrize(("age", "codes"), [(timedelta(hours=1), ["TOPIC_OLDER_THAN_PIPELINE"]), (timedelta(), [])])
def test_a_topic_with_records_of_an_earlier_pipeline_is_a_warning(age: timedelta, codes: list[str]) -> None:
    at = pipeline().created_at - age
    topics = replace(TOPICS, first_written={"shop.public.orders": at, "not.mapped": at - timedelta(days=1)})
    assert [warning.code for warning in of_this_delivery(check(TO_ORDERS, topics=topics))] == codes


@pytest.mark.parametrize(("partitions", "tasks", "warned"), [(1, 4, False), (3, 1, False), (3, 2, True)])
def test_several_partitions_and_tasks_are_a_warning_about_changed_keys(
    partitions: int, tasks: int, warned: bool
) -> None:
    topics = TopicFacts(partitions={**TOPICS.partitions, "shop.public.orders": partitions})
    warnings = of_this_delivery(check(TO_ORDERS, topics=topics, tasks_max=tasks))
    assert [warning.code for warning in warnings] == ["ORDER_PER_KEY"] * warned


@pytest.mark.parametrize(
    ("options", "codes"),
    [
        ({"auto_create": False, "auto_evolve": False}, ["TRUNCATE_NOT_DELIVERED"]),
        ({}, ["TRUNCATE_NOT_DELIVERED", "SCHEMA_CHANGES", "AUTO_CREATE_AFTER_DROP"]),
    ],
)
def test_every_delivery_is_warned_of_changes_at_the_source(options: dict[str, Any], codes: list[str]) -> None:
    assert [warning.code for warning in check(TO_ORDERS, **options).warnings] == codes


def test_inserting_needs_no_key() -> None:
    options = {"write_mode": WriteMode.INSERT, "delete_enabled": False}
    assert check(TO_ORDERS, orders=table(ORDERS, key=()), **options).problems == ()


@pytest.mark.parametrize("type_", ["bit(1)", "point", "inet[]"])
def test_a_type_that_only_may_stop_the_task_is_left_to_the_look_at_the_target(type_: str) -> None:
    warned = replace(table(ORDERS, types=(type_,)), issues=(issue(IssueCode.TYPE_STOPS_TASK, IssueSeverity.WARN),))
    assert check(TO_ORDERS, orders=warned).problems == ()


@pytest.mark.parametrize("code", [IssueCode.TYPE_CHANGES_VALUE, IssueCode.TYPE_NOT_CAPTURED])
def test_values_that_change_or_are_missing_are_a_warning(code: IssueCode) -> None:
    verdict = check(TO_ORDERS, orders=replace(table(ORDERS), issues=(issue(code, IssueSeverity.WARN),)))
    (warning,) = of_this_delivery(verdict)
    assert (warning.code, "c0" in warning.message) == (code.value, True)


def test_an_issue_of_discovery_that_is_only_information_is_not_a_warning() -> None:
    remark = issue(IssueCode.TYPE_CHANGES_VALUE, IssueSeverity.INFO)
    assert of_this_delivery(check(TO_ORDERS, orders=replace(table(ORDERS), issues=(remark,)))) == []


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"auto_create": True, "auto_evolve": False}, "AUTO_CREATE_EVOLVES"),
        ({"auto_create": False, "auto_evolve": True}, "AUTO_EVOLVE_CREATES"),
        ({"write_mode": WriteMode.INSERT, "delete_enabled": False}, "INSERT_REPEATS"),
        ({"write_mode": WriteMode.INSERT}, "DELETES_NOT_DELIVERED"),
    ],
)
def test_what_the_sink_does_beyond_or_below_the_options_is_a_warning(options: dict[str, Any], code: str) -> None:
    assert code in [warning.code for warning in check(TO_ORDERS, **options).warnings]


def test_table_names_that_differ_only_by_case_are_different() -> None:
    assert check(TO_ORDERS, replace(TO_LINES, table_name="Orders")).problems == ()


@pytest.mark.parametrize(
    ("field", "name", "type_"),
    [
        ("table_name", "a.b", "dot"),
        ("table_name", "", "length"),
        ("table_name", " ", "length"),
        ("table_name", "x" * 64, "length"),
        ("table_name", "é" * 32, "length"),
        ("schema_name", "x" * 64, "length"),
        ("table_name", 'a"b', "characters"),
        ("schema_name", 'a"b', "characters"),
        ("table_name", "a\\b", "characters"),
        ("schema_name", "a\\b", "characters"),
        ("table_name", "a\nb", "characters"),
        ("table_name", "${x:y}", "characters"),
        ("schema_name", "${x:y}", "characters"),
    ],
)
def test_a_name_that_the_sink_does_not_support_is_refused_with_its_location(field: str, name: str, type_: str) -> None:
    problem = only(check(replace(TO_ORDERS, **{field: name})))
    assert places(problem.details) == [{"location": ["body", "mappings", 0, field], "type": type_}]


@pytest.mark.parametrize("name", ["x" * 63, "é" * 31, "Order Lines", "größe", "a$b", "a'b", "100%", "日本"])
def test_an_odd_name_of_good_length_is_taken(name: str) -> None:
    assert check(replace(TO_ORDERS, table_name=name)).problems == ()


@pytest.mark.parametrize("count", [0, 501])
def test_the_number_of_mappings_is_bounded(count: int) -> None:
    names = [TableName("public", f"t{number}") for number in range(count)]
    many = replace(pipeline(), capture=Capture(topic_prefix="shop", tables=tuple(names)))
    mappings = (TableMapping(topic=many.capture.topic(n), schema_name="dwh", table_name=n.table_name) for n in names)
    writing = TableWriting(mappings=tuple(mappings))
    verdict = TARGET.check_mappings(many, {name: table(name) for name in names}, writing, 1, None)
    assert places(only(verdict).details) == [{"location": ["body", "mappings"], "type": "length"}]


def test_the_first_problem_is_the_one_raised() -> None:
    verdict = check(replace(TO_ORDERS, topic="other", table_name="a.b"), converter=Converter.JSON)
    assert len(verdict.problems) == 3
    with pytest.raises(Invalid) as raised:
        verdict.require()
    assert raised.value is verdict.problems[0]


def test_an_error_never_carries_what_the_user_typed() -> None:
    verdict = check(replace(TO_ORDERS, topic="hunter2", table_name="hunter2." * 20))
    assert verdict.problems
    assert "hunter2" not in str([(problem.message, problem.details) for problem in verdict.problems])
