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
from chalicelib.services.connectors.owner import require_found
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.services.registry import Links, Registry
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.dependencies import DependencyLoader, PipelineDependencies
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.sources import Sources
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConnector:
    """A pipeline's source connector: its config, what must hold for it, what its operations mean for its row."""

    rows: Pipelines
    together: DependencyLoader[Pipeline, PipelineDependencies]
    sources: Sources
    tables: SourceTables
    streams: StreamClusters
    connects: ConnectClusters
    registry: Registry
    database_checks: DatabaseChecks
    plugins: ConnectorValidation

    def deps(self, resource: Pipeline) -> PipelineDependencies:
        """Its source and clusters."""
        return self.together.around(self.together.ties(resource))

    def check(self, context: RequestContext, resource: Pipeline, deps: PipelineDependencies) -> None:
        """Source discovered, plug-in installed, right Kafka, source ready for exactly this, config accepted by Connect.

        Whether each table is there, the source itself is asked. Raises TABLE_NOT_DISCOVERED, PLUGIN_MISSING,
        VALIDATION_FAILED for another Kafka, SOURCE_NOT_READY, CONNECTOR_CONFIG_INVALID, and whatever reaching Connect
        raises.
        """
        source, cluster = require_found(deps.source), require_found(deps.connect_cluster)
        if source.tables is None:
            raise _undiscovered(range(len(resource.capture.tables)))
        built = self.config(resource, deps)
        self.plugins.require(context, cluster, built.connector_class)
        self.plugins.require_same_kafka(context, require_found(deps.stream_cluster), cluster)
        self._check_ready(context, source, resource)
        self.plugins.require_valid(context, cluster, resource.connector_name, built)

    def check_discovered(self, pipeline: Pipeline) -> None:
        """Every chosen table is one that discovery saw. Raises TABLE_NOT_DISCOVERED, naming those that are not."""
        chosen = pipeline.capture.tables
        known = self.tables.find(pipeline.source_id, chosen)
        unknown = [position for position, table in enumerate(chosen) if table not in known]
        if unknown:
            raise _undiscovered(unknown)

    def config(self, resource: Pipeline, deps: PipelineDependencies) -> BuiltConfig:
        """The source connector's config, with references."""
        provider = capture_provider(resource.provider)
        return provider.build_config(resource, require_found(deps.source), require_found(deps.stream_cluster))

    def load(self, operation: Operation) -> Pipeline | None:
        """The pipeline as it is stored."""
        return self.rows.find(operation.resource_id)

    def with_pending_change(self, operation: Operation, resource: Pipeline) -> Pipeline:
        """The pipeline itself: no operation changes what it captures."""
        return resource

    def created(self, transaction: Transaction, resource: Pipeline, operation: Operation) -> Pipeline:
        """Its row says that it runs."""
        return self.rows.save(transaction, resource)

    def changed(self, transaction: Transaction, before: Pipeline, after: Pipeline, deps: PipelineDependencies) -> None:
        """Nothing beside the row."""

    def on_failed(
        self, transaction: Transaction, operation: Operation, resource: Pipeline, deps: PipelineDependencies
    ) -> None:
        """Nothing was taken."""

    def removed(self, transaction: Transaction, resource: Pipeline, deps: PipelineDependencies) -> None:
        """Row, name, claims, and the references to source and clusters go."""
        self.rows.remove(transaction, resource)
        self.registry.release_name(transaction, self.rows, resource)
        self.registry.unlink(transaction, resource.id, self.links(resource))

    def links(self, pipeline: Pipeline) -> Links:
        """What a pipeline hangs on and what it holds."""
        return Links(
            references=[
                (self.sources, pipeline.source_id),
                (self.streams, pipeline.stream_cluster_id),
                (self.connects, pipeline.connect_cluster_id),
            ],
            claims={key: key.partition("/")[0] for key in pipeline.claims},
        )

    def parent_id(self, resource: Pipeline) -> str | None:
        """None: a pipeline's trail is its own."""
        return None

    def deletion_details(self, resource: Pipeline) -> Mapping[str, Any]:
        """What stays in the source when the pipeline goes: its owners decide about it."""
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
