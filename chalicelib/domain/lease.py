"""Leases: work belongs to one worker until its lease ends; then that worker counts as dead, and any other may go on.

Jobs, operations on connectors, notifications and requests with an `Idempotency-Key` are such work. A lease is taken or
renewed by a conditional write of `lease_until` only: `Documents.save` raises WriteConflict when another worker has
written the work since it was read.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Protocol, TypeVar


class Leased(Protocol):
    """Work with a lease."""

    @property
    def lease_until(self) -> datetime | None: ...


L = TypeVar("L", bound=Leased)


def is_free(lease_until: datetime | None, now: datetime) -> bool:
    """Whether any worker may take it: it has no lease, or its lease has ended."""
    return lease_until is None or lease_until <= now


def expired(work: Iterable[L], now: datetime, *, limit: int) -> list[L]:
    """The work that no live worker has, at most `limit`: a sweep sends it to a worker again."""
    return list(islice((item for item in work if is_free(item.lease_until, now)), limit))
