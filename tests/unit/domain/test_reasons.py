"""What is said to be wrong with a pipeline or a delivery, and what is only good to know."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from chalicelib.domain.monitoring.metrics import NOT_KNOWN, NOT_READ, Metrics
from chalicelib.domain.monitoring.source_state import Finding, FindingCode, observed_with
from chalicelib.domain.observation import (
    MISSING,
    NEVER_DEPLOYED,
    PAUSED,
    ConnectorStatus,
    DesiredState,
    Observation,
    ObservedState,
    ReportedState,
    TaskStatus,
    observe,
    unreadable,
)
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.postgresql.running_capture import PAUSED_NOTICE
from chalicelib.domain.reasons import NOT_LOOKED_AT, Explanation, explanation
from tests.support.entities import make_pipeline

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
MEASURED = Metrics(measured=True, notice="A pipeline has no lag of its own.")
STOPPED, UNTAKEN = "The connector is stopped.", "No Connect worker has taken up the connector."


def seen(state: str, *tasks: str) -> Observation:
    statuses = tuple(TaskStatus(id=i, state=ReportedState(task), worker_id="w") for i, task in enumerate(tasks))
    return observe(ConnectorStatus(name="c", state=ReportedState(state), worker_id="w", tasks=statuses), now=NOW)


def pipeline(desired: str, observation: Observation | None, metrics: Metrics | None = MEASURED) -> Pipeline:
    return make_pipeline(desired_state=DesiredState(desired), observation=observation, metrics=metrics)


NOT_DEPLOYED = Observation(state=ObservedState.NOT_DEPLOYED, observed_at=NOW, reasons=(NEVER_DEPLOYED,))


@pytest.mark.parametrize(
    ("desired", "observation", "reasons", "notices"),
    [
        pytest.param("RUNNING", seen("RUNNING", "RUNNING"), (), (), id="running as desired"),
        pytest.param("PAUSED", seen("PAUSED", "PAUSED"), (), (PAUSED, PAUSED_NOTICE), id="paused as desired"),
        pytest.param("DRAFT", NOT_DEPLOYED, (), (NEVER_DEPLOYED,), id="a draft"),
        pytest.param("RUNNING", seen("PAUSED", "PAUSED"), (PAUSED,), (PAUSED_NOTICE,), id="paused by somebody else"),
        pytest.param("RUNNING", seen("STOPPED"), (STOPPED,), (), id="stopped by somebody else"),
        pytest.param("PAUSED", seen("STOPPED"), (STOPPED,), (), id="stopped instead of paused"),
        pytest.param("RUNNING", seen("UNASSIGNED"), (UNTAKEN,), (), id="unassigned"),
        pytest.param("RUNNING", seen("RESTARTING"), ("The connector is restarting.",), (), id="restarting"),
        pytest.param("RUNNING", seen("FAILED"), ("The connector has failed.",), (), id="failed"),
        pytest.param("RUNNING", seen("RUNNING", "FAILED"), ("Task 0 has failed.",), (), id="all tasks failed"),
        pytest.param("RUNNING", observe(None, now=NOW), (MISSING,), (), id="missing"),
        pytest.param("PAUSED", observe(None, now=NOW), (MISSING,), (), id="missing while it should be paused"),
        pytest.param("RUNNING", unreadable("Unreadable.", NOW), ("Unreadable.",), (), id="not known"),
        pytest.param("RUNNING", None, (NOT_LOOKED_AT,), (), id="not looked at"),
    ],
)
def test_reasons_say_what_is_wrong_and_notices_what_was_asked_for(
    desired: str, observation: Observation | None, reasons: tuple[str, ...], notices: tuple[str, ...]
) -> None:
    assert explanation(pipeline(desired, observation)) == Explanation(reasons=reasons, notices=notices)


def test_a_paused_connector_of_which_a_task_runs_has_a_reason() -> None:
    found = explanation(pipeline("PAUSED", seen("PAUSED", "RUNNING")))
    assert found.reasons == ("The connector is paused, but not all of its tasks are.", "Task 0 is running.")


def test_what_was_found_at_the_source_of_a_paused_pipeline_is_a_reason() -> None:
    lost = Finding(code=FindingCode.CHANGES_LOST, message="Changes were lost.", certain=True, since=NOW)
    found = explanation(pipeline("PAUSED", observed_with(seen("PAUSED", "PAUSED"), [lost])))
    assert found == Explanation(reasons=("Changes were lost.",), notices=(PAUSED, PAUSED_NOTICE))


@pytest.mark.parametrize(
    ("desired", "metrics", "notices"),
    [
        pytest.param("RUNNING", Metrics(), (NOT_KNOWN,), id="nothing measures it"),
        pytest.param("RUNNING", MEASURED, (), id="measured"),
        pytest.param("RUNNING", replace(MEASURED, not_watched="No heartbeats."), ("No heartbeats.",), id="unwatched"),
        pytest.param("RUNNING", None, (), id="not read"),
        pytest.param("DRAFT", Metrics(notice=NOT_READ), (), id="a draft"),
    ],
)
def test_what_is_not_measured_of_a_deployed_connector_is_a_notice(
    desired: str, metrics: Metrics | None, notices: tuple[str, ...]
) -> None:
    found = explanation(pipeline(desired, seen("RUNNING", "RUNNING"), metrics))
    assert found == Explanation(reasons=(), notices=notices)
