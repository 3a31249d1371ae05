"""Fixtures of the tests of the whole."""

from tests.support.real_headgate import headgate

__all__ = ["headgate"]
