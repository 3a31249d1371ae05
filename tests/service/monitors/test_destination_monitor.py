"""Looks at destinations: what becomes an incident, and what is reported to alerting. The database is a fake."""

from collections.abc import Sequence
from dataclasses import replace
from unittest.mock import patch

import pytest

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.addresses import ObjectStoreAddress
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.delivery import MappingInput
from chalicelib.domain.destination import Destination
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.object_store import ObjectStoreProvider
from chalicelib.domain.observation import ObservedState
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.services.monitors import destination_monitor
from tests.faults.inspection import incidents
from tests.support.alerting.recording_bus import RecordingBus
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.fakes import FakeDatabaseClient
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import system_input
from tests.support.object_store.scripted_store import scripted_store

REFUSED, PASSWORD = FailureCode.CONNECTION_REFUSED, FailureCode.AUTHENTICATION_FAILED


@pytest.fixture
def bus(app: InProcessApp) -> RecordingBus:
    """Keeps what is reported."""
    bus = RecordingBus(behind=app.services.alerting.bus)
    monitor = app.services.destination_monitor
    app.services.destination_monitor = replace(monitor, reports=replace(monitor.reports, bus=bus))
    return bus


@pytest.fixture
def destination(app: InProcessApp, bus: RecordingBus) -> Destination:
    """A destination with a delivery that was looked at once."""
    destination, pipeline = app.destination(), app.deployed_pipeline()
    app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    look(app, destination)
    bus.reports.clear()
    return destination


def look(app: InProcessApp, destination: Destination, *failures: FailureCode | None) -> None:
    """A minute passes, then a look; its connection tests end like this."""
    app.clock.advance(60)
    app.database.test_failures[:] = failures
    app.services.destination_monitor.run(destination.id, Deadline.after(25))


def alerts(app: InProcessApp) -> list[str]:
    """The kinds of the active alerts."""
    return [one.kind.value for one in app.services.stores.alerts.alerts.facets(Deadline.after(5), only_active=True)]


def health(app: InProcessApp, destination: Destination) -> HealthStatus:
    return app.services.destinations.get(destination.id).health.status


def test_a_destination_that_is_well_is_reported_so_and_not_written_again(
    app: InProcessApp, bus: RecordingBus, destination: Destination
) -> None:
    revision = app.services.destinations.get(destination.id).revision
    look(app, destination)
    assert (bus.codes, incidents(app)) == ([[]], [])
    assert bus.reports[0].origin == f"destination/{destination.id}"
    assert bus.reports[0].at == app.clock.now
    assert app.services.destinations.get(destination.id).revision == revision
    assert health(app, destination) is HealthStatus.HEALTHY


@pytest.mark.parametrize(
    ("failure", "code"), [(REFUSED, "DESTINATION_CONNECTION_FAILED"), (PASSWORD, "DESTINATION_AUTH_FAILED")]
)
def test_a_failure_that_a_second_test_confirms_is_an_incident_and_is_reported_until_it_is_over(
    app: InProcessApp, bus: RecordingBus, destination: Destination, failure: FailureCode, code: str
) -> None:
    look(app, destination, failure, failure)
    assert (bus.codes, incidents(app)) == ([[code]], [(code, IncidentStatus.OPEN)])
    assert health(app, destination) is HealthStatus.UNHEALTHY
    revision = app.services.destinations.get(destination.id).revision
    look(app, destination, failure, failure)
    assert bus.codes == [[code], [code]]
    assert app.services.destinations.get(destination.id).revision == revision
    look(app, destination)
    assert bus.codes[2:] == [[]]
    assert incidents(app) == [(code, IncidentStatus.RESOLVED)]
    assert health(app, destination) is HealthStatus.HEALTHY


def reasons(app: InProcessApp, destination: Destination) -> tuple[ObservedState, list[str]]:
    """What the only delivery of the destination shows, where nothing but what is stored is read."""
    (delivery,) = app.services.deliveries.list_of(destination.id).items
    assert delivery.observation
    return delivery.observation.state, list(delivery.observation.reasons)


