"""A connector as Kafka Connect has it, of Headgate or of others, and the pipeline or delivery that it belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.domain.diagnosis.hints import Hint, hint_about
from chalicelib.domain.names import ConnectorKind, kind_of_connector
from chalicelib.domain.observation import ConnectorStatus, TaskStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedConnector:
    """A connector. `type` and `connector_class` are null when they could not be read.

    `marks` are the lines of its config that say whose it is, null when the config could not be read.
    """

    status: ConnectorStatus
    type: ConnectorKind | None = None
    connector_class: str | None = None
    marks: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        return self.status.name

    def hint(self, part: ConnectorStatus | TaskStatus) -> Hint | None:
        """The hint for what is wrong with the connector, or with one of its tasks."""
        kind = self.type or kind_of_connector(self.name)
        return hint_about(part.diagnosis, kind, part.cause) if part.diagnosis else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorResource:
    """A pipeline or delivery, as the resource that a connector belongs to. `type` is its noun."""

    type: str
    id: str
    name: str
    connect_cluster_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConnector:
    """A connector of a Connect cluster. `managed`: it is Headgate's, which changes no others. `resource` is null for
    others, and for one that nothing needs any more.
    """

    cluster_id: str
    connector: ListedConnector
    managed: bool
    resource: ConnectorResource | None
