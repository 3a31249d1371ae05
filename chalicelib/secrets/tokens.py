"""Tokens: found by their hash, which is all that is stored. They are 256 random bits, so no salt is needed."""

import base64
import hashlib
import hmac

from chalicelib.kit.masking import Secret


def token_hash(token: str) -> str:
    """The SHA-256 of a token, in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def same_secret(presented: str, expected: Secret) -> bool:
    """Whether two secrets are equal, in constant time."""
    return hmac.compare_digest(presented.encode(), expected.reveal().encode())


def derived_key(master: Secret, purpose: str) -> bytes:
    """A 256-bit key for one purpose, from the installation's master key."""
    return hmac.new(base64.b64decode(master.reveal()), purpose.encode(), hashlib.sha256).digest()
