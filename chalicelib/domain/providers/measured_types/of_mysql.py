"""Written by `python -m tests.types`."""

from collections.abc import Mapping

LINES: tuple[tuple[str, str, Mapping[str, tuple[str, ...]]], ...] = ()
