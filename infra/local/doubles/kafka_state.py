"""The state of the Kafka double: topics with their records, and groups with their offsets and members."""

import itertools
import re
import struct
import threading
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field

TOPIC_NAME = re.compile(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}")
BATCH_HEAD = struct.Struct(
    "!qiibIhiqq"
)  # base offset, length, leader epoch, magic, crc, attributes, last delta, two timestamps
# Kafka 4.3's defaults, except for the largest message, which the real stack raises too.
TOPIC_SETTINGS = {
    "cleanup.policy": "delete",
    "compression.type": "producer",
    "max.message.bytes": "16777216",
    "min.insync.replicas": "1",
    "retention.bytes": "-1",
    "retention.ms": "604800000",
    "segment.bytes": "1073741824",
}
BROKER_SETTINGS = {
    "auto.create.topics.enable": "false",
    "default.replication.factor": "1",
    "delete.topic.enable": "true",
    "log.retention.hours": "168",
    "message.max.bytes": "16777216",
    "num.partitions": "1",
}


@dataclass(kw_only=True)
class Log:
    """One partition: its batches as they came, the first offset that can still be read, and the next offset."""

    batches: list[tuple[int, int, bytes]] = field(default_factory=list)  # first offset, newest timestamp, bytes
    begin: int = 0
    end: int = 0

    @property
    def size(self) -> int:
        """Bytes of all batches: also Kafka keeps a segment until none of its records can be read."""
        return sum(len(batch) for _, _, batch in self.batches)

    def append(self, records: bytes) -> int:
        """Add record batches; the offset of the first record. ValueError for bytes that are no batches of format 2."""
        first = self.end
        at = 0
        while at < len(records):
            head = BATCH_HEAD.unpack_from(records, at) if len(records) - at >= BATCH_HEAD.size else None
            if head is None or head[1] <= 0 or head[3] != 2 or at + 12 + head[1] > len(records):
                raise ValueError("not a record batch")
            batch = struct.pack("!q", self.end) + records[at + 8 : at + 12 + head[1]]
            self.batches.append((self.end, head[8], batch))
            self.end += head[6] + 1
            at += 12 + head[1]
        return first

    def read(self, offset: int, limit: int) -> bytes:
        """The batches from the one that holds the offset, up to about `limit` bytes but at least one."""
        ends = [first for first, _, _ in self.batches[1:]] + [self.end]
        data = b""
        for following, (_, _, batch) in zip(ends, self.batches, strict=False):
            if following <= offset:
                continue
            if data and len(data) + len(batch) > limit:
                break
            data += batch
        return data

    def at_time(self, timestamp: int) -> tuple[int, int]:
        """The first (offset, timestamp) at or after a time; (-1, -1) when there is none."""
        left = ((first, newest) for first, newest, _ in self.batches if first >= self.begin)
        return next((batch for batch in left if batch[1] >= timestamp), (-1, -1))


@dataclass(kw_only=True)
class Topic:
    """A topic: its id, partitions and its settings."""

    name: str
    partitions: list[Log]
    settings: dict[str, str] = field(default_factory=dict)
    id: uuid.UUID = field(default_factory=uuid.uuid4)


@dataclass(kw_only=True)
class Group:
    """A consumer group: committed offsets by (topic, partition), and the topics of its live member, if any."""

    name: str
    offsets: dict[tuple[str, int], int] = field(default_factory=dict)
    member_topics: tuple[str, ...] | None = None
    # Empty for a group that only ever had offsets committed to it.
    protocol_type: str = ""
    rebalancing: bool = False
    # What some client has assigned to the member; None for all partitions of its topics.
    assignment: bytes | None = None

    @property
    def state(self) -> str:
        """Kafka's word for the group's state."""
        if self.member_topics is None:
            return "Empty"
        return "PreparingRebalance" if self.rebalancing else "Stable"


class BrokerState:
    """Topics and groups behind one lock. It is the broker that the Connect double's worker sees."""

    def __init__(self, cluster_id: str) -> None:
        self.cluster_id = cluster_id
        self.lock = threading.RLock()
        self.topics: dict[str, Topic] = {}
        self.groups: dict[str, Group] = {}
        # Names of topics and groups that no client may describe, topics that none may delete, and topics whose first
        # partition has no leader.
        self.denied: set[str] = set()
        self.undeletable: set[str] = set()
        self.leaderless: set[str] = set()
        self.producers = itertools.count(1)
        # Notified when records arrive; a fetch waits for it.
        self.written = threading.Condition(self.lock)

    def create_topic(self, name: str, partitions: int = 1, settings: dict[str, str] | None = None) -> None:
        """Create a topic if it does not exist."""
        with self.lock:
            if name not in self.topics:
                logs = [Log() for _ in range(partitions)]
                self.topics[name] = Topic(name=name, partitions=logs, settings=dict(settings or {}))

    def delete_topic(self, name: str) -> None:
        """Delete a topic if it exists."""
        with self.lock:
            self.topics.pop(name, None)

    def lose_beginning(self, topic: str, records: int, partition: int = 0) -> None:
        """As if so many records more had been written and had gone by retention."""
        with self.lock:
            self.advance(topic, records, partition)
            log = self.topics[topic].partitions[partition]
            log.begin = log.end

    def join_group(self, group: str, topics: Iterable[str]) -> None:
        """Add a live consumer of the topics to the group."""
        with self.lock:
            joined = self.groups.setdefault(group, Group(name=group))
            joined.member_topics, joined.protocol_type = tuple(topics), "consumer"

    def leave_group(self, group: str) -> None:
        """Remove the live consumer; the group's offsets stay, and a group without any is gone."""
        with self.lock:
            if group in self.groups:
                self.groups[group].member_topics = None

    def rebalance(self, group: str, *, ends: bool = False) -> None:
        """The group of a live consumer begins to rebalance, or has done so."""
        with self.lock:
            self.groups[group].rebalancing = not ends

    def commit(self, group: str, topic: str, partition: int, offset: int) -> None:
        """Commit an offset for a group, which is created if it does not exist."""
        with self.lock:
            self.groups.setdefault(group, Group(name=group)).offsets[topic, partition] = offset

    def delete_offsets(self, group: str) -> None:
        """Delete the group's offsets, and the group unless it has a member."""
        with self.lock:
            if group in self.groups and self.groups[group].member_topics is None:
                del self.groups[group]

    def end_offset(self, topic: str, partition: int = 0) -> int:
        """The next offset of a partition. KeyError or IndexError when there is none."""
        with self.lock:
            return self.topics[topic].partitions[partition].end

    def has_records(self, topic: str) -> bool:
        """Whether the topic exists, and its first partition has ever had a record."""
        with self.lock:
            return topic in self.topics and self.end_offset(topic) > 0

    def advance(self, topic: str, count: int, partition: int = 0) -> None:
        """Move a partition's end as if `count` records had been written: lag for tests, without any record."""
        with self.lock:
            log = self.topics[topic].partitions[partition]
            log.batches.append((log.end, int(time.time() * 1000), b""))
            log.end += count
