"""Passwords: Argon2id, 46 MiB, one pass (OWASP Password Storage Cheat Sheet)."""

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from chalicelib.errors import RateLimited
from chalicelib.kit.masking import Secret

_MEMORY_KIB = 47104
_SALT_BYTES, _HASH_BYTES = 16, 32
_PHC = re.compile(r"\$argon2id\$v=19\$m=\d{1,6},t=\d,p=\d\$[A-Za-z0-9+/]{22,}\$[A-Za-z0-9+/]{43,}")
MAX_HASHES = 4
"""Hashes at a time in this process: each takes 46 MiB, and a server with threads has up to 128 requests."""
_WAIT_SECONDS = 15.0
_permits = threading.BoundedSemaphore(MAX_HASHES)


def hash_password(password: Secret) -> str:
    """The hash in PHC form, with a new salt. Raises RateLimited when no permit is free in time."""
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    kdf = Argon2id(salt=os.urandom(_SALT_BYTES), length=_HASH_BYTES, iterations=1, lanes=1, memory_cost=_MEMORY_KIB)
    with _hash_permit():
        return kdf.derive_phc_encoded(password.reveal().encode())


def is_password_hash(text: Secret) -> bool:
    """Whether the text has the form of a hash of `hash_password`."""
    return _PHC.fullmatch(text.reveal()) is not None


def needs_new_hash(hashed: str) -> bool:
    """Whether the hash has other parameters than `hash_password` uses."""
    return not hashed.startswith(_parameters())


def verify_password(password: Secret, hashed: str | None) -> bool:
    """Whether it is the password. Without a stored hash the answer is False after the same time, so that the time does
    not reveal which accounts exist. Raises RateLimited when no permit is free in time.
    """
    from cryptography.exceptions import InvalidKey
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    try:
        with _hash_permit():
            Argon2id.verify_phc_encoded(password.reveal().encode(), hashed or _unused_hash())
    except InvalidKey:
        return False
    return hashed is not None


def _parameters() -> str:
    return f"$argon2id$v=19$m={_MEMORY_KIB},t=1,p=1$"


def _unused_hash() -> str:
    """A hash without a password, for logins without a stored hash."""
    return _parameters() + "A" * 22 + "$" + "A" * 43


@contextmanager
def _hash_permit() -> Iterator[None]:
    if not _permits.acquire(timeout=_WAIT_SECONDS):
        raise RateLimited("Too many people sign in at this moment.", retry_after_seconds=1)
    try:
        yield
    finally:
        _permits.release()
