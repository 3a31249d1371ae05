"""Topics as people see them: a page of the list, and one with its partitions, offsets and settings.

Each read asks each broker a fixed number of times, however many topics there are. Brokers are asked at the same moment,
and what one does not answer in time is None. It imports kafka-python: import it lazily.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from kafka.admin import ConfigResourceType, OffsetSpec
from kafka.errors import KafkaError
from kafka.net.manager import KafkaConnectionManager
from kafka.protocol.admin import DescribeConfigsRequest, DescribeLogDirsRequest
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import MetadataRequest

from chalicelib.clients.kafka.admin import Admin
from chalicelib.domain.topic import PartitionDetail, Topic, TopicDetail
from chalicelib.domain.topic_protection import looks_like_connect_state
from chalicelib.errors import Unavailable
from chalicelib.kit.pages import Page, sorted_page

MAX_TOPICS = 100_000
"""Of a cluster: the brokers list all of them in one answer."""

_ANSWER_SECONDS = 2.5
"""So long a broker has for a part of an answer that may be null."""

_MAX_VALUE = 1_000
_NO_ERROR, _UNKNOWN_TOPIC, _INVALID_TOPIC, _NOT_ALLOWED = 0, 3, 17, 29
_NO_LEADER = -1
_POLICY, _COMPACT = "cleanup.policy", "compact"

N = TypeVar("N")
Partition = tuple[str, int]
"""A topic's name and the number of one of its partitions."""


def list_topics(admin: Admin, *, limit: int, after: str | None) -> Page[Topic]:
    """Topics by name, with their sizes. Raises KafkaError when no broker answers, Unavailable."""
    page: Page[Topic] = admin.run(_list, limit, after)
    return page


def find_topic(admin: Admin, name: str) -> Topic | None:
    """The topic without its size; None when it does not exist, or has no name that Kafka allows.

    Raises KafkaError when no broker answers, Unavailable when the brokers do not let this user describe it.
    """
    topic: Topic | None = admin.run(_find, name)
    return topic


def describe_topic(admin: Admin, name: str) -> TopicDetail | None:
    """The topic with everything; None as for `find_topic`. Raises KafkaError, Unavailable."""
    detail: TopicDetail | None = admin.run(_describe, name)
    return detail


async def _list(manager: KafkaConnectionManager, limit: int, after: str | None) -> Page[Topic]:
    response = await manager.send(MetadataRequest(topics=None))
    if len(response.topics) > MAX_TOPICS:
        raise _unavailable(f"The cluster has more than {MAX_TOPICS} topics, more than Headgate reads.")
    existing = (topic for topic in response.topics if topic.error_code not in (_UNKNOWN_TOPIC, _INVALID_TOPIC))
    page = sorted_page(existing, key=lambda topic: topic.name, limit=limit, after=after)
    sizes = await _sizes(manager, page.items)
    configs = await _configs(manager, [topic.name for topic in page.items if _needs_policy(topic)], [_POLICY])
    return page.map(lambda topic: _topic(topic, configs.get(topic.name), sizes.get(topic.name)))


async def _find(manager: KafkaConnectionManager, name: str) -> Topic | None:
    described = await _described(manager, name)
    if described is None:
        return None
    configs = await _configs(manager, [name], [_POLICY]) if _needs_policy(described) else {}
    return _topic(described, configs.get(name))


async def _describe(manager: KafkaConnectionManager, name: str) -> TopicDetail | None:
    described = await _described(manager, name)
    if described is None:
        return None
    beginnings = await _offsets(manager, described, OffsetSpec.EARLIEST)
    ends = await _offsets(manager, described, OffsetSpec.LATEST)
    configs = (await _configs(manager, [name])).get(name)
    sizes = await _sizes(manager, [described])
    return TopicDetail(
        topic=_topic(described, configs, sizes.get(name)),
        partition_details=tuple(
            PartitionDetail(
                partition=partition.partition_index,
                leader=None if partition.leader_id == _NO_LEADER else partition.leader_id,
                replicas=tuple(partition.replica_nodes),
                isr=tuple(partition.isr_nodes),
                beginning_offset=beginnings.get(partition.partition_index),
                end_offset=ends.get(partition.partition_index),
            )
            for partition in sorted(described.partitions, key=lambda partition: partition.partition_index)
        ),
        configs=configs,
    )


async def _described(manager: KafkaConnectionManager, name: str) -> Any:
    """The topic in an answer of a broker; None when there is none. Raises Unavailable."""
    requested = [MetadataRequest.MetadataRequestTopic(name=name)]
    # Version 4 is the first that can forbid the creation of missing topics.
    request = MetadataRequest(topics=requested, allow_auto_topic_creation=False, min_version=4)
    (topic,) = (await manager.send(request)).topics
    if topic.error_code == _NOT_ALLOWED:
        raise _unavailable("The brokers do not let the user of the stream cluster describe this topic. Allow it.")
    return None if topic.error_code in (_UNKNOWN_TOPIC, _INVALID_TOPIC) else topic


def _topic(topic: Any, configs: Mapping[str, str | None] | None, size: int | None = None) -> Topic:
    policy = (configs or {}).get(_POLICY)
    return Topic(
        name=topic.name,
        partitions=len(topic.partitions) or None,
        replication_factor=min((len(partition.replica_nodes) for partition in topic.partitions), default=None),
        internal=topic.is_internal,
        size=size,
        compacted=_COMPACT in policy.split(",") if policy else None,
    )


