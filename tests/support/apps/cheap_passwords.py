"""Hashing a password takes 64 KiB: with the memory of the product it would be most of the time of many tests."""

from contextlib import AbstractContextManager
from unittest.mock import patch

from chalicelib.secrets import passwords


def cheap_passwords() -> AbstractContextManager[object]:
    """Inside the block. A hash that was made outside is still opened, with the memory that it names."""
    return patch.object(passwords, "_MEMORY_KIB", 64)
