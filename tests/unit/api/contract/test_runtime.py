"""How progress is shown."""

from datetime import UTC, datetime

import pytest

from chalicelib.api.contract.runtime import PipelineStatusOutput, owner_fields
from chalicelib.domain.monitoring.metrics import NO_PROVIDER, Metrics
from chalicelib.domain.pipeline import Capture, Pipeline

AT = datetime(2026, 1, 31, 12, tzinfo=UTC)


def pipeline(metrics: Metrics | None) -> Pipeline:
    return Pipeline(
        id="00000000-0000-0000-0000-000000000001",
        name="p",
        source_id="s",
        stream_cluster_id="k",
        connect_cluster_id="c",
        capture=Capture(topic_prefix="p", tables=()),
        metrics=metrics,
        created_at=AT,
        updated_at=AT,
    )


def test_progress_that_was_measured_is_shown() -> None:
    shown = PipelineStatusOutput.of(pipeline(Metrics(measured=True, moved_at=AT, lag=3, notice=None)))
    assert shown.model_dump(mode="json")["progress"] == {"moved_at": "2026-01-31T12:00:00.000Z", "lag": 3}
    assert shown.progress_notice is None


@pytest.mark.parametrize("metrics", [None, Metrics()])
def test_progress_that_nothing_measures_is_null_with_the_reason(metrics: Metrics | None) -> None:
    shown = PipelineStatusOutput.of(pipeline(metrics))
    assert (shown.progress, shown.progress_notice) == (None, NO_PROVIDER)


def test_the_metrics_of_a_pipeline_that_was_not_measured_say_why() -> None:
    assert owner_fields(pipeline(None))["metrics"].notice == NO_PROVIDER
