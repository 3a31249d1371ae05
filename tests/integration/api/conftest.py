"""Fixtures of the tests of the API over HTTP."""

from tests.support.apps.sandbox import sandbox

__all__ = ["sandbox"]
