"""What is measured of a connector: which topics show that it moves, and how long it may be quiet."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from chalicelib.domain.monitoring.offsets import GroupOffsets, Offsets
from chalicelib.domain.monitoring.seconds_behind import PartitionBacklog, PartitionBacklogs
from chalicelib.domain.names import ConnectorKind, consumer_group

REBALANCING = frozenset({"PreparingRebalance", "CompletingRebalance"})


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedConnector:
    """A connector that is measured. `heartbeat_topic` is null for sinks, and where heartbeats are switched off;
    `destination_id` is null for captures.

    `notice` says why it cannot be seen whether it moves, where that is so.
    """

    connector: str
    kind: ConnectorKind
    topics: tuple[str, ...]
    heartbeat_topic: str | None = None
    quiet: timedelta
    notice: str | None = None
    destination_id: str | None = None

    @property
    def is_sink(self) -> bool:
        return self.kind is ConnectorKind.SINK

    @property
    def all_topics(self) -> tuple[str, ...]:
        return (*self.topics, self.heartbeat_topic) if self.heartbeat_topic else self.topics

    @property
    def group(self) -> str:
        return consumer_group(self.connector)

    @property
    def basis(self) -> int:
        """A checksum of the topics: numbers of other topics cannot be compared."""
        return zlib.crc32("\n".join(sorted(self.all_topics)).encode())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressFacts:
    """One measurement of a connector.

    `position` grows whenever the connector moves; `records` counts the records that it has written or delivered;
    `end` is where its topics end, `lag` what a sink has not delivered. `behind`: more than one record of a partition is
    not delivered; `backlogs` are those with at least one. `lost` were removed from Kafka before they were delivered.
    `begun`: a capture has sent heartbeats before, or needs none. `members` is null for sources, and where the group may
    not be described.
    """

    position: int
    records: int
    end: int
    lag: int | None = None
    behind: bool = False
    backlogs: PartitionBacklogs = field(default_factory=dict)
    lost: int = 0
    begun: bool = True
    members: int | None = None
    rebalancing: bool = False


def progress_facts(watched: WatchedConnector, offsets: Offsets) -> ProgressFacts | None:
    """What the brokers say about a connector; None when something of it cannot be read."""
    if any(offsets.topics.get(topic, {}) is None for topic in watched.all_topics):
        return None
    if not watched.is_sink:
        return _source_facts(watched, offsets)
    group = offsets.groups.get(watched.group)
    return _sink_facts(watched, offsets, group) if group else None


def _source_facts(watched: WatchedConnector, offsets: Offsets) -> ProgressFacts:
    ends = {
        topic: sum(partition.end for partition in (offsets.topics.get(topic) or {}).values())
        for topic in watched.all_topics
    }
    records = sum(ends[topic] for topic in watched.topics)
    begun = watched.heartbeat_topic is None or watched.heartbeat_topic in offsets.topics
    return ProgressFacts(position=sum(ends.values()), records=records, end=records, begun=begun)


def _sink_facts(watched: WatchedConnector, offsets: Offsets, group: GroupOffsets) -> ProgressFacts:
    """A partition that was never committed is read from its beginning."""
    position = records = end = lag = lost = furthest = 0
    backlogs = dict[tuple[str, int], PartitionBacklog]()
    for topic in watched.topics:
        committed: Mapping[int, int] = group.committed.get(topic, {})
        for partition, stored in (offsets.topics.get(topic) or {}).items():
            beginning = stored.beginning or 0
            at = committed.get(partition, beginning)
            left = max(0, stored.end - at)
            position += committed.get(partition, 0)
            records += max(at, beginning)
            end += stored.end
            lag += left
            furthest = max(furthest, left)
            if left:
                backlogs[topic, partition] = PartitionBacklog(at, stored.end)
            # Connect commits behind the last record that it delivered. Where the mark of a transaction follows, one
            # record seems to be left for good, and it is not lost when it goes: one of a partition proves nothing.
            lost += beginning - at if beginning - at > 1 else 0
    return ProgressFacts(
        position=position,
        records=records,
        end=end,
        lag=lag,
        behind=furthest > 1,
        backlogs=backlogs,
        lost=lost,
        # A group of Kafka's newer protocol is called dead here, however many members it has.
        members=None if group.state == "Dead" else group.members,
        rebalancing=group.state in REBALANCING,
    )
