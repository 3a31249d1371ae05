"""Items in DynamoDB's JSON: how large they are, and how their values compare."""

import base64
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import ceil
from typing import Any

Value = Mapping[str, Any]
Item = Mapping[str, Value]


def item_size(item: Item) -> int:
    """Bytes of an item: names and values."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def comparable(value: Value) -> tuple[str, Any]:
    """The type of a value, and the value so that two of the same type are equal or in order as DynamoDB has them."""
    ((kind, inner),) = value.items()
    return kind, _COMPARED[kind](inner) if kind in _COMPARED else inner


_COMPARED: Mapping[str, Callable[[Any], Any]] = {
    "N": Decimal,
    "B": base64.b64decode,
    "SS": frozenset,
    "BS": frozenset,
    "NS": lambda inner: frozenset(map(Decimal, inner)),
    "L": lambda inner: [comparable(entry) for entry in inner],
    "M": lambda inner: {name: comparable(entry) for name, entry in inner.items()},
}


def with_bytes(item: Item) -> Item:
    """The item with its bytes decoded, as the SDK gives it to its caller."""
    return {name: {"B": base64.b64decode(value["B"])} if "B" in value else value for name, value in item.items()}


def in_json(item: Item) -> Item:
    """The reverse. Bytes inside of lists and maps are not changed: Headgate stores none."""
    return {
        name: {"B": base64.b64encode(value["B"]).decode()} if "B" in value else value for name, value in item.items()
    }


def number(value: Decimal) -> Value:
    """A number as DynamoDB answers it: without an exponent."""
    return {"N": f"{value:f}"}


def _value_size(value: Value) -> int:
    ((kind, inner),) = value.items()
    match kind:
        case "S":
            return len(inner.encode())
        case "N":
            return ceil(len(inner) / 2) + 1
        case "B":
            return len(inner if isinstance(inner, bytes) else base64.b64decode(inner))
        case "M":
            return 3 + sum(len(name.encode()) + 1 + _value_size(entry) for name, entry in inner.items())
        case "L":
            return 3 + sum(1 + _value_size(entry) for entry in inner)
    return 1 if kind in ("BOOL", "NULL") else sum(len(str(text)) for text in inner)
