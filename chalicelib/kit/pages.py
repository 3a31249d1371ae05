"""Pages of a list, and the signed cursor by which a client asks for the next page."""

import base64
import hmac
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")

CURSOR_LIFETIME = timedelta(hours=24)
_SIGNATURE_BYTES = 16


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """Some items of a list. `next_key` is the store's key of where the rest begins, None at the end."""

    items: tuple[T, ...]
    next_key: str | None = None

    def map(self, change: Callable[[T], U]) -> "Page[U]":
        """The same page with every item changed."""
        return Page(tuple(change(item) for item in self.items), self.next_key)


def slice_of(items: Sequence[T], *, limit: int, after: str | None) -> Page[T]:
    """A page of a list that is in memory as a whole; its key is a position."""
    begin = int(after) if after else 0
    end = begin + limit
    return Page(tuple(items[begin:end]), str(end) if end < len(items) else None)


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
