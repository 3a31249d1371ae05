"""Fixtures of the end-to-end tests."""

from collections.abc import Iterator

import pytest

from tests.support.apps.real_headgate import RealHeadgate, headgate
from tests.support.apps.real_mysql import real_mysql
from tests.support.chromium import browser
from tests.support.databases.mysql_9 import mysql_9
from tests.support.minio import minio, s3_worker

__all__ = ["browser", "headgate", "minio", "mysql_9", "real_mysql", "s3_worker"]


@pytest.fixture(scope="module")
def measured(headgate: RealHeadgate) -> Iterator[RealHeadgate]:
    """The stack, with its brokers measured."""
    path = f"/stream/clusters/{headgate.stream_cluster_id}"
    body = {"name": "stream", "bootstrap_servers": headgate.stack.addresses.kafka}
    headgate.call("PUT", path, {**body, "metrics_provider": "consumer-groups"})
    yield headgate
    headgate.call("PUT", path, {**body, "metrics_provider": "none"})
