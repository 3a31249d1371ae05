"""Incidents: what signals and people make of them."""

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.domain.monitoring.incident import Condition, Incident, IncidentStatus, Signal
from chalicelib.errors import Conflict, NotFound, TimedOut
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.stores.transaction import Transaction
from tests.support.in_process_app import InProcessApp

OPEN, ACKNOWLEDGED, RESOLVED = IncidentStatus
ORIGIN = "connect_cluster/k"


def condition(code: str = "CONNECTOR_FAILED", resource_id: str = "p") -> Condition:
    return Condition(code=code, resource_type="pipeline", resource_id=resource_id, message="It has failed.")


def existing(app: InProcessApp) -> Condition:
    """A condition of a pipeline that exists."""
    return condition(resource_id=app.pipeline().id)


def publish(app: InProcessApp, *conditions: Condition, began: bool = True, after: float = 1) -> None:
    """A second passes, and these begin, or end."""
    app.clock.advance(after)
    now = app.clock()
    signals = [Signal(condition=one, began=began, at=now) for one in conditions]
    app.services.incidents.publish(ORIGIN, signals, Deadline.after(120))


def only(app: InProcessApp) -> Incident:
    (found,) = app.services.incidents.list(limit=500).items
    return found


def statuses(app: InProcessApp) -> list[IncidentStatus]:
    return [one.status for one in app.services.incidents.list(limit=500).items]


def test_the_same_condition_that_begins_again_is_counted(app: InProcessApp) -> None:
    publish(app, condition())
    first = only(app)
    publish(app, condition())
    second = only(app)
    assert (second.id, second.occurrences, second.first_seen_at) == (first.id, 2, first.first_seen_at)
    assert second.last_seen_at - first.last_seen_at == timedelta(seconds=1)


def test_a_signal_that_comes_twice_changes_nothing(app: InProcessApp) -> None:
    publish(app, condition())
    publish(app, condition(), after=0)
    assert only(app).occurrences == 1


def test_the_few_active_incidents_among_many_of_a_pipeline_are_found_in_one_call(app: InProcessApp) -> None:
    publish(app, condition())
    over = [condition(f"CODE_{number}") for number in range(60)]
    publish(app, *over)
    publish(app, *over, began=False)
    app.interceptor.watch()
    page = app.services.incidents.list(limit=1, pipeline_id="p", active=True)
    assert len(app.interceptor.unwatch()) == 1
    assert [one.condition for one in page.items] == [condition()]


def test_an_incident_is_not_ended_by_what_another_origin_has_observed(app: InProcessApp) -> None:
    publish(app, condition())
    app.clock.advance(1)
    end = Signal(condition=condition(), began=False, at=app.clock())
    app.services.incidents.publish("operations", [end], Deadline.after(20))
    assert only(app).status is OPEN


def test_a_late_end_does_not_resolve_what_began_after_it(app: InProcessApp) -> None:
    earlier = app.clock()
    publish(app, condition())
    late = Signal(condition=condition(), began=False, at=earlier)
    app.services.incidents.publish(ORIGIN, [late], Deadline.after(20))
    assert only(app).status is OPEN


def test_an_end_counts_although_the_clock_was_set_back_since_the_beginning(app: InProcessApp) -> None:
    publish(app, condition())
    began = only(app).first_seen_at
    app.clock.advance(-3600)
    app.services.incidents.compare(ORIGIN, [], Deadline.after(20))
    assert only(app).status is RESOLVED
    resolved_at = only(app).resolved_at
    assert resolved_at
    assert resolved_at > began


def test_an_end_that_was_not_stored_before_cannot_be_late(app: InProcessApp) -> None:
    publish(app, condition())
    app.clock.advance(-3600)
    transaction = Transaction()
    app.services.incidents.add(transaction, ORIGIN, [Signal(condition=condition(), began=False, at=app.clock())])
    transaction.commit()
    assert (only(app).status, only(app).resolved_at) == (RESOLVED, only(app).last_seen_at)


def test_what_a_person_resolves_never_ends_before_it_began(app: InProcessApp) -> None:
    publish(app, condition())
    app.clock.advance(-3600)
    app.services.incidents.move(app.context(), only(app).id, RESOLVED)
    assert only(app).resolved_at == only(app).last_seen_at


def test_a_condition_that_begins_and_ends_in_one_publication_is_a_resolved_incident(app: InProcessApp) -> None:
    now = app.clock()
    begins, ends = (Signal(condition=condition(), began=began, at=now) for began in (True, False))
    app.services.incidents.publish(ORIGIN, [begins, ends], Deadline.after(20))
    assert (only(app).status, only(app).resolved_at) == (RESOLVED, now)


