"""Request units that DynamoDB charges on demand, computed from requests, answers and stored items.

The rules are those of "read and write request units" in its documentation: a consistent read takes one unit for each
4 KB of an item, an eventually consistent one half, a transactional one two; a write takes one unit for each 1 KB of the
larger of the item before and after it, in a transaction two. Indexes are charged separately and are left out.
"""

import base64
from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any

from moto.core import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends

READ_BLOCK, WRITE_BLOCK = 4096, 1024
Item = Mapping[str, Mapping[str, Any]]
Request = Mapping[str, Any]


def read_units(operation: str, request: Request, answer: Request) -> float:
    """Units of a read; 0 for what does not read."""
    match operation:
        case "GetItem":
            return _read(_price(request), [answer.get("Item", {})])
        case "BatchGetItem":
            return sum(
                _read(_price(of), answer["Responses"].get(table, []), at_least=len(of["Keys"]))
                for table, of in request["RequestItems"].items()
            )
        case "Query" | "Scan":
            whole = sum(map(item_size, answer.get("Items", [])))
            return _price(request) * max(1, ceil(whole / READ_BLOCK))
        case "TransactGetItems":
            return _read(2.0, [found.get("Item", {}) for found in answer["Responses"]])
    return 0.0


def write_units(operation: str, request: Request) -> float:
    """Units of a write; 0 for what does not write. Call it after the write: it reads what is stored."""
    match operation:
        case "PutItem" | "UpdateItem" | "DeleteItem":
            return _written(request)
        case "BatchWriteItem":
            writes = [one for of in request["RequestItems"].values() for one in of]
            return sum(_written(next(iter(one.values()))) for one in writes)
        case "TransactWriteItems":
            return sum(2 * _written(next(iter(one.values()))) for one in request["TransactItems"])
    return 0.0


def item_size(item: Item) -> int:
    """Bytes of an item: names and values."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _price(request: Request) -> float:
    return 1.0 if request.get("ConsistentRead") else 0.5


def _read(price: float, items: Iterable[Item], at_least: int = 0) -> float:
    """An item that does not exist costs as much as the smallest."""
    blocks = [max(1, ceil(item_size(item) / READ_BLOCK)) for item in items]
    return price * (sum(blocks) + max(0, at_least - len(blocks)))


def _written(one: Request) -> int:
    item = one.get("Item") or (_stored(one["TableName"], one["Key"]) if "TableName" in one else {})
    return max(1, ceil(item_size(item) / WRITE_BLOCK))


def _stored(table: str, key: Item) -> Item:
    found = dynamodb_backends[DEFAULT_ACCOUNT_ID]["eu-central-1"].get_item(table, dict(key))
    return found.to_json()["Attributes"] if found else {}


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, inner),) = value.items()
    match kind:
        case "S":
            return len(inner.encode())
        case "N":
            return ceil(len(inner) / 2) + 1
        case "B":
            return len(inner if isinstance(inner, bytes) else base64.b64decode(inner))
        case "M":
            return 3 + sum(len(name.encode()) + 1 + _value_size(one) for name, one in inner.items())
        case "L":
            return 3 + sum(1 + _value_size(one) for one in inner)
    return 1 if kind in ("BOOL", "NULL") else sum(len(str(one)) for one in inner)
