"""What becomes an event, at whose timeline, and who did it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.domain.access import Actor, Role
from chalicelib.domain.alerts.alert import MAX_HISTORY, Alert, Resolution
from chalicelib.domain.alerts.event import AlertEvent, Emitter
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.track import Track
from chalicelib.domain.alerts.transitions import acknowledged, observed, opened, resolved, silenced, unsilenced
from chalicelib.domain.event_kind import EventKind
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.incident import Associations, Incident, IncidentStatus
from chalicelib.domain.schema.change import Alteration, SchemaChange
from chalicelib.domain.schema.version import SchemaVersion
from chalicelib.domain.timeline.event import (
    MAX_ALTERATIONS,
    AlertChange,
    AlertMove,
    EntryActor,
    IncidentChange,
    TableChange,
    alert_events,
    incident_event,
    schema_event,
)

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
ANN = Actor(id="a", email="ann@example.com", role=Role.OPS, via="session")
EVENT = AlertEvent(
    kind=EventKind.CONNECTOR_FAILED, severity=AlertSeverity.WARNING, connector_name="c", connect_cluster_id="k",
    emitter=Emitter(type="source", id="s", name="shop"), pipeline_id="p", error="It has failed.", hint=None,
    condition_key="pipeline/p/c//CONNECTOR_FAILED",
)  # fmt: skip
TRACK = Track(id=EVENT.fingerprint, created_at=NOW).began("alert", NOW)
FIRING = opened(EVENT, TRACK, "origin", NOW)


def at(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


def moves(before: Alert | None, alert: Alert) -> list[AlertMove]:
    changes = [event.change for event in alert_events(before, alert, ANN)]
    return [change.move for change in changes if isinstance(change, AlertChange)]


def test_each_thing_that_becomes_of_an_alert_is_an_event() -> None:
    silent = silenced(FIRING, "ann@example.com", None, None, at(1))
    known = acknowledged(FIRING, "ann@example.com", at(1))
    worse = replace(EVENT, severity=AlertSeverity.CRITICAL)
    over = resolved(FIRING, TRACK, at(3), Resolution.RECOVERED, at(3))
    assert [
        moves(None, FIRING), moves(FIRING, silent), moves(silent, unsilenced(silent, "ann@example.com", at(2))),
        moves(FIRING, known), moves(silent, acknowledged(silent, "ann@example.com", at(2))),
        moves(FIRING, observed(FIRING, worse, "origin", at(2))), moves(FIRING, over),
        moves(FIRING, observed(FIRING, EVENT, "origin", at(2))),
    ] == [
        [AlertMove.FIRED], [AlertMove.SILENCED], [AlertMove.UNSILENCED], [AlertMove.ACKNOWLEDGED],
        [AlertMove.ACKNOWLEDGED], [AlertMove.RAISED], [AlertMove.RESOLVED], [],
    ]  # fmt: skip


def test_the_end_of_a_silence_is_no_acknowledgement() -> None:
    known = acknowledged(FIRING, "ann@example.com", at(1))
    silent = silenced(known, "ann@example.com", None, None, at(2))
    assert moves(silent, unsilenced(silent, "ann@example.com", at(3))) == [AlertMove.UNSILENCED]


def test_a_full_history_has_one_more_event() -> None:
    alert = FIRING
    for minute in range(MAX_HISTORY + 20):
        before, alert = alert, silenced(alert, "ann@example.com", None, None, at(minute))
        assert moves(before, alert) == [AlertMove.SILENCED]


def test_a_person_is_named_and_headgate_is_not() -> None:
    silent = silenced(FIRING, "ann@example.com", None, None, at(1))
    changes = [event.change for event in (*alert_events(None, FIRING, ANN), *alert_events(FIRING, silent, ANN))]
    actors = [change.actor for change in changes if isinstance(change, AlertChange)]
    assert actors == [None, EntryActor(id="a", email="ann@example.com", via="session")]


@pytest.mark.parametrize(
    ("about", "pipeline_id", "owner"),
    [
        (("pipeline", "p"), None, ("pipeline", "p")), (("delivery", "d"), "p", ("delivery", "d")),
        (("source", "s"), "p", ("pipeline", "p")), (("source", "s"), None, None),
        (("connect_cluster", "k"), None, None),
    ],
)  # fmt: skip
def test_an_incident_is_in_the_timeline_of_its_resource_or_of_the_only_pipeline_concerned(
    about: tuple[str, str], pipeline_id: str | None, owner: tuple[str, str] | None
) -> None:
    condition = Condition(
        code=ConditionCode.STALLED, resource_type=about[0], resource_id=about[1], message="m", pipeline_id=pipeline_id
    )
    incident = Incident(
        id="i", condition=condition, associations=Associations(), origin="o", first_seen_at=NOW, last_seen_at=NOW,
        created_at=NOW,
    )  # fmt: skip
    event = incident_event(None, incident, NOW, ANN)
    assert (event and (event.resource_type, event.resource_id)) == owner
    assert incident_event(IncidentStatus.OPEN, incident, NOW) is None
    if event:
        assert isinstance(event.change, IncidentChange)
        assert event.change.actor == EntryActor(id="a", email="ann@example.com", via="session")


def test_the_first_version_of_a_schema_is_no_event_and_later_ones_name_few_changes() -> None:
    changes = (SchemaChange(change=Alteration.TYPE_CHANGED, column="c"),) * 50
    version = SchemaVersion(
        id="v", source_id="s", schema_name="shop", table_name="orders", version=2, schema_hash=None, schema=None,
        diff=changes, discovered_at=NOW,
    )  # fmt: skip
    event = schema_event(version)
    assert event
    assert (event.resource_type, event.resource_id, event.at) == ("source", "s", NOW)
    assert isinstance(event.change, TableChange)
    assert (len(event.change.alterations), event.change.count) == (MAX_ALTERATIONS, 50)
    assert schema_event(replace(version, version=1)) is None
