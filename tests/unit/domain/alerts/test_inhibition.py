"""What each cause mutes, as a table: every kind of cause with every kind of child."""

from dataclasses import replace

import pytest

from chalicelib.domain.alerts.alert import Alert, AlertStatus
from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.inhibition import MAX_CHILDREN, related, sent_before, storms
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.listing import Facets
from chalicelib.domain.alerts.track import Track
from chalicelib.domain.alerts.transitions import opened
from chalicelib.domain.event_kind import EventKind
from tests.unit.domain.alerts.test_transitions import EVENT, NOW

CHILD = replace(EVENT, source_id="s")
MANY = MAX_CHILDREN + 1
CLUSTER = replace(
    CHILD, kind=EventKind.STREAM_CONNECT_UNAVAILABLE, emitter=Emitter(type="connect_cluster", id="k", name="k"),
    pipeline_id=None, source_id=None, connector_name=None, task_id=None, condition_key="connect_cluster/k",
)  # fmt: skip
CONNECTOR = replace(
    CHILD, kind=EventKind.CONNECTOR_FAILED, task_id=None, condition_key="pipeline/p/c//CONNECTOR_FAILED"
)
DATABASE = replace(
    CHILD, kind=EventKind.SOURCE_DATABASE_UNAVAILABLE, connector_name=None, connect_cluster_id=None, task_id=None,
    condition_key="source/s//SOURCE_DATABASE_UNAVAILABLE",
)  # fmt: skip
TASK = CHILD
CAPTURE = replace(CHILD, kind=EventKind.CDC_WAL_ERROR, connector_name=None, connect_cluster_id=None, task_id=None)
PIPELINE = replace(CHILD, kind=EventKind.PIPELINE_FAILED, task_id=None, condition_key="pipeline/p/c//PIPELINE_FAILED")
LOST = replace(PIPELINE, condition_key="pipeline/p/c//CHANGES_LOST")
NO_EVENTS = replace(CAPTURE, kind=EventKind.PIPELINE_NO_EVENTS)
SLOT = replace(TASK, kind=EventKind.CDC_REPLICATION_SLOT_ERROR, severity=AlertSeverity.CRITICAL)
NARROWED = replace(CAPTURE, kind=EventKind.PIPELINE_DEGRADED)
SINK = replace(
    TASK, emitter=Emitter(type="destination", id="w", name="w"), destination_id="w", delivery_id="d",
    condition_key="delivery/d/c/0/CONNECT_TASK_FAILED",
)  # fmt: skip
LAG = replace(SINK, kind=EventKind.PIPELINE_LAG_HIGH, task_id=None)
TARGET = replace(
    DATABASE, kind=EventKind.DESTINATION_AUTH_FAILED, emitter=SINK.emitter, destination_id="w", source_id=None,
    condition_key="destination/w///DESTINATION_AUTH_FAILED",
)  # fmt: skip


def many(child: AlertEvent, count: int = MANY) -> list[AlertEvent]:
    """The same with other fingerprints."""
    return [replace(child, emitter=replace(child.emitter, id=f"e{number}")) for number in range(count)]


