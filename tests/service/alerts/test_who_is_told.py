"""Who gets a message on the installed rule with one channel: for what costs changes, and for nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.alerts.alert import Alert
from chalicelib.domain.alerts.cooldown import NotSentReason
from chalicelib.domain.alerts.notification import MessageKind
from chalicelib.domain.source import Source
from chalicelib.kit.clock import Deadline
from chalicelib.services.alerts.rules import DEFAULT_RULE_ID
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.inputs import changed_input
from tests.support.entities import make_channel
from tests.support.stored import put

REFUSED = [FailureCode.AUTHENTICATION_FAILED]


@pytest.fixture
def told(app: InProcessApp) -> InProcessApp:
    """An app whose installed rule has a channel."""
    app.services.alerting.rules.install()
    stores = app.services.stores.alerts
    channel = put(stores.channels, make_channel())
    rule = stores.rules.get(DEFAULT_RULE_ID)
    stores.rules.save_alone(replace(rule, channel_ids=(channel.id,)))
    return app


def look(app: InProcessApp, noun: str, system_id: str) -> None:
    app.clock.advance(1)
    monitor = {"source": app.services.source_monitor, "destination": app.services.destination_monitor}[noun]
    monitor.run(system_id, Deadline.after(25))


@contextmanager
def looks(app: InProcessApp) -> Iterator[None]:
    """The looks that are sent to the queues meanwhile are made at the end."""
    services, sent = app.services, list[tuple[str, str]]()
    checks = replace(services.system_checks, look_soon=lambda *system: sent.append(system))
    incidents = replace(services.incidents, look_soon=lambda *system: sent.append(system))
    registry = replace(services.registry, incidents=incidents)
    services.sources = replace(services.sources, system_checks=checks, registry=registry)
    services.destinations = replace(services.destinations, system_checks=checks, registry=registry)
    yield
    for noun, system_id in dict.fromkeys(sent):
        look(app, noun, system_id)


def check(app: InProcessApp, source: Source, *failures: FailureCode) -> None:
    app.clock.advance(5)
    app.database.test_failures[:] = failures
    with looks(app):
        app.services.sources.test(app.context(), source.id)


def messages(app: InProcessApp, kind: MessageKind = MessageKind.FIRING) -> list[str]:
    rows = list(app.services.stores.alerts.notifications.all())[::-1]
    return [row.content.event.value for row in rows if row.kind is kind]


def active(app: InProcessApp) -> list[Alert]:
    return [alert for alert in app.services.stores.alerts.alerts.all() if alert.is_active]


def away(app: InProcessApp, source: Source) -> None:
    """Two looks at a source whose database is away: then it is certain."""
    app.database.reachable = False
    for _ in range(2):
        app.clock.advance(60)
        look(app, "source", source.id)


def test_three_typos_while_registering_reach_nobody(told: InProcessApp) -> None:
    source = told.source()
    for _ in range(3):
        check(told, source, *REFUSED)
    (alert,) = active(told)
    assert (alert.severity, alert.not_sent, alert.notified) == ("warning", NotSentReason.NO_RULE, ())
    assert messages(told) == []


def test_a_source_that_is_needed_since_it_was_found_away_is_told(told: InProcessApp) -> None:
    source = told.source()
    draft = told.pipeline(source)
    check(told, source, FailureCode.CONNECTION_REFUSED)
    told.services.pipelines.deploy(told.context(), draft.id)
    away(told, source)
    assert messages(told) == ["SOURCE_CONNECTION_FAILED"]
    (alert,) = active(told)
    assert (alert.severity, alert.not_sent, len(alert.notified)) == ("critical", None, 1)


def test_a_source_all_of_whose_pipelines_are_paused_wakes_nobody(told: InProcessApp) -> None:
    source = told.source()
    pipeline = told.deployed_pipeline(source)
    told.services.pipelines.pause(told.context(), pipeline.id)
    away(told, source)
    assert [alert.severity for alert in active(told)] == ["warning"]
    assert messages(told) == []


def test_the_alert_of_a_source_ends_at_once_when_it_is_mended(told: InProcessApp) -> None:
    source = told.source()
    check(told, source, *REFUSED)
    with looks(told):
        told.services.sources.update(told.context(), source.id, changed_input(source, description="mended"))
    check(told, source)
    assert active(told) == []


def test_the_alert_of_a_deleted_system_ends_at_once_with_a_message_where_one_was_sent(told: InProcessApp) -> None:
    source = told.source()
    pipeline = told.deployed_pipeline(source)
    away(told, source)
    assert messages(told) == ["SOURCE_CONNECTION_FAILED"]
    told.services.pipelines.delete(told.context(), pipeline.id)
    with looks(told):
        told.services.sources.delete(told.context(), source.id)
    assert active(told) == []
    assert messages(told, MessageKind.RESOLVED) == ["SOURCE_CONNECTION_FAILED"]


def test_the_alert_of_a_deleted_destination_ends_at_once(told: InProcessApp) -> None:
    destination = told.destination()
    told.database.test_failures[:] = REFUSED
    with looks(told):
        told.services.destinations.test(told.context(), destination.id)
    assert len(active(told)) == 1
    with looks(told):
        told.services.destinations.delete(told.context(), destination.id)
    assert active(told) == []


def test_a_cluster_that_was_deleted_has_no_alert_after_the_ticks_that_were_sent(told: InProcessApp) -> None:
    cluster = told.cluster
    with told.connect_down():
        told.tick(times=6)
    assert [alert.severity for alert in active(told)] == ["warning"]
    told.services.connect_clusters.delete(told.context(), cluster.id)
    told.tick(cluster)
    assert active(told) == []
    assert messages(told) == []
