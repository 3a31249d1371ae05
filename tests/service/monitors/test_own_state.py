"""Connect clusters at which nobody looks: an incident of each by the dispatcher, and UNKNOWN for whoever reads."""

from collections.abc import Callable, Mapping
from typing import Any

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.health import NOT_OBSERVED, HealthRecord, HealthStatus
from chalicelib.domain.job import JobKind
from chalicelib.domain.monitoring.own_metrics import OwnMetric
from chalicelib.domain.observation import ObservedState
from chalicelib.kit.clock import Deadline, rfc3339
from chalicelib.kit.log import log_context
from tests.faults.inspection import incidents
from tests.support.apps.in_process_app import InProcessApp
from tests.support.entities import make_channel, make_rule
from tests.support.stored import put

HEALTHY, UNKNOWN = HealthStatus.HEALTHY, HealthStatus.UNKNOWN


def minute(app: InProcessApp, *, dispatched: bool = True) -> int:
    """A minute passes without ticks. Returns how many clusters the dispatcher reports then."""
    app.clock.advance(60)
    return app.services.own_state.report_unobserved(Deadline.after(10)) if dispatched else 0


def alerts(app: InProcessApp) -> list[str]:
    """The kinds of the active alerts."""
    return [one.kind.value for one in app.services.stores.alerts.alerts.facets(Deadline.after(5), only_active=True)]


def test_a_cluster_that_was_not_looked_at_for_three_minutes_is_an_incident_until_the_next_look(
    app: InProcessApp,
) -> None:
    app.deployed_pipeline()
    app.tick()
    looked = app.clock.now
    assert [minute(app) for _ in range(4)] == [0, 0, 1, 1]
    (incident,) = app.services.incidents.list(limit=9).items
    assert (incident.condition.code, incident.condition.resource_id) == ("CONNECT_NOT_OBSERVED", app.cluster.id)
    assert (incident.condition.severity, incident.status) == ("ERROR", "OPEN")
    assert rfc3339(looked) in incident.condition.message
    assert alerts(app) == ["STREAM_CONNECT_UNAVAILABLE"]
    app.tick(after=1)
    assert incidents(app) == [("CONNECT_NOT_OBSERVED", "RESOLVED")]
    assert alerts(app) == []


def test_a_cluster_on_which_nothing_should_run_is_no_error(app: InProcessApp) -> None:
    app.tick()
    assert [minute(app) for _ in range(3)] == [0, 0, 1]
    (incident,) = app.services.incidents.list(limit=9).items
    assert incident.condition.severity == "WARNING"


def test_incident_alert_and_message_have_the_correlation_id_of_the_run_that_has_found_it(app: InProcessApp) -> None:
    stores = app.services.stores.alerts
    channel = put(stores.channels, make_channel())
    put(stores.rules, make_rule(channel_ids=(channel.id,)))
    app.tick()
    with log_context(correlation_id="of-the-dispatcher"):
        for _ in range(3):
            minute(app)
    (incident,) = app.services.incidents.list(limit=9).items
    (alert,), (notification,) = stores.alerts.all(), stores.notifications.all()
    assert {found.correlation_id for found in (incident, alert, notification)} == {"of-the-dispatcher"}


def test_what_else_is_wrong_at_a_cluster_stays_while_nobody_looks(app: InProcessApp) -> None:
    app.tick()
    with app.connect_down():
        app.ticks(10, 30, 30)
        assert incidents(app) == [("STREAM_CONNECT_UNAVAILABLE", "OPEN")]
        for _ in range(4):
            minute(app)
        assert sorted(incidents(app)) == [("CONNECT_NOT_OBSERVED", "OPEN"), ("STREAM_CONNECT_UNAVAILABLE", "OPEN")]
        app.tick(after=1)
        assert sorted(incidents(app)) == [("CONNECT_NOT_OBSERVED", "RESOLVED"), ("STREAM_CONNECT_UNAVAILABLE", "OPEN")]


def test_a_cluster_that_no_tick_has_ever_looked_at_is_an_incident_too(app: InProcessApp) -> None:
    cluster = app.cluster
    assert [minute(app) for _ in range(3)] == [0, 0, 1]
    assert incidents(app) == [("CONNECT_NOT_OBSERVED", "OPEN")]
    assert rfc3339(cluster.created_at) in app.services.incidents.list(limit=9).items[0].condition.message


def test_nothing_is_reported_in_the_first_run_after_the_dispatcher_itself_was_away(app: InProcessApp) -> None:
    app.tick()
    assert minute(app) == 0
    for _ in range(60):
        minute(app, dispatched=False)
    assert minute(app) == 0
    assert incidents(app) == []
    assert minute(app) == 1


