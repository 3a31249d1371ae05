"""Signed requests to one bucket, over connections to checked addresses. No redirect is followed.

botocore signs (Signature Version 4); its own client would follow the store to other regions and hosts.
"""

import re
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import md5
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from chalicelib.clients.http.guarded import GuardedHttp, HttpAnswer
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.object_store import ObjectStoreAddress
from chalicelib.kit.clock import Deadline

if TYPE_CHECKING:
    from botocore.credentials import Credentials

MAX_ANSWER_BYTES = 64 * 1024
"""Of an answer so much is read: an error, or the beginning of a list."""
_CODE = re.compile(rb"<Code>\s*([A-Za-z0-9._-]{1,80})\s*</Code>")
_REGION = re.compile(rb"<Region>\s*([a-z0-9-]{1,40})\s*</Region>")
_EXPECTING = re.compile(rb"expecting '([a-z0-9-]{1,40})'")
_UPLOAD_ID = re.compile(rb"<UploadId>\s*([^<\s]{1,1024})\s*</UploadId>")
_KMS = re.compile(rb"<Message>[^<]*\bkms:", re.IGNORECASE)
_REGION_NAME = re.compile(r"[a-z0-9-]{1,40}\Z")


@dataclass(frozen=True, slots=True)
class StoreAnswer:
    """A whole answer. Of a refusal only what is known to be a word of the protocol is read, never its sentences."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def succeeded(self) -> bool:
        return 200 <= self.status < 300

    @property
    def code(self) -> str | None:
        """The error code of the store; None when something else answers."""
        return _word(_CODE, self.content)

    @property
    def region(self) -> str | None:
        """The region that the store names as the right one."""
        named = self.headers.get("x-amz-bucket-region", "")
        return named if _REGION_NAME.match(named) else _word(_REGION, self.content) or _word(_EXPECTING, self.content)

    @property
    def names_kms(self) -> bool:
        """Whether a denial is about a KMS key."""
        return _KMS.search(self.content) is not None

    @property
    def upload_id(self) -> str | None:
        return _word(_UPLOAD_ID, self.content)


class BucketRequests:
    """Sends requests to the bucket of an address. Without a key they are not signed."""

    def __init__(self, endpoint: OpenedEndpoint[ObjectStoreAddress], **http: Any) -> None:
        """`http` are arguments of GuardedHttp."""
        self._endpoint = endpoint
        self._origin, self._folder = _place(endpoint.address)
        self._http = GuardedHttp(self._origin, cut_answers=True, **http)

    def send(
        self,
        method: str,
        key: str = "",
        *,
        deadline: Deadline,
        query: Mapping[str, str] | None = None,
        content: bytes = b"",
    ) -> StoreAnswer:
        """Send one request. Raises what `GuardedHttp.send` raises."""
        path = f"{self._folder}/{quote(key)}" + (f"?{urlencode(query)}" if query else "")
        headers = self._signed(method, path, content)
        answer: HttpAnswer = self._http.send(
            method, path, deadline=deadline, headers=headers, content=content, max_bytes=MAX_ANSWER_BYTES
        )
        return StoreAnswer(answer.status, answer.headers, answer.content or b"")

    def close(self) -> None:
        self._http.close()

    def _signed(self, method: str, path: str, content: bytes) -> Mapping[str, str]:
        from botocore.auth import S3SigV4Auth
        from botocore.awsrequest import AWSRequest

        # Buckets with an object lock refuse an object without it.
        digest = b64encode(md5(content, usedforsecurity=False).digest()).decode()
        headers = {"Content-MD5": digest} if content else {}
        credentials = _credentials(self._endpoint)
        if credentials is None:
            return headers
        request = AWSRequest(method=method, url=self._origin + path, data=content, headers=headers)
        S3SigV4Auth(credentials, "s3", self._endpoint.address.region).add_auth(request)
        return dict(request.headers.items())


def _credentials(endpoint: OpenedEndpoint[ObjectStoreAddress]) -> "Credentials | None":
    from botocore.credentials import Credentials

    key_id, secret = endpoint.secrets.get("access_key_id"), endpoint.secrets.get("secret_access_key")
    if key_id is None or secret is None:
        return None
    token = endpoint.secrets.get("session_token")
    return Credentials(key_id.reveal(), secret.reveal(), token.reveal() if token else None)


def _place(address: ObjectStoreAddress) -> tuple[str, str]:
    """The URL without a path, and the path of the bucket: with path style it is part of that."""
    # A name with dots would not fit the certificate of the store.
    if address.path_style or "." in address.bucket:
        return address.store, f"/{address.bucket}"
    scheme, _, authority = address.store.partition("://")
    return f"{scheme}://{address.bucket}.{authority}", ""


def _word(pattern: re.Pattern[bytes], content: bytes) -> str | None:
    match = pattern.search(content)
    return match[1].decode("ascii", "replace") if match else None
