"""The offsets of topics and consumer groups, in as few requests as the brokers allow.

The calls of kafka-python fail at the first unreadable topic or group, so the requests are built here: one for topics by
name, one for the offsets of each leader, one for the groups of each coordinator. A broker before Kafka 3.0 takes one
group in a request. It imports kafka-python: import it lazily.
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
"""Topics and groups beyond these numbers, in alphabetical order, are None: as if they were unreadable."""

_TOPICS_PER_REQUEST = 5_000
_PARTITIONS_PER_REQUEST = 20_000
_GROUPS_PER_REQUEST = 2_000
_BATCHED_COORDINATORS = 4
BATCHED_OFFSETS = 8
"""The versions from which these requests take several groups (KIP-699, KIP-709; Kafka 3.0)."""

NO_ERROR, _UNKNOWN_TOPIC, _GROUP_NOT_FOUND = 0, 3, 69
_NOT_COMMITTED = -1

Leaders = Mapping[str, Mapping[int, int] | None]
"""Topic -> partition -> the node id of its leader."""


def read_offsets(admin: Admin, topics: Collection[str], groups: Mapping[str, Collection[str]]) -> Offsets:
    """The end offsets of `topics`; of the topics of `groups` also the beginnings, and the committed offsets.

    Raises KafkaError when no broker answers.
    """
    offsets: Offsets = admin.run(_read, topics, groups)
    return offsets


async def _read(
    manager: KafkaConnectionManager, topics: Collection[str], groups: Mapping[str, Collection[str]]
) -> Offsets:
    delivered = {topic for listed in groups.values() for topic in listed}
    names = sorted(delivered.union(topics))
    leaders = await find_leaders(manager, names[:MAX_TOPICS])
    bounded = dict(_bounded(leaders))
    of_groups = {topic: nodes for topic, nodes in bounded.items() if topic in delivered}
    ends = await list_offsets(manager, bounded, OffsetSpec.LATEST)
    beginnings = await list_offsets(manager, of_groups, OffsetSpec.EARLIEST)
    by_topic = {
        topic: _join(nodes, ends, beginnings, topic, both=topic in delivered) for topic, nodes in leaders.items()
    }
    group_ids = sorted(groups)
    return Offsets(
        topics={**by_topic, **dict.fromkeys(names[MAX_TOPICS:])},
        groups={**dict.fromkeys(group_ids), **await _groups(manager, group_ids[:MAX_GROUPS])},
    )


def _join(
    nodes: Mapping[int, int] | None,
    ends: Mapping[tuple[str, int], int],
    beginnings: Mapping[tuple[str, int], int],
    topic: str,
    *,
    both: bool,
) -> Mapping[int, PartitionOffsets] | None:
    """The offsets of a topic; None unless all of its partitions have them."""
    keys = [(topic, partition) for partition in nodes or ()]
    if nodes is None or any(key not in ends or (both and key not in beginnings) for key in keys):
        return None
    return {key[1]: PartitionOffsets(beginning=beginnings.get(key), end=ends[key]) for key in keys}


def _bounded(leaders: Leaders) -> Iterator[tuple[str, Mapping[int, int]]]:
    left = MAX_PARTITIONS
    for topic, nodes in leaders.items():
        if nodes is not None and len(nodes) <= left:
            left -= len(nodes)
            yield topic, nodes


async def find_leaders(manager: KafkaConnectionManager, topics: Sequence[str]) -> Leaders:
    """The leaders of existing topics; None for a topic that may not be described."""
    leaders: dict[str, Mapping[int, int] | None] = {}
    for names in _chunks(topics, _TOPICS_PER_REQUEST):
        requested = [MetadataRequest.MetadataRequestTopic(name=name) for name in names]
        # Version 4 is the first that can forbid the creation of missing topics.
        response = await manager.send(MetadataRequest(topics=requested, allow_auto_topic_creation=False, min_version=4))
        for topic in response.topics:
            if topic.error_code != _UNKNOWN_TOPIC:
                nodes = {partition.partition_index: partition.leader_id for partition in topic.partitions}
                leaders[topic.name] = None if topic.error_code or not nodes else nodes
    return leaders


async def list_offsets(
    manager: KafkaConnectionManager, leaders: Mapping[str, Mapping[int, int]], spec: OffsetSpec
) -> Mapping[tuple[str, int], int]:
    """The readable offsets, by topic and partition."""
    partitions_of: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for topic, nodes in leaders.items():
        for partition, node in nodes.items():
            partitions_of[node].append((topic, partition))
    offsets: dict[tuple[str, int], int] = {}
    for node, partitions in partitions_of.items():
        for chunk in _chunks(partitions, _PARTITIONS_PER_REQUEST) if node >= 0 else ():
            response = await send(manager, _offsets_request(chunk, spec), node)
            for topic in response.topics if response else ():
                for answer in topic.partitions:
                    if answer.error_code == NO_ERROR:
                        offsets[topic.name, answer.partition_index] = answer.offset
    return offsets


def _offsets_request(partitions: Iterable[tuple[str, int]], spec: OffsetSpec) -> ListOffsetsRequest:
    by_topic, topic_type = defaultdict(list), ListOffsetsRequest.ListOffsetsTopic
    for name, partition in partitions:
        by_topic[name].append(topic_type.ListOffsetsPartition(partition_index=partition, timestamp=int(spec)))
    topics = [topic_type(name=name, partitions=listed) for name, listed in by_topic.items()]
    return ListOffsetsRequest(isolation_level=0, topics=topics, min_version=1)


async def _groups(manager: KafkaConnectionManager, groups: Sequence[str]) -> Mapping[str, GroupOffsets]:
    """The readable groups."""
    readable: dict[str, GroupOffsets] = {}
    for node, names in (await _coordinators(manager, groups)).items():
        for chunk in _chunks(names, _GROUPS_PER_REQUEST):
            committed = await fetch_committed(manager, node, chunk)
            described = await _described(manager, node, chunk)
            for name, offsets in committed.items():
                state, members = described.get(name, (None, None))
                readable[name] = GroupOffsets(state=state, members=members, committed=offsets)
    return readable


async def _coordinators(manager: KafkaConnectionManager, groups: Sequence[str]) -> Mapping[int, list[str]]:
    """Node -> the groups that it coordinates, without groups that have no coordinator."""
    groups_of: dict[int, list[str]] = defaultdict(list)
    kind, batched = CoordinatorType.GROUP.value, version_of(manager, FindCoordinatorRequest) >= _BATCHED_COORDINATORS
    for names in _chunks(groups, _GROUPS_PER_REQUEST if batched else 1):
        keys = {"coordinator_keys": names, "min_version": 4} if batched else {"key": names[0], "max_version": 3}
        response = await manager.send(FindCoordinatorRequest(key_type=kind, **keys))
        for answer in response.coordinators if batched else [response]:
            if answer.error_code == NO_ERROR:
                name = answer.key if batched else names[0]
                node = manager.cluster.add_coordinator(answer, kind, name, synthesize_node_id=False)
                groups_of[node].append(name)
    return groups_of


async def fetch_committed(
    manager: KafkaConnectionManager, node: int, groups: Sequence[str]
) -> Mapping[str, Mapping[str, Mapping[int, int]]]:
    """All committed offsets by group, without groups that may not be read."""
    if version_of(manager, OffsetFetchRequest) >= BATCHED_OFFSETS:
        requested = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=name, topics=None) for name in groups]
        response = await send(manager, OffsetFetchRequest(groups=requested, min_version=8, max_version=8), node)
        answers = {answer.group_id: answer for answer in response.groups} if response else {}
    else:
        # From version 2 null means all topics, and the answer has an error code for the group.
        requests = {
            name: OffsetFetchRequest(group_id=name, topics=None, min_version=2, max_version=7) for name in groups
        }
        answers = {name: await send(manager, request, node) for name, request in requests.items()}
    return {name: _by_topic(answer) for name, answer in answers.items() if answer and answer.error_code == NO_ERROR}


def _by_topic(group: Any) -> Mapping[str, Mapping[int, int]]:
    return {
        topic.name: {
            partition.partition_index: partition.committed_offset
            for partition in topic.partitions
            if partition.error_code == NO_ERROR and partition.committed_offset != _NOT_COMMITTED
        }
        for topic in group.topics
    }


async def _described(
    manager: KafkaConnectionManager, node: int, groups: Sequence[str]
) -> Mapping[str, tuple[str, int]]:
    """State and number of members of the groups that may be described."""
    response = await send(manager, DescribeGroupsRequest(groups=list(groups)), node)
    answers = response.groups if response else ()
    described = {}
    for answer in answers:
        if answer.error_code == NO_ERROR:
            described[answer.group_id] = (answer.group_state, len(answer.members))
        elif answer.error_code == _GROUP_NOT_FOUND:
            # From version 6 a missing group is an error; before, its state is Dead.
            described[answer.group_id] = ("Dead", 0)
    return described


async def send(manager: KafkaConnectionManager, request: Any, node: int) -> Any:
    """The answer of one broker; None when it does not answer: the answers of the others are still of use."""
    try:
        return await manager.send(request, node_id=node)
    except KafkaError:
        return None


def version_of(manager: KafkaConnectionManager, request: type) -> int:
    version: int = manager.broker_version_data.api_version(request)
    return version


def _chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk
