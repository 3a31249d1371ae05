"""Signatures of webhooks (Standard Webhooks 1.0.0, symmetric): receivers verify the sender and the body."""

import base64
import binascii
import hashlib
import hmac

from chalicelib.kit.masking import Secret

PREFIX = "whsec_"


def signing_key(secret: Secret) -> bytes:
    """The base64 text after `whsec_`, decoded; the whole text when it has no such prefix. Raises ValueError."""
    text = secret.reveal()
    if not text.startswith(PREFIX):
        return text.encode()
    try:
        return base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        raise ValueError("no base64") from None


def signature(secret: Secret, message_id: str, timestamp: str, body: bytes) -> str:
    """The value of the header `webhook-signature`."""
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    digest = hmac.new(signing_key(secret), signed, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()
