"""The consumer group of a sink."""

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.contract.conftest import Servers, Shop
from tests.support.waiting import eventually

LIMIT = 10
"""Seconds."""


@pytest.fixture
def running_sink(servers: Servers, shop: Shop) -> dict[str, str]:
    """A sink whose task reads a topic of its own."""
    config = shop.sink()
    admin = AdminClient({"bootstrap.servers": servers.kafka, "log_level": 0})
    admin.create_topics([NewTopic(config["topics"], 1, 1)])[config["topics"]].result(LIMIT)
    servers.connect.create(config, state="RUNNING")
    servers.connect.wait_for_states(config["name"], "RUNNING", "RUNNING")
    return config


def test_a_running_sink_is_the_member_of_its_group_and_a_stopped_one_is_not(
    servers: Servers, running_sink: dict[str, str]
) -> None:
    admin = AdminClient({"bootstrap.servers": servers.kafka, "log_level": 0})
    group = f"connect-{running_sink['name']}"

    def described() -> tuple[str, list[list[str]]]:
        found = admin.describe_consumer_groups([group])[group].result(LIMIT)
        return found.state.name, [[one.topic for one in member.assignment.topic_partitions] for member in found.members]

    eventually(described, lambda seen: seen == ("STABLE", [[running_sink["topics"]]]))
    servers.connect.call("PUT", f"/connectors/{running_sink['name']}/stop")
    eventually(described, lambda seen: seen[0] in ("EMPTY", "DEAD") and seen[1] == [])
