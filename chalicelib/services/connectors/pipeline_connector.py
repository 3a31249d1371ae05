"""Pipelines as owners of source connectors. A pipeline claims everything when it is created."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.source import Source
from chalicelib.errors import Invalid
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.capture_checks import ACCEPT_DATA_LOSS, CaptureChecks
from chalicelib.services.connectors.dependencies import PipelineDependencies
from chalicelib.services.connectors.owner import ConnectorOwner, require_found
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.services.registry import Links, Registry
from chalicelib.stores.clusters import StreamClusters
from chalicelib.stores.documents import find_together
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.sources import Sources
from chalicelib.stores.transaction import Transaction

_CONTINUES = frozenset(
    {OperationKind.RESUME, OperationKind.RESTART, OperationKind.RESTART_TASK, OperationKind.UPDATE_CONFIG}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConnector(ConnectorOwner[Pipeline]):
    """A pipeline's source connector: its config, its checks, and what its operations write besides the row."""

    store: Pipelines
    sources: Sources
    tables: SourceTables
    streams: StreamClusters
    registry: Registry
    database_checks: DatabaseChecks
    validation: ConnectorValidation
    captures: CaptureChecks
    clients: ClientFactory

    def load_dependencies(self, resource: Pipeline) -> PipelineDependencies:
        found = find_together(
            (self.sources, resource.source_id),
            (self.streams, resource.stream_cluster_id),
            (self.connects, resource.connect_cluster_id),
            (self.observations, resource.connect_cluster_id),
            (self.captures.store, resource.source_id),
        )
        return PipelineDependencies(*found)

    def check(self, context: RequestContext, resource: Pipeline, deps: PipelineDependencies) -> None:
        """The readiness checks ask the source itself whether each table exists.

        Raises TABLE_NOT_DISCOVERED, PLUGIN_MISSING, VALIDATION_FAILED for another Kafka, SOURCE_NOT_READY,
        CONNECTOR_CONFIG_INVALID, and the errors of requests to Connect.
        """
        source, cluster = require_found(deps.source), require_found(deps.connect_cluster)
        if source.tables is None:
            raise _undiscovered(range(len(resource.capture.tables)))
        built = self.config(resource, deps)
        self.validation.require(context, cluster, built.connector_class)
        self.validation.require_same_kafka(context, require_found(deps.stream_cluster), cluster)
        self._check_ready(context, source, resource)
        self.validation.require_valid(context, cluster, resource.connector_name, built)

    def check_before(
        self,
        context: RequestContext,
        kind: OperationKind,
        resource: Pipeline,
        deps: PipelineDependencies,
        parameters: Mapping[str, Any],
    ) -> None:
        """Before a capture continues: it has lost no changes since it ran last. Raises Conflict."""
        if kind not in _CONTINUES or resource.desired_state is DesiredState.DRAFT:
            return
        if parameters.get(ACCEPT_DATA_LOSS):
            self.captures.accept(resource)
            return
        connect = self.clients.connect(require_found(deps.connect_cluster))
        self.captures.require_continuous(context, resource, require_found(deps.source), connect)

    def check_discovered(self, pipeline: Pipeline) -> None:
        """Every table of the pipeline was discovered. Raises TABLE_NOT_DISCOVERED, naming those that were not."""
        tables = pipeline.capture.tables
        found = self.tables.find(pipeline.source_id, tables)
        missing = [position for position, table in enumerate(tables) if table not in found]
        if missing:
            raise _undiscovered(missing)

    def config(self, resource: Pipeline, deps: PipelineDependencies) -> BuiltConfig:
        provider = capture_provider(resource.provider)
        return provider.build_config(resource, require_found(deps.source), require_found(deps.stream_cluster))

    def on_deleted(self, transaction: Transaction, resource: Pipeline, deps: PipelineDependencies) -> None:
        self.store.remove(transaction, resource)
        self.registry.release_name(transaction, self.store, resource)
        self.registry.unlink(transaction, resource.id, self.links(resource))

    def links(self, pipeline: Pipeline) -> Links:
        """What a pipeline refers to, and its claims."""
        return Links(
            references=[
                (self.sources, pipeline.source_id),
                (self.streams, pipeline.stream_cluster_id),
                (self.connects, pipeline.connect_cluster_id),
            ],
            claims={key: key.partition("/")[0] for key in pipeline.claims},
        )

    def deletion_details(self, resource: Pipeline) -> Mapping[str, Any]:
        return {"kept": capture_provider(resource.provider).deletion_details(resource)}

    def _check_ready(self, context: RequestContext, source: Source, pipeline: Pipeline) -> None:
        deployed = pipeline.desired_state is not DesiredState.DRAFT
        readiness = self.database_checks.readiness(context, source, pipeline, deployed=deployed)
        failures = readiness.failures
        if failures:
            raise Invalid(
                f"The source is not ready: {failures[0].name}. {failures[0].recommended_action}",
                code="SOURCE_NOT_READY",
                details={"checks": [asdict(check) for check in failures]},
            )


def _undiscovered(positions: Iterable[int]) -> Invalid:
    return Invalid(
        "Some tables are not among those that discovery saw. Run discovery, or correct their names.",
        code="TABLE_NOT_DISCOVERED",
        details=[{"location": ["body", "tables", at], "type": "not_discovered"} for at in positions],
    )
