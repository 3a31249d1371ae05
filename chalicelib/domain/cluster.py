"""The two kinds of clusters: Kafka brokers and Kafka Connect workers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from chalicelib.domain.addresses import ConnectAddress, KafkaAddress
from chalicelib.domain.registered import Registered
from chalicelib.errors import Invalid


class MetricsProvider(StrEnum):
    """Where lag comes from; with `none` it stays unknown."""

    NONE = "none"
    CONSUMER_GROUPS = "consumer-groups"


class SecretDelivery(StrEnum):
    """How secrets reach Connect."""

    CONFIG_PROVIDER = "config-provider"
    INLINE = "inline"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamCluster(Registered[KafkaAddress]):
    """Kafka brokers. `kafka_cluster_id` is the id that Kafka has for itself, null until brokers or workers said it."""

    metrics_provider: MetricsProvider = MetricsProvider.CONSUMER_GROUPS
    kafka_cluster_id: str | None = None


class ChangeKind(StrEnum):
    """What a tick does with connectors, and with many of them only when an Admin has confirmed it."""

    DELETIONS = "deletions"
    CREATIONS = "creations"


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingChanges:
    """Connectors of ours that are not deleted (nothing needs them any more), or not created again (they are missing),
    until an Admin confirms it: how many, since when they wait, the first names.

    `newest` is when the last of them was first seen so.
    """

    count: int
    since: datetime
    names: tuple[str, ...]
    newest: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectCluster(Registered[ConnectAddress]):
    """Kafka Connect workers behind one REST address. `kafka_cluster_id` is the Kafka that they ran on when they were
    looked at first, or when an Admin saved the registration last. What is pending comes from the last tick.
    """

    stream_cluster_id: str
    secret_delivery: SecretDelivery = SecretDelivery.CONFIG_PROVIDER
    connect_version: str | None = None
    kafka_cluster_id: str | None = None
    pending_deletions: PendingChanges | None = None
    pending_creations: PendingChanges | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorPlugin:
    """A connector plug-in that is installed on the Connect worker that answered."""

    class_name: str
    type: str
    version: str | None


def require_same_kafka(workers: str | None, brokers: str | None) -> None:
    """Raise Invalid when both Kafka ids are known and differ: the workers do not run on these brokers."""
    if workers and brokers and workers != brokers:
        raise Invalid.at(
            "body",
            "stream_cluster_id",
            type_="kafka_cluster_mismatch",
            message="The Connect workers run on another Kafka cluster than the stream cluster. "
            "Register them with theirs.",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFacts:
    """The topics of a cluster, each with the number of its partitions; and of those asked about, what was lost.

    `truncated`: the first records are gone. `unread`: it could not be read whether they are. `first_written` is the
    time of the first record that is there, for topics with records.
    """

    partitions: Mapping[str, int]
    truncated: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    first_written: Mapping[str, datetime] = field(default_factory=dict)
