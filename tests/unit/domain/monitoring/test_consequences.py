"""How bad a condition is, by what depends on its resource."""

from dataclasses import replace

import pytest

from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity
from chalicelib.domain.monitoring.consequences import MAX_NAMED, by_consequence, idle_of, with_concerned
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.pipeline import Pipeline
from chalicelib.kit.pages import Page
from tests.support.entities import make_pipeline

AWAY = Condition(
    code=ConditionCode.SOURCE_AUTH_FAILED, resource_type="source", resource_id="s", message="The login is refused."
)
ERROR, WARNING = Severity.ERROR, Severity.WARNING


@pytest.mark.parametrize(
    ("condition", "idle", "severity"),
    [
        (AWAY, (), ERROR),
        (AWAY, {"s"}, WARNING),
        (AWAY, {"other"}, ERROR),
        (replace(AWAY, severity=Severity.INFO), {"s"}, Severity.INFO),
        (replace(AWAY, code=ConditionCode.CHANGES_LOST, resource_type="pipeline"), {"s"}, ERROR),
        (replace(AWAY, code=ConditionCode.LOG_AT_RISK, resource_type="pipeline"), {"s"}, ERROR),
        (replace(AWAY, code=ConditionCode.STALLED, resource_type="delivery"), {"s"}, WARNING),
        (replace(AWAY, code=ConditionCode.AUDIT_TRAIL_CHANGED, resource_type="installation"), {"s"}, ERROR),
    ],
)
def test_what_nothing_depends_on_is_no_error(condition: Condition, idle: set[str], severity: Severity) -> None:
    assert by_consequence(condition, idle) == replace(condition, severity=severity)


def test_a_source_is_idle_while_none_of_its_pipelines_should_run() -> None:
    draft, paused, running = (
        make_pipeline(id=state.value, desired_state=state)
        for state in (DesiredState.DRAFT, DesiredState.PAUSED, DesiredState.RUNNING)
    )
    assert idle_of("s", page()) == {"s"}
    assert idle_of("s", page(draft, paused)) == {"s", draft.id, paused.id}
    assert idle_of("s", page(paused, running)) == {paused.id}
    assert idle_of("s", replace(page(paused), unreadable=("p",))) == {paused.id}


def test_a_condition_of_a_source_names_the_pipelines_that_should_run() -> None:
    running = [
        make_pipeline(id=str(number), name=f"p{number}", desired_state=DesiredState.RUNNING)
        for number in range(MAX_NAMED + 2)
    ]
    paused = make_pipeline(id="paused", name="paused", desired_state=DesiredState.PAUSED)
    assert with_concerned(AWAY, page(paused)) == AWAY
    assert with_concerned(AWAY, page(paused, running[0])).message == 'The login is refused. Concerned: pipeline "p0".'
    assert with_concerned(AWAY, page(*running)).message.endswith('"p3", "p4" and 2 more.')
    of_pipeline = replace(AWAY, resource_type="pipeline")
    assert with_concerned(of_pipeline, page(*running)) == of_pipeline


def page(*pipelines: Pipeline) -> Page[Pipeline]:
    return Page(pipelines, tuple(pipeline.id for pipeline in pipelines))
