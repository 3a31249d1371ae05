"""The export: everything that people registered, kind after kind in the order in which it can be made again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.services.audit.trail import AuditTrail
from chalicelib.stores.alerts.group import AlertStores
from chalicelib.stores.documents import Documents, batch_find_readable
from chalicelib.stores.resources import ResourceStores

_READ = 100
"""Resources that are read at once, with the names of what they refer to."""

REFERENCES: Mapping[str, Mapping[str, str]] = {
    "connect_cluster": {"stream_cluster_id": "stream_cluster"},
    "source": {"connection_id": "connection"},
    "destination": {"connection_id": "connection"},
    "pipeline": {
        "source_id": "source",
        "stream_cluster_id": "stream_cluster",
        "connect_cluster_id": "connect_cluster",
    },
    "delivery": {
        "destination_id": "destination",
        "pipeline_id": "pipeline",
        "connect_cluster_id": "connect_cluster",
    },
    "alert_rule": {"source_ids": "source", "pipeline_ids": "pipeline", "channel_ids": "notification_channel"},
}
"""The fields of each type that refer to others, one or several, and the types that these have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a resource refers to by a field. `name` is None where it does not exist any more."""

    field: str
    type: str
    id: str
    name: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A resource. `key` is its place in the export: behind it the rest begins."""

    key: str
    type: str
    entity: Any
    references: Sequence[Reference]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportService:
    resources: ResourceStores
    alerts: AlertStores
    audit: AuditTrail

    def begin(self, context: RequestContext, after: str | None) -> Iterator[Exported]:
        """Everything behind a key, read as far as it is consumed. The beginning of an export is audited."""
        if after is None:
            self.audit.record_alone(context, "installation.export", None)
        number, _, position = (after or "0/").partition("/")
        return self._behind(int(number), position or None)

    def _behind(self, first: int, position: str | None) -> Iterator[Exported]:
        for number, store in enumerate(self._in_order()):
            if number >= first:
                yield from self._all_of(number, store, position if number == first else None)

    def _in_order(self) -> Sequence[Documents[Any]]:
        """A type comes after all that it refers to."""
        resources = self.resources
        return (
            *(resources.streams, resources.connects, resources.connections, resources.sources, resources.destinations),
            *(resources.pipelines, resources.deliveries, self.alerts.channels, self.alerts.rules),
        )

    def _all_of(self, number: int, store: Documents[Any], after: str | None) -> Iterator[Exported]:
        while True:
            page = store.list(limit=_READ, after=after, by_size=True)
            found = self._references(store.noun, page.items)
            for key, entity, references in zip(page.keys, page.items, found, strict=True):
                yield Exported(key=f"{number}/{key}", type=store.noun, entity=entity, references=references)
            if (after := page.next_key) is None:
                return

    def _references(self, noun: str, entities: Sequence[Any]) -> Sequence[Sequence[Reference]]:
        """What each refers to, with the names: one call for each hundred."""
        fields = REFERENCES.get(noun, {})
        pairs = [
            [(field, type_, referred_id) for field, type_ in fields.items() for referred_id in _ids(entity, field)]
            for entity in entities
        ]
        named = sorted({(type_, referred_id) for of_entity in pairs for _, type_, referred_id in of_entity})
        stores = {store.noun: store for store in self._in_order()}
        found = batch_find_readable(*((stores[type_], referred_id) for type_, referred_id in named))
        names = {key: referred.name for key, referred in zip(named, found, strict=True) if referred}
        return [
            [
                Reference(field=field, type=type_, id=one, name=names.get((type_, one)))
                for field, type_, one in of_entity
            ]
            for of_entity in pairs
        ]


def _ids(entity: Any, field: str) -> Sequence[str]:
    value = getattr(entity, field)
    if value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)
