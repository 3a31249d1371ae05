"""Pipelines, as the operations on connectors see them."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import Operation
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.source import Source
from chalicelib.errors import Invalid
from chalicelib.services.connectors.dependencies import DependencyLoader, PipelineDependencies
from chalicelib.services.connectors.owner import require_found
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.services.registry import Links, Registry
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.sources import Sources
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConnector:
    """A pipeline's source connector: its config, its checks, and what its operations write about the pipeline."""

    store: Pipelines
    dependencies: DependencyLoader
    sources: Sources
    tables: SourceTables
    streams: StreamClusters
    connects: ConnectClusters
    registry: Registry
    database_checks: DatabaseChecks
    validation: ConnectorValidation

    def load_dependencies(self, resource: Pipeline) -> PipelineDependencies:
        """Its source and clusters."""
        return self.dependencies.of_pipeline(resource)

    def check(self, context: RequestContext, resource: Pipeline, deps: PipelineDependencies) -> None:
        """Source discovered, plug-in installed, right Kafka, source ready for the pipeline, config accepted by Connect.

        The readiness checks ask the source itself whether each table exists. Raises TABLE_NOT_DISCOVERED,
        PLUGIN_MISSING, VALIDATION_FAILED for another Kafka, SOURCE_NOT_READY, CONNECTOR_CONFIG_INVALID, and whatever
        reaching Connect raises.
        """
        source, cluster = require_found(deps.source), require_found(deps.connect_cluster)
        if source.tables is None:
            raise _undiscovered(range(len(resource.capture.tables)))
        built = self.config(resource, deps)
        self.validation.require(context, cluster, built.connector_class)
        self.validation.require_same_kafka(context, require_found(deps.stream_cluster), cluster)
        self._check_ready(context, source, resource)
        self.validation.require_valid(context, cluster, resource.connector_name, built)

    def check_discovered(self, pipeline: Pipeline) -> None:
        """Every table of the pipeline was discovered. Raises TABLE_NOT_DISCOVERED, naming those that were not."""
        tables = pipeline.capture.tables
        found = self.tables.find(pipeline.source_id, tables)
        missing = [position for position, table in enumerate(tables) if table not in found]
        if missing:
            raise _undiscovered(missing)

    def config(self, resource: Pipeline, deps: PipelineDependencies) -> BuiltConfig:
        """The source connector's config, with references."""
        provider = capture_provider(resource.provider)
        return provider.build_config(resource, require_found(deps.source), require_found(deps.stream_cluster))

    def load(self, operation: Operation) -> Pipeline | None:
        """The pipeline as it is stored."""
        return self.store.find(operation.resource_id)

    def with_pending_change(self, operation: Operation, resource: Pipeline) -> Pipeline:
        """The pipeline itself: no operation changes what it captures."""
        return resource

    def on_requested(
        self, transaction: Transaction, operation: Operation, resource: Pipeline, deps: PipelineDependencies
    ) -> None:
        """Nothing: a pipeline has claimed everything when it was created."""

    def on_deployed(self, transaction: Transaction, resource: Pipeline, operation: Operation) -> Pipeline:
        """Save its row."""
        return self.store.save(transaction, resource)

    def on_changed(
        self, transaction: Transaction, before: Pipeline, after: Pipeline, deps: PipelineDependencies
    ) -> None:
        """Nothing besides the row."""

    def on_failed(
        self, transaction: Transaction, operation: Operation, resource: Pipeline, deps: PipelineDependencies
    ) -> None:
        """Nothing was taken."""

    def on_deleted(self, transaction: Transaction, resource: Pipeline, deps: PipelineDependencies) -> None:
        """Remove the row, and release its name, its claims and its references."""
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

    def parent_id(self, resource: Pipeline) -> str | None:
        """None: a pipeline belongs to no other resource."""
        return None

    def deletion_details(self, resource: Pipeline) -> Mapping[str, Any]:
        """What stays in the source, whose owners decide about it."""
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
