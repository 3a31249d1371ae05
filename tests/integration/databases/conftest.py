"""Fixtures of the tests against real servers."""

from tests.support.databases.mysql import mysql_server, mysql_shop
from tests.support.databases.mysql_9 import mysql_9
from tests.support.databases.mysql_target import mysql_copy
from tests.support.databases.postgresql import postgresql, shop

__all__ = ["mysql_9", "mysql_copy", "mysql_server", "mysql_shop", "postgresql", "shop"]
