"""The bugs: each is one edit that an engineer could make by mistake, and the tests that should catch it.

`tests` are the files that a developer would run for that module. A bug is caught when one of their tests fails.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bug:
    """In `file`, `before` (which occurs once) becomes `after`."""

    name: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]
