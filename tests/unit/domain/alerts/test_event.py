"""Which events are the same, and what they are called."""

from dataclasses import replace

import pytest

from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.event_kind import EventKind
from tests.unit.domain.alerts.test_transitions import EVENT

OF_SOURCE = replace(EVENT, condition_key="source/s//SOURCE_DATABASE_UNAVAILABLE")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(replace(EVENT, kind=EventKind.CONNECTOR_FAILED), id="kind"),
        pytest.param(replace(EVENT, emitter=Emitter(type="destination", id="s", name="shop")), id="emitter"),
        pytest.param(replace(EVENT, pipeline_id="other"), id="pipeline"),
        pytest.param(replace(EVENT, connect_cluster_id="other"), id="the same connector name on another cluster"),
        pytest.param(replace(EVENT, task_id=1), id="task"),
        pytest.param(replace(EVENT, task_id=None), id="connector"),
    ],
)
def test_these_are_two_alerts(other: AlertEvent) -> None:
    assert other.fingerprint != EVENT.fingerprint


@pytest.mark.parametrize(
    ("event", "other"),
    [
        pytest.param(EVENT, replace(EVENT, severity=AlertSeverity.CRITICAL, error="Again.", hint="Look."), id="texts"),
        pytest.param(
            EVENT, replace(EVENT, pipeline_name="new", emitter=replace(EVENT.emitter, name="new")), id="names"
        ),
        pytest.param(OF_SOURCE, replace(OF_SOURCE, pipeline_id=None), id="pipeline of a source"),
    ],
)
def test_these_are_one_alert(event: AlertEvent, other: AlertEvent) -> None:
    assert event.fingerprint == other.fingerprint


def test_a_title_says_what_and_where() -> None:
    assert replace(EVENT, pipeline_name="orders").title == "Connector task failed: orders, task 0"
    refused = replace(EVENT, kind=EventKind.DESTINATION_AUTH_FAILED, task_id=None)
    assert refused.title == "Destination refuses the login: shop"
