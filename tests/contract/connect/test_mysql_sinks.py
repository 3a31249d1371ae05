"""JDBC sinks into MySQL: a task connects to its target, and does not say why it cannot."""

import pytest

from tests.contract.connect.conftest import MySQLShop
from tests.support.apps.doubles import ConnectView

NO_METADATA = (
    "org.hibernate.service.spi.ServiceException: Unable to create requested service "
    "[org.hibernate.engine.jdbc.env.spi.JdbcEnvironment] due to: Unable to determine Dialect without JDBC metadata"
)


def test_a_sink_connects_to_its_target(mysql_shop: MySQLShop, connect: ConnectView) -> None:
    connect.run(mysql_shop.sink())


@pytest.mark.parametrize("fault", ["wrong password", "unknown database", "closed port", "unknown certificate"])
def test_a_sink_that_cannot_connect_fails_without_naming_the_reason(mysql_shop: MySQLShop, fault: str) -> None:
    wrong = mysql_shop.servers.secret_endpoint.reference("password", "wrong")
    config = {
        "wrong password": lambda: mysql_shop.sink(connection__password=wrong),
        "unknown database": lambda: mysql_shop.sink("missing"),
        "closed port": lambda: mysql_shop.sink(port=1),
        "unknown certificate": lambda: mysql_shop.sink(f"{mysql_shop.name}?sslMode=VERIFY_CA"),
    }[fault]()
    assert mysql_shop.failing(config).startswith(NO_METADATA)
