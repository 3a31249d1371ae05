"""How progress and reasons are shown."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.api.contract.runtime import PipelineStatusOutput, observed_fields
from chalicelib.domain.monitoring.metrics import NOT_KNOWN, NOT_READ, OF_DRAFT, Metrics
from chalicelib.domain.observation import ConnectorStatus, DesiredState, ReportedState, TaskStatus, observe
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.providers.postgresql.running_capture import PAUSED_NOTICE
from tests.support.entities import make_pipeline

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)


def pipeline(metrics: Metrics | None, state: DesiredState = DesiredState.RUNNING) -> Pipeline:
    return make_pipeline(capture=Capture(topic_prefix="p", tables=()), metrics=metrics, desired_state=state)


def test_progress_that_was_measured_is_shown() -> None:
    shown = PipelineStatusOutput.of(pipeline(Metrics(measured=True, moved_at=AT, lag=3, notice=None)))
    assert shown.model_dump(mode="json")["progress"] == {"moved_at": "2026-01-31T12:00:00.000Z", "lag": 3}
    assert shown.progress_notice is None


def test_progress_that_nothing_measures_is_null_with_the_reason() -> None:
    shown = PipelineStatusOutput.of(pipeline(Metrics()))
    assert (shown.progress, shown.progress_notice) == (None, NOT_KNOWN)
    assert shown.reasons[-1] == NOT_KNOWN


def test_a_draft_has_no_progress_and_no_reason_for_that_but_a_notice() -> None:
    shown = PipelineStatusOutput.of(pipeline(None, DesiredState.DRAFT))
    assert (shown.progress, shown.progress_notice) == (None, OF_DRAFT)
    assert OF_DRAFT not in shown.reasons


@pytest.mark.parametrize("state", [ReportedState.PAUSED, ReportedState.STOPPED, ReportedState.RUNNING])
def test_a_paused_pipeline_says_that_the_source_keeps_its_log(state: ReportedState) -> None:
    task = TaskStatus(id=0, state=state, worker_id="w")
    connector = ConnectorStatus(name="c", state=state, worker_id="w", tasks=(task,))
    observation = replace(observe(connector, now=AT), reasons=("The state.", "More."))
    shown = PipelineStatusOutput.of(replace(pipeline(Metrics(measured=True)), observation=observation))
    expected = ["The state.", *([PAUSED_NOTICE] if state is ReportedState.PAUSED else []), "More."]
    assert shown.reasons == expected


@pytest.mark.parametrize(("state", "notice"), [(DesiredState.DRAFT, OF_DRAFT), (DesiredState.RUNNING, NOT_READ)])
def test_the_metrics_of_a_pipeline_that_were_not_read_say_why(state: DesiredState, notice: str) -> None:
    assert observed_fields(pipeline(None, state))["metrics"].notice == notice
