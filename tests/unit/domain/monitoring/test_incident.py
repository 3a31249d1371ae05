"""Conditions, the signals between two sets of them, and what a signal does to an incident."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.monitoring.incident import (
    CAPTURE_NARROWED,
    CHANGES_LOST,
    CONFIG_DRIFT,
    LOG_AT_RISK,
    STALLED,
    Category,
    Condition,
    Severity,
    category_of,
    signals_between,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONDITION = Condition(code=STALLED, resource_type="pipeline", resource_id="p", message="It stands still.")
WARNING = replace(CONDITION, severity=Severity.WARNING)


@pytest.mark.parametrize(
    ("code", "category"),
    [
        ("CONNECTOR_FAILED", Category.CONNECT),
        ("CONNECT_TASK_FAILED", Category.CONNECT),
        ("STREAM_CONNECT_UNAVAILABLE", Category.CONNECT),
        (CONFIG_DRIFT, Category.CONNECT),
        ("SOURCE_AUTH_FAILED", Category.SOURCE),
        ("CDC_WAL_ERROR", Category.SOURCE),
        (LOG_AT_RISK, Category.SOURCE),
        (CAPTURE_NARROWED, Category.SOURCE),
        ("DESTINATION_WRITE_FAILED", Category.DESTINATION),
        ("PIPELINE_FAILED", Category.PIPELINE),
        (STALLED, Category.PIPELINE),
        (CHANGES_LOST, Category.PIPELINE),
    ],
)
def test_the_category_follows_from_the_code(code: str, category: Category) -> None:
    assert category_of(code) is category


def test_conditions_are_the_same_when_code_resource_connector_and_task_are() -> None:
    assert replace(CONDITION, message="Otherwise.", severity=Severity.INFO).key == CONDITION.key
    others = [
        replace(CONDITION, code=CHANGES_LOST),
        replace(CONDITION, resource_id="q"),
        replace(CONDITION, resource_type="delivery"),
        replace(CONDITION, connector_name="c"),
        replace(CONDITION, task_id=0),
        replace(CONDITION, task_id=1),
    ]
    assert len({CONDITION.key, *(one.key for one in others)}) == len(others) + 1


@pytest.mark.parametrize(
    ("before", "now", "began"),
    [
        ([], [CONDITION], [True]),
        ([CONDITION], [], [False]),
        ([CONDITION], [CONDITION], []),
        ([CONDITION], [replace(CONDITION, message="In other words.")], []),
        ([WARNING], [CONDITION], [True]),
        ([CONDITION], [WARNING], []),
        ([CONDITION], [replace(CONDITION, task_id=1)], [False, True]),
    ],
)
def test_a_signal_says_that_a_condition_begins_gets_worse_or_ends(
    before: list[Condition], now: list[Condition], began: list[bool]
) -> None:
    assert [signal.began for signal in signals_between(before, now, NOW)] == began
