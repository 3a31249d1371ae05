"""Key providers wrap and unwrap the data keys with which secrets are sealed."""

import base64
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Protocol

from chalicelib.errors import StoreUnavailable
from chalicelib.kit.bounded import Bounded
from chalicelib.kit.masking import Secret
from chalicelib.secrets.tokens import derived_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

NONCE_BYTES = 12
_KEY_BYTES = 32
_CONTEXT = "headgate data key v1"


class KeyProvider(Protocol):
    """Makes data keys and unwraps them. `key_id` is the id of the wrapping key; it is stored with each wrapped key.

    A data key belongs to one `context`, the class of the secrets that it seals, and is unwrapped for this context only.
    """

    @property
    def key_id(self) -> str: ...

    def new_data_key(self, context: str) -> tuple[bytes, bytes]:
        """A fresh 256-bit key, plain and wrapped."""
        ...

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        """The plain data key. Raises StoreUnavailable when it cannot be unwrapped."""
        ...


class LocalKeys:
    """Wraps with a master key of the installation. Whoever loses that key loses all that was sealed with it."""

    def __init__(self, master_key: Secret) -> None:
        """`master_key` is 32 bytes in base64; raises ValueError otherwise."""
        self._raw = base64.b64decode(master_key.reveal(), validate=True)
        if len(self._raw) != _KEY_BYTES:
            raise ValueError("HEADGATE_MASTER_KEY must be 32 bytes in base64. Make one with: openssl rand -base64 32")
        self.key_id = f"local-{derived_key(master_key, 'key id').hex()[:16]}"

    def new_data_key(self, context: str) -> tuple[bytes, bytes]:
        plain, nonce = os.urandom(_KEY_BYTES), os.urandom(NONCE_BYTES)
        return plain, nonce + self._cipher.encrypt(nonce, plain, _associated_data(context))

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        from cryptography.exceptions import InvalidTag

        try:
            return self._cipher.decrypt(wrapped[:NONCE_BYTES], wrapped[NONCE_BYTES:], _associated_data(context))
        except (InvalidTag, ValueError):
            raise StoreUnavailable("A stored secret was sealed with another master key.") from None

    @cached_property
    def _cipher(self) -> "AESGCM":
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        return AESGCM(self._raw)


def _associated_data(context: str) -> bytes:
    return f"{_CONTEXT} {context}".encode()


class KmsKeys:
    """Wraps with a key of AWS KMS. The encryption context appears in CloudTrail, and IAM policies can require it."""

    def __init__(self, make_client: Callable[[], Any], key_id: str) -> None:
        """`make_client` makes boto3's client of KMS; it is called once, for the first data key."""
        self._client = cache(make_client)
        self.key_id = key_id

    def new_data_key(self, context: str) -> tuple[bytes, bytes]:
        try:
            data_key = self._client().generate_data_key(
                KeyId=self.key_id, KeySpec="AES_256", EncryptionContext={"headgate": str(context)}
            )
        except Exception as error:
            raise StoreUnavailable("The key service did not make a data key.") from error
        return data_key["Plaintext"], data_key["CiphertextBlob"]

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        try:
            data_key = self._client().decrypt(
                CiphertextBlob=wrapped, KeyId=self.key_id, EncryptionContext={"headgate": str(context)}
            )
        except Exception as error:
            raise StoreUnavailable("The key service did not open a data key.") from error
        return bytes(data_key["Plaintext"])


@dataclass(slots=True)
class CachedKeys:
    """A cache before another provider: a data key seals for 15 minutes, and an unwrapped one is kept as long."""

    inner: KeyProvider
    seconds: float = 900
    monotonic: Callable[[], float] = time.monotonic
    _current: dict[str, tuple[float, bytes, bytes]] = field(default_factory=dict)
    _opened: Bounded[tuple[bytes, str], tuple[float, bytes]] = field(default_factory=lambda: Bounded(1000))

    @property
    def key_id(self) -> str:
        return self.inner.key_id

    def new_data_key(self, context: str) -> tuple[bytes, bytes]:
        now = self.monotonic()
        if context not in self._current or self._current[context][0] < now:
            plain, wrapped = self.inner.new_data_key(context)
            self._current[context] = (now + self.seconds, plain, wrapped)
            self._opened[wrapped, context] = (now + self.seconds, plain)
        return self._current[context][1:]

    def unwrap(self, wrapped: bytes, context: str) -> bytes:
        now = self.monotonic()
        until, plain = self._opened.get((wrapped, context), (float("-inf"), b""))
        if until < now:
            plain = self.inner.unwrap(wrapped, context)
            self._opened[wrapped, context] = (now + self.seconds, plain)
        return plain
