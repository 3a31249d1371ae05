"""Consumer groups of Kafka."""

from typing import Self

from chalicelib.api.contract.common import Output, Uuid
from chalicelib.api.contract.connectors import ResourceOutput
from chalicelib.api.contract.live_reads import FreshListQuery
from chalicelib.services.consumer_groups import OwnedGroup


class ConsumerGroupsQuery(FreshListQuery):
    """Of which stream cluster."""

    cluster_id: Uuid


class GroupPartitionOutput(Output):
    """A partition that the group reads. `lag` is in records. Null means not known."""

    topic: str
    partition: int
    committed_offset: int | None
    end_offset: int | None
    lag: int | None


class ConsumerGroupOutput(Output):
    """A consumer group. Null means that it could not be read, and is never 0.

    `resource` is the delivery whose sink reads by the group.
    """

    group_id: str
    state: str | None
    protocol_type: str | None
    members: int | None
    topics: list[str] | None
    offsets: list[GroupPartitionOutput] | None
    total_lag: int | None
    resource: ResourceOutput | None

    @classmethod
    def of(cls, entity: OwnedGroup) -> Self:
        group, resource = entity
        return cls._read(group, resource=resource)
