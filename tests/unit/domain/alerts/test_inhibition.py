"""What each cause mutes, as a table: every kind of cause with every kind of child."""

from dataclasses import replace

import pytest

from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.inhibition import MAX_CHILDREN, sources_in_question, storms
from chalicelib.domain.event_kind import EventKind
from tests.unit.domain.alerts.test_transitions import EVENT

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
        (DATABASE, TASK, False),
        (DATABASE, LOST, False),
        (CLUSTER, replace(LOST, connector_name=None), False),
        (DATABASE, NO_EVENTS, False),
        (DATABASE, replace(CAPTURE, source_id="other"), False),
        (DATABASE, replace(CAPTURE, source_id=None), False),
        (TASK, CAPTURE, False),
    ],
)
def test_what_a_cause_mutes(cause: AlertEvent, child: AlertEvent, mutes: bool) -> None:
    children = many(child)
    storm = storms(children, [cause])
    expected = {event.fingerprint: cause.fingerprint for event in children} if mutes else {}
    assert storm.cause_of == expected
    assert storm.affected == ({cause.fingerprint: MANY} if mutes else {})


def test_ten_children_are_no_storm() -> None:
    assert storms(many(TASK, MAX_CHILDREN), [CONNECTOR]).cause_of == {}


def test_without_a_cause_nothing_is_muted() -> None:
    assert storms(many(TASK), many(TASK)).cause_of == {}


def test_the_widest_cause_mutes_the_children_and_the_narrower_cause() -> None:
    named = [CLUSTER, CONNECTOR, *many(TASK)]
    storm = storms(named, named)
    assert set(storm.cause_of.values()) == {CLUSTER.fingerprint}
    assert storm.cause_of[CONNECTOR.fingerprint] == CLUSTER.fingerprint
    assert CLUSTER.fingerprint not in storm.cause_of


def test_a_source_is_asked_about_only_when_it_could_be_the_cause_of_a_storm() -> None:
    assert sources_in_question(many(CAPTURE)) == {"s"}
    assert sources_in_question(many(CAPTURE, MAX_CHILDREN)) == frozenset()
    assert sources_in_question(many(TASK)) == frozenset()
