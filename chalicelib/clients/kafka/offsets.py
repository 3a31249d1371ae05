"""The offsets of topics and consumer groups, in as few requests as the brokers allow.

kafka-python's own calls end with the first topic or group that cannot be read, so the requests are made here: topics
are asked for by name, offsets of each leader at once, groups of each coordinator at once. Brokers before Kafka 3.0
answer for one group at a time. It imports kafka-python: import it lazily.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from kafka.admin import OffsetSpec
from kafka.errors import KafkaError
from kafka.net.manager import KafkaConnectionManager
from kafka.protocol.admin import DescribeGroupsRequest
from kafka.protocol.consumer import ListOffsetsRequest, OffsetFetchRequest
from kafka.protocol.metadata import CoordinatorType, FindCoordinatorRequest, MetadataRequest

from chalicelib.clients.kafka.admin import Admin
from chalicelib.domain.monitoring.offsets import GroupOffsets, Offsets, PartitionOffsets

MAX_TOPICS = 50_000
MAX_PARTITIONS = 200_000
MAX_GROUPS = 20_000
"""What comes behind these, in alphabetical order, is null: as if it could not be read."""

_TOPICS_PER_REQUEST = 5_000
_PARTITIONS_PER_REQUEST = 20_000
_GROUPS_PER_REQUEST = 2_000
_BATCHED_COORDINATORS = 4
_BATCHED_OFFSETS = 8
"""The versions from which these requests take several groups (KIP-699, KIP-709; Kafka 3.0)."""

_NO_ERROR, _UNKNOWN_TOPIC, _GROUP_NOT_FOUND = 0, 3, 69
_NOT_COMMITTED = -1

Leaders = Mapping[str, Mapping[int, int] | None]
"""Topic -> partition -> the node that leads it."""


def read_offsets(admin: Admin, topics: Collection[str], groups: Mapping[str, Collection[str]]) -> Offsets:
    """`topics` for their end offsets; `groups` name the topics of each group, which are read from both ends.

    Raises KafkaError when the brokers as a whole cannot be asked.
    """
    found: Offsets = admin.run(_read, topics, groups)
    return found


async def _read(
    manager: KafkaConnectionManager, topics: Collection[str], groups: Mapping[str, Collection[str]]
) -> Offsets:
    delivered = {topic for listed in groups.values() for topic in listed}
    names = sorted(delivered.union(topics))
    leaders = await _leaders(manager, names[:MAX_TOPICS])
    read = dict(_bounded(leaders))
    ends = await _list_offsets(manager, read, OffsetSpec.LATEST)
    beginnings = await _list_offsets(manager, {one: read[one] for one in read if one in delivered}, OffsetSpec.EARLIEST)
    by_topic = {
        topic: _joined(nodes, ends, beginnings, topic, both=topic in delivered) for topic, nodes in leaders.items()
    }
    asked = sorted(groups)
    return Offsets(
        topics={**by_topic, **dict.fromkeys(names[MAX_TOPICS:])},
        groups={**dict.fromkeys(asked), **await _groups(manager, asked[:MAX_GROUPS])},
    )


def _joined(
    nodes: Mapping[int, int] | None,
    ends: Mapping[tuple[str, int], int],
    beginnings: Mapping[tuple[str, int], int],
    topic: str,
    *,
    both: bool,
) -> Mapping[int, PartitionOffsets] | None:
    """The offsets of a topic; None unless those of all of its partitions are known."""
    if nodes is None or any((topic, one) not in ends or (both and (topic, one) not in beginnings) for one in nodes):
        return None
    return {one: PartitionOffsets(beginning=beginnings.get((topic, one)), end=ends[topic, one]) for one in nodes}


def _bounded(leaders: Leaders) -> Iterator[tuple[str, Mapping[int, int]]]:
    left = MAX_PARTITIONS
    for topic, nodes in leaders.items():
        if nodes is not None and len(nodes) <= left:
            left -= len(nodes)
            yield topic, nodes


async def _leaders(manager: KafkaConnectionManager, topics: Sequence[str]) -> Leaders:
    """The leaders of existing topics; None for a topic that may not be described."""
    found: dict[str, Mapping[int, int] | None] = {}
    for names in _chunks(topics, _TOPICS_PER_REQUEST):
        asked = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        # Version 4 is the first that a broker answers without creating the topics.
        response = await manager.send(MetadataRequest(topics=asked, allow_auto_topic_creation=False, min_version=4))
        for topic in response.topics:
            if topic.error_code != _UNKNOWN_TOPIC:
                nodes = {one.partition_index: one.leader_id for one in topic.partitions}
                found[topic.name] = None if topic.error_code or not nodes else nodes
    return found


async def _list_offsets(
    manager: KafkaConnectionManager, leaders: Mapping[str, Mapping[int, int]], spec: OffsetSpec
) -> Mapping[tuple[str, int], int]:
    """The offsets that could be read, by topic and partition."""
    led: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for topic, nodes in leaders.items():
        for partition, node in nodes.items():
            led[node].append((topic, partition))
    found: dict[tuple[str, int], int] = {}
    for node, partitions in led.items():
        for chunk in _chunks(partitions, _PARTITIONS_PER_REQUEST) if node >= 0 else ():
            response = await _send(manager, _offsets_request(chunk, spec), node)
            for topic in response.topics if response else ():
                of_topic = {(topic.name, one.partition_index): one for one in topic.partitions}
                found |= {key: one.offset for key, one in of_topic.items() if one.error_code == _NO_ERROR}
    return found


def _offsets_request(partitions: Iterable[tuple[str, int]], spec: OffsetSpec) -> ListOffsetsRequest:
    asked, topic = defaultdict(list), ListOffsetsRequest.ListOffsetsTopic
    for name, partition in partitions:
        asked[name].append(topic.ListOffsetsPartition(partition_index=partition, timestamp=int(spec)))
    listed = [topic(name=name, partitions=of_topic) for name, of_topic in asked.items()]
    return ListOffsetsRequest(isolation_level=0, topics=listed, min_version=1)


async def _groups(manager: KafkaConnectionManager, groups: Sequence[str]) -> Mapping[str, GroupOffsets]:
    """The groups that could be read."""
    found: dict[str, GroupOffsets] = {}
    for node, names in (await _coordinators(manager, groups)).items():
        for chunk in _chunks(names, _GROUPS_PER_REQUEST):
            committed = await _committed(manager, node, chunk)
            described = await _described(manager, node, chunk)
            for name, offsets in committed.items():
                state, members = described.get(name, (None, None))
                found[name] = GroupOffsets(state=state, members=members, committed=offsets)
    return found


async def _coordinators(manager: KafkaConnectionManager, groups: Sequence[str]) -> Mapping[int, list[str]]:
    """Node -> the groups that it coordinates, without those whose coordinator is not named."""
    found: dict[int, list[str]] = defaultdict(list)
    kind, batched = CoordinatorType.GROUP.value, _version(manager, FindCoordinatorRequest) >= _BATCHED_COORDINATORS
    for names in _chunks(groups, _GROUPS_PER_REQUEST if batched else 1):
        keys = {"coordinator_keys": names, "min_version": 4} if batched else {"key": names[0], "max_version": 3}
        response = await manager.send(FindCoordinatorRequest(key_type=kind, **keys))
        for one in response.coordinators if batched else [response]:
            if one.error_code == _NO_ERROR:
                name = one.key if batched else names[0]
                found[manager.cluster.add_coordinator(one, kind, name, synthesize_node_id=False)].append(name)
    return found


async def _committed(
    manager: KafkaConnectionManager, node: int, groups: Sequence[str]
) -> Mapping[str, Mapping[str, Mapping[int, int]]]:
    """Everything that these groups have committed, by group, without groups that may not be read."""
    if _version(manager, OffsetFetchRequest) >= _BATCHED_OFFSETS:
        asked = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=name, topics=None) for name in groups]
        response = await _send(manager, OffsetFetchRequest(groups=asked, min_version=8, max_version=8), node)
        answers = {one.group_id: one for one in response.groups} if response else {}
    else:
        # From version 2 it takes null for all topics, and has an error of its own.
        single = {one: OffsetFetchRequest(group_id=one, topics=None, min_version=2, max_version=7) for one in groups}
        answers = {name: await _send(manager, request, node) for name, request in single.items()}
    return {name: _by_topic(one) for name, one in answers.items() if one and one.error_code == _NO_ERROR}


def _by_topic(group: Any) -> Mapping[str, Mapping[int, int]]:
    return {
        topic.name: {
            one.partition_index: one.committed_offset
            for one in topic.partitions
            if one.error_code == _NO_ERROR and one.committed_offset != _NOT_COMMITTED
        }
        for topic in group.topics
    }


async def _described(
    manager: KafkaConnectionManager, node: int, groups: Sequence[str]
) -> Mapping[str, tuple[str, int]]:
    """State and number of members of the groups that may be described."""
    response = await _send(manager, DescribeGroupsRequest(groups=list(groups)), node)
    answers = response.groups if response else ()
    found = {one.group_id: (one.group_state, len(one.members)) for one in answers if one.error_code == _NO_ERROR}
    # Version 6 has an error for a group that does not exist, where the versions before call it dead.
    return found | {one.group_id: ("Dead", 0) for one in answers if one.error_code == _GROUP_NOT_FOUND}


async def _send(manager: KafkaConnectionManager, request: Any, node: int) -> Any:
    """The answer of one broker; None when it cannot be asked: what the others say still counts."""
    try:
        return await manager.send(request, node_id=node)
    except KafkaError:
        return None


def _version(manager: KafkaConnectionManager, request: type) -> int:
    found: int = manager.broker_version_data.api_version(request)
    return found


def _chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    left = iter(items)
    while chunk := list(islice(left, size)):
        yield chunk
