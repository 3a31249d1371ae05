"""Rows of several tables, read in one call; and rows that are read before they are asked for.

By BatchGetItem: it costs half of what TransactGetItems costs, and no write of the same moment makes it fail. Each row
is consistent by itself; two rows may be of two moments, a few milliseconds apart.

Whoever knows what a request is going to ask for says so (`expect`), and the first call for any row brings all of that
along: who asks, and what they ask about, come in one call. What is expected is a guess. A row that nobody asks for is
dropped. One that is asked for is handed out once: what it says may be out of date by then, so whatever is written
because of it is conditional, and whoever tries again reads anew. What a request has written is never handed out as it
was before.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from pynamodb.constants import BATCH_GET_ITEM
from pynamodb.models import Model

from chalicelib.errors import StoreUnavailable
from chalicelib.kit.jitter import jitter
from chalicelib.stores.tables import connection

Key = tuple[type[Model], str] | tuple[type[Model], str, str]
"""A table with the hash key and, where it has one, the range key of a row."""

AT_MOST = 100
"""Rows in one call (a limit of DynamoDB's)."""

_ATTEMPTS = 4
_Serialized = Mapping[str, Mapping[str, str]]


def read_rows(*wanted: Key, consistent: bool = True) -> list[Any]:
    """The rows in the order of their keys, None for each that does not exist. `AT_MOST` of them.

    An empty key is no row's: DynamoDB would refuse to look for it. `consistent` costs twice as much as reading what
    may be a moment old. Raises StoreUnavailable when some are held back for too long, and the client's own errors.
    """
    ahead = _ahead.get()
    return _read(wanted, consistent) if ahead is None or not consistent else ahead.hand_out(wanted)


@contextmanager
def one_request() -> Iterator[None]:
    """Within it, rows may be expected. One request inside another is part of it."""
    if _ahead.get() is not None:
        yield
        return
    token = _ahead.set(_Ahead())
    try:
        yield
    finally:
        _ahead.reset(token)


def expect(*keys: Key) -> None:
    """Say which rows this request is going to ask for. Outside of a request nothing comes of it."""
    if ahead := _ahead.get():
        ahead.expected.update(dict.fromkeys(key for key in keys if key not in ahead.here))


def forget(keys: Iterable[Key]) -> None:
    """These rows are about to be written: whoever asks for them from now on wants them as they are then."""
    if ahead := _ahead.get():
        for key in keys:
            ahead.take(key)


def keep(key: Key, row: Model) -> None:
    """Hand this row out to whoever asks for it next in this request: it has just been written like this."""
    if ahead := _ahead.get():
        ahead.here[key] = row


def key_of(row: Model) -> Key:
    """The key of a row."""
    hash_key, *range_key = (getattr(row, name) for name in _key_names(type(row)))
    return (type(row), hash_key, range_key[0]) if range_key else (type(row), hash_key)


@dataclass(slots=True)
class _Ahead:
    """What one request is going to ask for: rows still to be read, and rows that are here already."""

    expected: dict[Key, None] = field(default_factory=dict)
    here: dict[Key, Any] = field(default_factory=dict)

    def hand_out(self, wanted: Sequence[Key]) -> list[Any]:
        """The wanted rows. When any of them is to be read, everything that is expected comes along."""
        missing = dict.fromkeys(key for key in wanted if key not in self.here)
        if missing:
            asked = list({**missing, **self.expected})[: max(AT_MOST, len(missing))]
            self.expected.clear()
            self.here.update(zip(asked, _read(asked, consistent=True), strict=True))
        rows = {key: self.take(key) for key in dict.fromkeys(wanted)}
        return [rows[key] for key in wanted]

    def take(self, key: Key) -> Any:
        """The row, from now on no longer here."""
        self.expected.pop(key, None)
        return self.here.pop(key, None)


_ahead: ContextVar[_Ahead | None] = ContextVar("ahead", default=None)


def _read(wanted: Sequence[Key], consistent: bool) -> list[Any]:
    tables = {model.Meta.table_name: model for model, *_ in wanted}
    asked: dict[str, Any] = {}
    for key in wanted:
        name, serialized = _address(key)
        of_table = asked.setdefault(name, {"ConsistentRead": consistent, "Keys": []})
        if all(key[1:]) and serialized not in of_table["Keys"]:
            of_table["Keys"].append(serialized)
    asked = {name: of_table for name, of_table in asked.items() if of_table["Keys"]}
    found: dict[tuple[str, ...], Any] = {}
    for name, items in _items(asked) if asked else ():
        for item in items:
            found[name, *_key_values(tables[name], item)] = tables[name].from_raw_data(item)
    return [found.get((model.Meta.table_name, *values)) for model, *values in wanted]


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


def _address(key: Key) -> tuple[str, _Serialized]:
    model, *values = key
    return model.Meta.table_name, {name: {"S": value} for name, value in zip(_key_names(model), values, strict=True)}


@cache
def _key_names(model: type[Model]) -> tuple[str, ...]:
    columns = [column for column in model.get_attributes().values() if column.is_hash_key or column.is_range_key]
    return tuple(column.attr_name for column in sorted(columns, key=lambda column: column.is_range_key))


def _key_values(model: type[Model], item: Mapping[str, Mapping[str, str]]) -> tuple[str, ...]:
    return tuple(item[name]["S"] for name in _key_names(model))
