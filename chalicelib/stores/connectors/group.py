"""The stores of what is done to connectors."""

from dataclasses import dataclass, field

from chalicelib.stores.connectors.deleted_clusters import DeletedClusters
from chalicelib.stores.connectors.observations import Observations
from chalicelib.stores.connectors.operations import Operations
from chalicelib.stores.connectors.sink_starts import SinkStarts


@dataclass(frozen=True, slots=True)
class ConnectorStores:
    """What is done to connectors, and how they were observed."""

    deleted_clusters: DeletedClusters = field(default_factory=DeletedClusters)
    observations: Observations = field(default_factory=Observations)
    operations: Operations = field(default_factory=Operations)
    sink_starts: SinkStarts = field(default_factory=SinkStarts)
