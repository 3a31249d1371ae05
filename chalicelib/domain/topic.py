"""Topics that a connector needs for itself, and what the brokers say about topics."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSettings:
    """A topic as the brokers have it. `configs` are its settings in force, by Kafka's names."""

    partitions: int
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequiredTopic:
    """A topic that exists before its connector does: Headgate makes it, with the brokers' own replication factor."""

    name: str
    settings: TopicSettings
