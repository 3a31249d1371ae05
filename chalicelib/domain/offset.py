"""What Kafka Connect has stored for a source connector with one partition, as Debezium's have."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredOffset:
    """The numbers, flags and single words of the offset; null where none is stored, or no single one.

    `supported` is false where Connect cannot tell: before version 3.6, and for a connector that does not exist.
    """

    values: Mapping[str, int | str | bool] | None = None
    supported: bool = True