def test_a_delivery_whose_database_is_away_is_degraded_after_one_look_and_says_why(
    app: InProcessApp, destination: Destination
) -> None:
    app.tick()
    look(app, destination, REFUSED, REFUSED)
    app.tick()
    state, (reason,) = reasons(app, destination)
    assert state is ObservedState.DEGRADED
    assert reason.startswith("Its destination cannot be reached, so nothing is delivered: The host refuses")
    look(app, destination)
    assert reasons(app, destination) == (ObservedState.RUNNING, [])


def test_a_delivery_whose_object_store_is_away_is_degraded_after_one_look_and_says_why(app: InProcessApp) -> None:
    pipeline = app.deployed_pipeline()
    with scripted_store() as store:
        address = ObjectStoreAddress(
            provider=ObjectStoreProvider.MINIO,
            bucket="lake",
            region="us-east-1",
            endpoint_url=store.url,
            path_style=True,
        )
        keys = {"access_key_id": Secret("key"), "secret_access_key": Secret("secret")}
        data = replace(system_input("destination", 1), address=address, secrets=keys)
        destination = app.services.destinations.create(app.context(), data)
        files = (MappingInput(topic=pipeline.capture.topics[0]),)
        app.services.deliveries.deploy(
            app.context(), destination.id, replace(app.delivery_input(pipeline), mappings=files)
        )
        app.tick()
        look(app, destination)
        assert reasons(app, destination) == (ObservedState.RUNNING, [])
    look(app, destination)
    app.tick()
    state, (reason,) = reasons(app, destination)
    assert state is ObservedState.DEGRADED
    assert reason.startswith("Its destination cannot be reached, so nothing is delivered: ")
    assert incidents(app) == [("DESTINATION_CONNECTION_FAILED", IncidentStatus.OPEN)]


def test_a_failure_that_a_second_test_five_seconds_later_does_not_find_counts_for_nothing(
    app: InProcessApp, bus: RecordingBus, destination: Destination
) -> None:
    slept: list[float] = []
    app.services.destination_monitor = replace(app.services.destination_monitor, sleep=slept.append)
    look(app, destination, REFUSED, None)
    assert (bus.codes, incidents(app), slept) == ([[]], [], [5.0])


def test_another_failure_takes_the_place_of_the_first(
    app: InProcessApp, bus: RecordingBus, destination: Destination
) -> None:
    look(app, destination, REFUSED, REFUSED)
    look(app, destination, PASSWORD, PASSWORD)
    assert bus.codes == [["DESTINATION_CONNECTION_FAILED"], ["DESTINATION_AUTH_FAILED"]]
    assert sorted(incidents(app)) == [
        ("DESTINATION_AUTH_FAILED", IncidentStatus.OPEN),
        ("DESTINATION_CONNECTION_FAILED", IncidentStatus.RESOLVED),
    ]


def test_what_a_person_resolves_while_it_lasts_stays_so_and_is_reported_until_it_ends(
    app: InProcessApp, bus: RecordingBus, destination: Destination
) -> None:
    look(app, destination, REFUSED, REFUSED)
    (incident,) = app.services.incidents.list(limit=9).items
    app.services.incidents.move(app.context(), incident.id, IncidentStatus.RESOLVED)
    look(app, destination, REFUSED, REFUSED)
    assert [status for _, status in incidents(app)] == [IncidentStatus.RESOLVED]
    assert bus.reports[-1].conditions


def test_without_time_for_a_second_test_nothing_is_said(
    app: InProcessApp, bus: RecordingBus, destination: Destination
) -> None:
    app.database.test_failures[:] = [REFUSED]
    app.services.destination_monitor.run(destination.id, Deadline.after(10))
    assert (bus.reports, incidents(app), health(app, destination)) == ([], [], HealthStatus.HEALTHY)


