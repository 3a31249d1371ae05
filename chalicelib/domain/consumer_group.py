"""Consumer groups as the brokers report them. What cannot be read is null, never 0."""

from dataclasses import dataclass

EMPTY = "Empty"
"""Kafka's word for the state of a group without members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPartition:
    """A partition that a group has committed an offset of, or that is assigned to a member of it.

    `committed_offset` is the next offset that the group reads, null where it has committed none. `end_offset` is that
    of the next record that is written.
    """

    topic: str
    partition: int
    committed_offset: int | None
    end_offset: int | None

    @property
    def lag(self) -> int | None:
        """How many records wait for the group."""
        committed, end = self.committed_offset, self.end_offset
        # A topic that was made again ends before the offset: how much of it the group has read, nobody knows.
        return None if committed is None or end is None or committed > end else end - committed


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroup:
    """A group. `state` is Kafka's word, such as `Stable`; `protocol_type` is `consumer` for groups of consumers.

    `topics` are those that it has committed offsets of or that are assigned to its members, null unless both could be
    read. `offsets` are null when its committed offsets could not be read.
    """

    group_id: str
    state: str | None
    protocol_type: str | None
    members: int | None
    topics: tuple[str, ...] | None
    offsets: tuple[GroupPartition, ...] | None

    @property
    def total_lag(self) -> int | None:
        """The sum over all partitions. Null when one of them is not known, and for a group without any: how far it has
        read is not known.
        """
        lags = [partition.lag for partition in self.offsets or ()]
        known = [lag for lag in lags if lag is not None]
        return sum(known) if known and len(known) == len(lags) and self.topics is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroupPage:
    """Some groups in the order of their keys. `more`: others follow."""

    groups: tuple[ConsumerGroup, ...]
    more: bool
