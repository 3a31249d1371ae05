"""Rows that could not be read while one request, message or schedule was worked on.

Stores leave such a row out of a list, or raise for it. Who has begun the work learns here which rows these were: so no
caller in between has to pass them on.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

from chalicelib.kit.log import get_logger


class Unreadable(NamedTuple):
    """A row, by its kind (such as `pipeline`) and its id. `reason` is the kind of the fault, and nothing of the row."""

    kind: str
    id: str
    reason: str


_collected: ContextVar[dict[Unreadable, None] | None] = ContextVar("unreadable_rows", default=None)


@contextmanager
def unreadable_rows() -> Iterator[dict[Unreadable, None]]:
    """The rows that cannot be read in this block and in this thread, each once, in the order in which they were met."""
    rows: dict[Unreadable, None] = {}
    token = _collected.set(rows)
    try:
        yield rows
    finally:
        _collected.reset(token)


@contextmanager
def noted(note: Callable[[Iterable[Unreadable]], None]) -> Iterator[None]:
    """Hands the rows that cannot be read in this block to `note` at its end, if there are any."""
    with unreadable_rows() as rows:
        try:
            yield
        finally:
            if rows:
                note(rows)


def report_unreadable(row: Unreadable) -> None:
    """Say that a row cannot be read: to who has begun the work, or else in the log."""
    rows = _collected.get()
    if rows is None:
        log_unreadable(row)
    else:
        rows[row] = None


def log_unreadable(row: Unreadable) -> None:
    get_logger().error("a row cannot be read by this release", extra={"row": row._asdict()})
