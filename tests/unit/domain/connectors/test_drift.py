"""Drift of configs: found, confirmed, and no longer reported once the config is right again."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.connectors.drift import Drift, after_comparison, is_suspicious, refresh_due, still_drifted
from chalicelib.domain.observation import Observation, observe
from tests.support.connectors import reported

NOW = datetime(2026, 1, 1, tzinfo=UTC)
ONCE, TWICE = Drift(expected="a"), Drift(expected="a", confirmed=True)


@pytest.mark.parametrize(
    ("before", "sent", "actual", "after"),
    [
        pytest.param(None, "a", "a", None, id="equal"),
        pytest.param(None, "a", "b", ONCE, id="differs"),
        pytest.param(ONCE, "a", "b", TWICE, id="differs twice"),
        pytest.param(TWICE, "a", "b", TWICE, id="still differs"),
        pytest.param(TWICE, "a", "a", None, id="right again"),
        pytest.param(TWICE, "a", None, TWICE, id="confirmed, and could not be compared"),
        pytest.param(ONCE, "a", None, None, id="seen once, and could not be compared"),
        pytest.param(None, None, "b", None, id="no config was sent"),
        pytest.param(TWICE, "b", "c", Drift(expected="b"), id="was sent another config, which differs as well"),
    ],
)
def test_a_config_has_drifted_when_it_differs_twice(
    before: Drift | None, sent: str | None, actual: str | None, after: Drift | None
) -> None:
    assert after_comparison(before, sent, actual) == after


@pytest.mark.parametrize("drift", [ONCE, TWICE])
def test_drift_lasts_without_a_comparison_until_another_config_is_sent(drift: Drift) -> None:
    assert still_drifted(drift, "a") == drift
    assert still_drifted(drift, "b") is None
    assert still_drifted(drift, None) is None


@pytest.mark.parametrize(
    ("compared", "due"), [(None, True), (timedelta(minutes=9), False), (timedelta(minutes=10), True)]
)
def test_configs_are_compared_every_ten_minutes(compared: timedelta | None, due: bool) -> None:
    assert refresh_due(NOW - compared if compared else None, NOW) is due


def observed(state: str, tasks: int, *, worker: str = "w1") -> Observation:
    return observe(replace(reported("c", state, *["RUNNING"] * tasks), worker_id=worker), now=NOW)


@pytest.mark.parametrize("after", [observed("UNASSIGNED", 1), observed("RUNNING", 2), observed("RUNNING", 0)])
def test_a_change_of_state_or_tasks_suggests_a_new_config(after: Observation) -> None:
    assert is_suspicious(observed("RUNNING", 1), after)


@pytest.mark.parametrize("after", [None, observed("RUNNING", 1, worker="w2")], ids=["absent", "moved"])
def test_a_connector_that_is_absent_or_has_moved_to_another_worker_does_not(after: Observation | None) -> None:
    assert not is_suspicious(observed("RUNNING", 1), after)
