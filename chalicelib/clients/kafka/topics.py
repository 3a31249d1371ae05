"""Topics as people see them: a page of the list, and one with its partitions, offsets and settings.

Each read asks each broker a fixed number of times, however many topics there are. All brokers are asked at the same
moment, and what one does not answer in time is None. It imports kafka-python: import it lazily.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from kafka.admin import ConfigResourceType, OffsetSpec
from kafka.errors import KafkaError, KafkaTimeoutError
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
"""So long a broker has for an answer. Then another one is asked, or a part of the result is None. Twice for what any
broker knows, and once for what only some know, is less than `client.ANSWER_SECONDS`.
"""

_ATTEMPTS = 2
_MAX_VALUE = 1_000
_NO_ERROR, _UNKNOWN_TOPIC, _INVALID_TOPIC, _NOT_ALLOWED = 0, 3, 17, 29
_NO_LEADER = -1
_POLICY, _COMPACT = "cleanup.policy", "compact"

Partition = tuple[str, int]
"""A topic's name and the number of one of its partitions."""

Asked = Mapping[int, Any]
"""Answers to come, by node id; None when the broker could not be asked."""

Answers = Mapping[int, Any]
"""Answers by node id, of those brokers that gave one."""


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
    node, response = await _from_any(manager, MetadataRequest(topics=None))
    if len(response.topics) > MAX_TOPICS:
        raise _unavailable(f"The cluster has more than {MAX_TOPICS} topics, more than Headgate reads.")
    existing = (topic for topic in response.topics if topic.error_code not in (_UNKNOWN_TOPIC, _INVALID_TOPIC))
    page = sorted_page(existing, key=lambda topic: topic.name, limit=limit, after=after)
    of_connect = [topic.name for topic in page.items if looks_like_connect_state(topic.name)]
    asked = (_ask_leaders(manager, page.items, _log_dirs_request), _ask_configs(manager, node, of_connect, [_POLICY]))
    folders, described = await _answers(manager, *asked)
    sizes, configs = _sizes(page.items, folders), _configs(described)
    return page.map(lambda topic: _topic(topic, configs.get(topic.name), sizes.get(topic.name)))


async def _find(manager: KafkaConnectionManager, name: str) -> Topic | None:
    node, topic = await _metadata(manager, name)
    if topic is None:
        return None
    of_connect = [name] if looks_like_connect_state(name) else []
    (described,) = await _answers(manager, _ask_configs(manager, node, of_connect, [_POLICY]))
    return _topic(topic, _configs(described).get(name))


async def _describe(manager: KafkaConnectionManager, name: str) -> TopicDetail | None:
    node, topic = await _metadata(manager, name)
    if topic is None:
        return None
    first, last, folders, described = await _answers(
        manager,
        _ask_leaders(manager, [topic], partial(_offsets_request, spec=OffsetSpec.EARLIEST)),
        _ask_leaders(manager, [topic], partial(_offsets_request, spec=OffsetSpec.LATEST)),
        _ask_leaders(manager, [topic], _log_dirs_request),
        _ask_configs(manager, node, [name]),
    )
    beginnings, ends, configs = _offsets(first), _offsets(last), _configs(described).get(name)
    return TopicDetail(
        topic=_topic(topic, configs, _sizes([topic], folders).get(name)),
        partition_details=tuple(
            PartitionDetail(
                partition=partition.partition_index,
                leader=None if partition.leader_id == _NO_LEADER else partition.leader_id,
                replicas=tuple(partition.replica_nodes),
                isr=tuple(partition.isr_nodes),
                beginning_offset=beginnings.get(partition.partition_index),
                end_offset=ends.get(partition.partition_index),
            )
            for partition in sorted(topic.partitions, key=lambda partition: partition.partition_index)
        ),
        configs=configs,
    )


