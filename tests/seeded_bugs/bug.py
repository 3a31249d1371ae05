"""The bugs: each is one edit that somebody could make by mistake, and the tests that are run to catch it.

`tests` are the files that a developer would run for that module. A bug is caught when one of their tests fails.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bug:
    """In `file`, `before` (which stands there once) becomes `after`."""

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]
