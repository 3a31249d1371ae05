"""Encryption of stored secrets: AES-256-GCM, with row, field and version as additional authenticated data."""

import base64
import os
from collections.abc import Mapping

from chalicelib.domain.credentials import SealedCredentials, SealedSecret
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.masking import Secret
from chalicelib.secrets.keys import NONCE_BYTES, KeyProvider


class Envelope:
    """Seals fields under a data key. A field that was copied to another row, field or version does not open."""

    def __init__(self, keys: KeyProvider) -> None:
        self._keys = keys

    def seal(self, credentials_id: str, field: str, version: int, value: Secret) -> SealedSecret:
        """The value, encrypted for this row, field and version only."""
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        plain_key, wrapped = self._keys.new_data_key()
        nonce = os.urandom(NONCE_BYTES)
        associated = _associated_data(credentials_id, field, version, self._keys.key_id)
        return SealedSecret(
            version=version,
            key_id=self._keys.key_id,
            wrapped_key=_text(wrapped),
            nonce=_text(nonce),
            ciphertext=_text(AESGCM(plain_key).encrypt(nonce, value.reveal().encode(), associated)),
        )

    def open(self, credentials: SealedCredentials, field: str) -> Secret:
        """The plain value. Raises StoreUnavailable when the row was changed or the key is another one."""
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        sealed = credentials.sealed[field]
        associated = _associated_data(credentials.id, field, sealed.version, sealed.key_id)
        try:
            plain = AESGCM(self._keys.unwrap(_bytes(sealed.wrapped_key))).decrypt(
                _bytes(sealed.nonce), _bytes(sealed.ciphertext), associated
            )
        except (InvalidTag, ValueError):
            raise StoreUnavailable("A stored secret does not belong to the row that it is in.") from None
        return Secret(plain.decode())

    def open_all(self, credentials: SealedCredentials) -> Mapping[str, Secret]:
        """The plain values of all fields."""
        return {field: self.open(credentials, field) for field in credentials.sealed}


def _associated_data(credentials_id: str, field: str, version: int, key_id: str) -> bytes:
    return f"v1|secrets|{credentials_id}|{field}|{version}|{key_id}".encode()


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
