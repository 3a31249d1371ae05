"""The overview against the lists: whatever was done, after a tick and a count it shows what the lists show."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.domain.access import SYSTEM, Actor
from chalicelib.domain.connectors.cluster_view import ClusterView
from chalicelib.domain.counts import RegisteredCounts
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.monitoring.report import MonitorReport
from chalicelib.domain.observation import ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.providers.postgresql.replication import PostgreSQLCapturePlan
from chalicelib.kit.clock import Deadline
from chalicelib.kit.ids import new_id
from chalicelib.services.overview import ACTIVITY, MAX_COUNTED_AT_ONCE
from infra.local.doubles.connect_faults import FaultEffect
from tests.bench.seeds import connector_names, copies, put_rows, quiet_memory
from tests.support.apps.call_interceptor import Side
from tests.support.apps.fakes import healthy_captures
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input
from tests.support.row_lists import check_rows

HEALTH, STATES = ("sources", "destinations", "stream_clusters", "connect_clusters"), ("pipelines", "deliveries")
LISTS = (*HEALTH, *STATES)


def state_of(resource: Any) -> str:
    if hasattr(resource, "health"):
        return str(resource.health.status)
    return str(resource.observation.state) if resource.observation else "UNKNOWN"


def counted(app: InProcessApp) -> dict[str, dict[str, int]]:
    """The counts that are not 0, once the schedule has counted. They agree with the lists, whole or as rows, and every
    state is a key.
    """
    app.services.overview.count()
    overview = app.services.overview.read()
    for noun in LISTS:
        listed = Counter(map(state_of, getattr(app.services, noun).list(limit=500, after=None).items))
        assert Counter(getattr(overview, noun)) == listed, noun
        assert len(getattr(overview, noun)) == (3 if noun in HEALTH else len(ObservedState))
    check_rows(app)
    return {noun: {state: n for state, n in getattr(overview, noun).items() if n} for noun in LISTS}


def look(app: InProcessApp, source_id: str) -> None:
    """A tick and a look at a source, a minute later."""
    app.tick(after=60)
    app.services.source_monitor.run(source_id, Deadline.after(20))


def failed(pipeline_id: str) -> Condition:
    code, message = ConditionCode.CONNECTOR_FAILED, "It has failed."
    return Condition(code=code, resource_type="pipeline", resource_id=pipeline_id, message=message)


def report(app: InProcessApp, *conditions: Condition) -> None:
    named = MonitorReport(origin="connect_cluster/c", at=app.clock(), conditions=conditions)
    assert app.services.incidents.record(named, Deadline.after(20)).complete


def test_an_empty_installation_counts_nothing(app: InProcessApp) -> None:
    assert counted(app) == {noun: {} for noun in LISTS}


def test_what_is_created_and_deleted_is_counted(app: InProcessApp) -> None:
    source, destination = app.source(), app.destination()
    found = counted(app)
    assert (found["sources"], found["destinations"]) == ({"HEALTHY": 1}, {"UNKNOWN": 1})
    app.services.destinations.delete(app.context(), destination.id)
    app.services.sources.delete(app.context(), source.id)
    assert counted(app)["sources"] == counted(app)["destinations"] == {}


def test_a_change_of_health_is_counted(app: InProcessApp) -> None:
    source_id = app.deployed_pipeline().source_id
    app.tick()
    for reachable, status in ((False, "UNHEALTHY"), (True, "HEALTHY")):
        app.database.reachable = reachable
        app.services.source_monitor.run(source_id, Deadline.after(20))
        assert counted(app)["sources"] == {status: 1}


def test_an_edit_that_makes_a_test_invalid_makes_the_source_unknown(app: InProcessApp) -> None:
    source = app.source()
    app.services.sources.test(app.context(), source.id)
    stored = app.services.sources.get(source.id)
    moved = changed_input(stored, address=replace(stored.address, database_name="other"))
    app.services.sources.update(app.context(), source.id, moved)
    assert counted(app)["sources"] == {"UNKNOWN": 1}


def test_each_step_in_the_life_of_connectors_is_counted_after_a_tick(app: InProcessApp) -> None:
    pipeline, destination, services = app.pipeline(), app.destination(), app.services

    def ticked() -> tuple[dict[str, int], dict[str, int]]:
        app.tick()
        found = counted(app)
        return found["pipelines"], found["deliveries"]

    assert counted(app)["pipelines"] == {"NOT_DEPLOYED": 1}
    services.pipelines.deploy(app.context(), pipeline.id)
    app.kafka.state.create_topic(pipeline.capture.topics[0])
    delivery = services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    assert ticked() == ({"RUNNING": 1}, {"RUNNING": 1})
    services.pipelines.pause(app.context(), pipeline.id)
    services.deliveries.control(app.context(), delivery.id, OperationKind.PAUSE)
    assert ticked() == ({"PAUSED": 1}, {"PAUSED": 1})
    services.deliveries.delete(app.context(), delivery.id)
    services.pipelines.delete(app.context(), pipeline.id)
    assert ticked() == ({}, {})


def test_a_small_installation_is_counted_when_somebody_asks(app: InProcessApp) -> None:
    counted(app)
    app.destination()
    assert app.services.overview.read().destinations["UNKNOWN"] == 1


def test_without_the_schedule_a_large_installation_is_counted_again_after_two_minutes(app: InProcessApp) -> None:
    app.destination()
    app.source()
    app.pipeline()
    _fill(app, 10)
    numbers = {"destination": {"UNKNOWN": MAX_COUNTED_AT_ONCE + 1}}
    app.services.stores.monitoring.counts.write(RegisteredCounts(at=app.clock(), by_type=numbers))
    assert app.services.overview.read().destinations["UNKNOWN"] == MAX_COUNTED_AT_ONCE + 1
    app.clock.advance(121)
    assert app.services.overview.read().destinations["UNKNOWN"] == 11


def test_what_ticks_see_is_counted(app: InProcessApp) -> None:
    pipelines = [app.deployed_pipeline() for _ in range(3)]
    app.tick()
    app.connect.fail_task(pipelines[0].connector_name, "org.apache.kafka.connect.errors.ConnectException: no")
    app.connect.drop(pipelines[1].connector_name)
    app.tick()
    assert counted(app)["pipelines"] == {"FAILED": 1, "NOT_DEPLOYED": 1, "RUNNING": 1}


def test_connectors_that_cannot_be_read_are_unknown(app: InProcessApp) -> None:
    app.deployed_pipeline()
    app.tick()
    app.connect.plant(FaultEffect.NOT_READY, times=1_000)
    app.tick()
    found = counted(app)
    assert (found["pipelines"], found["connect_clusters"]) == ({"UNKNOWN": 1}, {"UNHEALTHY": 1})


def test_a_look_that_is_too_old_says_nothing(app: InProcessApp) -> None:
    app.deployed_pipeline()
    app.tick()
    app.clock.advance(300)
    assert counted(app)["pipelines"] == {"UNKNOWN": 1}


@pytest.mark.parametrize("broken", ["away", "slot lost"])
def test_a_running_pipeline_with_a_finding_at_its_source_is_degraded(app: InProcessApp, broken: str) -> None:
    pipeline = app.deployed_pipeline()
    look(app, pipeline.source_id)
    assert counted(app)["pipelines"] == {"RUNNING": 1}
    if broken == "away":
        app.database.reachable = False
    else:
        healthy = healthy_captures([PostgreSQLCapturePlan.of(pipeline, deployed=True)])
        app.database.captures = replace(healthy, slots={})
    for _ in range(3):
        look(app, pipeline.source_id)
        counted(app)
    assert counted(app)["pipelines"] == {"DEGRADED": 1}
    app.clock.advance(120)
    app.tick(after=200)
    assert counted(app)["pipelines"] == {"RUNNING": 1}, "the look at the source is too old"
    app.database.reachable, app.database.captures = True, None
    look(app, pipeline.source_id)
    counted(app)


def test_a_source_that_was_away_when_it_was_looked_at_first_degrades_its_pipelines(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.database.reachable = False
    look(app, pipeline.source_id)
    look(app, pipeline.source_id)
    assert counted(app)["pipelines"] == {"DEGRADED": 1}
    app.database.reachable = True
    look(app, pipeline.source_id)
    assert counted(app)["pipelines"] == {"RUNNING": 1}


def test_a_pipeline_that_is_forgotten_is_not_counted(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.tick()
    app.connect.plant(FaultEffect.NOT_READY, times=1_000)
    app.services.pipelines.delete(app.context(), pipeline.id, forget=True)
    app.tick()
    assert counted(app)["pipelines"] == {}


def test_it_costs_the_same_calls_however_many_resources_of_each_kind_there_are(app: InProcessApp) -> None:
    app.pipeline()
    app.destination()
    first, further = {}, {}
    for size in (10, 1_000, 2_500):
        _fill(app, size)
        app.restart()
        first[size] = _store_calls(app, app.services.overview.read)
        further[size] = _store_calls(app, app.services.overview.read)
    overview = app.services.overview.read()
    assert overview.pipelines["RUNNING"] == 2_500
    assert overview.sources["HEALTHY"] == 2_500
    assert len(first[2_500]) == 8, "a process that has not read the cluster's last look before reads it"
    assert len(further[2_500]) == 7
    assert first[1_000] == first[2_500]
    assert further[1_000] == further[2_500]
    assert len(further[10]) == 13, "few resources are counted, with one call for each of the six kinds"


def test_incidents_are_counted_until_they_are_resolved(app: InProcessApp) -> None:
    incidents = app.services.incidents
    conditions = [failed(new_id()) for _ in range(45)]
    report(app, *conditions)
    assert app.services.overview.read().incidents == {"OPEN": 45, "ACKNOWLEDGED": 0}
    for incident in incidents.list(limit=7).items:
        incidents.move(app.context(), incident.id, IncidentStatus.ACKNOWLEDGED)
    assert app.services.overview.read().incidents == {"OPEN": 38, "ACKNOWLEDGED": 7}
    app.clock.advance(60)
    report(app, *conditions[40:])
    left = incidents.list(limit=10, active=True).items
    assert sum(app.services.overview.read().incidents.values()) == len(left) == 5
    for incident in left:
        incidents.move(app.context(), incident.id, IncidentStatus.RESOLVED)
    assert app.services.overview.read().incidents == {"OPEN": 0, "ACKNOWLEDGED": 0}


def test_an_incident_that_was_opened_again_is_counted_again(app: InProcessApp) -> None:
    report(app, failed(app.pipeline().id))
    (found,) = app.services.incidents.list(limit=7).items
    for status in (IncidentStatus.RESOLVED, IncidentStatus.OPEN):
        app.services.incidents.move(app.context(), found.id, status)
    assert app.services.overview.read().incidents == {"OPEN": 1, "ACKNOWLEDGED": 0}


def test_the_last_meaningful_records_are_shown_newest_first(app: InProcessApp) -> None:
    for _ in range(ACTIVITY + 2):
        app.clock.advance(1)
        app.destination()
    last = app.services.destinations.list(limit=1, after=None).items[0]
    app.services.destinations.test(app.context(), last.id)
    activity = app.services.overview.read().recent_activity
    assert len(activity) == ACTIVITY
    assert (activity[0].action, activity[0].resource_id) == ("destination.create", last.id)
    assert activity[0].at - activity[-1].at == timedelta(seconds=ACTIVITY - 1)


def _store_calls(app: InProcessApp, act: Callable[[], object]) -> list[str]:
    app.interceptor.watch()
    act()
    return [point.operation for point in app.interceptor.unwatch() if point.side is Side.STORE]


def _fill(app: InProcessApp, size: int) -> None:
    """So many more resources of each kind; so many pipelines run as the last tick saw."""
    stores = app.services.stores
    for store in (stores.resources.sources, stores.resources.destinations, stores.resources.pipelines):
        put_rows(copies(store, next(iter(store.all())), size))
    numbers = {"source": {"HEALTHY": size}, "pipeline": {"DRAFT": 1, "RUNNING": size}}
    stores.monitoring.counts.write(RegisteredCounts(at=app.clock(), by_type=numbers))
    names = dict.fromkeys(connector_names(size), "hash")
    view = stores.connectors.observations.read([app.cluster.id]).get(app.cluster.id, ClusterView())
    seen = replace(view, observed_at=app.clock(), memory=quiet_memory(names, "worker:8083"))
    assert stores.connectors.observations.write(app.cluster.id, seen, changed=True)


def attention(app: InProcessApp, reader: Actor = SYSTEM) -> list[tuple[str, str, bool]]:
    """Name and observed state of what needs a person, and whether somebody was notified of it."""
    entries = app.services.overview.read(reader).attention
    return [(entry.resource_name, str(entry.observed_state), entry.alert.not_sent is None) for entry in entries]


def test_nothing_needs_a_person_while_nothing_is_wrong(app: InProcessApp) -> None:
    app.deployed_pipeline()
    app.tick()
    assert attention(app) == []


def test_each_resource_that_fails_needs_a_person_once_and_goes_when_it_is_well_or_deleted(app: InProcessApp) -> None:
    pipelines = [app.deployed_pipeline() for _ in range(3)]
    app.tick()
    for pipeline in pipelines[:2]:
        app.connect.fail_task(pipeline.connector_name, "org.apache.kafka.connect.errors.ConnectException: no")
    app.tick()
    assert sorted(attention(app)) == [(name, "FAILED", False) for name in sorted(one.name for one in pipelines[:2])]
    (entry, _) = app.services.overview.read(app.context().actor).attention
    assert entry.actions == ("acknowledge", "silence", "restart")
    assert (entry.waiting, entry.alert.event.error != "") == (None, True)
    app.services.pipelines.delete(app.context(), pipelines[0].id)
    assert attention(app) == [(pipelines[1].name, "FAILED", False)]
