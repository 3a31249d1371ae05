"""How progress and reasons are shown."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.api.contract.pipelines import PipelineOutput
from chalicelib.api.contract.runtime import PipelineStatusOutput, observed_fields
from chalicelib.domain.monitoring.metrics import NOT_KNOWN, NOT_READ, OF_DRAFT, Metrics
from chalicelib.domain.observation import ConnectorStatus, DesiredState, ReportedState, TaskStatus, observe
from chalicelib.domain.pipeline import Capture, Pipeline
from tests.support.entities import make_pipeline

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)


def pipeline(metrics: Metrics | None, state: DesiredState = DesiredState.RUNNING) -> Pipeline:
    return make_pipeline(capture=Capture(topic_prefix="p", tables=()), metrics=metrics, desired_state=state)


def test_progress_that_was_measured_is_shown() -> None:
    shown = PipelineStatusOutput.of(pipeline(Metrics(measured=True, moved_at=AT, lag=3, seconds_behind=7)))
    assert shown.model_dump(mode="json")["progress"] == {
        "moved_at": "2026-01-31T12:00:00.000Z",
        "lag": 3,
        "seconds_behind": 7,
    }


def test_a_running_pipeline_whose_progress_nothing_measures_has_a_notice_and_no_reason() -> None:
    connector = ConnectorStatus(
        name="c",
        state=ReportedState.RUNNING,
        worker_id="w",
        tasks=(TaskStatus(id=0, state=ReportedState.RUNNING, worker_id="w"),),
    )
    running = replace(pipeline(Metrics()), observation=observe(connector, now=AT))
    for shown in (PipelineStatusOutput.of(running), PipelineOutput.of(running)):
        assert (shown.reasons, shown.notices) == ([], [NOT_KNOWN])
    assert PipelineStatusOutput.of(running).progress is None


@pytest.mark.parametrize(("state", "notice"), [(DesiredState.DRAFT, OF_DRAFT), (DesiredState.RUNNING, NOT_READ)])
def test_the_metrics_of_a_pipeline_that_were_not_read_say_why(state: DesiredState, notice: str) -> None:
    assert observed_fields(pipeline(None, state))["metrics"].notice == notice
