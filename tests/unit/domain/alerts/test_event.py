"""Which events are the same, and what they are called."""

from dataclasses import replace

import pytest

from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.diagnosis.cause import Cause
from chalicelib.domain.diagnosis.diagnoses import Diagnosis
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
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


def test_a_title_says_which_resource_and_why_it_stands() -> None:
    assert replace(EVENT, pipeline_name="orders").title == "Pipeline 'orders': Connector task failed"
    failed = replace(EVENT, pipeline_name="orders", kind=EventKind.SOURCE_AUTH_FAILED, diagnosis=Diagnosis.AUTH)
    assert failed.title == "Pipeline 'orders' is stopped: the source refuses the login"
    assert (
        replace(failed, tasks=2).title == "Pipeline 'orders' is stopped in part (task 0): the source refuses the login"
    )


def test_what_is_known_later_of_the_cause_is_in_the_title() -> None:
    event = replace(EVENT, condition_key="delivery/d/c/0/DESTINATION_WRITE_FAILED", delivery_name="to the lake")
    condition = Condition(
        code=ConditionCode.DESTINATION_WRITE_FAILED,
        resource_type="delivery",
        resource_id="d",
        message="It has failed.",
        diagnosis=Diagnosis.CONSTRAINT,
        cause=Cause(schema="public", table="orders", constraint="total_max", sqlstate="23514"),
    )
    after = replace(event, kind=EventKind.DESTINATION_WRITE_FAILED).repeated(condition)
    assert after.title == (
        "Delivery 'to the lake' is stopped: public.orders refuses a row (check constraint total_max)"
    )
    assert after.fingerprint == replace(event, kind=EventKind.DESTINATION_WRITE_FAILED).fingerprint
