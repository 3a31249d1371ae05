"""Encryption of stored secrets: AES-256-GCM, with what they are bound to as additional authenticated data."""

import base64
import os

from chalicelib.domain.credentials import SealedSecret, SecretBinding
from chalicelib.errors import SecretMismatch, StoreUnavailable
from chalicelib.kit.masking import Secret
from chalicelib.secrets.keys import FIRST_FORMAT, NONCE_BYTES, KeyProvider


class Envelope:
    """Seals fields under a data key. A field that was copied to another row, field or version does not open."""

    def __init__(self, keys: KeyProvider, *others: KeyProvider) -> None:
        """`keys` seals. It and the `others` open what each of them has sealed."""
        self._keys, self._all = keys, (keys, *others)

    @property
    def key_ids(self) -> tuple[str, ...]:
        """The ids of all keys, the one that seals first."""
        return tuple(one.key_id for one in self._all)

    def has_key(self, key_id: str) -> bool:
        """Whether one of the keys is named by the id in a row."""
        return any(one.is_named(key_id) for one in self._all)

    def is_current(self, sealed: SealedSecret) -> bool:
        """Whether it is sealed under the key, and in the format, in which secrets are sealed now."""
        return sealed.key_id == self._keys.key_id and sealed.secret_class is not None

    def seal(self, binding: SecretBinding, value: Secret) -> SealedSecret:
        """The value, encrypted for this binding only."""
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
        """The plain value. `binding` is what the caller asks for: nothing that the row says about itself counts, except
        which of our keys has sealed it, and that is authenticated.

        Raises SecretMismatch when the secret was sealed for something else, or was changed; StoreUnavailable when the
        key service does not open its key, or the key is none of ours.
        """
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        if sealed.version != binding.version or sealed.secret_class not in (None, binding.secret_class):
            raise _mismatch()
        associate = _first_associated_data if sealed.secret_class is None else _associated_data
        associated = associate(binding, sealed.key_id)
        try:
            plain_key = self._unwrap(sealed)
            plain = AESGCM(plain_key).decrypt(_bytes(sealed.nonce), _bytes(sealed.ciphertext), associated)
        except (InvalidTag, ValueError):
            raise _mismatch() from None
        return Secret(plain.decode())

    def _unwrap(self, sealed: SealedSecret) -> bytes:
        wrapped, context = _bytes(sealed.wrapped_key), sealed.secret_class or FIRST_FORMAT
        refused = StoreUnavailable("A stored secret was sealed under a key that this installation is not set to use.")
        for key in self._all:
            if key.is_named(sealed.key_id):
                try:
                    return key.unwrap(wrapped, context)
                except StoreUnavailable as error:
                    refused = error
        raise refused


def _associated_data(binding: SecretBinding, key_id: str) -> bytes:
    parts = ("v2", binding.secret_class, binding.id, binding.field, str(binding.version), key_id)
    return "|".join(parts).encode()


def _first_associated_data(binding: SecretBinding, key_id: str) -> bytes:
    return f"v1|secrets|{binding.id}|{binding.field}|{binding.version}|{key_id}".encode()


def _mismatch() -> SecretMismatch:
    return SecretMismatch("A stored secret does not belong to the row that it is in.")


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode()


def _bytes(text: str) -> bytes:
    """Raises ValueError for another spelling of base64 than ours, which would be a change that nobody notices."""
    raw = base64.b64decode(text)
    if _text(raw) != text:
        raise ValueError("not base64 as we write it")
    return raw
