"""What uses a resource: for the people whose deletion of it is refused."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from chalicelib.domain.alerts.rule import MAX_RULES
from chalicelib.domain.usage import MAX_NAMED, UsedBy, in_use, used_by
from chalicelib.errors import Conflict
from chalicelib.stores.alerts.rules import AlertRules
from chalicelib.stores.documents import Documents
from chalicelib.stores.resources import ResourceStores

_CLUSTERS = 500
"""Connect clusters among which those of a stream cluster are looked for."""

_NOT_LISTED_YET = "What uses it is being made or removed at this moment: repeat this in a few seconds to see its name."


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    resources: ResourceStores
    rules: AlertRules

    def in_use(self, noun: str, entity_id: str, message: str | None = None) -> Conflict:
        """The error RESOURCE_IN_USE, which names what uses this resource."""
        users = self.of(noun, entity_id)
        if not users:
            message = f"{message or in_use(noun, users).message} {_NOT_LISTED_YET}"
        return in_use(noun, users, message)

    def of(self, noun: str, entity_id: str) -> Sequence[UsedBy]:
        """At most `MAX_NAMED`. Indexes lag behind, and a delivery that is being deployed is in none: others may be
        missing here.
        """
        return list(islice(self._users(noun, entity_id), MAX_NAMED))

    def _users(self, noun: str, entity_id: str) -> Iterator[UsedBy]:
        match noun:
            case "connection":
                connection = self.resources.connections.find_readable(entity_id)
                yield from connection.used_by if connection else ()
            case "stream_cluster":
                clusters = self.resources.connects.list(limit=_CLUSTERS).items
                yield from _named("connect_cluster", (one for one in clusters if one.stream_cluster_id == entity_id))
            case "notification_channel":
                rules = self.rules.list(limit=MAX_RULES).items
                yield from _named("alert_rule", (rule for rule in rules if entity_id in rule.channel_ids))
            case _:
                for store, group in self._listed_in.get(noun, ()):
                    yield from _named(store.noun, store.list_in(group, entity_id, limit=MAX_NAMED).items)

    @property
    def _listed_in(self) -> Mapping[str, Sequence[tuple[Documents[Any], str]]]:
        """The indexes that list the users of each type of resource."""
        pipelines, deliveries = self.resources.pipelines, self.resources.deliveries
        return {
            "source": [(pipelines, "source_id")],
            "destination": [(deliveries, "destination_id")],
            "connect_cluster": [(pipelines, "connect_cluster_id"), (deliveries, "connect_cluster_id")],
            "pipeline": [(deliveries, "pipeline_id")],
        }


def _named(noun: str, entities: Iterable[Any]) -> Iterator[UsedBy]:
    return (used_by(noun, entity) for entity in entities)
