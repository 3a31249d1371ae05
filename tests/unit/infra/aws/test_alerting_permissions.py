"""Every function may do what alerting does in it, and of the tables of alerting no more."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from chalicelib.clients.databases.errors import FailureCode
from chalicelib.domain.alerts.channel import Channel, ChannelProvider, ChannelValues
from chalicelib.domain.alerts.listing import AlertFilter
from chalicelib.domain.alerts.rule import AlertRuleValues
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.masking import Secret
from chalicelib.notify.contract import Accepted
from chalicelib.services.alerts.alerts import Silence
from infra.aws.permissions import policy_of
from tests.support.alerting.virtual import AlertingDriver, alerting
from tests.support.apps.in_process_app import InProcessApp, app, app_of_the_module
from tests.unit.infra.aws.taken_actions import note_every_kind, refused, taken

__all__ = ["alerting", "app", "app_of_the_module"]
URL = "https://hooks.slack.com/services/T0/B0/secret"
TABLES = ("alerts", "alert-rules", "alert-tracks", "notification-channels", "channel-gates", "notifications")
RARE = {("dynamodb:BatchGetItem", "table/${Prefix}alerts")}
"""An alert that another process has opened a moment ago, and the cause of a storm, are read by their ids."""

FAILURE = "java.lang.IllegalStateException: something that nobody has seen before"
FAILS = [FailureCode.CONNECTION_REFUSED] * 2


@pytest.fixture
def channel(app: InProcessApp) -> Channel:
    """A channel that a rule sends every alert to."""
    channel = create_channel(app)
    app.services.alerting.rules.create(app.context(), AlertRuleValues(name="all", channel_ids=(channel.id,)))
    return channel


SECRETS = {"webhook_url": Secret(URL)}


def channel_values(name: str = "operators") -> ChannelValues:
    return ChannelValues(name=name, provider=ChannelProvider.CHAT_WEBHOOK)


def create_channel(app: InProcessApp, name: str = "operators") -> Channel:
    return app.services.alerting.channels.create(app.context(), channel_values(name), SECRETS)


def alerts(app: InProcessApp) -> list[str]:
    """The kinds of all active alerts."""
    found = app.services.stores.alerts.alerts.facets(Deadline.after(5), only_active=True)
    return [one.kind.value for one in found]


Calls = set[tuple[str, str]]


class Run:
    """Runs what a function does, and notes the AWS actions of it."""

    def __init__(self) -> None:
        self.calls: Calls = set()

    def __call__(self, act: Callable[[], object]) -> None:
        with taken() as calls:
            act()
        self.calls |= calls


def ticks(app: InProcessApp, run: Run) -> None:
    """A task fails, is seen so twice, and runs again."""
    name, cluster = app.deployed_pipeline().connector_name, app.cluster
    run(lambda: app.tick(cluster))
    app.connect.fail_task(name, FAILURE)
    run(lambda: app.tick(cluster))
    assert alerts(app) == ["CONNECT_TASK_FAILED"]
    run(lambda: app.tick(cluster, after=60))
    app.connect.show(name, "RUNNING", task=0)
    run(lambda: app.tick(cluster))
    assert alerts(app) == []


def looks_at_a_source(app: InProcessApp, run: Run) -> None:
    """The database goes away and comes back."""
    source_id = app.deployed_pipeline().source_id
    for reachable in (True, False, False, False, True):
        app.database.reachable = reachable
        app.clock.advance(60)
        run(lambda: app.services.source_monitor.run(source_id, Deadline.after(25)))
    assert alerts(app) == []


def looks_at_a_source_without_pipelines(app: InProcessApp, run: Run) -> None:
    """A test of the source fails, a later one does not."""
    source_id = app.source().id
    app.database.test_failures[:] = FAILS[:1]
    for expected in (["SOURCE_CONNECTION_FAILED"], []):
        app.services.sources.test(app.context(), source_id)
        app.clock.advance(60)
        run(lambda: app.services.source_monitor.run(source_id, Deadline.after(25)))
        assert alerts(app) == expected


def looks_at_a_destination(app: InProcessApp, run: Run) -> None:
    """The database goes away and comes back."""
    destination, pipeline = app.destination(), app.deployed_pipeline()
    app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))
    for failures, expected in (([], 0), (FAILS, 1), (FAILS, 1), ([], 0)):
        app.database.test_failures[:] = failures
        app.clock.advance(60)
        run(lambda: app.services.destination_monitor.run(destination.id, Deadline.after(25)))
        assert len(alerts(app)) == expected


def looks_at_a_destination_without_deliveries(app: InProcessApp, run: Run) -> None:
    destination = app.destination()
    app.database.test_failures[:] = FAILS[:1]
    app.services.destinations.test(app.context(), destination.id)
    run(lambda: app.services.destination_monitor.run(destination.id, Deadline.after(25)))
    assert alerts(app) == ["DESTINATION_CONNECTION_FAILED"]


def schedules(app: InProcessApp, run: Run) -> None:
    """An operation fails, an alert is silenced for a while, the source of another one is deleted."""
    pipeline, source = app.deployed_pipeline(), app.source()
    fail_operation(app, pipeline.id)
    wired, alerting = app.services, app.services.alerting
    app.database.test_failures[:] = FAILS[:1]
    app.services.sources.test(app.context(), source.id)
    app.services.source_monitor.run(source.id, Deadline.after(25))
    app.services.sources.delete(app.context(), source.id)
    run(wired.monitor_reports.publish_operations)
    assert sorted(alerts(app)) == ["PIPELINE_FAILED", "SOURCE_CONNECTION_FAILED"]
    silence_all(app)
    app.clock.advance(120)
    run(wired.monitor_reports.publish_operations)
    run(wired.monitor_reports.publish_removed)
    assert alerts(app) == ["PIPELINE_FAILED"]
    run(lambda: alerting.manager.expire_silences(Deadline.after(10)))
    run(alerting.delivery.sweep)
    run(wired.destination_monitor.dispatch)
    note_every_kind(app)
    run(wired.unreadable_rows.check)
    app.services.pipelines.pause(app.context(), pipeline.id)
    app.clock.advance(60)
    run(wired.monitor_reports.publish_operations)
    assert alerts(app) == []


def fail_operation(app: InProcessApp, pipeline_id: str) -> None:
    app.destination()
    app.connect.refuse()
    try:
        with pytest.raises(HeadgateError):
            app.services.pipelines.pause(app.context(), pipeline_id)
    finally:
        app.connect.accept()


def silence_all(app: InProcessApp) -> None:
    service = app.services.alerting.alerts
    for one in app.services.stores.alerts.alerts.facets(Deadline.after(5), only_active=True):
        service.silence(app.context(), one.id, Silence(until=app.clock.now + timedelta(seconds=60)))


def requests(app: InProcessApp, run: Run) -> None:
    """Everything that people do about alerts, rules and channels."""
    source, services = app.source(), app.services.alerting
    app.database.test_failures[:] = FAILS[:1]
    app.services.sources.test(app.context(), source.id)
    app.services.source_monitor.run(source.id, Deadline.after(25))
    (alert,) = services.alerts.list(app.context(), AlertFilter(), page=1, page_size=50).items
    run(services.rules.install)
    run(lambda: services.alerts.list(app.context(), AlertFilter(), page=1, page_size=50))
    run(lambda: services.alerts.summary(app.context()))
    run(lambda: services.alerts.get(alert.id))
    run(lambda: services.alerts.deliveries(alert.id))
    run(lambda: services.alerts.acknowledge(app.context(), alert.id, None))
    run(lambda: silence_all(app))
    run(lambda: services.alerts.unsilence(app.context(), alert.id))
    run(lambda: app.services.metrics.text(Deadline.after(5)))
    run(app.services.overview.read)
    run(app.services.ready)
    run(lambda: channels_and_rules(app, source.id))


def channels_and_rules(app: InProcessApp, source_id: str) -> None:
    services = app.services.alerting
    channel = create_channel(app, "others")
    services.channels.list(limit=9, after=None)
    services.channels.state(services.channels.get(channel.id))
    app.services.metrics.text(Deadline.after(5))
    services.channels.update(app.context(), channel.id, channel_values("all of us"), SECRETS)
    services.channels.test(app.context(), channel.id)
    services.channels.replace_secrets(channel.id, {"webhook_url": Secret(URL)})
    rule = services.rules.create(app.context(), AlertRuleValues(name="some", channel_ids=(channel.id,)))
    services.rules.list(limit=9, after=None)
    services.rules.get(rule.id)
    services.rules.update(app.context(), rule.id, AlertRuleValues(name="some", source_ids=(source_id,)))
    services.rules.delete(app.context(), rule.id)
    services.channels.delete(app.context(), channel.id)


SCENARIOS: dict[str, tuple[Callable[[InProcessApp, Run], None], ...]] = {
    "run_tick": (ticks,),
    "run_source_check": (looks_at_a_source, looks_at_a_source_without_pipelines),
    "run_destination_check": (looks_at_a_destination, looks_at_a_destination_without_deliveries),
    "dispatch": (schedules,),
    "api_handler": (requests,),
}


@pytest.mark.parametrize(
    ("function", "scenario"), [(name, one) for name, several in SCENARIOS.items() for one in several]
)
@pytest.mark.usefixtures("channel")
def test_a_function_may_do_all_that_alerting_does_in_it(
    app: InProcessApp, function: str, scenario: Callable[[InProcessApp, Run], None]
) -> None:
    run = Run()
    scenario(app, run)
    assert refused(function, run.calls) == set()


@pytest.mark.parametrize("function", SCENARIOS)
@pytest.mark.usefixtures("channel")
def test_a_function_gets_no_more_of_the_tables_of_alerting_than_it_needs(app: InProcessApp, function: str) -> None:
    run = Run()
    for scenario in SCENARIOS[function]:
        scenario(app, run)
    assert surplus(function, run.calls) <= RARE


def surplus(function: str, calls: Calls) -> Calls:
    """What a function may do with the tables of alerting, and has not done."""
    allowed = {(one.action, one.resource.rpartition(":")[2]) for one in policy_of(function)}
    return {(action, one) for action, one in allowed - calls if one.split("/")[1:2] and _table(one) in TABLES}


def _table(resource: str) -> str:
    return resource.split("/")[1].removeprefix("${Prefix}")


def test_the_worker_of_notifications_may_do_all_that_sending_needs_and_no_more(alerting: AlertingDriver) -> None:
    channel, run = alerting.channel(ChannelProvider.BOT_CHAT), Run()
    alerting.queues.refuses = True
    for answers in ([200], [500, 200], [lambda _: Accepted(changed={"chat_id": Secret("-100")})], [400]):
        alerting.provider(channel).answers(*answers)
        alerting.queue_message(channel, wakes=False)
        run(lambda: alerting.drain(channel.id))
        alerting.app.clock.advance(60)
        run(lambda: alerting.drain(channel.id))
    assert refused("deliver_notifications", run.calls) == set()
    assert surplus("deliver_notifications", run.calls) == set()


def test_the_api_may_have_what_fails_looked_at(app: InProcessApp) -> None:
    source, destination = app.source(), app.destination()
    app.database.test_failures[:] = FAILS
    app.restart()
    with taken() as calls:
        app.services.sources.test(app.context(), source.id)
        app.services.destinations.test(app.context(), destination.id)
    assert {("sqs:SendMessage", "${Prefix}source-checks"), ("sqs:SendMessage", "${Prefix}destination-checks")} <= calls
    assert refused("api_handler", calls) == set()


def test_a_job_may_have_what_fails_looked_at(app: InProcessApp) -> None:
    source = app.source()
    app.database.test_failures[:] = FAILS[:1]
    app.restart()
    with taken() as calls:
        app.services.discovery.check_health(app.context(), source.id)
    assert ("sqs:SendMessage", "${Prefix}source-checks") in calls
    assert refused("run_job", calls) == set()
