"""Fixtures of the tests against real servers."""

from tests.support.databases.mysql import mysql_server, mysql_shop
from tests.support.databases.postgresql import postgresql, shop

__all__ = ["mysql_server", "mysql_shop", "postgresql", "shop"]
