"""Passwords: Argon2id, 46 MiB, one pass (OWASP Password Storage Cheat Sheet)."""

import os
import re
from functools import cache

from chalicelib.kit.masking import Secret

_MEMORY_KIB = 47104
_SALT_BYTES, _HASH_BYTES = 16, 32
_PHC = re.compile(r"\$argon2id\$v=19\$m=\d{1,6},t=\d,p=\d\$[A-Za-z0-9+/]{22,}\$[A-Za-z0-9+/]{43,}")


def hash_password(password: Secret) -> str:
    """The password's hash in PHC form, with its own salt."""
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    kdf = Argon2id(salt=os.urandom(_SALT_BYTES), length=_HASH_BYTES, iterations=1, lanes=1, memory_cost=_MEMORY_KIB)
    return kdf.derive_phc_encoded(password.reveal().encode())


def is_password_hash(text: Secret) -> bool:
    """Whether it is a hash that `hash_password` could have made, and not a password."""
    return _PHC.fullmatch(text.reveal()) is not None


def verify_password(password: Secret, hashed: str | None) -> bool:
    """Whether it is the password. Without a stored hash it is False and takes as long, so that the time does not reveal
    which accounts exist.
    """
    from cryptography.exceptions import InvalidKey
    from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

    try:
        Argon2id.verify_phc_encoded(password.reveal().encode(), hashed or _unused_hash())
    except InvalidKey:
        return False
    return hashed is not None


@cache
def _unused_hash() -> str:
    return hash_password(Secret(os.urandom(16).hex()))