async def _metadata(manager: KafkaConnectionManager, name: str) -> tuple[int, Any]:
    """The topic and the broker that described it; None when there is no such topic. Raises KafkaError, Unavailable."""
    requested = [MetadataRequest.MetadataRequestTopic(name=name)]
    # Version 4 is the first that can forbid the creation of missing topics.
    request = MetadataRequest(topics=requested, allow_auto_topic_creation=False, min_version=4)
    node, response = await _from_any(manager, request)
    (topic,) = response.topics
    if topic.error_code == _NOT_ALLOWED:
        raise _unavailable("The brokers do not let the user of the stream cluster describe this topic. Allow it.")
    return node, None if topic.error_code in (_UNKNOWN_TOPIC, _INVALID_TOPIC) else topic


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


def _sizes(topics: Sequence[Any], answers: Answers) -> Mapping[str, int]:
    """The bytes of the leaders' copies, of the topics of which each leader has answered."""
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


def _offsets(answers: Answers) -> Mapping[int, int]:
    """The readable offsets of a topic, by partition."""
    return {
        partition.partition_index: partition.offset
        for response in answers.values()
        for topic in response.topics
        for partition in topic.partitions
        if partition.error_code == _NO_ERROR and partition.offset >= 0
    }


def _configs(answers: Answers) -> Mapping[str, Mapping[str, str | None]]:
    """The settings in force of the topics whose settings are shown, by Kafka's names; None for a secret one."""
    return {
        result.resource_name: {
            config.name: None if config.is_sensitive or config.value is None else config.value[:_MAX_VALUE]
            for config in result.configs
        }
        for response in answers.values()
        for result in response.results
        if result.error_code == _NO_ERROR
    }


def _ask_leaders(
    manager: KafkaConnectionManager, topics: Sequence[Any], request: Callable[[Iterable[Partition]], Any]
) -> Asked:
    """Ask the brokers that lead partitions of the topics, each about its own."""
    led: dict[int, list[Partition]] = defaultdict(list)
    for topic in topics:
        for partition in topic.partitions:
            led[partition.leader_id].append((topic.name, partition.partition_index))
    led.pop(_NO_LEADER, None)
    return {node: _sent(manager, request(partitions), node) for node, partitions in led.items()}


def _partitions(topic: Any) -> Iterator[Partition]:
    return ((topic.name, partition.partition_index) for partition in topic.partitions)


def _ask_configs(
    manager: KafkaConnectionManager, node: int, names: Sequence[str], keys: Sequence[str] | None = None
) -> Asked:
    """Ask a broker for the settings of topics, also those of others; not at all without a name."""
    resource_type = DescribeConfigsRequest.DescribeConfigsResource
    resources = [
        resource_type(
            resource_type=ConfigResourceType.TOPIC.value,
            resource_name=name,
            configuration_keys=None if keys is None else list(keys),
        )
        for name in names
    ]
    return {node: _sent(manager, DescribeConfigsRequest(resources=resources), node)} if names else {}


async def _from_any(manager: KafkaConnectionManager, request: Any) -> tuple[int, Any]:
    """A broker and its answer. One that does not answer in time is not the next to be asked. Raises KafkaError."""
    last: KafkaError = KafkaTimeoutError()
    for _ in range(_ATTEMPTS):
        try:
            node = manager.least_loaded_node()
            answer = await manager.wait_for(manager.send(request, node_id=node), _ANSWER_SECONDS * 1000)
        except KafkaError as error:
            last = error
        else:
            return node, answer
    raise last


def _sent(manager: KafkaConnectionManager, request: Any, node: int) -> Any:
    """The answer to come; None when the broker cannot be asked."""
    with suppress(KafkaError):
        return manager.send(request, node_id=node)
    return None


async def _answers(manager: KafkaConnectionManager, *asked: Asked) -> list[Answers]:
    """The answers that come in time. All was sent before, so that one time limit is enough for all."""
    end, answers = time.monotonic() + _ANSWER_SECONDS, list[Answers]()
    for futures in asked:
        by_node: dict[int, Any] = {}
        for node, future in futures.items():
            with suppress(KafkaError):
                if future is not None:
                    by_node[node] = await manager.wait_for(future, max(1.0, (end - time.monotonic()) * 1000))
        answers.append(by_node)
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
