"""Topics that a connector needs for itself, and what the brokers say about topics."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSettings:
    """A topic as the brokers have it. `configs` are its settings in force, by Kafka's names. `truncated`: the first
    records that were written to it are gone.
    """

    partitions: int
    configs: Mapping[str, str] = field(default_factory=dict)
    truncated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredTopic:
    """A topic that exists before its connector does: Headgate makes it, with the brokers' own replication factor."""

    name: str
    settings: TopicSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic of a cluster. None: no broker said it.

    `partitions` counts them, `replication_factor` is the smallest number of copies that one of them has, and `size` is
    the bytes of the leaders' copies. `internal`: Kafka says that the topic is its own. `compacted`: only the last
    record of each key is kept; it is read only for names that look like those of Kafka Connect.
    """

    name: str
    partitions: int | None
    replication_factor: int | None
    internal: bool
    size: int | None = None
    compacted: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionDetail:
    """A partition: the node ids of its leader (None: it has none), its replicas and those of them that are in sync; and
    where its records begin and end, None when the leader did not say it.
    """

    partition: int
    leader: int | None
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    beginning_offset: int | None = None
    end_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicDetail:
    """A topic with its partitions and its settings in force, by Kafka's names.

    A secret setting is None, and all of them are None when the brokers do not show them.
    """

    topic: Topic
    partition_details: tuple[PartitionDetail, ...]
    configs: Mapping[str, str | None] | None
