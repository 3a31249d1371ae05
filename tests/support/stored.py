"""Entities that tests put into the tables, and take out of them, without the services."""

from typing import TypeVar

from chalicelib.stores.documents import Documents, Entity
from chalicelib.stores.transaction import Transaction

E = TypeVar("E", bound=Entity)


def put(store: Documents[E], *entities: E) -> E:
    """Store new entities in one transaction; returns the last one as it is stored."""
    with Transaction() as transaction:
        *_, last = [store.put_new(transaction, entity) for entity in entities]
    return last


def remove(store: Documents[E], entity_id: str) -> None:
    """Delete a stored entity."""
    with Transaction() as transaction:
        store.remove(transaction, store.get(entity_id))