@pytest.mark.parametrize("moves", [(ACKNOWLEDGED,), (ACKNOWLEDGED, OPEN), (RESOLVED,), (RESOLVED, OPEN)])
def test_people_move_incidents_as_the_contract_allows(app: InProcessApp, moves: tuple[IncidentStatus, ...]) -> None:
    publish(app, existing(app))
    incident_id = only(app).id
    for status in moves:
        assert app.services.incidents.move(app.context(), incident_id, status).status is status
    assert only(app).status is moves[-1]
    assert (only(app).resolved_at is None) == (moves[-1] is not RESOLVED)


def test_a_resolved_incident_cannot_be_acknowledged(app: InProcessApp) -> None:
    publish(app, condition())
    app.services.incidents.move(app.context(), only(app).id, RESOLVED)
    with pytest.raises(Conflict):
        app.services.incidents.move(app.context(), only(app).id, ACKNOWLEDGED)


def test_the_status_that_it_has_already_changes_nothing_and_leaves_no_record(app: InProcessApp) -> None:
    publish(app, condition())
    before = only(app)
    app.services.incidents.move(app.context(), before.id, OPEN)
    assert only(app) == before
    assert records(app, before.id) == []


def test_each_move_is_audited(app: InProcessApp) -> None:
    publish(app, existing(app))
    for status in (ACKNOWLEDGED, RESOLVED, OPEN):
        app.clock.advance(1)
        app.services.incidents.move(app.context(), only(app).id, status)
    found = records(app, only(app).id)
    assert found == ["incident.reopen", "incident.resolve", "incident.acknowledge"]


def records(app: InProcessApp, incident_id: str) -> list[str]:
    """The actions of its audit records, the newest first."""
    page = app.services.audit.list(
        limit=100, after=None, resource_id=incident_id, include_related=False, meaningful=None
    )
    return [record.action for record in page.items]


def test_an_unknown_incident_cannot_be_moved(app: InProcessApp) -> None:
    with pytest.raises(NotFound):
        app.services.incidents.move(app.context(), new_id(), RESOLVED)


def test_an_acknowledged_incident_stays_so_when_its_condition_begins_again(app: InProcessApp) -> None:
    publish(app, condition())
    app.services.incidents.move(app.context(), only(app).id, ACKNOWLEDGED)
    publish(app, condition())
    assert (only(app).status, only(app).occurrences) == (ACKNOWLEDGED, 2)


def test_what_begins_after_an_incident_was_resolved_is_another_incident(app: InProcessApp) -> None:
    publish(app, condition())
    app.services.incidents.move(app.context(), only(app).id, RESOLVED)
    publish(app, condition(), began=False)
    publish(app, condition())
    assert statuses(app) == [OPEN, RESOLVED]


def test_an_incident_is_not_opened_again_while_another_about_the_same_is_open(app: InProcessApp) -> None:
    about = existing(app)
    publish(app, about)
    first = only(app).id
    app.services.incidents.move(app.context(), first, RESOLVED)
    publish(app, about, began=False)
    publish(app, about)
    with pytest.raises(Conflict, match="Another incident about the same is open"):
        app.services.incidents.move(app.context(), first, OPEN)


def test_one_that_was_opened_again_by_hand_is_resolved_when_its_condition_ends(app: InProcessApp) -> None:
    about = existing(app)
    publish(app, about)
    incident_id = only(app).id
    app.services.incidents.move(app.context(), incident_id, RESOLVED)
    app.services.incidents.move(app.context(), incident_id, OPEN)
    publish(app, about, began=False)
    assert statuses(app) == [RESOLVED]


def test_what_is_about_something_that_was_deleted_is_not_opened_again(app: InProcessApp) -> None:
    pipeline = app.pipeline()
    publish(app, condition(resource_id=pipeline.id))
    app.services.pipelines.delete(app.context(), pipeline.id)
    with pytest.raises(Conflict, match="was deleted, so it cannot be opened again"):
        app.services.incidents.move(app.context(), only(app).id, OPEN)
    assert statuses(app) == [RESOLVED]


def test_one_that_a_deletion_did_not_see_is_ended_by_the_schedule_and_all_others_stay(app: InProcessApp) -> None:
    about, installation = existing(app), replace(condition(), resource_type="installation", resource_id="headgate")
    publish(app, condition(resource_id=new_id()), about, installation)
    assert app.services.incidents.end_about_deleted() == 1
    active = app.services.incidents.list(limit=9, active=True).items
    assert {one.condition for one in active} == {about, installation}
    assert app.services.incidents.end_about_deleted() == 0


def test_filters_are_joined(app: InProcessApp) -> None:
    publish(app, condition(resource_id="p"), condition("STALLED", "p"), condition(resource_id="q"))
    publish(app, condition("STALLED", "p"), began=False)
    service = app.services.incidents

    def found(**filters: object) -> set[tuple[str, str]]:
        page = service.list(limit=500, **filters)  # type: ignore[arg-type]
        return {(one.condition.code, one.condition.resource_id) for one in page.items}

    assert found(pipeline_id="p") == {("CONNECTOR_FAILED", "p"), ("STALLED", "p")}
    assert found(pipeline_id="p", active=True) == {("CONNECTOR_FAILED", "p")}
    assert found(pipeline_id="p", active=False) == {("STALLED", "p")}
    assert found(active=True) == {("CONNECTOR_FAILED", "p"), ("CONNECTOR_FAILED", "q")}
    assert found(status=RESOLVED) == {("STALLED", "p")}
    assert found(status=OPEN, active=False) == set()
    assert found(destination_id="d") == set()


