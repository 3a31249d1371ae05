"""Topics of a stream cluster."""

from typing import Any, Self

from pydantic import Field

from chalicelib.api.contract.common import Input, Output, Timestamp, Uuid
from chalicelib.api.contract.live_reads import FreshListQuery, FreshQuery
from chalicelib.domain.live_reads import LiveAnswer
from chalicelib.domain.topic_protection import JudgedTopic, JudgedTopicDetail, PrefixOwner

_CLUSTER = "The id of a stream cluster."


class TopicClusterQuery(Input):
    """Where the topic is."""

    cluster_id: Uuid = Field(description=_CLUSTER)


class TopicListQuery(FreshListQuery):
    """Where the topics are."""

    cluster_id: Uuid = Field(description=_CLUSTER)


class TopicQuery(FreshQuery, TopicClusterQuery):
    """Where the topic is, and how old its answer may be."""


class TopicUserOutput(Output):
    """A pipeline whose topic prefix the name of the topic has. `name` is null where it cannot be read."""

    type: str
    id: str
    name: str | None

    @classmethod
    def of(cls, owner: PrefixOwner) -> Self:
        return cls(type="pipeline", id=owner.id, name=owner.name)


class TopicOutput(Output):
    """A topic. `size` is the bytes of the leaders' copies, null where a broker does not say it; `message_rate` is null
    because nothing measures it. `internal`: Kafka's own. A protected topic is not deleted.
    """

    name: str
    partitions: int | None
    replication_factor: int | None
    internal: bool
    protected: bool
    protection_reason: str | None
    size: int | None
    message_rate: float | None = None
    used_by_pipelines: list[TopicUserOutput]

    @classmethod
    def of(cls, judged: JudgedTopic) -> Self:
        return cls(**_fields(judged))


class PartitionOutput(Output):
    """A partition, with the node ids of its leader, its replicas and those that are in sync. Null: it has no leader, or
    the leader does not say its offsets.
    """

    partition: int
    leader: int | None
    replicas: list[int]
    isr: list[int]
    beginning_offset: int | None
    end_offset: int | None


class TopicDetailOutput(TopicOutput):
    """A topic with its partitions and its settings in force. A secret setting is null; `configs` is null where the
    brokers do not show them. `checked_at` is when they answered.
    """

    partition_details: list[PartitionOutput]
    configs: dict[str, str | None] | None
    checked_at: Timestamp

    @classmethod
    def answered(cls, answer: LiveAnswer[JudgedTopicDetail]) -> Self:
        detail = answer.value.detail
        partitions = [PartitionOutput.of(partition) for partition in detail.partition_details]
        fields = {**_fields(answer.value.judged), "partition_details": partitions, "configs": detail.configs}
        return cls(**fields, checked_at=answer.at)


def _fields(judged: JudgedTopic) -> dict[str, Any]:
    topic = judged.topic
    shown = ("name", "partitions", "replication_factor", "internal", "size")
    return {
        **{name: getattr(topic, name) for name in shown},
        "protected": judged.is_protected,
        "protection_reason": judged.protection_reason,
        "used_by_pipelines": [TopicUserOutput.of(owner) for owner in judged.owners],
    }
