"""Alerts: lists, the summary, and what operators do about them."""

import itertools
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import boto3
import pytest

from chalicelib.domain.access import SYSTEM
from chalicelib.domain.alerts.alert import Alert, AlertStatus, Resolution
from chalicelib.domain.alerts.kinds import AlertSeverity
from chalicelib.domain.alerts.listing import AlertFilter, StatusFilter
from chalicelib.domain.event_kind import EventKind
from chalicelib.errors import Conflict, Invalid, TimedOut
from chalicelib.kit.ids import id_from, new_id
from chalicelib.services.alerts.alerts import LONGEST_SILENCE, RECENT, AlertService, Silence
from tests.bench.dynamodb_meter import metered
from tests.support.alerting.notifications import notification
from tests.support.alerting.rows import (
    PIPELINES,
    SOURCES,
    an_alert,
    an_event,
    newest_first,
    put_alerts,
    random_alerts,
    stored,
)
from tests.support.apps.in_process_app import ADMIN, START_TIME, InProcessApp
from tests.support.dynamodb.items import item_size
from tests.support.faults import places
from tests.support.stored import put

FIRING, ACKNOWLEDGED, SILENCED, RESOLVED = AlertStatus
HOUR, SECOND = timedelta(hours=1), timedelta(seconds=1)


def alerts(app: InProcessApp) -> AlertService:
    return app.services.alerting.alerts


@pytest.fixture
def alert(app: InProcessApp) -> Alert:
    """An alert that fires."""
    return stored(app, an_alert())


# what operators do


def test_a_move_without_a_person_has_the_actor_system(app: InProcessApp, alert: Alert) -> None:
    seen = alerts(app).acknowledge(replace(app.context(), actor=SYSTEM), alert.id, None)
    assert seen.acknowledged_by == "system"


def test_each_move_leaves_one_meaningful_audit_record(app: InProcessApp, alert: Alert) -> None:
    alerts(app).acknowledge(app.context(), alert.id, "on it")
    app.clock.advance(1)
    alerts(app).silence(app.context(), alert.id, Silence(duration=HOUR, reason="maintenance"))
    app.clock.advance(1)
    alerts(app).unsilence(app.context(), alert.id)
    newest, silence, acknowledge = app.audit_records(alert.id, meaningful=True)
    assert [record.action for record in (acknowledge, silence, newest)] == [
        "alert.acknowledge", "alert.silence", "alert.unsilence",
    ]  # fmt: skip
    assert acknowledge.before == {"status": "firing"}
    assert acknowledge.after == {"status": "acknowledged", "event_type": "CONNECT_TASK_FAILED", "note": "on it"}
    assert (silence.before or {})["status"] == "acknowledged"
    assert (silence.after or {})["reason"] == "maintenance"
    assert (silence.after or {})["silenced_until"] == "2026-01-31T13:00:01.000Z"
    assert (newest.after or {})["status"] == "acknowledged"
    assert {(record.actor_email, record.parent_id, record.outcome) for record in (acknowledge, silence, newest)} == {
        (ADMIN.email, PIPELINES[0], "success")
    }


def test_unsilencing_what_is_not_silenced_changes_nothing_and_leaves_no_record(app: InProcessApp, alert: Alert) -> None:
    assert alerts(app).unsilence(app.context(), alert.id) == alert
    assert app.audit_records(alert.id, meaningful=True) == []
    assert app.services.stores.alerts.alerts.get(alert.id).revision == alert.revision


def test_a_silence_that_has_expired_is_seen_as_over_before_anything_is_written(app: InProcessApp, alert: Alert) -> None:
    alerts(app).silence(app.context(), alert.id, Silence(duration=timedelta(seconds=600)))
    app.clock.advance(600)
    seen = alerts(app).get(alert.id)
    assert (seen.status, seen.silenced_until, seen.silenced_by) == (FIRING, None, None)
    app.clock.advance(100)
    assert alerts(app).get(alert.id) == seen
    assert seen.history[-1].at == START_TIME + timedelta(seconds=600)
    assert app.services.stores.alerts.alerts.get(alert.id).status is SILENCED
    assert alerts(app).summary(app.context()).by_status == {FIRING: 1, ACKNOWLEDGED: 0, SILENCED: 0, RESOLVED: 0}


@pytest.mark.parametrize(
    "until", [START_TIME, START_TIME - HOUR, START_TIME + SECOND * 59, START_TIME + LONGEST_SILENCE + SECOND]
)
def test_a_silence_that_ends_in_the_past_or_at_once_or_much_later_is_refused(
    app: InProcessApp, alert: Alert, until: datetime
) -> None:
    with pytest.raises(Invalid) as refused:
        alerts(app).silence(app.context(), alert.id, Silence(until=until))
    assert places(refused.value.details) == [{"location": ["body", "until"], "type": "out_of_range"}]
    assert alerts(app).get(alert.id) == alert


