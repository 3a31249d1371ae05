"""Object stores: their addresses, and how topics are written to them as files."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar


class ObjectStoreProvider(StrEnum):
    """The kinds of object stores that can be delivered to."""

    S3 = "s3"
    MINIO = "minio"


_DOMAINS: Mapping[str, str] = {"cn-": "amazonaws.com.cn"}
"""Of Amazon S3, by the beginning of a region; `amazonaws.com` elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStoreAddress:
    """A bucket, and the prefix of the keys in it, without a slash at its ends; empty for the whole bucket.

    Without an `endpoint_url` it is Amazon S3. `path_style` puts the bucket into the path of URLs instead of the host.
    """

    SECRETS: ClassVar = frozenset({"access_key_id", "secret_access_key", "session_token"})
    TRUST: ClassVar[frozenset[str]] = frozenset()

    provider: ObjectStoreProvider
    bucket: str
    region: str
    prefix: str = ""
    endpoint_url: str | None = None
    path_style: bool = False

    @property
    def identity(self) -> tuple[str, str, str]:
        return (self.endpoint_url or "", self.bucket, self.prefix)

    @property
    def secret_target(self) -> tuple[object, ...]:
        return (self.endpoint_url, self.bucket, self.region)

    @property
    def keys_begin(self) -> str:
        """What all keys of files begin with: the prefix with its slash, or nothing."""
        return f"{self.prefix}/" if self.prefix else ""

    @property
    def store(self) -> str:
        """The base URL of the store, without the bucket."""
        return self.endpoint_url or f"https://s3.{self.region}.{_DOMAINS.get(self.region[:3], 'amazonaws.com')}"

    def missing_secrets(self, given: Collection[str]) -> Sequence[str]:
        """Those of its secrets that have to be beside the given ones: a key is an id and a secret, and only on Amazon
        S3 the role of the workers can take its place.
        """
        needs_key = self.provider is not ObjectStoreProvider.S3 or bool(given)
        return [name for name in ("access_key_id", "secret_access_key") if needs_key and name not in given]


class FileFormat(StrEnum):
    """JSON lines: one record in each line."""

    JSONL = "jsonl"


class FileShape(StrEnum):
    """What a line is: the whole change as Debezium writes it, or the row after the change."""

    ENVELOPE = "envelope"
    ROW = "row"


class Compression(StrEnum):
    """How files are compressed."""

    GZIP = "gzip"
    NONE = "none"


DEFAULT_TEMPLATE = "{{topic}}/{{partition:padding=true}}-{{start_offset:padding=true}}"
"""The name of a file below the prefix of its destination, without its extension."""
MAX_TEMPLATE_CHARACTERS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkPlugin:
    """A sink that is installed on the workers. `version` is null where they do not say it."""

    class_name: str
    version: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicMapping:
    """A topic whose records go to files."""

    topic: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileWriting:
    """How topics are written to files. `max_records_per_file` is 0 for no limit; None leaves it to the sink.

    `plugin` is the sink that writes them: None until one of those that the workers have is chosen. It stays then, since
    another one would name the files otherwise. `has_schemas`: the records of its pipeline carry their schema.
    """

    mappings: tuple[TopicMapping, ...]
    format: FileFormat
    shape: FileShape = FileShape.ENVELOPE
    compression: Compression = Compression.GZIP
    file_name_template: str = DEFAULT_TEMPLATE
    max_records_per_file: int | None = None
    plugin: SinkPlugin | None = None
    has_schemas: bool = True

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(mapping.topic for mapping in self.mappings)

    @property
    def kept(self) -> Mapping[str, Any]:
        """What stays in the destination when the delivery goes, for its audit record."""
        return {"files_of": list(self.targets)}
