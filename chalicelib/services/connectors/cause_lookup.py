"""Finds out what the failures of connectors are about: which of the names in their traces are known here.

A name in a trace is shown only where it is one of the mappings or of the pipeline's tables, or is in the catalogue of
the target, or was discovered in the source.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chalicelib.domain.connectors.causes import NotedNames, Part, known_tables, remembered_causes, with_causes
from chalicelib.domain.connectors.memory import ClusterMemory
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.diagnosis.cause import Candidates, CatalogName, Cause, candidate_tables, known_cause
from chalicelib.domain.names import ConnectorKind, parse_connector_name
from chalicelib.domain.observation import ConnectorStatus
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.table import TableName
from chalicelib.errors import HeadgateError
from chalicelib.kit.clock import Deadline
from chalicelib.kit.log import get_logger
from chalicelib.kit.randomness import shuffled
from chalicelib.services.client_factory import ClientFactory
from chalicelib.stores.documents import Documents, batch_find_readable
from chalicelib.stores.resources import ResourceStores

MAX_CONNECTORS = 100
"""Connectors with new failures that one look asks about; the next one asks about the others."""

MAX_CATALOGS = 5
"""Servers that one look asks."""

_SECONDS = 4.0

NOTHING_FOUND: Sequence[CatalogName] = ()

_Statuses = Mapping[str, ConnectorStatus]


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseLookup:
    resources: ResourceStores
    clients: ClientFactory

    def found(
        self, statuses: _Statuses, noted: NotedNames, memory: ClusterMemory, deadline: Deadline
    ) -> dict[str, ConnectorStatus]:
        """The connectors with what their failures are about: as it is remembered, and looked up where one is new.
        Raises StoreUnavailable.
        """
        causes = remembered_causes(statuses, noted, memory)
        due = {part: noted.by_part[part] for part, cause in causes.items() if cause is None}
        if due:
            causes |= self._looked_up(due, deadline)
        return with_causes(statuses, causes)

    def _looked_up(self, due: Mapping[Part, Candidates], deadline: Deadline) -> dict[Part, Cause]:
        """Of as many connectors as one look asks about. What cannot be confirmed now is left out of a cause."""
        by_name = defaultdict[str, dict[Part, Candidates]](dict)
        for part, candidates in due.items():
            by_name[part[0]][part] = candidates
        causes, until, catalogs = dict[Part, Cause](), deadline.within(_SECONDS), 0
        for name, resource in self._resources(shuffled(by_name)[:MAX_CONNECTORS]).items():
            tables, parts = known_tables(resource) if resource else (), by_name[name]
            names, catalog = _names(parts.values(), tables), NOTHING_FOUND
            if resource and names:
                if catalogs == MAX_CATALOGS or until.passed:
                    continue  # the next look has time for it
                catalogs += 1
                catalog = self._catalog(resource, parts.values(), names, until)
            causes |= {part: known_cause(candidates, tables, catalog) for part, candidates in parts.items()}
        return causes

    def _resources(self, names: Iterable[str]) -> dict[str, Pipeline | Delivery | None]:
        stores: Mapping[ConnectorKind, Documents[Any]] = {
            ConnectorKind.SOURCE: self.resources.pipelines,
            ConnectorKind.SINK: self.resources.deliveries,
        }
        parsed = {name: parts for name in names if (parts := parse_connector_name(name))}
        found = batch_find_readable(*((stores[kind], resource_id) for kind, resource_id in parsed.values()))
        return dict(zip(parsed, found, strict=True))

    def _catalog(
        self, resource: Pipeline | Delivery, noted: Iterable[Candidates], names: Collection[str], until: Deadline
    ) -> Sequence[CatalogName]:
        known = known_tables(resource)
        tables = sorted({table for candidates in noted for table in candidate_tables(candidates, known)})
        try:
            if isinstance(resource, Pipeline):
                return self._discovered(resource, tables, names)
            destination = self.resources.destinations.find_readable(resource.destination_id)
            if destination is None:
                return NOTHING_FOUND
            return self.clients.database(destination.endpoint).catalog_names(tables, names, until)
        except HeadgateError as error:
            extra = {"connector": resource.connector_name, "failure": error.code}
            get_logger().info("names in a trace were not looked up", extra=extra)
            return NOTHING_FOUND

    def _discovered(
        self, pipeline: Pipeline, tables: Sequence[TableName], names: Collection[str]
    ) -> Sequence[CatalogName]:
        source = self.resources.sources.find_readable(pipeline.source_id)
        discovered = self.resources.tables.find(source, tables) if source else {}
        return [
            CatalogName(table, column.name, is_column=True)
            for table, found in discovered.items()
            for column in found.columns
            if column.name in names
        ]


def _names(noted: Iterable[Candidates], tables: Collection[TableName]) -> frozenset[str]:
    """The constraints and columns to ask about, where they can be those of a known table."""
    return frozenset(
        name for candidates in noted if candidate_tables(candidates, tables) for name in candidates.in_tables
    )