def test_a_destination_without_deliveries_is_not_tested_and_what_a_person_has_found_is_reported(
    app: InProcessApp, bus: RecordingBus
) -> None:
    destination = app.destination()
    app.database.test_failures[:] = [REFUSED, REFUSED]
    app.services.destinations.test(app.context(), destination.id)
    look(app, destination, REFUSED, REFUSED)
    assert alerts(app) == ["DESTINATION_CONNECTION_FAILED"]
    assert len(app.database.test_failures) == 2
    app.database.test_failures.clear()
    app.services.destinations.test(app.context(), destination.id)
    look(app, destination)
    assert alerts(app) == []
    assert [(report.conditions, report.repeated) for report in bus.reports] == [((), True)] * 2


def test_a_destination_that_is_changed_during_the_look_is_not_reported(
    app: InProcessApp, bus: RecordingBus, destination: Destination
) -> None:
    def test_by_a_person(point: Point, call: InterceptedCall) -> object:
        if point.side is Side.DATABASE:
            with app.interceptor.unrecorded():
                app.services.destinations.test(app.context(), destination.id)
        return call()

    app.interceptor.watch(test_by_a_person)
    look(app, destination, None, REFUSED, None, REFUSED)
    app.interceptor.unwatch()
    assert (bus.reports, incidents(app)) == ([], [])


def test_a_destination_that_was_deleted_is_not_tested(app: InProcessApp, bus: RecordingBus) -> None:
    app.services.destination_monitor.run("3f0c5a52-6f0f-4a7e-9b50-0d7a8a8f4c11", Deadline.after(25))
    (report,) = bus.reports
    assert report.conditions == ()


def test_every_destination_is_sent_once_a_minute_spread_over_it(app: InProcessApp) -> None:
    sent: list[tuple[str, int]] = []
    ids = [app.destination().id for _ in range(3)]
    monitor = replace(app.services.destination_monitor, send=lambda messages, _: sent.extend(messages) or 3)
    assert monitor.dispatch() == 3
    assert sorted(one for one, _ in sent) == sorted(ids)
    assert sorted(delay for _, delay in sent) == [0, 1, 2]


def test_each_destination_has_its_second_of_the_minute_so_that_looks_are_a_minute_apart(app: InProcessApp) -> None:
    sent: list[tuple[str, int]] = []
    for _ in range(8):
        app.destination()

    def send(messages: Sequence[tuple[str, int]], _deadline: Deadline) -> int:
        sent.extend(messages)
        return len(messages)

    monitor = replace(app.services.destination_monitor, send=send)
    for _ in range(5):
        monitor.dispatch()
    assert len(set(sent)) == 8


def test_a_destination_that_stays_away_is_tested_once_a_minute_and_only_shortly(
    app: InProcessApp, bus: RecordingBus, destination: Destination
) -> None:
    look(app, destination, REFUSED, REFUSED)
    limits: list[float] = []
    database = FakeDatabaseClient.test

    def measured(client: FakeDatabaseClient, deadline: Deadline) -> TestResult:
        limits.append(deadline.remaining())
        return database(client, deadline)

    with patch.object(FakeDatabaseClient, "test", measured):
        look(app, destination, REFUSED, REFUSED)
    assert len(limits) == 1
    assert limits[0] <= 5
    assert bus.codes[-1] == ["DESTINATION_CONNECTION_FAILED"]


def test_many_that_are_away_take_no_time_of_the_others(app: InProcessApp, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(destination_monitor, "MAX_UNREACHABLE", 2)
    away = [app.destination() for _ in range(5)]
    for destination in away:
        app.database.test_failures[:] = [REFUSED]
        app.services.destinations.test(app.context(), destination.id)
    reachable = [app.destination().id for _ in range(3)]
    sent: list[str] = []

    def send(messages: Sequence[tuple[str, int]], _deadline: Deadline) -> int:
        sent.extend(destination_id for destination_id, _ in messages)
        return len(messages)

    monitor = replace(app.services.destination_monitor, send=send)
    for _ in range(40):
        sent.clear()
        assert monitor.dispatch() == 5
        assert set(reachable) < set(sent)
    seen = set[str]()
    for _ in range(40):
        sent.clear()
        monitor.dispatch()
        seen |= set(sent)
    assert seen == {*reachable, *(destination.id for destination in away)}