def test_a_resolved_alert_cannot_be_moved(app: InProcessApp) -> None:
    alert = stored(app, an_alert(status=RESOLVED, resolved_at=START_TIME, resolution=Resolution.RECOVERED))
    for move in (
        lambda: alerts(app).acknowledge(app.context(), alert.id, None),
        lambda: alerts(app).silence(app.context(), alert.id, Silence()),
        lambda: alerts(app).unsilence(app.context(), alert.id),
    ):
        with pytest.raises(Conflict) as refused:
            move()
        assert refused.value.code == "STATE_CONFLICT"
    assert alerts(app).get(alert.id) == alert
    assert app.audit_records(alert.id, meaningful=True) == []


class Observing:
    """A clock during whose first readings an observation is stored: the move that reads it is too late."""

    def __init__(self, app: InProcessApp, alert_id: str, times: int, **changes: object) -> None:
        self.app, self.alert_id, self.times, self.changes = app, alert_id, times, changes

    def __call__(self) -> datetime:
        if self.times:
            self.times -= 1
            store = self.app.services.stores.alerts.alerts
            seen = store.get(self.alert_id)
            store.save_alone(replace(seen, occurrence_count=seen.occurrence_count + 1, **self.changes))
        return self.app.clock()


def test_a_move_that_races_observations_is_made_after_them(app: InProcessApp, alert: Alert) -> None:
    racing = replace(alerts(app), clock=Observing(app, alert.id, times=4))
    seen = racing.acknowledge(app.context(), alert.id, None)
    assert (seen.status, seen.occurrence_count) == (ACKNOWLEDGED, 5)
    assert alerts(app).get(alert.id) == seen
    assert len(app.audit_records(alert.id, meaningful=True)) == 1


def test_a_recovery_that_was_faster_wins(app: InProcessApp, alert: Alert) -> None:
    over = {"status": RESOLVED, "resolved_at": START_TIME, "resolution": Resolution.RECOVERED}
    racing = replace(alerts(app), clock=Observing(app, alert.id, times=1, **over))
    with pytest.raises(Conflict, match="resolved"):
        racing.acknowledge(app.context(), alert.id, None)
    assert alerts(app).get(alert.id).acknowledged_at is None


def test_a_move_gives_up_when_it_is_always_too_late(app: InProcessApp, alert: Alert) -> None:
    racing = replace(alerts(app), clock=Observing(app, alert.id, times=99))
    with pytest.raises(Conflict, match="same moment"):
        racing.silence(app.context(), alert.id, Silence())
    assert app.audit_records(alert.id, meaningful=True) == []


# lists


def passes(alert: Alert, only: AlertFilter, now: datetime) -> bool:
    """What the contract says, field by field."""
    status = alert.status
    if status is SILENCED and alert.silenced_until and alert.silenced_until <= now:
        status = ACKNOWLEDGED if alert.acknowledged_at else FIRING
    if only.status is not None and only.status.value not in (status.value, status is not RESOLVED and "active"):
        return False
    if only.severity is not None and alert.event.severity is not only.severity:
        return False
    if only.event_type is not None and alert.event.kind is not only.event_type:
        return False
    if only.pipeline_id is not None and alert.event.pipeline_id != only.pipeline_id:
        return False
    return only.source_id is None or only.source_id in (alert.event.source_id, alert.event.emitter.id)


COMBINATIONS = [
    AlertFilter(status=status, severity=severity, event_type=kind, pipeline_id=pipeline_id, source_id=source_id)
    for status, severity, kind, pipeline_id, source_id in itertools.product(
        (None, *StatusFilter),
        (None, *AlertSeverity),
        (None, EventKind.CONNECTOR_FAILED, EventKind.PIPELINE_LAG_HIGH),
        (None, PIPELINES[0], id_from("pipeline", "unknown")),
        (None, SOURCES[1], id_from("destination", "1")),
    )
]


def test_every_combination_of_filters_equals_brute_force_over_a_thousand_alerts(app: InProcessApp) -> None:
    every = newest_first(random_alerts(1000, seed=7))
    put_alerts(app, every)
    facets = app.services.stores.alerts.alerts.facets(app.context(seconds=600).deadline)
    assert [facet.id for facet in facets] == [alert.id for alert in every]
    sizes = Counter[bool]()
    for only in COMBINATIONS:
        expected = [alert.id for alert in every if passes(alert, only, START_TIME)]
        assert [facet.id for facet in facets if only.accepts(facet, START_TIME)] == expected, only
        sizes[bool(expected)] += 1
    assert len(COMBINATIONS) == 648
    assert sizes[True] > 200


