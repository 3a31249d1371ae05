"""Observed states by the views of ticks and findings. Against the lists: tests/service/test_overview.py."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.connectors.memory import ClusterMemory, ConnectorMemory, DesiredConnector
from chalicelib.domain.connectors.state_counts import oldest_look, state_counts
from chalicelib.domain.counts import RegisteredCounts
from chalicelib.domain.monitoring.condition import Severity
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import DesiredState, Observation, ObservedState

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
IDS = [f"3f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c1{n}" for n in range(3)]
NAMES = [connector_name(ConnectorKind.SOURCE, one) for one in IDS]


def view(*, seconds_ago: float = 5) -> ClusterView:
    """Three pipelines run as they should, seen so long ago."""
    at = NOW - timedelta(seconds=seconds_ago)
    running = Observation(state=ObservedState.RUNNING, observed_at=at)
    connectors = {
        name: ConnectorMemory(
            desired=DesiredConnector(
                resource_type="pipeline", resource_id=one, desired_state=DesiredState.RUNNING, config_hash=None
            ),
            observation=running,
        )
        for name, one in zip(NAMES, IDS, strict=True)
    }
    return ClusterView(observed_at=at, memory=ClusterMemory(connectors=connectors))


def with_first(seen: ClusterView, **fields: Any) -> ClusterView:
    """The view with something else about the first connector."""
    connectors = seen.memory.connectors
    first = replace(connectors[NAMES[0]], **fields)
    return replace(seen, memory=replace(seen.memory, connectors={**connectors, NAMES[0]: first}))


def counts(
    *views: ClusterView,
    degraded: tuple[str, ...] = (),
    drafts: int = 1,
    running: int = 3,
    counted_before: timedelta = timedelta(seconds=30),
) -> dict[str, int]:
    """The pipelines by state, of so many that were registered when they were counted."""
    registered = RegisteredCounts(at=NOW - counted_before, by_type={"pipeline": {"DRAFT": drafts, "RUNNING": running}})
    found = state_counts(views, degraded, registered, ("pipeline",), NOW)
    return {str(state): n for state, n in found["pipeline"].items() if n}


def test_what_the_last_look_saw_is_counted_and_drafts_are_not_deployed() -> None:
    assert counts(view()) == {"RUNNING": 3, "NOT_DEPLOYED": 1}


def test_a_draft_that_was_deployed_since_the_count_is_counted_once() -> None:
    assert counts(view(), drafts=1, running=2) == {"RUNNING": 3}


def test_what_was_deleted_since_the_count_is_not_unknown() -> None:
    assert counts(view(), running=4) == {"RUNNING": 3, "NOT_DEPLOYED": 1}


def test_what_was_deployed_since_the_last_look_is_unknown() -> None:
    now = timedelta(0)
    assert counts(view(), running=4, counted_before=now) == {"RUNNING": 3, "UNKNOWN": 1, "NOT_DEPLOYED": 1}


def test_what_no_fresh_look_tells_about_is_unknown() -> None:
    assert counts(view(seconds_ago=200)) == {"UNKNOWN": 3, "NOT_DEPLOYED": 1}
    assert counts(view(), ClusterView(), running=4) == {"RUNNING": 3, "UNKNOWN": 1, "NOT_DEPLOYED": 1}


@pytest.mark.parametrize(("severity", "degraded"), [(Severity.ERROR, 1), (Severity.WARNING, 0)])
def test_only_an_error_of_its_progress_degrades_what_runs(severity: Severity, degraded: int) -> None:
    found = Finding(code=FindingCode.LAG_HIGH, message="It is far behind.", severity=severity)
    assert counts(with_first(view(), findings=(found,))).get("DEGRADED", 0) == degraded


def test_a_finding_at_the_source_degrades_what_runs() -> None:
    assert counts(view(), degraded=(IDS[1],)) == {"RUNNING": 2, "DEGRADED": 1, "NOT_DEPLOYED": 1}


def test_a_finding_at_the_source_does_not_hide_that_a_pipeline_is_paused() -> None:
    seen = with_first(view(), observation=Observation(state=ObservedState.PAUSED, observed_at=NOW))
    assert counts(seen, degraded=(IDS[0],)) == {"RUNNING": 2, "PAUSED": 1, "NOT_DEPLOYED": 1}


def test_the_oldest_look_that_counts_says_when_the_states_were_seen() -> None:
    views = (view(seconds_ago=5), view(seconds_ago=40), view(seconds_ago=200), ClusterView())
    assert oldest_look(views, NOW) == NOW - timedelta(seconds=40)


def test_states_that_nobody_has_seen_have_no_time() -> None:
    assert oldest_look((view(seconds_ago=200), ClusterView()), NOW) is None
