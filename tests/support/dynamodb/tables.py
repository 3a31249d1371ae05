"""Tables of the double of DynamoDB: their items, what their indexes have of these, and in which order."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from tests.support.dynamodb.items import Item, comparable, item_size

Request = Mapping[str, Any]
Rows = dict[Any, dict[Any, Item]]
"""Items by the value of their hash key, then by that of their range key."""

MAX_ITEM = 400 * 1024


class Refused(Exception):
    """An error as DynamoDB answers it."""

    def __init__(self, code: str, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.body = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": message, **fields}


def invalid(message: str) -> Refused:
    return Refused("ValidationException", message)


@dataclass(frozen=True)
class Index:
    """The keys of an index, and its attributes; None means all."""

    keys: tuple[str, ...]
    attributes: frozenset[str] | None

    @classmethod
    def of(cls, described: Request, table_keys: tuple[str, ...]) -> "Index":
        keys, projection = _key_names(described), described["Projection"]
        if projection["ProjectionType"] == "ALL":
            return cls(keys, None)
        return cls(keys, frozenset((*keys, *table_keys, *projection.get("NonKeyAttributes", ()))))

    def projected(self, item: Item) -> Item:
        kept = self.attributes
        return item if kept is None else {name: value for name, value in item.items() if name in kept}


@dataclass(kw_only=True)
class Table:
    """A table: the request that created it, its keys and those of its indexes. The hash key comes first."""

    request: Request
    keys: tuple[str, ...]
    indexes: Mapping[str, "Index"]
    types: Mapping[str, str]
    rows: Rows = field(default_factory=dict)
    ordered: dict["Index", tuple[Rows, list[tuple[Any, Item]]]] = field(default_factory=dict)
    """What indexes have of these rows, in their order, until the next write: a list of thousands is many queries."""

    @classmethod
    def create(cls, request: Request) -> "Table":
        indexes = request.get("GlobalSecondaryIndexes", ())
        return cls(
            request=request,
            keys=_key_names(request),
            indexes={index["IndexName"]: Index.of(index, _key_names(request)) for index in indexes},
            types={defined["AttributeName"]: defined["AttributeType"] for defined in request["AttributeDefinitions"]},
        )

    def described(self) -> Request:
        """The table for a DescribeTable. DynamoDB counts every six hours only."""
        return {**self.request, "TableStatus": "ACTIVE", "ItemCount": sum(map(len, self.rows.values()))}

    def items(self) -> Iterator[Item]:
        for rows in self.rows.values():
            yield from rows.values()

    def identity(self, key: Item) -> tuple[Any, Any]:
        """The values of the keys. Raises Refused when it is no key of this table."""
        for name in self.keys:
            if self.types[name] not in key.get(name, ()) or key[name] == {"S": ""}:
                raise invalid("The provided key element does not match the schema")
        hashed, *ranged = (comparable(key[name]) for name in self.keys)
        return hashed, ranged[0] if ranged else None

    def get(self, key: Item) -> Item | None:
        hashed, ranged = self.identity(key)
        return self.rows.get(hashed, {}).get(ranged)

    def in_order(self, index: "Index") -> list[tuple[Any, Item]]:
        """The items that have all keys of the index, each behind the values of these and of the table's keys."""
        rows, found = self.ordered.get(index, (None, []))
        if rows is not self.rows:
            keys = set(index.keys)
            items = (index.projected(item) for item in self.items() if keys <= item.keys())
            found = in_order(items, index.keys + self.keys)
            self.ordered[index] = self.rows, found
        return found

    def put(self, item: Item) -> None:
        self.ordered.clear()
        hashed, ranged = self.identity(item)
        self.rows.setdefault(hashed, {})[ranged] = item

    def remove(self, key: Item) -> None:
        """Remove the item with this key, if there is one."""
        self.ordered.clear()
        hashed, ranged = self.identity(key)
        rows = self.rows.get(hashed, {})
        rows.pop(ranged, None)
        if not rows:
            self.rows.pop(hashed, None)

    def check(self, item: Item) -> None:
        """Raises Refused when the item cannot be stored."""
        self.identity(item)
        for index in self.indexes.values():
            for name in index.keys:
                if name in item and (self.types[name] not in item[name] or item[name] == {"S": ""}):
                    raise invalid(f"One or more parameter values are not valid: the index key {name}")
        if item_size(item) > MAX_ITEM:
            raise invalid("Item size has exceeded the maximum allowed size")


def order(item: Item, keys: tuple[str, ...]) -> list[Any]:
    """The values of these keys, as items are sorted by them."""
    return [comparable(item[name]) for name in keys]


def in_order(items: Iterable[Item], keys: tuple[str, ...]) -> list[tuple[Any, Item]]:
    """The items, each behind the values of these keys."""
    return sorted(((order(item, keys), item) for item in items), key=itemgetter(0))


def copied(rows: Rows) -> Rows:
    """A copy that shares the items."""
    return {hashed: dict(ranged) for hashed, ranged in rows.items()}


def _key_names(described: Request) -> tuple[str, ...]:
    return tuple(key["AttributeName"] for key in sorted(described["KeySchema"], key=lambda key: key["KeyType"]))
