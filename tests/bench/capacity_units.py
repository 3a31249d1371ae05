"""Request units that DynamoDB charges on demand, computed from requests, answers and stored items.

The rules are those of "read and write request units" in its documentation: a consistent read takes one unit for each
4 KB of an item, an eventually consistent one half, a transactional one two; a write takes one unit for each 1 KB of the
larger of the item before and after it, in a transaction two. Indexes are charged separately and are left out.
"""

from collections.abc import Iterable, Mapping
from math import ceil
from typing import Any

from tests.support.dynamodb.in_process import ask
from tests.support.dynamodb.items import Item, item_size

READ_BLOCK, WRITE_BLOCK = 4096, 1024
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
    found: Item = ask("GetItem", {"TableName": table, "Key": key, "ConsistentRead": True}).get("Item", {})
    return found
