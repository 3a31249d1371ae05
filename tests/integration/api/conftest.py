"""Fixtures of the tests that talk HTTP to a whole Headgate."""

from tests.support.sandbox import sandbox

__all__ = ["sandbox"]
