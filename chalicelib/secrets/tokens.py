"""Tokens are looked up by value, so they are stored hashed. They are 256 random bits: a plain hash is enough."""

import base64
import hashlib
import hmac

from chalicelib.kit.masking import Secret


def token_hash(token: str) -> str:
    """The SHA-256 of a token, in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def same_secret(given: str, expected: Secret) -> bool:
    """Whether two secrets are equal, in a time that tells nothing."""
    return hmac.compare_digest(given.encode(), expected.reveal().encode())


def derived_key(master: Secret, purpose: str) -> bytes:
    """A 256-bit key for one purpose, from the installation's master key."""
    return hmac.new(base64.b64decode(master.reveal()), purpose.encode(), hashlib.sha256).digest()