def test_a_thousand_conditions_open_a_thousand_incidents_once(app: InProcessApp) -> None:
    many = [condition(resource_id=f"p{number}") for number in range(1000)]
    app.interceptor.watch()
    publish(app, *many)
    calls = len(app.interceptor.unwatch())
    publish(app, *many, after=0)
    assert len(list(app.services.incidents.store.all())) == 1000
    assert calls < 100


def test_what_there_was_no_time_for_is_done_when_it_is_repeated(app: InProcessApp) -> None:
    signals = [Signal(condition=condition(), began=True, at=app.clock())]
    with pytest.raises(TimedOut):
        app.services.incidents.publish(ORIGIN, signals, Deadline.after(-1))
    app.services.incidents.publish(ORIGIN, signals, Deadline.after(20))
    assert statuses(app) == [OPEN]


def test_comparing_opens_what_is_new_and_resolves_what_is_gone(app: InProcessApp) -> None:
    publish(app, condition(resource_id="p"), condition(resource_id="q"))
    app.clock.advance(1)
    app.services.incidents.compare(ORIGIN, [condition(resource_id="q"), condition(resource_id="r")], Deadline.after(20))
    found = {one.condition.resource_id: one.status for one in app.services.incidents.list(limit=500).items}
    assert found == {"p": RESOLVED, "q": OPEN, "r": OPEN}
    (kept,) = (one for one in app.services.incidents.list(limit=500).items if one.condition.resource_id == "q")
    assert kept.occurrences == 1


def test_what_a_person_resolves_is_not_opened_by_the_next_look_at_the_same(app: InProcessApp) -> None:
    same = [condition()]
    app.services.incidents.compare(ORIGIN, same, Deadline.after(20))
    app.clock.advance(10)
    (found,) = app.services.incidents.list(limit=2).items
    app.services.incidents.move(app.context(), found.id, RESOLVED)
    for _ in range(3):
        app.clock.advance(60)
        app.services.incidents.compare(ORIGIN, same, Deadline.after(20))
    assert statuses(app) == [RESOLVED]


def test_after_the_end_was_seen_it_is_a_new_incident(app: InProcessApp) -> None:
    (found,) = (publish(app, condition()), app.services.incidents.list(limit=2).items)[1]
    app.services.incidents.move(app.context(), found.id, RESOLVED)
    for conditions in ([], [condition()]):
        app.clock.advance(60)
        app.services.incidents.compare(ORIGIN, conditions, Deadline.after(20))
    assert statuses(app) == [OPEN, RESOLVED]


def test_a_failure_that_comes_again_without_having_ended_opens_what_a_person_has_resolved(app: InProcessApp) -> None:
    publish(app, condition())
    (found,) = app.services.incidents.list(limit=2).items
    app.clock.advance(10)
    app.services.incidents.move(app.context(), found.id, RESOLVED)
    publish(app, condition(), after=0)
    assert statuses(app) == [RESOLVED]
    publish(app, condition())
    (opened,) = app.services.incidents.list(limit=2).items
    assert (opened.id, opened.status, opened.occurrences, opened.resolved_at) == (found.id, OPEN, 2, None)


def test_what_a_person_has_resolved_can_be_opened_again_and_ends(app: InProcessApp) -> None:
    about = existing(app)
    publish(app, about)
    (found,) = app.services.incidents.list(limit=2).items
    for status in (RESOLVED, OPEN, RESOLVED, OPEN):
        app.clock.advance(10)
        app.services.incidents.move(app.context(), found.id, status)
    publish(app, about, began=False)
    assert statuses(app) == [RESOLVED]
    publish(app, about)
    assert statuses(app) == [OPEN, RESOLVED]


def test_a_list_that_lags_behind_opens_and_counts_nothing_again(app: InProcessApp) -> None:
    publish(app, condition())
    app.clock.advance(60)
    began = [Signal(condition=condition(), began=True, at=app.clock())]
    app.services.incidents.publish(ORIGIN, began, Deadline.after(20), compared=True)
    assert (only(app).status, only(app).occurrences) == (OPEN, 1)
    app.services.incidents.move(app.context(), only(app).id, RESOLVED)
    app.clock.advance(60)
    began = [Signal(condition=condition(), began=True, at=app.clock())]
    app.services.incidents.publish(ORIGIN, began, Deadline.after(20), compared=True)
    assert (only(app).status, only(app).occurrences) == (RESOLVED, 1)