@pytest.mark.parametrize("status", [None, *StatusFilter])
def test_pages_together_are_the_whole_list_and_the_total_is_exact(
    app: InProcessApp, status: StatusFilter | None
) -> None:
    every = newest_first(random_alerts(120, seed=11))
    put_alerts(app, every)
    only = AlertFilter(status=status, severity=AlertSeverity.CRITICAL)
    expected = [alert.id for alert in every if passes(alert, only, START_TIME)]
    numbers = range(1, len(expected) // 7 + 3)
    pages = [alerts(app).list(app.context(seconds=600), only, page=page, page_size=7) for page in numbers]
    assert [alert.id for page in pages for alert in page.items] == expected
    assert {page.total for page in pages} == {len(expected)}
    assert pages[-1].items == []


def test_a_list_that_takes_too_long_ends_as_a_time_out(app: InProcessApp) -> None:
    stored(app, an_alert())
    with pytest.raises(TimedOut):
        alerts(app).list(app.context(seconds=0), AlertFilter(), page=1, page_size=50)


def test_the_summary_is_what_the_lists_say(app: InProcessApp) -> None:
    every = newest_first(random_alerts(150, seed=3))
    put_alerts(app, every)
    summary = alerts(app).summary(app.context(seconds=600))

    def total(**only: object) -> int:
        return alerts(app).list(app.context(seconds=600), AlertFilter(**only), page=1, page_size=1).total  # type: ignore[arg-type]

    assert summary.active == total(status=StatusFilter.ACTIVE)
    assert summary.by_status == {status: total(status=StatusFilter(status.value)) for status in AlertStatus}
    assert summary.by_severity == {
        severity: total(status=StatusFilter.ACTIVE, severity=severity) for severity in AlertSeverity
    }
    assert [alert.id for alert in summary.recent] == [alert.id for alert in every[:RECENT]]


def test_an_installation_without_alerts_has_a_summary_of_zeros(app: InProcessApp) -> None:
    summary = alerts(app).summary(app.context())
    assert (summary.active, set(summary.by_status.values()), set(summary.by_severity.values())) == (0, {0}, {0})
    assert summary.recent == []
    assert alerts(app).list(app.context(), AlertFilter(), page=1, page_size=50).total == 0


def test_the_overview_counts_active_alerts(app: InProcessApp) -> None:
    stored(app, an_alert(1))
    stored(app, an_alert(2, event=an_event(severity=AlertSeverity.WARNING, task_id=2)))
    stored(app, an_alert(3, status=RESOLVED, resolved_at=START_TIME))
    overview = app.services.overview.read()
    assert (overview.active_alerts, overview.critical_alerts) == (2, 1)


def test_indexes_without_bodies_still_lead_to_whole_alerts(app: InProcessApp) -> None:
    every = newest_first(random_alerts(130, seed=5))
    put_alerts(app, every)
    store = app.services.stores.alerts.alerts
    assert [alert.id for alert in store.all()] == [alert.id for alert in every]
    active = [alert for alert in every if alert.is_active]
    assert list(store.all_in("active", "active")) == active
    assert "body" not in store.table.by_listing.Meta.projection.non_key_attributes  # type: ignore[attr-defined]


def test_the_summary_counts_resolved_alerts_without_receiving_them(app: InProcessApp) -> None:
    over = {"status": RESOLVED, "resolved_at": START_TIME}
    received = []
    for count in (100, 500):
        put_alerts(app, (an_alert(number, START_TIME - timedelta(seconds=number), **over) for number in range(count)))
        with metered() as seen:
            assert alerts(app).summary(app.context(seconds=600)).by_status[RESOLVED] == count
        received.append(seen.bytes_received)
    assert received[1] - received[0] < 1000


@pytest.mark.parametrize(("index", "most"), [("by_listing", 390), ("by_active", 390), ("by_resolved", 125)])
def test_an_index_that_is_walked_has_a_few_hundred_bytes_of_each_alert(
    app: InProcessApp, index: str, most: int
) -> None:
    """A page of a query is 1 MB of what the index has of its rows: about 2,700 and 8,500 of them."""
    long = {"kind": EventKind.DESTINATION_CONNECTION_FAILED, "task_id": 99}
    silenced = {"status": SILENCED, "silenced_until": START_TIME + HOUR, "acknowledged_at": START_TIME}
    state = {"status": RESOLVED, "resolved_at": START_TIME} if index == "by_resolved" else silenced
    stored(app, an_alert(event=an_event(**long), **state))
    group = index.removeprefix("by_")
    answer = boto3.client("dynamodb").query(
        TableName="headgate-alerts",
        IndexName=index,
        KeyConditionExpression="#g = :v",
        ExpressionAttributeNames={"#g": group},
        ExpressionAttributeValues={":v": {"S": "alert" if group == "listing" else group}},
    )
    ((row,), size) = answer["Items"], item_size(answer["Items"][0])
    assert "body" not in row
    assert size <= most


# deliveries


def test_the_deliveries_of_an_alert_are_its_own_newest_first(app: InProcessApp) -> None:
    alert, other = stored(app, an_alert(1)), stored(app, an_alert(2))
    rows = [
        notification(id=new_id(), alert_id=about.id, created_at=START_TIME + timedelta(seconds=number))
        for number, about in enumerate((alert, alert, other))
    ]
    put(app.services.stores.alerts.notifications, *rows)
    assert [row.id for row in alerts(app).deliveries(alert.id)] == [rows[1].id, rows[0].id]
