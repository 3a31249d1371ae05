"""The consumer groups of a cluster, page by page, in a number of requests that depends on the brokers only.

Each broker lists the groups that it coordinates: so all brokers are asked for their lists, and the coordinators of a
page are known. For the groups of the page each coordinator gets two requests, for members and for committed offsets,
and each leader one for the ends of their topics; two more are for metadata. It imports kafka-python: import it lazily.
"""

import re
import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from kafka.admin import OffsetSpec
from kafka.net.manager import KafkaConnectionManager
from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.consumer import OffsetFetchRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolType
from kafka.protocol.metadata import MetadataRequest

from chalicelib.clients.kafka.admin import Admin
from chalicelib.clients.kafka.offsets import (
    BATCHED_OFFSETS,
    MAX_PARTITIONS,
    MAX_TOPICS,
    NO_ERROR,
    fetch_committed,
    find_leaders,
    list_offsets,
    send,
    version_of,
)
from chalicelib.domain.consumer_group import EMPTY, ConsumerGroup, ConsumerGroupPage, GroupPartition
from chalicelib.errors import Unavailable
from chalicelib.kit.pages import Page, bounded_key, page_of, sorted_page

MAX_PARTITIONS_OF_GROUP = 6_000
"""A group of more is shown without topics and offsets: with longest names so many are 4 MiB."""

ONE_BY_ONE = 100
"""Groups of a page on brokers before Kafka 3.0, which answer for the offsets of one group at a time."""

_OFFSETS_TOPIC = "__consumer_offsets"
"""The topic in which brokers keep their groups: the leader of a partition coordinates the groups in it."""

_PARTITION_BYTES = 100
"""Of one partition in an answer, at least."""

_TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}\Z")
_GONE = "Dead"
_CLASSIC = frozenset({"", "classic"})
"""Types of groups that DescribeGroups describes. It calls those of the newer protocols (KIP-848) dead or not found."""

_INCOMPLETE = (
    "Not every broker has listed its consumer groups, so some of them would be missing. Check that all brokers of the "
    "stream cluster run and can be reached from Headgate, then try again."
)

