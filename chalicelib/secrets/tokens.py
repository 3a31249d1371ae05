"""Tokens: found by their hash, which is all that is stored. They are 256 random bits, so no salt is needed."""

import base64
import hashlib
import hmac
from collections.abc import Collection

from chalicelib.kit.masking import Secret


def token_hash(token: str) -> str:
    """The SHA-256 of a token, in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def has_hash(token: str, hashes: Collection[str]) -> bool:
    """Whether the token has one of these hashes. The time that it takes does not show how much of one is right."""
    presented = token_hash(token)
    return any(hmac.compare_digest(presented, one) for one in hashes)


def derived_key(master: Secret, purpose: str) -> bytes:
    """A 256-bit key for one purpose, from the installation's master key."""
    return hmac.new(base64.b64decode(master.reveal()), purpose.encode(), hashlib.sha256).digest()
