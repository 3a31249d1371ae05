"""Object stores as destinations and connections carry them."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import ConfigDict, Field, StrictBool, StringConstraints

from chalicelib.api.contract.addressed import AddressedInput, ConnectedInput
from chalicelib.api.contract.common import Input, Line, SecretText, secrets_of
from chalicelib.domain.object_store import ObjectStoreAddress, ObjectStoreProvider
from chalicelib.errors import Invalid
from chalicelib.kit.hosts import read_url
from chalicelib.kit.masking import Secret

MINIO_REGION = "us-east-1"
"""MinIO's own, unless it is configured otherwise."""
MAX_PREFIX_CHARACTERS = 256

Bucket = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=3, max_length=63, pattern=r"^[a-z0-9][a-z0-9.-]*[a-z0-9]$"),
]
"""Amazon S3 user guide, "Bucket naming rules"."""
Region = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=40, pattern=r"^[a-z0-9-]+$")]
Prefix = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=MAX_PREFIX_CHARACTERS, pattern=r"^[A-Za-z0-9!_.*'()/=-]*$")
]


class ObjectStoreConfig(Input):
    """A bucket, and the prefix of the keys in it."""

    model_config = ConfigDict(from_attributes=True)

    bucket: Bucket
    region: Region | None = Field(default=None, description=f"Required for s3. {MINIO_REGION} when left out for minio.")
    prefix: Prefix | None = Field(default=None, description="Slashes at its ends are removed.")
    endpoint_url: Line | None = Field(
        default=None, description="http or https, host and port. Required for minio, absent for s3."
    )
    path_style: StrictBool | None = Field(
        default=None, description="The bucket in the path of URLs. When left out: true for minio, false for s3."
    )

    def to_address(self, provider: ObjectStoreProvider) -> ObjectStoreAddress:
        """The address with the defaults of the provider. Raises Invalid for what does not fit the provider."""
        is_s3 = provider is ObjectStoreProvider.S3
        if is_s3 and self.region is None:
            raise _wrong("region", "missing", "Give the region of the bucket, such as eu-central-1.")
        if is_s3 and self.endpoint_url is not None:
            message = "Amazon S3 has its own addresses. Leave endpoint_url out, or use the provider minio."
            raise _wrong("endpoint_url", "not_with_provider", message)
        prefix = (self.prefix or "").strip("/")
        if "//" in prefix or ".." in prefix:
            raise _wrong("prefix", "prefix", "A prefix has neither two slashes nor two dots beside each other.")
        return ObjectStoreAddress(
            provider=provider,
            bucket=self.bucket,
            region=self.region or MINIO_REGION,
            prefix=prefix,
            endpoint_url=None if is_s3 else _endpoint(self.endpoint_url),
            path_style=not is_s3 if self.path_style is None else self.path_style,
        )


class ObjectStoreCredentials(Input):
    """The key of an object store. It is written and never shown."""

    access_key_id: SecretText | None = None
    secret_access_key: SecretText | None = None
    session_token: SecretText | None = Field(
        default=None, description="Of a temporary key: it can be tested, and sinks take none."
    )

    def to_secrets(self) -> Mapping[str, Secret | None]:
        return secrets_of(self)


ObjectStoreInput = AddressedInput[ObjectStoreProvider, ObjectStoreConfig, ObjectStoreCredentials]
ConnectedObjectStoreInput = ConnectedInput[ObjectStoreProvider, ObjectStoreConfig, ObjectStoreCredentials]


def _endpoint(text: str | None) -> str:
    """The URL in one spelling."""
    if text is None:
        raise _wrong("endpoint_url", "missing", "Give the URL of the store, such as https://minio.example.com:9000.")
    shown = text.strip().rstrip("/")
    url = read_url(shown)
    if url is None or "/" in shown.partition("://")[2] or "?" in shown:
        message = "An endpoint_url is http or https, a host and perhaps a port, without a path, a user name or a query."
        raise _wrong("endpoint_url", "url", message)
    return url.origin


def _wrong(field: str, type_: str, message: str) -> Invalid:
    return Invalid.at("body", "config", field, type_=type_, message=message)
