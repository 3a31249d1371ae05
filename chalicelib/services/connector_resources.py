"""Finds the pipelines and deliveries that connectors belong to."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.connector import ConnectorResource
from chalicelib.domain.names import ConnectorKind, parse_connector_name
from chalicelib.stores.documents import Documents, batch_find_readable
from chalicelib.stores.resources import ResourceStores


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorResources:
    """A connector's name has the id of what it belongs to: each hundred names are one call."""

    resources: ResourceStores

    def of(self, names: Iterable[str]) -> Mapping[str, ConnectorResource]:
        """The resources by the names of connectors, without names that belong to none of ours."""
        keys = {name: self._key(*parsed) for name in names if (parsed := parse_connector_name(name))}
        found = batch_find_readable(*keys.values())
        return {
            name: ConnectorResource(
                type=store.noun, id=resource.id, name=resource.name, connect_cluster_id=resource.connect_cluster_id
            )
            for (name, (store, _)), resource in zip(keys.items(), found, strict=True)
            if resource
        }

    def _key(self, kind: ConnectorKind, resource_id: str) -> tuple[Documents[Any], str]:
        source = kind is ConnectorKind.SOURCE
        return (self.resources.pipelines if source else self.resources.deliveries), resource_id
