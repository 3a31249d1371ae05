"""Fixtures of the tests against real servers."""

from tests.support.databases.postgresql import postgresql, shop

__all__ = ["postgresql", "shop"]
