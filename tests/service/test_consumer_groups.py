"""Which consumer groups are those of deliveries, and what the brokers are asked for a list."""

from dataclasses import replace

import pytest

from chalicelib.domain.connector import ConnectorResource
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.names import consumer_group
from chalicelib.errors import Unavailable
from infra.local.doubles.kafka_codec import assignment
from tests.support.apps.in_process_app import InProcessApp

MANY = 500


@pytest.fixture(autouse=True)
def _no_groups(app: InProcessApp) -> None:
    app.kafka.state.groups.clear()


def resources(app: InProcessApp, cluster_id: str) -> dict[str, ConnectorResource | None]:
    answer = app.services.consumer_groups.list(app.context(), cluster_id, limit=500, after=None, fresh=True)
    return {group.group_id: resource for group, resource in answer.value.items}


@pytest.fixture
def delivery(app: InProcessApp) -> Delivery:
    """A delivery whose sink has committed an offset."""
    made = app.services.deliveries.deploy(
        app.context(), app.destination().id, app.delivery_input(app.deployed_pipeline())
    )
    app.kafka.state.commit(consumer_group(made.connector_name), made.topics[0], 0, 0)
    return made


def test_the_group_of_a_sink_has_its_delivery_and_others_have_none(app: InProcessApp, delivery: Delivery) -> None:
    ours = consumer_group(delivery.connector_name)
    # The first has a sink's name and not its group; nothing is known of the second.
    theirs = [delivery.connector_name, f"{ours[:-4]}0000", "connect-theirs", "theirs"]
    for group in theirs:
        app.kafka.state.commit(group, delivery.topics[0], 0, 0)
    found = resources(app, app.stream.id)
    shown = found.pop(ours)
    assert shown
    assert (shown.type, shown.id, shown.name) == ("delivery", delivery.id, delivery.name)
    assert found == dict.fromkeys(theirs)


@pytest.mark.parametrize("kafka_id", ["headgate-double-cluster", "another", None])
def test_a_delivery_is_shown_on_the_kafka_of_its_workers_only(
    app: InProcessApp, delivery: Delivery, kafka_id: str | None
) -> None:
    """Another registration of the same brokers is the same Kafka."""
    streams = app.services.stores.resources.streams
    second = app.services.stream_clusters.create(
        app.context(), replace(app.stream_input(app.kafka.address), name="second")
    )
    streams.save_alone(replace(streams.get(second.id), kafka_cluster_id=kafka_id))
    found = resources(app, second.id)[consumer_group(delivery.connector_name)]
    assert (found is not None) == (kafka_id == app.kafka.state.cluster_id)


def test_500_groups_of_1000_partitions_are_few_requests(app: InProcessApp) -> None:
    app.kafka.state.create_topic("many", 1_000)
    for number in range(MANY):
        app.kafka.state.commit(f"group-{number:03}", "many", number, 0)
    cluster = app.stream
    app.kafka.calls.clear()
    found = resources(app, cluster.id)
    assert len(found) == MANY
    asked = {api: count for api, count in app.kafka.calls.items() if api != "api_versions"}
    assert asked == {
        # one when the client connects, one for the brokers, one for the topic
        "metadata": 3,
        "list_groups": 1,
        "describe_groups": 1,
        "offset_fetch": 1,
        "list_offsets": 1,
    }


def test_groups_that_nobody_coordinates_are_not_left_out(app: InProcessApp) -> None:
    app.kafka.state.create_topic("__consumer_offsets")
    app.kafka.state.leaderless.add("__consumer_offsets")
    cluster = app.stream
    try:
        with pytest.raises(Unavailable, match="would be missing") as refused:
            resources(app, cluster.id)
    finally:
        app.kafka.state.leaderless.clear()
        app.kafka.state.delete_topic("__consumer_offsets")
    assert refused.value.code == "STREAM_UNAVAILABLE"


def test_pages_of_groups_follow_each_other_whatever_their_names(app: InProcessApp) -> None:
    names = ["a/b c", "x" * 10_000, "\N{GRINNING FACE}" * 300, "\N{GRINNING FACE}" * 300 + "2"]
    app.kafka.state.create_topic("orders")
    for name in names:
        app.kafka.state.commit(name, "orders", 0, 0)
    seen: list[str] = []
    after = None
    while True:
        page = app.services.consumer_groups.list(app.context(), app.stream.id, limit=1, after=after, fresh=True).value
        seen += [group.group_id for group, _ in page.items]
        after = page.next_key
        if after is None:
            break
    assert sorted(seen) == sorted(names)


@pytest.mark.parametrize(
    "written",
    [b"\x00", b"\xff" * 40, assignment({"no topic\n": [0]}), assignment({"x" * 250: [0]}), assignment({"many": [-1]})],
    ids=["too short", "no assignment", "a line", "too long", "a negative partition"],
)
def test_what_a_client_has_assigned_in_another_form_is_not_known(app: InProcessApp, written: bytes) -> None:
    app.kafka.state.create_topic("orders")
    app.kafka.state.join_group("theirs", ["orders"])
    app.kafka.state.commit("theirs", "orders", 0, 0)
    app.kafka.state.groups["theirs"].assignment = written
    answer = app.services.consumer_groups.list(app.context(), app.stream.id, limit=500, after=None, fresh=True)
    ((group, _),) = answer.value.items
    assert (group.state, group.members, group.topics, group.total_lag) == ("Stable", 1, None, None)
