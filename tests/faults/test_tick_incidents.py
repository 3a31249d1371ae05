"""What ticks make of what they see: each incident opens once and is resolved once, whatever process dies in between."""

import pytest

from chalicelib.domain.monitoring.incident import Incident, IncidentStatus
from infra.local.doubles.connect_faults import FaultEffect
from tests.faults.inspection import NO_SECRETS, PASSWORD_REFUSED, incidents
from tests.support.apps.call_interceptor import Crash, FailureMode, InterceptedCall, Point
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.lost_snapshot import lose_snapshot


def running_connector(app: InProcessApp) -> str:
    """The name of a running connector that several ticks have seen."""
    name = app.deployed_pipeline().connector_name
    app.tick(times=4)
    return name


def stored_incidents(app: InProcessApp) -> list[Incident]:
    """All incidents, the oldest first."""
    return list(reversed(app.services.incidents.list(limit=500).items))


def test_a_failed_task_is_one_incident_until_it_runs_again(app: InProcessApp) -> None:
    name = running_connector(app)
    app.connect.fail_task(name, PASSWORD_REFUSED)
    app.tick(times=3)
    (opened,) = stored_incidents(app)
    assert (opened.condition.code, opened.status, opened.occurrences) == (
        "SOURCE_AUTH_FAILED",
        IncidentStatus.OPEN,
        1,
    )
    assert (opened.condition.connector_name, opened.condition.task_id) == (name, 0)
    assert opened.associations.pipeline_id == opened.condition.resource_id
    assert "capture" not in opened.condition.message
    app.services.pipelines.restart(app.context(), str(opened.associations.pipeline_id))
    app.connect.settle()
    app.tick()
    assert incidents(app) == [("SOURCE_AUTH_FAILED", IncidentStatus.RESOLVED)]


def test_a_failure_that_comes_back_is_a_new_incident(app: InProcessApp) -> None:
    name = running_connector(app)
    for _ in range(2):
        app.connect.fail_task(name, NO_SECRETS)
        app.tick(times=8)
    assert [status for _, status in incidents(app)] == [IncidentStatus.RESOLVED, IncidentStatus.RESOLVED]


def test_an_unreadable_connect_is_one_incident_of_the_cluster_and_resolves_no_other(app: InProcessApp) -> None:
    app.connect.fail_task(running_connector(app), PASSWORD_REFUSED)
    app.tick()
    with app.connect_down():
        app.tick(times=12)
    assert incidents(app) == [
        ("SOURCE_AUTH_FAILED", IncidentStatus.OPEN),
        ("STREAM_CONNECT_UNAVAILABLE", IncidentStatus.OPEN),
    ]
    app.tick(after=60)
    assert incidents(app)[1] == ("STREAM_CONNECT_UNAVAILABLE", IncidentStatus.RESOLVED)


def test_a_deleted_pipeline_has_no_open_incident(app: InProcessApp) -> None:
    name = running_connector(app)
    app.connect.fail_task(name, PASSWORD_REFUSED)
    app.tick()
    (opened,) = stored_incidents(app)
    app.services.pipelines.delete(app.context(), str(opened.associations.pipeline_id))
    app.connect.settle()
    app.tick()
    assert incidents(app) == [("SOURCE_AUTH_FAILED", IncidentStatus.RESOLVED)]


@pytest.mark.parametrize("after", [False, True], ids=["before the call", "after the call"])
def test_a_tick_that_dies_at_any_point_opens_one_incident(app: InProcessApp, *, after: bool) -> None:
    name = running_connector(app)
    before, number, reached = app.snapshot(), 0, True
    while reached:
        app.connect.fail_task(name, PASSWORD_REFUSED)
        reached = _tick_that_dies_at(app, number, after=after)
        app.tick()
        assert incidents(app) == [("SOURCE_AUTH_FAILED", IncidentStatus.OPEN)], f"died at call {number}"
        assert stored_incidents(app)[0].occurrences == 1
        app.restore(before)
        number += 1
    assert number > 4


def _tick_that_dies_at(app: InProcessApp, number: int, *, after: bool) -> bool:
    """Whether the tick made that many calls."""
    reached = False

    def die(point: Point, call: InterceptedCall) -> object:
        nonlocal reached
        if point.number != number:
            return call()
        reached = True
        if after:
            call()
        raise Crash

    app.interceptor.watch(die)
    try:
        app.tick()
    except Crash:
        app.restart()
    finally:
        app.interceptor.unwatch()
    return reached


def test_after_a_torn_snapshot_what_has_recovered_meanwhile_is_resolved(app: InProcessApp) -> None:
    name = running_connector(app)
    app.connect.fail_task(name, PASSWORD_REFUSED)
    app.tick()
    pipeline_id = str(stored_incidents(app)[0].associations.pipeline_id)
    app.services.pipelines.restart(app.context(), pipeline_id)
    app.connect.settle()
    lose_snapshot(app, app.cluster.id)
    app.tick()
    assert incidents(app) == [("SOURCE_AUTH_FAILED", IncidentStatus.RESOLVED)]


def test_after_a_lost_snapshot_what_the_look_does_not_find_has_not_recovered(app: InProcessApp) -> None:
    name = running_connector(app)
    app.connect.fail_task(name, PASSWORD_REFUSED)
    app.tick()
    lose_snapshot(app, app.cluster.id)
    app.connect.plant(FaultEffect.OTHER_BODY, "GET", "^/connectors$", times=1, body={})
    for _ in range(2):
        app.tick()
        assert incidents(app) == [("SOURCE_AUTH_FAILED", IncidentStatus.OPEN)]
    assert stored_incidents(app)[0].occurrences == 1


def test_what_a_person_opens_again_while_nothing_is_wrong_ends_within_a_minute(app: InProcessApp) -> None:
    name = running_connector(app)
    app.connect.fail_task(name, NO_SECRETS)
    app.tick(times=8)
    (ended,) = stored_incidents(app)
    app.services.incidents.move(app.context(), ended.id, IncidentStatus.OPEN)
    app.tick(after=60)
    assert [status for _, status in incidents(app)] == [IncidentStatus.RESOLVED]


def test_a_snapshot_that_is_lost_before_its_incident_was_opened_opens_one(app: InProcessApp) -> None:
    name = running_connector(app)
    app.connect.fail_task(name, PASSWORD_REFUSED)
    app.interceptor.watch(_dying_once_it_is_stored())
    with pytest.raises(Crash):
        app.tick()
    app.interceptor.unwatch()
    assert incidents(app) == []
    lose_snapshot(app, app.cluster.id)
    app.tick()
    assert incidents(app) == [("SOURCE_AUTH_FAILED", IncidentStatus.OPEN)]
    assert stored_incidents(app)[0].occurrences == 1


def _dying_once_it_is_stored() -> FailureMode:
    """The process ends after its first transaction: the snapshot is stored, and nothing came of it."""
    stored = False

    def die(point: Point, call: InterceptedCall) -> object:
        nonlocal stored
        if stored:
            raise Crash
        stored = point.operation == "TransactWriteItems"
        return call()

    return die