def _needs_policy(topic: Any) -> bool:
    return looks_like_connect_state(topic.name)


async def _sizes(manager: KafkaConnectionManager, topics: Sequence[Any]) -> Mapping[str, int]:
    """The bytes of the leaders' copies, of the topics of which each leader has answered."""
    answers = await _each_leader(manager, topics, _log_dirs_request)
    # Each broker was asked only about what it leads: copies elsewhere are not counted.
    sizes = {partition: size for response in answers.values() for partition, size in _sizes_in(response)}
    of_topics = {topic.name: [sizes.get(partition) for partition in _partitions(topic)] for topic in topics}
    return {name: sum(filter(None, found)) for name, found in of_topics.items() if found and None not in found}


def _sizes_in(response: Any) -> Iterator[tuple[Partition, int]]:
    """The sizes in a broker's answer, without copies that move to another folder of the broker."""
    for folder in response.results:
        for topic in folder.topics if folder.error_code == _NO_ERROR else ():
            for partition in topic.partitions:
                if not partition.is_future_key:
                    yield (topic.name, partition.partition_index), partition.partition_size


async def _offsets(manager: KafkaConnectionManager, topic: Any, spec: OffsetSpec) -> Mapping[int, int]:
    """The readable offsets of a topic, by partition."""
    answers = await _each_leader(manager, [topic], lambda partitions: _offsets_request(partitions, spec))
    return {
        answer.partition_index: answer.offset
        for response in answers.values()
        for answered in response.topics
        for answer in answered.partitions
        if answer.error_code == _NO_ERROR and answer.offset >= 0
    }


async def _configs(
    manager: KafkaConnectionManager, names: Sequence[str], keys: Sequence[str] | None = None
) -> Mapping[str, Mapping[str, str | None]]:
    """The settings in force of the topics whose settings are shown, by Kafka's names; None for a secret one."""
    if not names:
        return {}
    resource_type = DescribeConfigsRequest.DescribeConfigsResource
    kind = ConfigResourceType.TOPIC.value
    resources = [
        resource_type(resource_type=kind, resource_name=name, configuration_keys=keys and list(keys)) for name in names
    ]
    # Any broker answers for all topics.
    asked = _sent(manager, DescribeConfigsRequest(resources=resources), None)
    response = (await _answers(manager, {None: asked})).get(None)
    return {
        result.resource_name: {
            config.name: None if config.is_sensitive or config.value is None else config.value[:_MAX_VALUE]
            for config in result.configs
        }
        for result in (response.results if response else ())
        if result.error_code == _NO_ERROR
    }


async def _each_leader(
    manager: KafkaConnectionManager, topics: Sequence[Any], request: Callable[[Collection[Partition]], Any]
) -> Mapping[int, Any]:
    """The answers of the brokers that lead partitions of the topics, each asked about its own, by node id."""
    led: dict[int, list[Partition]] = defaultdict(list)
    for topic in topics:
        for partition in topic.partitions:
            led[partition.leader_id].append((topic.name, partition.partition_index))
    led.pop(_NO_LEADER, None)
    asked = {node: _sent(manager, request(partitions), node) for node, partitions in led.items()}
    return await _answers(manager, asked)


def _partitions(topic: Any) -> Iterator[Partition]:
    return ((topic.name, partition.partition_index) for partition in topic.partitions)


def _sent(manager: KafkaConnectionManager, request: Any, node: int | None) -> Any:
    """The answer to come of this broker, or of any; None when it cannot be asked."""
    with suppress(KafkaError):
        return manager.send(request, node_id=node)
    return None


async def _answers(manager: KafkaConnectionManager, asked: Mapping[N, Any]) -> Mapping[N, Any]:
    """The answers that come in time. All brokers have been asked already, so that they share one time limit."""
    end, answers = time.monotonic() + _ANSWER_SECONDS, {}
    for node, future in asked.items():
        with suppress(KafkaError):
            if future is not None:
                answers[node] = await manager.wait_for(future, max(1.0, (end - time.monotonic()) * 1000))
    return answers


def _log_dirs_request(partitions: Iterable[Partition]) -> Any:
    topic_type = DescribeLogDirsRequest.DescribableLogDirTopic
    topics = [topic_type(topic=name, partitions=numbers) for name, numbers in _by_topic(partitions).items()]
    return DescribeLogDirsRequest(topics=topics)


def _offsets_request(partitions: Iterable[Partition], spec: OffsetSpec) -> Any:
    topic_type = ListOffsetsRequest.ListOffsetsTopic
    topics = [
        topic_type(
            name=name,
            partitions=[
                topic_type.ListOffsetsPartition(partition_index=number, timestamp=int(spec)) for number in numbers
            ],
        )
        for name, numbers in _by_topic(partitions).items()
    ]
    return ListOffsetsRequest(isolation_level=0, topics=topics, min_version=1)


def _by_topic(partitions: Iterable[Partition]) -> Mapping[str, list[int]]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for name, number in partitions:
        numbers[name].append(number)
    return numbers


def _unavailable(message: str) -> Unavailable:
    return Unavailable(message, code="STREAM_UNAVAILABLE")
