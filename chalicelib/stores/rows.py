"""Rows of several tables, read together.

By BatchGetItem: it costs half of what TransactGetItems costs, and a write at the same time does not make it fail. Each
row is consistent; two rows may be of times a few milliseconds apart, so every write that follows is conditional.
"""

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from pynamodb.constants import BATCH_GET_ITEM
from pynamodb.models import Model

from chalicelib.errors import StoreUnavailable
from chalicelib.kit.jitter import jitter
from chalicelib.stores.tables import connection

Key = tuple[type[Model], str] | tuple[type[Model], str, str]
"""A table with the hash key and, where it has one, the range key of a row."""

ROWS_PER_CALL = 100
"""A limit of BatchGetItem."""

_ATTEMPTS = 4


def read_rows(*keys: Key, consistent: bool = True) -> list[Any]:
    """The rows in the order of their keys, None for each that does not exist; one call for each hundred.

    An empty key is no row's: DynamoDB would refuse to look for it. A consistent read costs twice as much as one that
    may be slightly out of date. Raises StoreUnavailable when rows stay unprocessed, and the client's own errors.
    """
    rows: list[Any] = []
    for start in range(0, len(keys), ROWS_PER_CALL):
        rows += _read(keys[start : start + ROWS_PER_CALL], consistent)
    return rows


def _read(keys: Sequence[Key], consistent: bool) -> list[Any]:
    tables = {model.Meta.table_name: model for model, *_ in keys}
    asked: dict[str, Any] = {}
    for key in keys:
        model, *values = key
        serialized = {name: {"S": value} for name, value in zip(_key_names(model), values, strict=True)}
        of_table = asked.setdefault(model.Meta.table_name, {"ConsistentRead": consistent, "Keys": []})
        if all(values) and serialized not in of_table["Keys"]:
            of_table["Keys"].append(serialized)
    asked = {name: of_table for name, of_table in asked.items() if of_table["Keys"]}
    found: dict[tuple[str, ...], Any] = {}
    for name, items in _items(asked) if asked else ():
        for item in items:
            found[name, *(item[key]["S"] for key in _key_names(tables[name]))] = tables[name].from_raw_data(item)
    return [found.get((model.Meta.table_name, *values)) for model, *values in keys]


def _items(asked: dict[str, Any]) -> list[tuple[str, Sequence[dict[str, Any]]]]:
    found: list[tuple[str, Sequence[dict[str, Any]]]] = []
    for attempt in range(_ATTEMPTS):
        answer = connection().dispatch(BATCH_GET_ITEM, {"RequestItems": asked})
        found += answer.get("Responses", {}).items()
        asked = answer.get("UnprocessedKeys") or {}
        if not asked:
            return found
        time.sleep(jitter(0.05, attempt))
    raise StoreUnavailable("The store did not answer.")


@cache
def _key_names(model: type[Model]) -> tuple[str, ...]:
    columns = [column for column in model.get_attributes().values() if column.is_hash_key or column.is_range_key]
    return tuple(column.attr_name for column in sorted(columns, key=lambda column: column.is_range_key))
