"""Where the last anchor of the audit trail is kept besides the tables: a parameter of AWS Systems Manager, or an object
of S3. The setting says which: `ssm:/headgate/audit-anchor` or `s3://bucket/headgate/audit-anchor`.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

from botocore.exceptions import BotoCoreError, ClientError

from chalicelib.domain.audit.chain import Link
from chalicelib.errors import StoreUnavailable
from chalicelib.kit.adapters import adapter

_ABSENT = {"ParameterNotFound", "NoSuchKey"}
_MAX_BYTES = 4_096
UNREADABLE = Link(number=-1)
"""In place of what somebody has written over a copy: no anchor has such a number."""

MakeClient = Callable[[Any], Any]
"""Makes boto3's client of a service, by the name of that service: `ssm` or `s3`."""


class AnchorCopy(Protocol):
    """Keeps the number and the digest of the last anchor. `place` is its name in the setting."""

    place: str

    def read(self) -> Link | None:
        """The copy; None when there is none, `UNREADABLE` for a text that is none. Raises StoreUnavailable."""
        ...

    def write(self, link: Link) -> None:
        """Replace the copy. Raises StoreUnavailable."""
        ...


def anchor_copy(place: str, make_client: MakeClient) -> AnchorCopy:
    """The copy at `ssm:NAME` or `s3://BUCKET/KEY`."""
    service, _, name = place.partition(":")
    client = cache(lambda: make_client(service))
    if service == "ssm":
        return _Copy(place, _Parameter(name, client))
    bucket, _, key = name.removeprefix("//").partition("/")
    return _Copy(place, _Object(bucket, key, client))


class _Text(Protocol):
    def get(self) -> str: ...

    def put(self, text: str) -> None: ...


class _Parameter:
    def __init__(self, name: str, client: Callable[[], Any]) -> None:
        self._name, self._client = name, client

    def get(self) -> str:
        return str(self._client().get_parameter(Name=self._name)["Parameter"]["Value"])

    def put(self, text: str) -> None:
        self._client().put_parameter(Name=self._name, Value=text, Type="String", Overwrite=True)


class _Object:
    def __init__(self, bucket: str, key: str, client: Callable[[], Any]) -> None:
        self._names, self._client = {"Bucket": bucket, "Key": key}, client

    def get(self) -> str:
        body: bytes = self._client().get_object(**self._names)["Body"].read(_MAX_BYTES)
        return body.decode()

    def put(self, text: str) -> None:
        self._client().put_object(**self._names, Body=text.encode(), ContentType="application/json")


class _Copy:
    def __init__(self, place: str, text: _Text) -> None:
        self.place, self._text = place, text

    def read(self) -> Link | None:
        try:
            link: Link = adapter(Link).validate_json(self._text.get())
        except ClientError as error:
            if error.response.get("Error", {}).get("Code") in _ABSENT:
                return None
            raise StoreUnavailable("The copy of the anchor could not be read.") from error
        except BotoCoreError as error:
            raise StoreUnavailable("The copy of the anchor could not be read.") from error
        except ValueError:
            return UNREADABLE
        return link

    def write(self, link: Link) -> None:
        try:
            self._text.put(adapter(Link).dump_json(link).decode())
        except (BotoCoreError, ClientError) as error:
            raise StoreUnavailable("The copy of the anchor could not be written.") from error