@pytest.mark.parametrize(
    ("cause", "child", "mutes"),
    [
        (CLUSTER, TASK, True),
        (CLUSTER, CONNECTOR, True),
        (CLUSTER, PIPELINE, True),
        (CLUSTER, CAPTURE, False),
        (CLUSTER, replace(TASK, connect_cluster_id="other"), False),
        (CONNECTOR, TASK, True),
        (replace(CONNECTOR, kind=EventKind.SOURCE_AUTH_FAILED), TASK, True),
        (CONNECTOR, PIPELINE, True),
        (CONNECTOR, CONNECTOR, False),
        (CONNECTOR, replace(TASK, connector_name="other"), False),
        (CONNECTOR, replace(TASK, connect_cluster_id="other"), False),
        (DATABASE, CAPTURE, True),
        (DATABASE, replace(TASK, kind=EventKind.CDC_REPLICATION_SLOT_ERROR), True),
        (DATABASE, PIPELINE, True),
        (DATABASE, TASK, True),
        (replace(DATABASE, kind=EventKind.SOURCE_AUTH_FAILED), TASK, True),
        (replace(DATABASE, kind=EventKind.SOURCE_CONNECTION_FAILED), NO_EVENTS, True),
        (replace(TASK, kind=EventKind.SOURCE_AUTH_FAILED), replace(TASK, connector_name="other"), False),
        (DATABASE, SINK, False),
        (DATABASE, NARROWED, False),
        (DATABASE, LOST, False),
        (CLUSTER, replace(LOST, connector_name=None), False),
        (DATABASE, NO_EVENTS, True),
        (DATABASE, replace(CAPTURE, source_id="other"), False),
        (DATABASE, replace(CAPTURE, source_id=None), False),
        (TASK, CAPTURE, True),
        (TASK, NARROWED, False),
        (TASK, LOST, False),
        (TASK, replace(CAPTURE, pipeline_id="other"), False),
        (TASK, replace(NO_EVENTS, connector_name="c", connect_cluster_id="k"), True),
        (LOST, SLOT, True),
        (LOST, CAPTURE, True),
        (LOST, TASK, True),
        (LOST, SINK, False),
        (TARGET, SINK, True),
        (TARGET, LAG, True),
        (TARGET, TASK, False),
        (TARGET, replace(SINK, destination_id="other"), False),
        (SINK, LAG, True),
        (SINK, PIPELINE, False),
    ],
)
def test_what_a_cause_mutes(cause: AlertEvent, child: AlertEvent, mutes: bool) -> None:
    children = many(child)
    storm = storms(children, [cause])
    expected = {event.fingerprint: cause.fingerprint for event in children} if mutes else {}
    assert storm.cause_of == expected
    assert storm.affected == ({cause.fingerprint: MANY} if mutes else {})


def test_a_cluster_mutes_only_in_a_storm() -> None:
    assert storms(many(TASK, MAX_CHILDREN), [CLUSTER]).cause_of == {}


def test_a_connector_mutes_its_only_failed_task() -> None:
    assert storms([TASK], [CONNECTOR]).cause_of == {TASK.fingerprint: CONNECTOR.fingerprint}


def test_without_a_cause_nothing_is_muted() -> None:
    assert storms(many(TASK), many(TASK)).cause_of == {}


def test_the_widest_cause_mutes_the_children_and_the_narrower_cause() -> None:
    named = [CLUSTER, CONNECTOR, *many(TASK)]
    storm = storms(named, named)
    assert set(storm.cause_of.values()) == {CLUSTER.fingerprint}
    assert storm.cause_of[CONNECTOR.fingerprint] == CLUSTER.fingerprint
    assert CLUSTER.fingerprint not in storm.cause_of


# what was sent before its cause was found


def fires(event: AlertEvent, *, told: bool = True) -> Alert:
    alert = opened(event, Track(id=event.fingerprint, created_at=NOW).began("alert", NOW), "origin", NOW)
    return replace(alert, sent_to={"channel": ("rule",)}) if told else alert


@pytest.mark.parametrize(
    ("sent", "cause", "stands"),
    [
        (TASK, DATABASE, True),
        (SINK, TARGET, True),
        (SLOT, LOST, True),
        (NO_EVENTS, DATABASE, True),
        (TASK, LOST, False),
        (NO_EVENTS, LOST, False),
        (SINK, DATABASE, False),
    ],
)
def test_a_consequence_that_was_sent_stands_for_its_cause(sent: AlertEvent, cause: AlertEvent, stands: bool) -> None:
    expected = {cause.fingerprint: sent.fingerprint} if stands else {}
    assert sent_before([cause], [fires(sent)]) == expected
    assert sent_before([cause], [fires(sent, told=False)]) == {}


def test_only_alerts_near_what_is_new_are_compared_with_it() -> None:
    near, far = (facets(source_id=source_id) for source_id in ("s", "other"))
    assert related([DATABASE], [near, far]) == [near.id]


def facets(source_id: str) -> Facets:
    return Facets(
        id=f"alert of {source_id}", status=AlertStatus.FIRING, without_silence=AlertStatus.FIRING, silenced_until=None,
        severity=AlertSeverity.CRITICAL, kind=EventKind.CONNECT_TASK_FAILED, pipeline_id=None, source_id=source_id,
        emitter_id=None, not_sent=None,
    )  # fmt: skip
