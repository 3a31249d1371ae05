"""Leases of stored work: a lease is taken by one conditional write."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from chalicelib.domain.lease import Leased
from chalicelib.stores.documents import Documents, Entity
from chalicelib.stores.transaction import Transaction

if TYPE_CHECKING:
    from dataclasses import Field


class _LeasedEntity(Entity, Leased, Protocol):
    __dataclass_fields__: ClassVar[dict[str, "Field[Any]"]]


W = TypeVar("W", bound=_LeasedEntity)


def take_lease(store: Documents[W], work: W, until: datetime, **changes: Any) -> W:
    """Take or renew the lease of work, and store the changes with it. Returns the stored work.

    Raises WriteConflict when another worker has written it since it was read. Call `is_free` before a takeover.
    """
    transaction = Transaction()
    leased = add_lease(transaction, store, work, until, **changes)
    transaction.commit()
    return leased


def add_lease(transaction: Transaction, store: Documents[W], work: W, until: datetime, **changes: Any) -> W:
    """`take_lease` in a transaction with other writes."""
    return store.save(transaction, replace(work, lease_until=until, **changes))