def test_a_cluster_at_which_nobody_looks_is_unknown_with_the_reason_although_no_dispatcher_runs(
    app: InProcessApp,
) -> None:
    pipeline = app.deployed_pipeline()
    app.tick()
    app.clock.advance(179)
    assert {health.status for health in shown(app, pipeline.id)} == {HEALTHY}
    app.clock.advance(1)
    for health in shown(app, pipeline.id):
        assert health.status is UNKNOWN
        assert health.last_error is not None
        assert (health.last_error.code, "3 minutes ago" in health.last_error.message) == (NOT_OBSERVED, True)
    overview = app.services.overview.read()
    assert overview.connect_clusters == {"UNKNOWN": 1, "HEALTHY": 0, "UNHEALTHY": 0}
    assert {state: count for state, count in overview.pipelines.items() if count} == {ObservedState.UNKNOWN: 1}
    app.tick(after=1)
    assert {health.status for health in shown(app, pipeline.id)} == {HEALTHY}


def shown(app: InProcessApp, pipeline_id: str) -> list[HealthRecord]:
    """The health of the one Connect cluster, wherever people see it."""
    clusters = app.services.connect_clusters
    listed, detail = clusters.list(limit=9, after=None).items, app.services.pipelines.detail(pipeline_id)
    return [cluster.health for cluster in (*listed, clusters.get(app.cluster.id), detail.connect_cluster)]


def watched(app: InProcessApp) -> Mapping[str, tuple[Any, Callable[[], None]]]:
    """A source and a destination with connectors: each with its service, and a look at it."""
    pipeline, destination = app.deployed_pipeline(), app.destination()
    app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    services = app.services
    return {
        pipeline.source_id: (
            services.sources, lambda: services.source_monitor.run(pipeline.source_id, Deadline.after(25)),
        ),
        destination.id: (
            services.destinations, lambda: services.destination_monitor.run(destination.id, Deadline.after(25)),
        ),
    }  # fmt: skip


def test_a_source_and_a_destination_that_nobody_looks_at_any_more_are_unknown_after_five_minutes(
    app: InProcessApp,
) -> None:
    for system_id, (service, look) in watched(app).items():
        for _ in range(12):
            app.clock.advance(60)
            look()
            assert service.get(system_id).health.status is HEALTHY
        app.clock.advance(300)
        listed = service.list(limit=9, after=None).items
        for health in (service.get(system_id).health, *(system.health for system in listed)):
            assert (health.status, health.last_error.code) == (UNKNOWN, NOT_OBSERVED)
        look()
        assert service.get(system_id).health.status is HEALTHY
    app.clock.advance(301)
    overview = app.services.overview.read()
    assert (overview.sources["UNKNOWN"], overview.destinations["UNKNOWN"]) == (1, 1)


def test_a_test_by_a_person_does_not_make_a_watched_system_one_that_nobody_watches(app: InProcessApp) -> None:
    for system_id, (service, look) in watched(app).items():
        look()
        app.clock.advance(60)
        assert service.test(app.context(), system_id).success
        app.clock.advance(300)
        assert service.get(system_id).health.status is UNKNOWN


def test_what_only_people_test_stays_as_they_have_found_it(app: InProcessApp) -> None:
    source = app.source()
    app.database.test_failures[:] = [FailureCode.CONNECTION_REFUSED]
    app.services.sources.test(app.context(), source.id)
    app.clock.advance(86_400)
    assert app.services.sources.get(source.id).health.status is HealthStatus.UNHEALTHY


def test_a_source_without_pipelines_is_not_watched_any_more(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(25))
    app.services.pipelines.delete(app.context(), pipeline.id)
    app.services.source_monitor.run(pipeline.source_id, Deadline.after(25))
    app.clock.advance(3600)
    assert app.services.sources.get(pipeline.source_id).health.status is HEALTHY


def test_what_the_dispatcher_measures(app: InProcessApp) -> None:
    app.tick()
    app.services.jobs.request(app.context(), JobKind.HEALTH, "source", app.source().id)
    systems = watched(app)
    for _, look in systems.values():
        look()
    app.clock.advance(301)
    assert app.services.own_state.measure() == {
        OwnMetric.OLDEST_TICK_AGE: 301,
        OwnMetric.CLUSTERS_NOT_OBSERVED: 1,
        OwnMetric.SYSTEMS_NOT_OBSERVED: 2,
        OwnMetric.OLDEST_JOB_AGE: 301,
    }
