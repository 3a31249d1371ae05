"""Encryption of stored secrets: AES-256-GCM, with their binding as additional authenticated data."""

import base64
import os

from chalicelib.domain.credentials import SealedSecret, SecretBinding
from chalicelib.errors import SecretMismatch, StoreUnavailable
from chalicelib.kit.masking import Secret
from chalicelib.secrets.keys import NONCE_BYTES, KeyProvider


class Envelope:
    """Seals fields with a data key. A field that was copied to another row, field or version does not open."""

    def __init__(self, keys: KeyProvider, *others: KeyProvider) -> None:
        """`keys` seals. All providers open, each the secrets that it has sealed."""
        self._keys, self._all = keys, (keys, *others)

    @property
    def key_ids(self) -> tuple[str, ...]:
        """The ids of all keys, first that of the key that seals."""
        return tuple(keys.key_id for keys in self._all)

    def is_current(self, sealed: SealedSecret) -> bool:
        return sealed.key_id == self._keys.key_id

    def seal(self, binding: SecretBinding, value: Secret) -> SealedSecret:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        plain_key, wrapped = self._keys.new_data_key(binding.secret_class)
        nonce = os.urandom(NONCE_BYTES)
        associated = _associated_data(binding, self._keys.key_id)
        return SealedSecret(
            version=binding.version,
            key_id=self._keys.key_id,
            wrapped_key=_text(wrapped),
            nonce=_text(nonce),
            ciphertext=_text(AESGCM(plain_key).encrypt(nonce, value.reveal().encode(), associated)),
            secret_class=binding.secret_class,
        )

    def open(self, binding: SecretBinding, sealed: SealedSecret) -> Secret:
        """The plain value. `binding` is that of the caller. Of the row only the key id counts, which is authenticated.

        Raises SecretMismatch when the secret was sealed for another binding, or was changed; StoreUnavailable when the
        key service does not open its key, or the installation does not have the key.
        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if sealed.version != binding.version or sealed.secret_class != binding.secret_class:
            raise _mismatch()
        associated = _associated_data(binding, sealed.key_id)
        try:
            plain_key = self._unwrap(sealed)
            plain = AESGCM(plain_key).decrypt(_bytes(sealed.nonce), _bytes(sealed.ciphertext), associated)
        except (InvalidTag, ValueError):
            raise _mismatch() from None
        return Secret(plain.decode())

    def _unwrap(self, sealed: SealedSecret) -> bytes:
        wrapped = _bytes(sealed.wrapped_key)
        for keys in self._all:
            if keys.key_id == sealed.key_id:
                return keys.unwrap(wrapped, sealed.secret_class)
        raise StoreUnavailable("A stored secret was sealed under a key that this installation is not set to use.")


def _associated_data(binding: SecretBinding, key_id: str) -> bytes:
    parts = ("v1", binding.secret_class, binding.id, binding.field, str(binding.version), key_id)
    return "|".join(parts).encode()


def _mismatch() -> SecretMismatch:
    return SecretMismatch("A stored secret does not belong to the row that it is in.")


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    """Raises ValueError for another spelling of base64 than ours: it would be a change that no check notices."""
    raw = base64.b64decode(text)
    if _text(raw) != text:
        raise ValueError("not base64 as we write it")
    return raw