Pairs = frozenset[tuple[str, int]]
"""Topics and partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listed:
    """A group in the list of the broker with the id `node`."""

    id: str
    node: int
    state: str | None
    protocol_type: str | None
    is_classic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Members:
    """How many, and what is assigned to them: null when it cannot be read."""

    count: int
    assigned: Pairs | None


def read_groups(admin: Admin, *, limit: int, after: str | None) -> ConsumerGroupPage:
    """At most `limit` of the groups that this user may see, those behind the key `after`.

    Raises KafkaError, and Unavailable when a broker does not list its groups: they would seem not to exist.
    """
    page: ConsumerGroupPage = admin.run(_read, limit, after)
    return page


async def _read(manager: KafkaConnectionManager, limit: int, after: str | None) -> ConsumerGroupPage:
    listed = [group for node in await _brokers(manager) for group in await _list(manager, node)]
    batched = version_of(manager, OffsetFetchRequest) >= BATCHED_OFFSETS
    page = sorted_page(
        # A group that has just moved may be in two lists.
        {group.id: group for group in listed}.values(),
        key=lambda group: bounded_key(group.id),
        limit=limit if batched else min(limit, ONE_BY_ONE),
        after=after,
    )
    groups = await _described(manager, page)
    ends = await _ends(manager, {(one.topic, one.partition) for group in groups.items for one in group.offsets or ()})
    return ConsumerGroupPage(
        groups=tuple(_with_ends(group, ends) for group in groups.items), more=page.more or groups.more
    )


async def _brokers(manager: KafkaConnectionManager) -> list[int]:
    """The ids of all brokers. Raises Unavailable when nobody coordinates some of the groups at the moment."""
    topic = MetadataRequest.MetadataRequestTopic(name=_OFFSETS_TOPIC)
    # Version 4 is the first that can forbid the creation of the topic.
    response = await manager.send(MetadataRequest(topics=[topic], allow_auto_topic_creation=False, min_version=4))
    for answer in response.topics:
        if any(partition.leader_id < 0 for partition in answer.partitions):
            raise Unavailable(_INCOMPLETE, code="STREAM_UNAVAILABLE")
    return sorted(broker.node_id for broker in response.brokers)


async def _list(manager: KafkaConnectionManager, node: int) -> list[_Listed]:
    """The groups that one broker coordinates. Raises Unavailable."""
    response = await send(manager, ListGroupsRequest(), node)
    # A broker that has just become the coordinator reads its groups first, and says so by an error.
    if response is None or response.error_code != NO_ERROR:
        raise Unavailable(_INCOMPLETE, code="STREAM_UNAVAILABLE")
    return [
        _Listed(
            id=group.group_id,
            node=node,
            # States are listed since Kafka 2.6, types since 3.8.
            state=getattr(group, "group_state", None) or None,
            protocol_type=group.protocol_type or None,
            is_classic=(getattr(group, "group_type", None) or "").lower() in _CLASSIC,
        )
        for group in response.groups
    ]


async def _described(manager: KafkaConnectionManager, page: Page[_Listed]) -> Page[ConsumerGroup]:
    """The groups with members and committed offsets, as many as fit into an answer. Their ends are not read yet."""
    by_node: dict[int, list[_Listed]] = defaultdict(list)
    for group in page.items:
        by_node[group.node].append(group)
    members: dict[str, tuple[str, _Members]] = {}
    committed: dict[str, Mapping[str, Mapping[int, int]]] = {}
    for node, groups in by_node.items():
        members |= await _members(manager, node, [group.id for group in groups if group.is_classic])
        committed |= await fetch_committed(manager, node, [group.id for group in groups])
    described = (_group(group, members.get(group.id), committed.get(group.id)) for group in page.items)
    return page_of(
        described,
        key=lambda group: bounded_key(group.group_id),
        limit=len(page.items),
        size=lambda group: _PARTITION_BYTES * len(group.offsets or ()),
    )


async def _members(
    manager: KafkaConnectionManager, node: int, group_ids: Collection[str]
) -> dict[str, tuple[str, _Members]]:
    """State and members by group, without groups that the broker does not describe."""
    response = await send(manager, DescribeGroupsRequest(groups=list(group_ids)), node) if group_ids else None
    return {
        group.group_id: (group.group_state, _Members(count=len(group.members), assigned=_assigned(group)))
        for group in (response.groups if response else ())
        if group.error_code == NO_ERROR and group.group_state != _GONE
    }


def _assigned(group: Any) -> Pairs | None:
    """What is assigned to the members. Only consumers have partitions assigned in a form that is known."""
    if group.protocol_type != ConsumerProtocolType:
        return frozenset()
    # Any client may join a group and be assigned anything.
    with suppress(struct.error, ValueError, LookupError, TypeError, AttributeError):
        decoded = [
            ConsumerProtocolAssignment.decode(bytes(member.member_assignment))
            for member in group.members
            if member.member_assignment
        ]
        topics = [topic for assignment in decoded for topic in assignment.assigned_partitions]
        if all(_TOPIC.match(topic.topic) and min(topic.partitions, default=0) >= 0 for topic in topics):
            return frozenset((topic.topic, number) for topic in topics for number in topic.partitions)
    return None


def _group(
    listed: _Listed, described: tuple[str, _Members] | None, committed: Mapping[str, Mapping[int, int]] | None
) -> ConsumerGroup:
    state, members = described or (listed.state, None)
    if members is None and state == EMPTY:
        members = _Members(count=0, assigned=frozenset())
    assigned = members.assigned if members else None
    offsets = {(topic, number): at for topic, numbers in (committed or {}).items() for number, at in numbers.items()}
    pairs = sorted(offsets.keys() | (assigned or frozenset()))
    too_many = len(pairs) > MAX_PARTITIONS_OF_GROUP
    return ConsumerGroup(
        group_id=listed.id,
        state=state or None,
        protocol_type=listed.protocol_type,
        members=members.count if members else None,
        topics=None if committed is None or assigned is None or too_many else _topics(pairs),
        offsets=None
        if committed is None or too_many
        else tuple(
            GroupPartition(
                topic=topic, partition=number, committed_offset=offsets.get((topic, number)), end_offset=None
            )
            for topic, number in pairs
        ),
    )


def _topics(pairs: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(topic for topic, _ in pairs))


async def _ends(manager: KafkaConnectionManager, pairs: Collection[tuple[str, int]]) -> Mapping[tuple[str, int], int]:
    """The readable end offsets."""
    wanted = frozenset(islice(sorted(pairs), MAX_PARTITIONS))
    leaders = await find_leaders(manager, _topics(sorted(wanted))[:MAX_TOPICS])
    nodes_of = {
        topic: {number: node for number, node in (nodes or {}).items() if (topic, number) in wanted}
        for topic, nodes in leaders.items()
    }
    return await list_offsets(manager, nodes_of, OffsetSpec.LATEST)


def _with_ends(group: ConsumerGroup, ends: Mapping[tuple[str, int], int]) -> ConsumerGroup:
    if group.offsets is None:
        return group
    return replace(
        group, offsets=tuple(replace(one, end_offset=ends.get((one.topic, one.partition))) for one in group.offsets)
    )
