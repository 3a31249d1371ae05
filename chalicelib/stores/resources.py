"""The stores of what people register."""

from collections.abc import Mapping
from typing import Any

from chalicelib.stores.claims import Claims, Targets
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.connections import Connections
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.documents import Documents
from chalicelib.stores.jobs import Jobs
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.schema_versions import SchemaVersions
from chalicelib.stores.secrets import SealedSecrets
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.sources import Sources


class ResourceStores:
    """What people register, and what belongs to it."""

    def __init__(self) -> None:
        self.claims = Claims()
        self.connections = Connections()
        self.connects = ConnectClusters()
        self.deliveries = Deliveries()
        self.destinations = Destinations()
        self.jobs = Jobs()
        self.pipelines = Pipelines()
        self.schemas = SchemaVersions()
        self.secrets = SealedSecrets()
        self.sources = Sources()
        self.streams = StreamClusters()
        self.tables = SourceTables(self.sources)
        self.targets = Targets()

    def by_type(self) -> Mapping[str, Documents[Any]]:
        """The stores of what incidents and alerts may be about, by type: `source`, `pipeline`, ..."""
        stores: tuple[Documents[Any], ...] = (
            *(self.sources, self.destinations, self.streams, self.connects),
            *(self.pipelines, self.deliveries),
        )
        return {store.noun: store for store in stores}
