"""A cache with a bound."""

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(dict[K, V]):
    """A dict of at most `max_entries`, emptied when one more is added. Only `[key] = value` keeps the bound."""

    def __init__(self, max_entries: int) -> None:
        super().__init__()
        self._max_entries = max_entries

    def __setitem__(self, key: K, value: V) -> None:
        if key not in self and len(self) >= self._max_entries:
            self.clear()
        super().__setitem__(key, value)
