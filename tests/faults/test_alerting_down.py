"""Alerting may be down for as long as it likes: everything else goes on, and afterwards it knows what is wrong."""

import json
from collections.abc import Iterator

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.monitoring.incident import IncidentStatus
from chalicelib.domain.observation import ObservedState
from chalicelib.kit.clock import Deadline
from tests.faults.inspection import NO_SECRETS, PASSWORD_REFUSED, incidents
from tests.support.apps.call_interceptor import InterceptedCall, Point, Side
from tests.support.apps.in_process_app import SETTINGS, InProcessApp

TABLES = ("alerts", "alert-rules", "alert-tracks", "notification-channels", "channel-gates", "notifications")


class Alerting:
    """The tables and the queue of alerting; `down`: none of them answers."""

    def __init__(self) -> None:
        self.down, self.refused = False, 0

    def __call__(self, point: Point, call: InterceptedCall) -> object:
        if self.down and self._concerns(point):
            self.refused += 1
            raise EndpointConnectionError(endpoint_url="https://dynamodb.example.com")
        return call()

    def _concerns(self, point: Point) -> bool:
        if point.side is Side.QUEUE:
            return True
        text = json.dumps(getattr(point.request, "body", {}))
        return any(f'"{SETTINGS.table_prefix}{table}"' in text for table in TABLES)


@pytest.fixture
def alerting(app: InProcessApp) -> Iterator[Alerting]:
    found = Alerting()
    app.interceptor.watch(found)
    yield found
    app.interceptor.unwatch()


def kinds(app: InProcessApp) -> list[str]:
    """The kinds of all active alerts."""
    found = app.services.stores.alerts.alerts.facets(Deadline.after(5), only_active=True)
    return [one.kind.value for one in found]


def test_ticks_repair_and_note_incidents_and_the_first_one_afterwards_opens_the_alert(
    app: InProcessApp, alerting: Alerting
) -> None:
    name = app.deployed_pipeline().connector_name
    app.tick(times=4)
    alerting.down = True
    app.connect.fail_task(name, NO_SECRETS)
    app.tick(times=8)
    assert app.connect.calls.count("POST", "/restart") == 1
    assert [status for _, status in incidents(app)] == [IncidentStatus.RESOLVED]
    app.connect.fail_task(name, PASSWORD_REFUSED, failing_restarts=99)
    app.tick()
    assert ("SOURCE_AUTH_FAILED", IncidentStatus.OPEN) in incidents(app)
    assert alerting.refused
    alerting.down = False
    assert kinds(app) == []
    app.tick()
    assert kinds(app) == ["SOURCE_AUTH_FAILED"]


def test_a_recovery_that_could_not_be_recorded_is_made_good_by_the_next_report(
    app: InProcessApp, alerting: Alerting
) -> None:
    pipeline = app.deployed_pipeline()
    app.connect.fail_task(pipeline.connector_name, PASSWORD_REFUSED)
    app.tick()
    assert kinds(app) == ["SOURCE_AUTH_FAILED"]
    alerting.down = True
    app.services.pipelines.restart(app.context(), pipeline.id)
    app.tick()
    assert incidents(app)[0][1] is IncidentStatus.RESOLVED
    alerting.down = False
    app.tick()
    assert kinds(app) == []


def test_operations_of_people_do_not_notice_it(app: InProcessApp, alerting: Alerting) -> None:
    alerting.down = True
    services, destination = app.services, app.destination()
    pipeline = app.deployed_pipeline()
    delivery = services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    app.tick()
    services.pipelines.pause(app.context(), pipeline.id)
    services.pipelines.resume(app.context(), pipeline.id)
    app.tick()
    observation = services.pipelines.detail(pipeline.id).pipeline.observation
    assert observation.state is ObservedState.RUNNING
    services.deliveries.delete(app.context(), delivery.id)
    services.pipelines.delete(app.context(), pipeline.id)
    services.destinations.delete(app.context(), destination.id)


def test_looks_at_sources_and_destinations_note_what_they_see(app: InProcessApp, alerting: Alerting) -> None:
    alerting.down = True
    services, destination, pipeline = app.services, app.destination(), app.deployed_pipeline()
    services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    app.database.reachable = False
    for _ in range(2):
        app.clock.advance(60)
        app.database.test_failures[:] = [FailureCode.CONNECTION_REFUSED] * 2
        services.source_monitor.run(pipeline.source_id, Deadline.after(25))
        services.destination_monitor.run(destination.id, Deadline.after(25))
    assert {code for code, _ in incidents(app)} == {"SOURCE_CONNECTION_FAILED", "DESTINATION_CONNECTION_FAILED"}


def test_a_message_that_could_not_be_queued_is_still_an_alert(app: InProcessApp) -> None:
    sqs = boto3.client("sqs", region_name="eu-central-1")
    name = app.deployed_pipeline().connector_name
    sqs.delete_queue(QueueUrl=sqs.get_queue_url(QueueName=f"{SETTINGS.queue_prefix}notifications")["QueueUrl"])
    app.connect.fail_task(name, PASSWORD_REFUSED)
    app.tick()
    assert kinds(app) == ["SOURCE_AUTH_FAILED"]
    sqs.create_queue(QueueName=f"{SETTINGS.queue_prefix}notifications")
