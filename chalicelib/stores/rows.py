"""Reads rows of several tables in one call.

By BatchGetItem: it costs half of what TransactGetItems costs, and a write at the same time does not make it fail. Each
row is consistent; two rows may be of times a few milliseconds apart, so every write that follows is conditional.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from pynamodb.constants import BATCH_GET_ITEM
from pynamodb.models import Model

from chalicelib.errors import StoreBusy
from chalicelib.kit.retry import Retry
from chalicelib.stores.tables import connection, store_errors

Key = tuple[type[Model], str] | tuple[type[Model], str, str]
"""A table with the hash key and, where it has one, the range key of a row."""

ROWS_PER_CALL = 100
"""A limit of BatchGetItem."""

_RETRY = Retry(attempts=4)


def read_rows(*keys: Key, consistent: bool = True) -> list[Any]:
    """The rows in the order of their keys, None for each that does not exist; one call for each hundred.

    No row has an empty key: DynamoDB refuses such a key. A consistent read costs twice as much as one that may be
    slightly out of date. Raises StoreUnavailable, and StoreBusy when rows stay unprocessed.
    """
    rows: list[Any] = []
    with store_errors():
        for start in range(0, len(keys), ROWS_PER_CALL):
            rows += _read(keys[start : start + ROWS_PER_CALL], consistent)
    return rows


def _read(keys: Sequence[Key], consistent: bool) -> list[Any]:
    tables = {model.Meta.table_name: model for model, *_ in keys}
    requests: dict[str, Any] = {}
    for key in keys:
        model, *values = key
        serialized = {name: {"S": value} for name, value in zip(_key_names(model), values, strict=True)}
        request = requests.setdefault(model.Meta.table_name, {"ConsistentRead": consistent, "Keys": []})
        # DynamoDB refuses a call that names a key twice.
        if all(values) and serialized not in request["Keys"]:
            request["Keys"].append(serialized)
    requests = {name: request for name, request in requests.items() if request["Keys"]}
    rows: dict[tuple[str, ...], Any] = {}
    for name, items in _items(requests) if requests else ():
        for item in items:
            rows[name, *(item[key]["S"] for key in _key_names(tables[name]))] = tables[name].from_raw_data(item)
    return [rows.get((model.Meta.table_name, *values)) for model, *values in keys]


def _items(requests: dict[str, Any]) -> list[tuple[str, Sequence[dict[str, Any]]]]:
    """Items by table. A table may come several times."""
    items: list[tuple[str, Sequence[dict[str, Any]]]] = []

    def read(_attempt: int) -> None:
        nonlocal requests
        answer = connection().dispatch(BATCH_GET_ITEM, {"RequestItems": requests})
        items.extend(answer.get("Responses", {}).items())
        requests = answer.get("UnprocessedKeys") or {}
        if requests:
            raise StoreBusy

    _RETRY.run(read, on=StoreBusy)
    return items


@cache
def _key_names(model: type[Model]) -> tuple[str, ...]:
    columns = [column for column in model.get_attributes().values() if column.is_hash_key or column.is_range_key]
    return tuple(column.attr_name for column in sorted(columns, key=lambda column: column.is_range_key))
