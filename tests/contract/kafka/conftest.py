import pytest
from confluent_kafka.admin import AdminClient

from tests.contract.conftest import Servers

LIMIT = 10
"""Seconds."""


@pytest.fixture(scope="module")
def admin(servers: Servers) -> AdminClient:
    """An admin client of librdkafka."""
    return AdminClient({"bootstrap.servers": servers.kafka, "log_level": 0})
