"""Pipelines: previewed, created as a validated draft, deployed and steered, observed, deleted."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.connector_config import config_hash, public_config
from chalicelib.domain.debezium_source import check_properties
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.readiness import Readiness
from chalicelib.domain.source import Source
from chalicelib.errors import Invalid
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.services.connectors.lifecycle import Lifecycle, OperationRequest
from chalicelib.services.connectors.observations import NO_VIEWS, ObservationReader, Views
from chalicelib.services.connectors.owner import needs_config, require_deployed, require_found, with_notice
from chalicelib.services.connectors.pipeline_connector import PipelineConnector
from chalicelib.services.connectors.validation import Validation
from chalicelib.services.registry import Registry, expect_version
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.dependencies import DependencyLoader, PipelineDependencies
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.sources import Sources

BOUND = 500
OUTDATED = "Its source was changed since its connector was given a config. Deploy it again to give it the new one."


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineInput:
    """What people say about a pipeline."""

    name: str
    source_id: str
    stream_cluster_id: str
    connect_cluster_id: str
    capture: Capture


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelinePreview:
    """What would be created. Nothing of it is stored."""

    connector_name: str
    config: Mapping[str, str]
    topics: Sequence[str]
    validation: Validation


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineDetail:
    """A pipeline with everything around it."""

    pipeline: Pipeline
    source: Source
    stream_cluster: StreamCluster
    connect_cluster: ConnectCluster
    config: Mapping[str, str]
    deliveries: tuple[Delivery, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineService:
    """Everything that people do with pipelines."""

    rows: Pipelines
    sources: Sources
    together: DependencyLoader[Pipeline, PipelineDependencies]
    deliveries: Deliveries
    owner: PipelineConnector
    registry: Registry
    lifecycle: Lifecycle
    observation_reader: ObservationReader
    clock: Clock

    def preview(self, context: RequestContext, given: PipelineInput) -> PipelinePreview:
        """Generate and validate the config. Stores nothing, shows no secret."""
        pipeline, deps = self._draft(context, given)
        cluster = require_found(deps.connect_cluster)
        self.owner.check_discovered(pipeline)
        built = self.owner.config(pipeline, deps)
        plugins = self.owner.plugins
        plugins.require(context, cluster, built.connector_class)
        plugins.require_same_kafka(context, require_found(deps.stream_cluster), cluster)
        return PipelinePreview(
            connector_name=pipeline.connector_name,
            config=public_config(built.config),
            topics=pipeline.capture.topics,
            validation=plugins.validate(context, cluster, pipeline.connector_name, built),
        )

    def create(self, context: RequestContext, given: PipelineInput) -> Pipeline:
        """Validate against the source and Connect, and store a draft. Nothing is deployed."""
        pipeline, deps = self._draft(context, given)
        source = require_found(deps.source)
        built = self.owner.config(pipeline, deps)
        if context.request_key and (stored := self.rows.find(pipeline.id)):
            return self.observation_reader.latest([stored])[0]
        self.owner.check_discovered(pipeline)
        self.owner.check(context, pipeline, deps)
        claims = capture_provider(pipeline.provider).unique_claims(pipeline, source)
        pipeline = replace(pipeline, config_hash=config_hash(built.config), claims=tuple(claims))
        created = self.registry.create(
            context, self.rows, pipeline.id, lambda _: pipeline, secrets={}, links=self.owner.links(pipeline)
        )
        self.together.meet(created)
        return self.observation_reader.latest([created])[0]

    def list(self, *, limit: int, after: str | None) -> Page[Pipeline]:
        """Pipelines, newest first, each with its latest observation."""
        page = self.rows.list(limit=limit, after=after)
        return Page(items=self.observation_reader.latest(page.items), next_key=page.next_key)

    def get(self, pipeline_id: str) -> Pipeline:
        """The pipeline with its latest observation; raises NotFound."""
        return self.observation_reader.latest([self.rows.get(pipeline_id)])[0]

    def detail(self, pipeline_id: str) -> PipelineDetail:
        """The pipeline with source, clusters, config and deliveries; raises NotFound."""
        stored, deps = self.together.read(pipeline_id)
        views = {stored.connect_cluster_id: deps.view}
        pipeline = with_notice(self.owner, self.observation_reader.latest([stored], views)[0], deps, OUTDATED)
        source, workers = require_found(deps.source), require_found(deps.connect_cluster)
        return PipelineDetail(
            pipeline=pipeline,
            source=source,
            stream_cluster=require_found(deps.stream_cluster),
            connect_cluster=replace(workers, health=deps.view.health(workers.health)),
            config=public_config(self.owner.config(pipeline, deps).config),
            deliveries=self._deliveries(pipeline_id, limit=BOUND, after=None, views=views).items,
        )

    def destinations(self, pipeline_id: str, *, limit: int, after: str | None) -> Page[Delivery]:
        """Its deliveries, newest first; raises NotFound."""
        self.rows.get(pipeline_id)
        return self._deliveries(pipeline_id, limit=limit, after=after)

    def status(self, context: RequestContext, pipeline_id: str) -> Pipeline:
        """The pipeline with an observation made now. `UNKNOWN`, with the reason, when Connect cannot be read."""
        pipeline, deps = self.together.read(pipeline_id)
        seen = self.observation_reader.now(context, pipeline, require_found(deps.connect_cluster))
        return with_notice(self.owner, seen, deps, OUTDATED)

    def readiness(self, context: RequestContext, source_id: str, pipeline_id: str | None) -> Readiness:
        """Whether a source is ready, for one of its pipelines or as such. Raises NotFound, REFERENCE_NOT_FOUND."""
        source = self.sources.get(source_id)
        pipeline = self.rows.find(pipeline_id) if pipeline_id else None
        if pipeline_id and (pipeline is None or pipeline.source_id != source_id):
            raise Invalid("This source has no pipeline with this id.", code="REFERENCE_NOT_FOUND")
        deployed = pipeline is not None and pipeline.desired_state is not DesiredState.DRAFT
        return self.owner.database_checks.readiness(context, source, pipeline, deployed=deployed)

    def deploy(self, context: RequestContext, pipeline_id: str) -> Pipeline:
        """Create its connector and let it run.

        Deploying what is deployed changes nothing, unless its source was changed since, or somebody has changed the
        connector's config: then the connector gets its config again, running or paused as it is.
        """
        pipeline, deps = self.together.read(pipeline_id)
        if needs_config(self.owner, pipeline, deps):
            return self._execute(context, pipeline, deps, OperationKind.UPDATE_CONFIG) or pipeline
        if pipeline.desired_state is not DesiredState.DRAFT and not pipeline.open_operation:
            return self.observation_reader.latest([pipeline], {pipeline.connect_cluster_id: deps.view})[0]
        return self._execute(context, pipeline, deps, OperationKind.DEPLOY) or pipeline

    def pause(self, context: RequestContext, pipeline_id: str) -> Pipeline:
        """Stop reading from the source; its place in the log is kept."""
        return self._steer(context, pipeline_id, OperationKind.PAUSE)

    def resume(self, context: RequestContext, pipeline_id: str) -> Pipeline:
        """Go on where it was paused."""
        return self._steer(context, pipeline_id, OperationKind.RESUME)

    def restart(self, context: RequestContext, pipeline_id: str) -> Pipeline:
        """Restart the connector and all of its tasks."""
        return self._steer(context, pipeline_id, OperationKind.RESTART)

    def restart_task(self, context: RequestContext, pipeline_id: str, task: int) -> Pipeline:
        """Restart one task. Raises NotFound when there is no such task."""
        return self._steer(context, pipeline_id, OperationKind.RESTART_TASK, task=task)

    def delete(self, context: RequestContext, pipeline_id: str) -> Pipeline | None:
        """Delete the connector, then the pipeline. What it has made in the source stays there.

        None when it is done; the pipeline with its open operation when Connect did not say. Raises Conflict
        RESOURCE_IN_USE while it has deliveries.
        """
        pipeline, deps = self.together.read(pipeline_id)
        expect_version(context, pipeline.version)
        return self._execute(context, pipeline, deps, OperationKind.DELETE)

    def _steer(self, context: RequestContext, pipeline_id: str, kind: OperationKind, **parameters: Any) -> Pipeline:
        pipeline, deps = self.together.read(pipeline_id)
        require_deployed(pipeline)
        return self._execute(context, pipeline, deps, kind, **parameters) or pipeline

    def _execute(
        self,
        context: RequestContext,
        pipeline: Pipeline,
        deps: PipelineDependencies,
        kind: OperationKind,
        **parameters: Any,
    ) -> Pipeline | None:
        return self.lifecycle.execute(
            OperationRequest(
                context=context, owner=self.owner, resource=pipeline, deps=deps, kind=kind, parameters=parameters
            )
        )

    def _deliveries(
        self, pipeline_id: str, *, limit: int, after: str | None, views: Views = NO_VIEWS
    ) -> Page[Delivery]:
        page = self.deliveries.list_in("pipeline_id", pipeline_id, limit=limit, after=after)
        return Page(items=self.observation_reader.latest(page.items, views), next_key=page.next_key)

    def _draft(self, context: RequestContext, given: PipelineInput) -> tuple[Pipeline, PipelineDependencies]:
        """The pipeline that the input describes, and what it refers to. Raises REFERENCE_NOT_FOUND, Invalid."""
        deps = self.together.around((given.source_id, given.stream_cluster_id, given.connect_cluster_id))
        source, stream, cluster = deps.source, deps.stream_cluster, deps.connect_cluster
        if source is None or stream is None or cluster is None:
            missing = "source" if source is None else "stream cluster" if stream is None else "Connect cluster"
            raise Invalid(f"The {missing} that this refers to does not exist.", code="REFERENCE_NOT_FOUND")
        if cluster.stream_cluster_id != stream.id:
            raise Invalid.at(
                "body",
                "stream_cluster_id",
                type_="other_stream_cluster",
                message="The Connect cluster belongs to another stream cluster.",
            )
        if bad := check_properties(
            given.capture.properties, capture_provider(source.address.provider).allowed_properties
        ):
            raise Invalid(
                "Some properties are not among those that may be set. The documentation lists them.",
                details=[{"location": ["body", "properties"], "type": "property_not_allowed"} for _ in bad],
            )
        now = self.clock()
        pipeline = Pipeline(
            id=context.fresh_id(),
            name=given.name,
            source_id=given.source_id,
            provider=source.address.provider,
            stream_cluster_id=given.stream_cluster_id,
            connect_cluster_id=given.connect_cluster_id,
            capture=given.capture,
            created_at=now,
            updated_at=now,
        )
        return pipeline, deps
