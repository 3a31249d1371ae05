"""What Kafka Connect has stored for a source connector with one partition, as Debezium's have."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StoredOffset:
    """The numbers, flags and texts of the offset; null where none is stored, or no single one. A text with more
    or other characters than positions have is empty: it is not known.

    `supported` is false where Connect cannot tell: before version 3.6, and for a connector that does not exist.
    """

    values: Mapping[str, int | str | bool] | None = None
    supported: bool = True
