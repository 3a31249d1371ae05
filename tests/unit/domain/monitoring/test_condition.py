"""Conditions: which are the same, and what part of the way of the rows they concern."""

from dataclasses import replace

import pytest

from chalicelib.domain.monitoring.condition import DESCRIPTIONS, Category, Condition, ConditionCode, Severity

CONDITION = Condition(code=ConditionCode.STALLED, resource_type="pipeline", resource_id="p", message="It stands still.")


@pytest.mark.parametrize(
    ("code", "category"),
    [
        (ConditionCode.CONNECTOR_FAILED, Category.CONNECT),
        (ConditionCode.CONNECT_TASK_FAILED, Category.CONNECT),
        (ConditionCode.STREAM_CONNECT_UNAVAILABLE, Category.CONNECT),
        (ConditionCode.CONFIG_DRIFT, Category.CONNECT),
        (ConditionCode.SOURCE_AUTH_FAILED, Category.SOURCE),
        (ConditionCode.CDC_WAL_ERROR, Category.SOURCE),
        (ConditionCode.LOG_AT_RISK, Category.SOURCE),
        (ConditionCode.CAPTURE_NARROWED, Category.SOURCE),
        (ConditionCode.DESTINATION_WRITE_FAILED, Category.DESTINATION),
        (ConditionCode.PIPELINE_FAILED, Category.PIPELINE),
        (ConditionCode.STALLED, Category.PIPELINE),
        (ConditionCode.CHANGES_LOST, Category.PIPELINE),
        (ConditionCode.AUDIT_TRAIL_CHANGED, Category.INSTALLATION),
    ],
)
def test_the_category_follows_from_the_code(code: ConditionCode, category: Category) -> None:
    assert DESCRIPTIONS[code].category is category


def test_conditions_are_the_same_when_code_resource_connector_and_task_are() -> None:
    assert replace(CONDITION, message="Otherwise.", severity=Severity.INFO).key == CONDITION.key
    others = [
        replace(CONDITION, code=ConditionCode.CHANGES_LOST),
        replace(CONDITION, resource_id="q"),
        replace(CONDITION, resource_type="delivery"),
        replace(CONDITION, connector_name="c"),
        replace(CONDITION, task_id=0),
        replace(CONDITION, task_id=1),
    ]
    assert len({CONDITION.key, *(other.key for other in others)}) == len(others) + 1
