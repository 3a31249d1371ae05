"""Identifiers: random ones, and ones that are a function of other values."""

import re
import secrets
from uuid import UUID, uuid4, uuid5

_NAMESPACE = UUID("5f3a1d0c-6b0e-5c7e-9d43-2f9a4c0be7aa")
_CORRELATION_ID = re.compile(r"[A-Za-z0-9._-]{1,128}\Z")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")


def new_id() -> str:
    """A random UUID, lower case with dashes."""
    return str(uuid4())


def id_from(*parts: str) -> str:
    """The same UUID for the same parts: this is how a repeated request finds what it did before."""
    return str(uuid5(_NAMESPACE, "\x1f".join(parts)))


def is_uuid(text: str) -> bool:
    """Whether the text is a UUID as we write them (lower case, dashes)."""
    return bool(_UUID.match(text))


def new_token() -> str:
    """A token of 256 random bits, safe in a URL and a cookie."""
    return secrets.token_urlsafe(32)


def correlation_id(sent: str | None) -> str:
    """The correlation id that the client sent, when it is well-formed, else a new one."""
    return sent if sent and _CORRELATION_ID.match(sent) else new_id()
