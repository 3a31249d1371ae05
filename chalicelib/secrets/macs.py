"""Signatures of the anchors of the audit trail: by AWS KMS, where only one function may sign, or with a local key."""

import hmac
from collections.abc import Callable
from functools import cache
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
    """Signs in this process. `key` is called once, for the first signature."""

    def __init__(self, key: Callable[[], bytes]) -> None:
        self._key = cache(key)

    def sign(self, text: bytes) -> bytes:
        return hmac.digest(self._key(), text, "sha256")

    def verify(self, text: bytes, signature: bytes) -> bool:
        return hmac.compare_digest(self.sign(text), signature)


class KmsMac:
    """Signs with an HMAC key that never leaves AWS KMS. IAM policies say who may sign and who may only verify."""

    def __init__(self, make_client: Callable[[], Any], key_id: str) -> None:
        """`make_client` makes boto3's client of KMS; it is called once, for the first signature."""
        self._client, self._key_id = cache(make_client), key_id

    def sign(self, text: bytes) -> bytes:
        try:
            answer = self._client().generate_mac(KeyId=self._key_id, MacAlgorithm=_KMS_ALGORITHM, Message=text)
        except Exception as error:
            raise StoreUnavailable("The key service did not sign.") from error
        return bytes(answer["Mac"])

    def verify(self, text: bytes, signature: bytes) -> bool:
        try:
            answer = self._client().verify_mac(
                KeyId=self._key_id, MacAlgorithm=_KMS_ALGORITHM, Message=text, Mac=signature
            )
            return bool(answer["MacValid"])
        except Exception as error:
            refusal: dict[str, Any] = getattr(error, "response", None) or {}
            if refusal.get("Error", {}).get("Code") == "KMSInvalidMacException":
                return False
            raise StoreUnavailable("The key service did not verify a signature.") from error
