"""Signatures of the audit trail's anchors: by AWS KMS where one function only may sign, or with a key of our own."""

import hmac
from collections.abc import Callable
from functools import cached_property
from typing import Any, Protocol

from chalicelib.errors import StoreUnavailable

_KMS_ALGORITHM = "HMAC_SHA_256"


class Mac(Protocol):
    """Signs texts of at most 4,096 bytes."""

    def sign(self, text: bytes) -> bytes:
        """The signature. Raises StoreUnavailable."""
        ...

    def verify(self, text: bytes, signature: bytes) -> bool:
        """Whether the text was signed with the key. Raises StoreUnavailable."""
        ...


class LocalMac:
    """Signs in this process. `key` is called for the first signature."""

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._key = key

    def sign(self, text: bytes) -> bytes:
        return hmac.digest(self._key(), text, "sha256")

    def verify(self, text: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(self.sign(text), signature)


class KmsMac:
    """Signs with an HMAC key of AWS KMS, which never leaves it: policies say who may sign and who may only verify."""

    def __init__(self, make_client: Callable[[], Any], key_id: str) -> None:
        """`make_client` gives boto3's client of KMS."""
        self._make_client, self._key_id = make_client, key_id

    @cached_property
    def _client(self) -> Any:
        return self._make_client()

    def sign(self, text: bytes) -> bytes:
        try:
            made = self._client.generate_mac(KeyId=self._key_id, MacAlgorithm=_KMS_ALGORITHM, Message=text)
        except Exception as error:
            raise StoreUnavailable("The key service did not sign.") from error
        return bytes(made["Mac"])

    def verify(self, text: bytes, signature: bytes) -> bool:
        named = {"KeyId": self._key_id, "MacAlgorithm": _KMS_ALGORITHM}
        try:
            return bool(self._client.verify_mac(Message=text, Mac=signature, **named)["MacValid"])
        except Exception as error:
            answer: dict[str, Any] = getattr(error, "response", None) or {}
            if answer.get("Error", {}).get("Code") == "KMSInvalidMacException":
                return False
            raise StoreUnavailable("The key service did not verify a signature.") from error
