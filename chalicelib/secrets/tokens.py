"""Tokens. Only their hash is stored; a salt is not needed for 256 random bits."""

import base64
import hashlib
import hmac
import os
import re
from collections.abc import Collection
from uuid import UUID

from chalicelib.kit.masking import Secret

_ID_BYTES, _RANDOM_BYTES = 16, 32
_TOKEN = re.compile("[A-Za-z0-9_-]{1,200}")


def token_hash(token: str) -> str:
    """The SHA-256 of a token, in hex."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def has_hash(token: str, hashes: Collection[str]) -> bool:
    """Whether the token has one of these hashes, compared in constant time."""
    presented = token_hash(token)
    return any(hmac.compare_digest(presented, stored) for stored in hashes)


def token_with_ids(prefix: str, *ids: str) -> Secret:
    """A token of 256 random bits that contains these UUIDs, so that its row is read by key, without an index."""
    raw = b"".join(UUID(text).bytes for text in ids) + os.urandom(_RANDOM_BYTES)
    return Secret(prefix + base64.urlsafe_b64encode(raw).decode().rstrip("="))


def ids_in(prefix: str, token: str, *, count: int) -> list[str]:
    """The UUIDs in a token; none for a text that `token_with_ids` cannot have made."""
    size = _ID_BYTES * count + _RANDOM_BYTES
    text = token.removeprefix(prefix)
    if not token.startswith(prefix) or not _TOKEN.fullmatch(text) or len(text) != -(-size * 8 // 6):
        return []
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    return [str(UUID(bytes=raw[at : at + _ID_BYTES])) for at in range(0, _ID_BYTES * count, _ID_BYTES)]


def derived_key(master: Secret, purpose: str) -> bytes:
    """A 256-bit key for one purpose, from the installation's master key."""
    return hmac.new(base64.b64decode(master.reveal()), purpose.encode(), hashlib.sha256).digest()
