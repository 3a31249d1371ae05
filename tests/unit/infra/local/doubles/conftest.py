"""A Connect double that needs no database: its connectors are sinks to MySQL, which it never connects to."""

from collections.abc import Iterator

import pytest

from infra.local.doubles import Delays
from infra.local.doubles.connect import ConnectDouble
from tests.support.apps.doubles import ConnectView, SecretEndpoint

QUICK = Delays(connector=0.01, task=0.01, deleted=0.01, unassigned=0.01, silent=0.01, not_ready=5, validation=2)


@pytest.fixture
def secret_endpoint() -> Iterator[SecretEndpoint]:
    """Headgate's secret endpoint, without the rest of Headgate."""
    made = SecretEndpoint()
    yield made
    made.close()


@pytest.fixture
def double(secret_endpoint: SecretEndpoint) -> Iterator[ConnectDouble]:
    made = ConnectDouble(
        headgate_url=secret_endpoint.url, service_credential=secret_endpoint.credential, delays=QUICK
    ).start()
    yield made
    made.stop()


@pytest.fixture
def connect(double: ConnectDouble) -> Iterator[ConnectView]:
    """The double as a client sees it."""
    view = ConnectView(url=double.url)
    yield view
    view.close()


@pytest.fixture
def sink(secret_endpoint: SecretEndpoint) -> dict[str, str]:
    return {
        "name": "sink-1",
        "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
        "topics": "orders",
        "connection.url": "jdbc:sqlserver://127.0.0.1:1;databaseName=shop",
        "connection.username": "app",
        "connection.password": secret_endpoint.reference("password", "s3cret"),
    }
