"""What the brokers say about the offsets of topics and of consumer groups."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionOffsets:
    """The first offset that can still be read, null where it was not asked for, and the offset of the next record."""

    beginning: int | None = None
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOffsets:
    """A consumer group: the next offset to read by topic and partition, without those that were never committed.

    `state` is Kafka's word (`Stable`, `Empty`, `PreparingRebalance`, `CompletingRebalance`, `Dead`). State and number
    of members are null where the group may not be described.
    """

    state: str | None = None
    members: int | None = None
    committed: Mapping[str, Mapping[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offsets:
    """One look at a Kafka cluster.

    A topic that does not exist is absent from `topics`. One that exists and cannot be read completely is null: it may
    not be described, or a partition has no leader. A group that cannot be read is null.
    """

    topics: Mapping[str, Mapping[int, PartitionOffsets] | None] = field(default_factory=dict)
    groups: Mapping[str, GroupOffsets | None] = field(default_factory=dict)
