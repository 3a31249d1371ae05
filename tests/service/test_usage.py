"""Whatever must not be deleted says what uses it."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from chalicelib.domain.alerts.channel import ChannelProvider, ChannelValues
from chalicelib.domain.alerts.rule import AlertRuleValues
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.usage import MAX_NAMED
from chalicelib.errors import Conflict
from chalicelib.kit.masking import Secret
from chalicelib.stores.transaction import Transaction
from tests.support.apps.in_process_app import InProcessApp


def delivered(app: InProcessApp) -> Delivery:
    pipeline, destination = app.deployed_pipeline(), app.destination()
    return app.services.deliveries.deploy(app.context(), destination.id, app.delivery_input(pipeline))


def refused(delete: Callable[[], object]) -> list[tuple[str, str, str]]:
    """The users that the error names."""
    with pytest.raises(Conflict) as raised:
        delete()
    assert raised.value.code == "RESOURCE_IN_USE"
    assert isinstance(raised.value.details, Mapping)
    assert raised.value.details.keys() == {"used_by"}
    return [(user["type"], user["id"], user["name"]) for user in raised.value.details["used_by"]]


def named(noun: str, resource: Any) -> tuple[str, str, str]:
    return noun, resource.id, resource.name


def test_each_resource_in_use_names_what_uses_it(app: InProcessApp) -> None:
    delivery, services = delivered(app), app.services
    pipeline = services.pipelines.get(delivery.pipeline_id)
    cluster = services.connect_clusters.get(pipeline.connect_cluster_id)
    ids: list[tuple[Any, str]] = [
        (services.sources, pipeline.source_id),
        (services.destinations, delivery.destination_id),
        (services.pipelines, pipeline.id),
        (services.connect_clusters, cluster.id),
        (services.stream_clusters, cluster.stream_cluster_id),
    ]
    assert [refused(partial(service.delete, app.context(), one_id)) for service, one_id in ids] == [
        [named("pipeline", pipeline)],
        [named("delivery", delivery)],
        [named("delivery", delivery)],
        [named("pipeline", pipeline), named("delivery", delivery)],
        [named("connect_cluster", cluster)],
    ]


def test_also_what_is_forgotten_because_connect_is_gone(app: InProcessApp) -> None:
    delivery = delivered(app)
    with app.connect_down():
        users = refused(lambda: app.services.pipelines.delete(app.context(), delivery.pipeline_id, forget=True))
    assert users == [named("delivery", delivery)]


def test_a_channel_names_the_rules_that_send_to_it(app: InProcessApp) -> None:
    alerting = app.services.alerting
    url = {"webhook_url": Secret("https://hooks.slack.com/services/one")}
    values = ChannelValues(name="channel", provider=ChannelProvider.CHAT_WEBHOOK)
    channel = alerting.channels.create(app.context(), values, url)
    rule = alerting.rules.create(app.context(), AlertRuleValues(name="rule", channel_ids=(channel.id,)))
    alerting.rules.create(app.context(), AlertRuleValues(name="another rule"))
    assert refused(lambda: alerting.channels.delete(app.context(), channel.id)) == [named("alert_rule", rule)]


def test_of_many_users_the_first_twenty_are_named(app: InProcessApp) -> None:
    source = app.source()
    for _ in range(MAX_NAMED + 1):
        app.pipeline(source)
    assert len(refused(lambda: app.services.sources.delete(app.context(), source.id))) == MAX_NAMED == 20


def test_a_user_that_no_index_shows_yet_is_counted_and_not_named(app: InProcessApp) -> None:
    destination = app.destination()
    with Transaction() as transaction:  # as the deploy of a delivery does before its connector exists
        app.services.stores.resources.destinations.change_references(transaction, destination.id, +1)
    assert refused(lambda: app.services.destinations.delete(app.context(), destination.id)) == []
