"""Observed states by looks of ticks, notes of operations and findings. Against the lists: services/test_overview.py."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.monitoring.incident import Severity
from chalicelib.domain.monitoring.source_state import Finding, FindingCode
from chalicelib.domain.names import ConnectorKind, connector_name
from chalicelib.domain.observation import DesiredState, Observation, ObservedState
from chalicelib.domain.reconcile.snapshot import ClusterSnapshot, ClusterView, DesiredConnector
from chalicelib.domain.reconcile.state_counts import RecentState, state_counts

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
IDS = [f"3f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c1{n}" for n in range(3)]
NAMES = [connector_name(ConnectorKind.SOURCE, one) for one in IDS]


def view(*, seconds_ago: float = 5) -> ClusterView:
    """Three pipelines run as they should, seen so long ago."""
    at = NOW - timedelta(seconds=seconds_ago)
    desired = {
        name: DesiredConnector(
            resource_type="pipeline", resource_id=one, desired_state=DesiredState.RUNNING, config_hash=None
        )
        for name, one in zip(NAMES, IDS, strict=True)
    }
    observed = {name: Observation(state=ObservedState.RUNNING, observed_at=at) for name in NAMES}
    return ClusterView(observed_at=at, snapshot=ClusterSnapshot(desired=desired, observed=observed))


def note(state: ObservedState | None, *, seconds_ago: float) -> RecentState:
    at = NOW - timedelta(seconds=seconds_ago)
    return RecentState(resource_type="pipeline", connector=NAMES[0], connect_cluster_id="c", state=state, at=at)


def counts(view: ClusterView, *notes: RecentState, degraded: tuple[str, ...] = (), running: int = 3) -> dict[str, int]:
    desired = {"pipeline": {"DRAFT": 1, "RUNNING": running}}
    return {str(state): n for state, n in state_counts({"c": view}, notes, degraded, desired, NOW)["pipeline"].items()}


def test_what_the_last_look_saw_is_counted_and_drafts_are_not_deployed() -> None:
    assert counts(view()) == {"RUNNING": 3, "NOT_DEPLOYED": 1}


def test_a_note_counts_only_if_it_is_newer_than_the_look() -> None:
    assert counts(view(), note(ObservedState.PAUSED, seconds_ago=1)) == {"RUNNING": 2, "PAUSED": 1, "NOT_DEPLOYED": 1}
    assert counts(view(), note(ObservedState.PAUSED, seconds_ago=9)) == {"RUNNING": 3, "NOT_DEPLOYED": 1}


def test_what_was_deleted_since_the_look_is_not_counted() -> None:
    assert counts(view(), note(None, seconds_ago=1), running=2) == {"RUNNING": 2, "NOT_DEPLOYED": 1}


def test_what_no_fresh_look_tells_about_is_unknown() -> None:
    assert counts(view(seconds_ago=200)) == {"UNKNOWN": 3, "NOT_DEPLOYED": 1}
    assert counts(view(), running=4) == {"RUNNING": 3, "UNKNOWN": 1, "NOT_DEPLOYED": 1}


@pytest.mark.parametrize(("severity", "degraded"), [(Severity.ERROR, 1), (Severity.WARNING, 0)])
def test_only_an_error_of_its_progress_degrades_what_runs(severity: Severity, degraded: int) -> None:
    found = Finding(code=FindingCode.LAG_HIGH, message="It is far behind.", severity=severity)
    seen = view()
    seen = replace(seen, snapshot=replace(seen.snapshot, progress={NAMES[0]: (found,)}))
    assert counts(seen).get("DEGRADED", 0) == degraded


def test_a_finding_at_the_source_degrades_what_runs() -> None:
    assert counts(view(), degraded=(IDS[1],)) == {"RUNNING": 2, "DEGRADED": 1, "NOT_DEPLOYED": 1}
    paused = note(ObservedState.PAUSED, seconds_ago=1)
    assert counts(view(), paused, degraded=(IDS[0],))["PAUSED"] == 1
