"""Pages of a list, and the signed cursor by which a client asks for the next page."""

import base64
import hashlib
import hmac
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")

CURSOR_LIFETIME = timedelta(hours=24)
PAGE_BYTES = 4 * 1024 * 1024
"""A page ends before its body would be longer (wire contract, section 1): a function's answer may have 6 MB."""
_SIGNATURE_BYTES = 16
_KEY_CHARACTERS = 200
"""A cursor has at most 4,096 characters, and one of a key up to twelve bytes in JSON, which are 16 in a cursor."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list, each with its key in the order of the list: a page may be cut behind any of them.

    `more`: the list goes on behind the last item, or behind `last_key` where others followed it. `unreadable` are ids
    of entries that were left out, because they cannot be read.
    """

    items: tuple[T, ...]
    keys: tuple[str, ...]
    more: bool = False
    unreadable: tuple[str, ...] = ()
    last_key: str | None = None

    @property
    def next_key(self) -> str | None:
        """The key behind which the rest begins, None at the end of the list, and behind no item."""
        if not self.more:
            return None
        return self.last_key or (self.keys[-1] if self.keys else None)

    def first(self, count: int) -> "Page[T]":
        if count >= len(self.items):
            return self
        return Page(self.items[:count], self.keys[:count], more=True, unreadable=self.unreadable)

    def below(self, key: str | None) -> "Page[T]":
        """The rest behind that key of a page whose keys descend; the whole page for None."""
        start = sum(key is not None and own >= key for own in self.keys)
        return replace(self, items=self.items[start:], keys=self.keys[start:])

    def only(self, accepts: Callable[[T], bool]) -> "Page[T]":
        """The items that are accepted. The list goes on where it did."""
        kept = [(item, key) for item, key in zip(self.items, self.keys, strict=True) if accepts(item)]
        items, keys = tuple(item for item, _ in kept), tuple(key for _, key in kept)
        return replace(self, items=items, keys=keys, last_key=self.next_key)

    def map(self, change: Callable[[T], U]) -> "Page[U]":
        return self.with_items(change(item) for item in self.items)

    def with_items(self, items: Iterable[U]) -> "Page[U]":
        """The same page with other items in the same order."""
        return Page(tuple(items), self.keys, self.more, self.unreadable, self.last_key)


def page_of(
    items: Iterable[T],
    *,
    key: Callable[[T], str],
    limit: int,
    size: Callable[[T], int] | None = None,
) -> Page[T]:
    """The first items, at most `limit` of them. With `size` (bytes of an item) it ends when `PAGE_BYTES` are reached.

    What follows the page is not read, apart from one item.
    """
    taken: list[T] = []
    room = PAGE_BYTES
    for item in items:
        if len(taken) == limit or room <= 0:
            return Page(tuple(taken), tuple(map(key, taken)), more=True)
        taken.append(item)
        room -= size(item) if size else 0
    return Page(tuple(taken), tuple(map(key, taken)))


def sorted_page(items: Iterable[T], *, key: Callable[[T], str], limit: int, after: str | None) -> Page[T]:
    """A page of a list that is in memory as a whole, in the order of its keys."""
    rest = (item for item in items if after is None or key(item) > after)
    return page_of(sorted(rest, key=key), key=key, limit=limit)


def bounded_key(text: str) -> str:
    """The key of an entry that is named by a text of any length: texts that differ have keys that differ, and the order
    is that of their beginnings.
    """
    if len(text) <= _KEY_CHARACTERS:
        return text
    return f"{text[:_KEY_CHARACTERS]}\x1f{hashlib.sha256(text.encode()).hexdigest()}"


class BadCursor(ValueError):
    """The cursor is not one of ours, is for another list, or is too old."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """Signs what clients have to send back unchanged. `key` is 32 bytes, the same in every process."""

    key: bytes

    def __repr__(self) -> str:
        return "Signer(********)"

    def digest(self, purpose: str, text: bytes) -> bytes:
        """A keyed digest of 32 bytes. The same text for another purpose has another digest."""
        return hmac.digest(self.key, purpose.encode() + b"\x00" + text, "sha256")

    def sign(self, scope: str, next_key: str, now: datetime) -> str:
        """A cursor for the list `scope` (its name and its filters), valid for 24 hours, safe in a URL."""
        expires = int((now + CURSOR_LIFETIME).timestamp())
        claims = json.dumps([expires, next_key], separators=(",", ":")).encode()
        return _encode(self._signature(scope, claims) + claims)

    def unsign(self, scope: str, cursor: str, now: datetime) -> str:
        """The store's key in the cursor. Raises `BadCursor`."""
        raw = _decode(cursor)
        signature, claims = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
        if not hmac.compare_digest(signature, self._signature(scope, claims)):
            raise BadCursor("not a cursor of this list")
        expires, next_key = json.loads(claims)
        if now.timestamp() >= expires:
            raise BadCursor("the cursor is too old")
        return str(next_key)

    def _signature(self, scope: str, claims: bytes) -> bytes:
        return self.digest("cursor", scope.encode() + b"\x00" + claims)[:_SIGNATURE_BYTES]


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _decode(text: str) -> bytes:
    try:
        raw = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise BadCursor("not a cursor") from error
    if _encode(raw) != text:
        # Base64 has several spellings of the same bytes; ours is one of them.
        raise BadCursor("not a cursor")
    return raw
