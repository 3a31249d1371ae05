"""A delivery that waits for a lock at its target: what its status, its incident and the messages about it say."""

from datetime import UTC, datetime

import pytest

from chalicelib.domain.alerts.channel import Channel, ChannelProvider, ChannelValues
from chalicelib.domain.alerts.notification import MessageContent
from chalicelib.domain.alerts.rule import AlertRuleValues
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.condition import Condition, ConditionCode
from chalicelib.domain.monitoring.lock_waits import Blocker, LockWait
from chalicelib.domain.observation import ObservedState
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.texts import TextStyle, render
from chalicelib.notify.webhook.sender import payload
from tests.support.alerting.notifications import message
from tests.support.apps.in_process_app import InProcessApp
from tests.support.apps.measured_brokers import measured_pipeline

ENDING = "SELECT pg_terminate_backend(4711);"
BLOCKER = Blocker(
    session=4711,
    ending=ENDING,
    application="nightly report",
    user="analyst",
    state="idle in transaction",
    since=datetime(2026, 1, 2, 3, 4, tzinfo=UTC),
)
WHO = (
    'session 4711 of the application "nightly report" of the user "analyst" (idle in transaction, since '
    "2026-01-02T03:04:00.000Z)"
)


@pytest.fixture
def delivery(app: InProcessApp) -> Delivery:
    """A measured delivery that has delivered 40 of 100 records, before its target was looked at."""
    pipeline = measured_pipeline(app)
    delivery = app.services.deliveries.deploy(app.context(), app.destination().id, app.delivery_input(pipeline))
    app.kafka.state.advance(delivery.topics[0], 100)
    app.kafka.state.commit(f"connect-{delivery.connector_name}", delivery.topics[0], 0, 40)
    app.tick()
    return delivery


def pass_minutes(app: InProcessApp, delivery: Delivery, minutes: int) -> None:
    """Each minute has ticks, and one look at the destination."""
    for _ in range(minutes):
        app.tick(after=30, times=2)
        app.services.destination_monitor.run(delivery.destination_id, Deadline.after(25))


def block(app: InProcessApp, delivery: Delivery, *blockers: Blocker, rights: str | None = None) -> None:
    """The sink waits for these sessions of the target."""
    table = delivery.table_writing.targets[0]
    app.database.lock_waits = [LockWait(seen_at=app.clock(), table=table, blockers=blockers, rights=rights)]


def incident_condition(app: InProcessApp, delivery: Delivery) -> Condition:
    incidents = app.services.incidents.list(limit=10, active=True).items
    (found,) = (one.condition for one in incidents if one.condition.resource_id == delivery.id)
    return found


def a_channel(app: InProcessApp) -> Channel:
    """It gets everything."""
    alerting, url = app.services.alerting, {"url": Secret("https://hooks.example.com/a")}
    values = ChannelValues(name="on call", provider=ChannelProvider.WEBHOOK, enabled=True)
    channel = alerting.channels.create(app.context(), values, url)
    alerting.rules.create(app.context(), AlertRuleValues(name="everything", channel_ids=(channel.id,)))
    return channel


def sent(app: InProcessApp, channel: Channel, delivery: Delivery) -> MessageContent:
    """What waits for the channel about the connector of the delivery."""
    rows = app.services.stores.alerts.notifications.open_of(channel.id, limit=10)
    (found,) = (row.content for row in rows if row.content.connector_name == delivery.connector_name)
    return found


def test_who_is_in_the_way_is_in_the_reasons_the_incident_and_the_messages(
    app: InProcessApp, delivery: Delivery
) -> None:
    channel = a_channel(app)
    block(app, delivery, BLOCKER)
    pass_minutes(app, delivery, 5)
    condition = incident_condition(app, delivery)
    assert condition.code is ConditionCode.STALLED
    assert f"a lock on {delivery.table_writing.targets[0]}, which is held up by {WHO}." in condition.message
    assert ENDING in str(condition.hint)
    observation = app.services.deliveries.status(app.context(), delivery.id).observation
    assert observation
    assert observation.state is ObservedState.DEGRADED
    assert [WHO in reason and ENDING in reason for reason in observation.reasons] == [True]
    content = sent(app, channel, delivery)
    body = payload(message(content))
    assert set(body) == {"event", "severity", "status", "timestamp", "pipeline", "connector", "error", "alert"}
    assert WHO in body["error"]
    assert ENDING in body["alert"]["hint"]
    assert body["alert"]["waiting"] == {"records": 60, "retained_bytes": None}
    assert body["alert"]["since"] < body["alert"]["first_seen_at"]
    assert body["alert"]["lost"].startswith("Nothing is lost: the records wait in Kafka")
    assert "What waits: 60 records, since 20" in render(message(content), TextStyle(max_size=4_000))


def test_an_account_that_may_not_see_the_session_is_told_which_right_it_needs(
    app: InProcessApp, delivery: Delivery
) -> None:
    block(app, delivery, rights="SELECT on performance_schema.*")
    pass_minutes(app, delivery, 5)
    condition = incident_condition(app, delivery)
    assert "that another session of the destination has" in condition.message
    assert "SELECT on performance_schema.*" in str(condition.hint)


def test_who_was_in_the_way_is_not_told_any_more_once_nobody_is(app: InProcessApp, delivery: Delivery) -> None:
    block(app, delivery, BLOCKER)
    pass_minutes(app, delivery, 5)
    app.database.lock_waits = []
    pass_minutes(app, delivery, 2)
    observation = app.services.deliveries.status(app.context(), delivery.id).observation
    assert observation
    assert not any("lock" in reason for reason in observation.reasons)


def test_while_deliveries_move_nobody_asks_for_locks(app: InProcessApp, delivery: Delivery) -> None:
    block(app, delivery, BLOCKER)
    for minute in range(4):
        app.kafka.state.commit(f"connect-{delivery.connector_name}", delivery.topics[0], 0, 50 + minute)
        pass_minutes(app, delivery, 1)
    assert app.database.locks_read == 0


def test_locks_that_cannot_be_read_hide_nothing_else(app: InProcessApp, delivery: Delivery) -> None:
    app.database.reachable = False  # the test of the connection succeeds
    pass_minutes(app, delivery, 5)
    assert "60 records wait to be delivered" in incident_condition(app, delivery).message
