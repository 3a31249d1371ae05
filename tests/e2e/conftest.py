"""Fixtures of the end-to-end tests."""

from tests.support.real_headgate import headgate

__all__ = ["headgate"]
