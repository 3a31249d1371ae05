"""moto's transactions without a copy of every row.

To be able to roll back a transaction, moto copies the whole table for each of its writes: with a few hundred rows this
takes most of the time of a test. Here an update replaces a row instead of changing it in place, so that a copy of a
table can share its rows with the table.
"""

import copy
from typing import Any

from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.dynamo_type import Item
from moto.dynamodb.models.table import Table

_update_item = DynamoDBBackend.update_item


def row_copies(rows: Any) -> Any:
    """A copy of the mapping from keys to rows. The rows themselves are shared."""
    copied = copy.copy(rows)
    for key, found in rows.items():
        if not isinstance(found, Item):
            copied[key] = dict(found)
    return copied


def _copied(table: Table, _memo: dict[int, Any]) -> Table:
    copied = copy.copy(table)
    copied.items = row_copies(table.items)
    return copied


def _update(backend: DynamoDBBackend, table_name: str, key: dict[str, Any], *others: Any, **named: Any) -> Item:
    table = backend.get_table(table_name)
    hash_value, range_value = backend.get_keys_value(table, key)
    found = table.get_item(hash_value, range_value)
    if found is not None:
        fresh = copy.deepcopy(found)
        if range_value is None:
            table.items[hash_value] = fresh  # type: ignore[assignment]
        else:
            table.items[hash_value][range_value] = fresh
    return _update_item(backend, table_name, key, *others, **named)


def share_rows() -> None:
    """Patches moto in this process: it has no hook for this, and its types do not allow for the patch."""
    Table.__deepcopy__ = _copied  # type: ignore[attr-defined]
    DynamoDBBackend.update_item = _update  # type: ignore[method-assign]
