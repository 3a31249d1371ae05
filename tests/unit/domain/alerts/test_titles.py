"""What the titles of alerts say."""

import pytest

from chalicelib.domain.alerts.titles import MAX_TITLE, Subject, title_of
from chalicelib.domain.diagnosis.cause import Cause
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.diagnosis.hints import hint_of
from chalicelib.domain.monitoring.condition import ConditionCode
from chalicelib.domain.names import ConnectorKind

DELIVERY, PIPELINE = Subject("delivery", "orders to the lake"), Subject("pipeline", "orders")
SOURCE, CLUSTER = Subject("source", "shop"), Subject("connect_cluster", "main")
ORDERS = Cause(schema="public", table="orders", sqlstate="23514")
STOPPED = "Delivery 'orders to the lake' is stopped: "


def of_failure(
    diagnosis: Diagnosis, cause: Cause | None, subject: Subject = DELIVERY, database: str | None = "lake"
) -> str:
    role = ConnectorKind.SINK if subject is DELIVERY else ConnectorKind.SOURCE
    kind = hint_of(diagnosis, role).event_type
    return title_of(subject, kind=kind, code=kind, diagnosis=diagnosis, cause=cause, task_id=None, database=database)


def of_condition(code: ConditionCode, subject: Subject) -> str:
    return title_of(subject, kind=code.event_kind, code=code, diagnosis=None, cause=None, task_id=None, database=None)


@pytest.mark.parametrize(
    ("diagnosis", "cause", "expected"),
    [
        (
            Diagnosis.CONSTRAINT,
            Cause(schema="public", table="orders", constraint="total_max", sqlstate="23514"),
            "lake.public.orders refuses a row (check constraint total_max)",
        ),
        (
            Diagnosis.CONSTRAINT,
            Cause(schema="public", table="orders", constraint="total_max", sqlstate="HY000"),
            "lake.public.orders refuses a row (constraint total_max)",
        ),
        (
            Diagnosis.VALUE,
            Cause(schema="public", table="orders", column="note"),
            "lake.public.orders refuses a row (column note)",
        ),
        (Diagnosis.TABLE_GONE, ORDERS, "the rows do not fit lake.public.orders"),
        (Diagnosis.PERMISSION, ORDERS, "a right on lake.public.orders is missing"),
        (Diagnosis.PERMISSION, Cause(schema="public"), "a right on lake.public is missing"),
        (Diagnosis.PERMISSION, None, "a right is missing in the destination"),
        (Diagnosis.CONSTRAINT, Cause(sqlstate="23514"), "the destination refuses rows"),
        (Diagnosis.CONSTRAINT, None, "the destination refuses rows"),
        (Diagnosis.AUTH, None, "the destination refuses the login"),
        (Diagnosis.GENERAL, None, "the sink connector has failed"),
    ],
)
def test_a_stopped_delivery_says_which_table_refuses_what(
    diagnosis: Diagnosis, cause: Cause | None, expected: str
) -> None:
    assert of_failure(diagnosis, cause) == STOPPED + expected


def test_a_table_whose_schema_is_its_database_is_named_by_both_alone() -> None:
    cause = Cause(schema="lake", table="orders", constraint="total_max")
    expected = STOPPED + "lake.orders refuses a row (constraint total_max)"
    assert of_failure(Diagnosis.CONSTRAINT, cause, database=None) == expected


def test_a_pipeline_names_the_table_on_which_it_lacks_a_right() -> None:
    title = of_failure(Diagnosis.PERMISSION, Cause(schema="shop", table="orders"), PIPELINE, "db")
    assert title == "Pipeline 'orders' is stopped: a right on db.shop.orders is missing"


@pytest.mark.parametrize(
    ("code", "subject", "expected"),
    [
        (ConditionCode.STALLED, DELIVERY, "Delivery 'orders to the lake' delivers nothing although records wait"),
        (ConditionCode.STALLED, PIPELINE, "Pipeline 'orders' captures nothing although it runs"),
        (ConditionCode.SOURCE_AUTH_FAILED, SOURCE, "Source 'shop' refuses the login"),
        (ConditionCode.CONNECT_NOT_OBSERVED, CLUSTER, "Connect cluster 'main' is not looked at any more"),
        (ConditionCode.CDC_WAL_ERROR, PIPELINE, "Pipeline 'orders': Write-ahead log error"),
    ],
)
def test_a_condition_says_what_stands(code: ConditionCode, subject: Subject, expected: str) -> None:
    assert of_condition(code, subject) == expected


def test_no_title_is_longer_than_people_read() -> None:
    assert len(of_condition(ConditionCode.STALLED, Subject("delivery", "x" * 1000))) == MAX_TITLE
