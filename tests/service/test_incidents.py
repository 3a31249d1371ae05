"""Incidents: what reports, requests and people make of them."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.monitoring.condition import Condition, ConditionCode, Severity
from chalicelib.domain.monitoring.episodes import Episodes, Sight
from chalicelib.domain.monitoring.incident import OPERATIONS, Incident, IncidentStatus
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.errors import Conflict, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.stores.transaction import Transaction
from tests.support.apps.call_interceptor import InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.log_lines import logged

OPEN, ACKNOWLEDGED, RESOLVED = IncidentStatus
ORIGIN = "connect_cluster/k"


def condition(code: ConditionCode = ConditionCode.CONNECTOR_FAILED, resource_id: str = "p") -> Condition:
    return Condition(code=code, resource_type="pipeline", resource_id=resource_id, message="It has failed.")


def existing(app: InProcessApp) -> Condition:
    """A condition of a pipeline that exists."""
    return condition(resource_id=app.pipeline().id)


def report(
    app: InProcessApp, *conditions: Condition, after: float = 1, seconds: float = 120, origin: str = ORIGIN, **more: Any
) -> Episodes:
    """Time passes, and a look finds that exactly these are wrong; what goes on."""
    app.clock.advance(after)
    found = MonitorReport(origin=origin, at=app.clock(), conditions=conditions, **more)
    return app.services.incidents.record(found, Deadline.after(seconds))


def settle(app: InProcessApp, *, after: float = 1, origin: str = ORIGIN, **found: Any) -> bool:
    """Time passes, and a request finds that something began or ended; whether that changes anything."""
    app.clock.advance(after)
    transaction = Transaction()
    changed = app.services.incidents.settle(transaction, origin, app.clock(), correlation_id="c", **found)
    if changed:
        transaction.commit()
    return changed


def only(app: InProcessApp) -> Incident:
    (found,) = app.services.incidents.list(limit=500).items
    return found


def statuses(app: InProcessApp) -> list[IncidentStatus]:
    return [incident.status for incident in app.services.incidents.list(limit=500).items]


# reports


def test_a_report_opens_what_is_new_and_resolves_what_is_gone(app: InProcessApp) -> None:
    report(app, condition(resource_id="p"), condition(resource_id="q"))
    episodes = report(app, condition(resource_id="q"), condition(resource_id="r"))
    found = {incident.condition.resource_id: incident for incident in app.services.incidents.list(limit=500).items}
    assert {name: incident.status for name, incident in found.items()} == {"p": RESOLVED, "q": OPEN, "r": OPEN}
    assert found["q"].occurrences == 1
    assert {(episode.condition.resource_id, episode.sight) for episode in episodes.going_on.values()} == {
        ("q", Sight.SEEN),
        ("r", Sight.SEEN),
    }


def test_a_line_of_the_log_says_that_an_incident_was_opened_or_resolved(app: InProcessApp) -> None:
    with logged() as stream:
        report(app, condition(), correlation_id="of-the-tick")
        report(app, condition())
        app.services.incidents.move(app.context(), only(app).id, ACKNOWLEDGED)
        report(app)
        settle(app, began=[condition()])
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line.get("before"), line["status"], line["correlation_id"]) for line in lines] == [
        (None, "OPEN", "of-the-tick"),
        ("OPEN", "ACKNOWLEDGED", "of-the-tick"),
        ("ACKNOWLEDGED", "RESOLVED", "of-the-tick"),
        (None, "OPEN", "c"),
    ]
    assert {(line["message"], line["code"], line["resource_type"], line["resource_id"]) for line in lines} == {
        ("incident", "CONNECTOR_FAILED", "pipeline", "p"),
    }


def test_an_incident_that_could_not_be_stored_has_no_line(app: InProcessApp) -> None:
    report(app, condition())
    claim_again = Transaction()
    app.services.incidents.settle(claim_again, ORIGIN, app.clock(), ended=[condition()], correlation_id="c")
    report(app)
    with logged() as stream, pytest.raises(WriteConflict):
        claim_again.commit()
    assert stream.getvalue() == ""


def test_what_gets_worse_is_counted_again_and_what_gets_better_is_not(app: InProcessApp) -> None:
    worse, better = condition(), replace(condition(), severity=Severity.WARNING)
    for found, occurrences in ((better, 1), (better, 1), (worse, 2), (better, 2)):
        report(app, found)
        assert only(app).occurrences == occurrences
    assert only(app).condition == worse


def test_an_incident_is_not_ended_by_what_another_origin_has_observed(app: InProcessApp) -> None:
    report(app, condition())
    report(app, origin="source/s")
    assert not settle(app, ended=[condition()], origin="source/s")
    assert only(app).status is OPEN


def test_what_another_origin_has_found_already_is_not_opened_twice(app: InProcessApp) -> None:
    report(app, condition())
    episodes = report(app, condition(), origin="source/s")
    assert (only(app).origin, len(episodes.going_on)) == (ORIGIN, 1)


def test_lost_rows_stay_open_when_the_connector_goes_on_and_a_second_gap_is_counted(app: InProcessApp) -> None:
    lost = replace(condition(ConditionCode.CHANGES_LOST), connector_name="c")
    for conditions, occurrences in (((lost,), 1), ((lost,), 1), ((), 1), ((), 1), ((lost,), 2), ((lost,), 2)):
        episodes = report(app, *conditions)
        assert (only(app).status, only(app).occurrences, len(episodes.going_on)) == (OPEN, occurrences, 1)


def test_a_thousand_conditions_open_a_thousand_incidents_once(app: InProcessApp) -> None:
    many = [condition(resource_id=f"p{number}") for number in range(1000)]
    app.interceptor.watch()
    report(app, *many)
    calls = len(app.interceptor.unwatch())
    assert report(app, *many).complete
    assert len(list(app.services.incidents.store.all())) == 1000
    assert calls < 100


def test_a_report_without_anything_new_costs_one_query(app: InProcessApp) -> None:
    report(app, condition())
    app.interceptor.watch()
    report(app, condition())
    assert [point.operation for point in app.interceptor.unwatch()] == ["Query"]


def test_what_there_was_no_time_for_is_left_to_the_next_report(app: InProcessApp) -> None:
    many = [condition(resource_id=f"p{number}") for number in range(100)]
    episodes = report(app, *many, seconds=-1)
    assert not episodes.complete
    assert 0 < len(episodes.going_on) == len(statuses(app)) < 100
    assert report(app, *many).complete
    assert statuses(app) == [OPEN] * 100


def test_reports_that_are_late_before_they_store_anything_open_all_incidents_in_the_end(app: InProcessApp) -> None:
    many = [condition(resource_id=f"p{number}") for number in range(100)]
    complete = [report(app, *many, seconds=-1).complete for _ in range(4)]
    assert (complete[-1], statuses(app)) == (True, [OPEN] * 100)


def test_an_index_that_lags_opens_and_counts_nothing_again(app: InProcessApp) -> None:
    before = app.tables.snapshot()
    report(app, condition())
    lagging = {name: rows for name, rows in before.items() if name.endswith("incidents")}

    def mode(point: Point, call: InterceptedCall) -> object:
        if point.operation == "Query":
            with app.tables.showing(lagging):
                return call()
        return call()

    app.interceptor.watch(mode)
    episodes = report(app, condition())
    app.interceptor.unwatch()
    assert (only(app).status, only(app).occurrences, len(episodes.going_on)) == (OPEN, 1, 1)


def test_a_person_who_is_faster_is_not_overruled(app: InProcessApp) -> None:
    about = existing(app)
    report(app, about)

    def move_first(point: Point, call: InterceptedCall) -> object:
        if point.operation == "TransactWriteItems":
            app.interceptor.unwatch()
            app.services.incidents.move(app.context(), only(app).id, RESOLVED)
        return call()

    app.interceptor.watch(move_first)
    assert report(app).complete
    assert (only(app).status, only(app).dismissed) == (RESOLVED, False)


# requests


def test_a_failure_that_is_found_again_is_counted(app: InProcessApp) -> None:
    settle(app, began=[condition()])
    first = only(app)
    settle(app, began=[condition()])
    second = only(app)
    assert (second.id, second.occurrences, second.first_seen_at) == (first.id, 2, first.first_seen_at)
    assert second.last_seen_at - first.last_seen_at == timedelta(seconds=1)


def test_a_request_ends_what_it_finds_well_whatever_the_clock_says(app: InProcessApp) -> None:
    settle(app, began=[condition()])
    assert settle(app, ended=[condition()], after=-3600)
    assert (only(app).status, only(app).resolved_at) == (RESOLVED, only(app).last_seen_at)
    assert not settle(app, ended=[condition()])


def test_a_failed_operation_that_a_person_has_resolved_does_not_go_on_until_it_fails_again(app: InProcessApp) -> None:
    settle(app, began=[condition()], origin=OPERATIONS)
    assert len(report(app, origin=OPERATIONS, repeated=True).going_on) == 1
    incident_id = only(app).id
    app.services.incidents.move(app.context(), incident_id, RESOLVED)
    assert report(app, origin=OPERATIONS, repeated=True).going_on == {}
    settle(app, began=[condition()], origin=OPERATIONS)
    opened = only(app)
    assert (opened.id, opened.status, opened.occurrences, opened.resolved_at) == (incident_id, OPEN, 2, None)


# people


def test_the_few_active_incidents_among_many_of_a_pipeline_are_found_in_one_call(app: InProcessApp) -> None:
    report(app, condition(), *(replace(condition(), task_id=number) for number in range(60)))
    report(app, condition())
    app.interceptor.watch()
    page = app.services.incidents.list(limit=1, pipeline_id="p", active=True)
    assert len(app.interceptor.unwatch()) == 1
    assert [incident.condition for incident in page.items] == [condition()]


def test_what_a_person_resolves_never_ends_before_it_began(app: InProcessApp) -> None:
    report(app, condition())
    app.clock.advance(-3600)
    app.services.incidents.move(app.context(), only(app).id, RESOLVED)
    assert only(app).resolved_at == only(app).last_seen_at


def test_people_move_incidents_as_the_contract_allows_and_each_move_is_audited(app: InProcessApp) -> None:
    report(app, existing(app))
    incident_id = only(app).id
    for status in (ACKNOWLEDGED, OPEN, RESOLVED, OPEN, ACKNOWLEDGED, RESOLVED):
        app.clock.advance(1)
        assert app.services.incidents.move(app.context(), incident_id, status) == only(app)
        assert (only(app).status, only(app).resolved_at is None) == (status, status is not RESOLVED)
    with pytest.raises(Conflict):
        app.services.incidents.move(app.context(), incident_id, ACKNOWLEDGED)
    verbs = ("resolve", "acknowledge", "reopen", "resolve", "reopen", "acknowledge")
    assert records(app, incident_id) == [f"incident.{verb}" for verb in verbs]


def test_the_status_that_it_has_already_changes_nothing_and_leaves_no_record(app: InProcessApp) -> None:
    report(app, condition())
    before = only(app)
    app.services.incidents.move(app.context(), before.id, OPEN)
    assert only(app) == before
    assert records(app, before.id) == []


def records(app: InProcessApp, incident_id: str) -> list[str]:
    """The actions of its audit records, the newest first."""
    page = app.services.audit.list(
        limit=100, after=None, resource_id=incident_id, include_related=False, meaningful=None
    )
    return [record.action for record in page.items]


def test_an_acknowledged_incident_stays_so_when_its_condition_begins_again(app: InProcessApp) -> None:
    report(app, condition())
    app.services.incidents.move(app.context(), only(app).id, ACKNOWLEDGED)
    settle(app, began=[condition()])
    assert (only(app).status, only(app).occurrences) == (ACKNOWLEDGED, 2)


def test_what_begins_after_an_incident_was_resolved_is_another_incident(app: InProcessApp) -> None:
    report(app, condition())
    app.services.incidents.move(app.context(), only(app).id, RESOLVED)
    report(app)
    report(app, condition())
    assert statuses(app) == [OPEN, RESOLVED]


def test_an_incident_is_not_opened_again_while_another_about_the_same_is_open(app: InProcessApp) -> None:
    about = existing(app)
    report(app, about)
    first = only(app).id
    app.services.incidents.move(app.context(), first, RESOLVED)
    report(app)
    report(app, about)
    with pytest.raises(Conflict, match="Another incident about the same is open"):
        app.services.incidents.move(app.context(), first, OPEN)


def test_what_is_about_something_that_was_deleted_is_not_opened_again(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    report(app, condition(resource_id=pipeline.id))
    app.services.pipelines.delete(app.context(), pipeline.id)
    with pytest.raises(Conflict, match="was deleted, so it cannot be opened again"):
        app.services.incidents.move(app.context(), only(app).id, OPEN)
    assert statuses(app) == [RESOLVED]


def test_one_that_a_deletion_did_not_see_is_ended_by_the_schedule_and_all_others_stay(app: InProcessApp) -> None:
    about, installation = existing(app), replace(condition(), resource_type="installation", resource_id="headgate")
    report(app, condition(resource_id=new_id()), about, installation)
    assert app.services.incidents.end_about_deleted() == 1
    active = app.services.incidents.list(limit=9, active=True).items
    assert {incident.condition for incident in active} == {about, installation}
    assert app.services.incidents.end_about_deleted() == 0


def test_filters_are_joined(app: InProcessApp) -> None:
    report(app, condition(resource_id="p"), condition(ConditionCode.STALLED, "p"), condition(resource_id="q"))
    report(app, condition(resource_id="p"), condition(resource_id="q"))
    service = app.services.incidents

    def found(**filters: object) -> set[tuple[str, str]]:
        page = service.list(limit=500, **filters)  # type: ignore[arg-type]
        return {(incident.condition.code, incident.condition.resource_id) for incident in page.items}

    assert found(pipeline_id="p") == {("CONNECTOR_FAILED", "p"), ("STALLED", "p")}
    assert found(pipeline_id="p", active=True) == {("CONNECTOR_FAILED", "p")}
    assert found(pipeline_id="p", active=False) == {("STALLED", "p")}
    assert found(active=True) == {("CONNECTOR_FAILED", "p"), ("CONNECTOR_FAILED", "q")}
    assert found(status=RESOLVED) == {("STALLED", "p")}
    assert found(status=OPEN, active=False) == set()
    assert found(destination_id="d") == set()


def test_what_a_person_resolves_is_not_opened_by_the_next_look_at_the_same(app: InProcessApp) -> None:
    report(app, condition())
    app.services.incidents.move(app.context(), only(app).id, RESOLVED)
    for _ in range(3):
        assert len(report(app, condition(), after=60).going_on) == 1
    assert statuses(app) == [RESOLVED]


def test_what_a_person_has_resolved_can_be_opened_again_and_ends(app: InProcessApp) -> None:
    about = existing(app)
    report(app, about)
    (found,) = app.services.incidents.list(limit=2).items
    for status in (RESOLVED, OPEN, RESOLVED, OPEN):
        app.clock.advance(10)
        app.services.incidents.move(app.context(), found.id, status)
    report(app)
    assert statuses(app) == [RESOLVED]
    report(app, about)
    assert statuses(app) == [OPEN, RESOLVED]
