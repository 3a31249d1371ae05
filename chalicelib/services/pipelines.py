"""Pipelines: previewed, created as a validated draft, deployed, controlled, observed, deleted."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.checks.topics import old_topic_warnings
from chalicelib.domain.cluster import ConnectCluster, StreamCluster
from chalicelib.domain.connector_config import ConfigWarning, public_config
from chalicelib.domain.connector_row import ObservedRow
from chalicelib.domain.debezium import check_properties, properties_error
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.live_reads import READINESS_COUNTS, LiveQuestion
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Capture, Pipeline
from chalicelib.domain.plans.dry_run import promise
from chalicelib.domain.plans.of_connectors import of_warning
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.readiness import ReadinessReport
from chalicelib.domain.search import ConnectorSearch
from chalicelib.domain.source import Source
from chalicelib.errors import Conflict, Invalid, Unavailable, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page
from chalicelib.services.connectors.capture_checks import ACCEPT_DATA_LOSS
from chalicelib.services.connectors.dependencies import PipelineDependencies
from chalicelib.services.connectors.known_sources import KnownSources
from chalicelib.services.connectors.latest_deliveries import latest_deliveries
from chalicelib.services.connectors.latest_pipelines import latest_pipeline_rows, latest_pipelines
from chalicelib.services.connectors.observations import Views
from chalicelib.services.connectors.owner import Notices, needs_config, require_found, with_notice
from chalicelib.services.connectors.pipeline_connector import PipelineConnector
from chalicelib.services.connectors.service import ConnectorPreview, ConnectorService
from chalicelib.services.live_reads import LiveReads
from chalicelib.services.registry import Registry, reference_not_found
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.monitoring.findings import FaultyIds
from chalicelib.stores.monitoring.source_states import SourceStates
from chalicelib.stores.transaction import Transaction

BOUND = 500
_STORE_ATTEMPTS = 5
_TOPICS_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineInput:
    """What a client says about a pipeline. `capture.provider_options` are those that were sent, not checked yet."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    source_id: str
    stream_cluster_id: str
    connect_cluster_id: str
    capture: Capture


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineDetail:
    pipeline: Pipeline
    source: Source
    stream_cluster: StreamCluster
    connect_cluster: ConnectCluster
    config: Mapping[str, str]
    deliveries: Page[Delivery]


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineService(ConnectorService[Pipeline]):
    OUTDATED: ClassVar[Notices] = Notices(
        config=(
            "Its source was changed, or Headgate was updated, after its connector got its config. Deploy it again to "
            "give the connector the new one."
        ),
        secrets=(
            "The stored credentials of its source are newer than those that its connector has. Deploy it again to give "
            "the connector the new ones."
        ),
    )
    OWN_END: ClassVar[str] = "source_id"
    connector: PipelineConnector
    deliveries: Deliveries
    registry: Registry
    source_states: SourceStates
    live_reads: LiveReads

    def belongs_to(self, search: ConnectorSearch, deadline: Deadline) -> Callable[[Any], bool] | None:
        if search.destination_id is None:
            return None
        delivered = self.deliveries.values_in("destination_id", search.destination_id, "pipeline_id", deadline)
        return lambda pipeline: pipeline.id in delivered

    def observed(self, resources: Sequence[Pipeline]) -> tuple[Pipeline, ...]:
        return latest_pipelines(resources, self.observation_reader, self.connector.monitoring)

    def observed_rows(self, rows: Sequence[Any], views: Views, faulty: FaultyIds) -> Sequence[ObservedRow]:
        return latest_pipeline_rows(rows, self.observation_reader, self.connector.monitoring, views, faulty)

    def with_findings(self, resource: Pipeline, deps: PipelineDependencies) -> Pipeline:
        return KnownSources({resource.source_id: deps.source_state}).explain(resource, self.lifecycle.clock())

    def preview(self, context: RequestContext, data: PipelineInput) -> ConnectorPreview:
        """Generate and validate the config. Stores nothing, shows no secret."""
        pipeline, deps = self._draft(context, data)
        cluster = require_found(deps.connect_cluster)
        tables = self.connector.discovered_tables(pipeline, require_found(deps.source))
        built = self.connector.config(pipeline, deps)
        validation, provider = self.connector.validation, capture_provider(pipeline.provider)
        validation.require(context, cluster, built.connector_class)
        validation.require_same_kafka(context, require_found(deps.stream_cluster), cluster)
        validation.grant(cluster, built)
        return ConnectorPreview(
            connector_name=pipeline.connector_name,
            config=public_config(built.config),
            topics=pipeline.capture.topics,
            internal_topics=(*pipeline.capture.internal_topics, *provider.internal_topics(pipeline)),
            validation=validation.validate(context, cluster, pipeline.connector_name, built),
            warnings=(
                *provider.preview_warnings(pipeline, list(tables.values())),
                *self._old_topics(context, pipeline, require_found(deps.stream_cluster)),
            ),
        )

    def _old_topics(
        self, context: RequestContext, pipeline: Pipeline, stream: StreamCluster
    ) -> tuple[ConfigWarning, ...]:
        """Topics that have records already. Brokers that only Connect can reach are accepted: then nothing is known."""
        topics, facts = pipeline.capture.topics, None
        with suppress(Unavailable, Invalid), closing(self.connector.clients.kafka(stream)) as kafka:
            facts = kafka.topic_facts(topics, context.deadline.within(_TOPICS_SECONDS))
        return tuple(old_topic_warnings(topics, facts, None))

    def create(self, context: RequestContext, data: PipelineInput) -> Pipeline:
        """Validate against the source and Connect, and store a draft. Nothing is deployed."""
        pipeline, deps = self._draft(context, data)
        built = self.connector.config(pipeline, deps)
        if context.request_key and (stored := self.connector.store.find(pipeline.id)):
            return self._observed(stored)
        tables = list(self.connector.discovered_tables(pipeline, require_found(deps.source)).values())
        promise([of_warning(one) for one in capture_provider(pipeline.provider).preview_warnings(pipeline, tables)])
        self.connector.validation.grant(require_found(deps.connect_cluster), built)
        self._check_draft(context, pipeline, deps)
        claims = self.connector.claims(context, pipeline, deps)
        pipeline = replace(pipeline, claims=claims, **built.fingerprint)
        return self._observed(self._store(context, pipeline, require_found(deps.source)))

    def _check_draft(self, context: RequestContext, pipeline: Pipeline, deps: PipelineDependencies) -> None:
        """Check source and Connect. What another pipeline uses is told as its own, not as that of somebody unknown."""
        try:
            self.connector.check(context, pipeline, deps)
        except Invalid as refused:
            if refused.code != "SOURCE_NOT_READY":
                raise
            claims = tuple(capture_provider(pipeline.provider).unique_claims(pipeline, require_found(deps.source)))
            links = self.connector.links(replace(pipeline, claims=claims))
            taken = self.registry.claim_error(self.connector.store, links)
            if taken is None:
                raise
            raise taken from refused

    def _store(self, context: RequestContext, pipeline: Pipeline, source: Source) -> Pipeline:
        """Store the draft, while its source has the address that its claims are for.

        A source is also written when it is tested or discovered: then it is tried again.
        """
        store, links, read = self.connector.store, self.connector.links(pipeline), source
        for _ in range(_STORE_ATTEMPTS):
            unchanged = replace(links, revisions={source.id: read.revision})
            try:
                return self.registry.create(Transaction(), context, store, pipeline, links=unchanged)
            except WriteConflict:
                read = self.connector.resources.sources.get(source.id)
                if read.address.identity != source.address.identity:
                    raise
        raise Conflict("The source is being changed all the time. Repeat this in a moment.")

    def get(self, pipeline_id: str) -> Pipeline:
        """The pipeline with its latest observation; raises NotFound."""
        return self._observed(self.connector.store.get(pipeline_id))

    def detail(self, pipeline_id: str) -> PipelineDetail:
        """The pipeline with source, clusters, config and deliveries; raises NotFound."""
        stored = self.connector.store.get(pipeline_id)
        deliveries = self._page(pipeline_id, limit=BOUND, after=None)
        deps = self.connector.load_dependencies(stored, deliveries.items)
        pipeline = with_notice(self.connector, self._latest(stored, deps), deps, self.OUTDATED)
        workers, views = require_found(deps.connect_cluster), {stored.connect_cluster_id: deps.view}
        now = self.lifecycle.clock()
        observed = map(deps.targets.explain, self.observation_reader.latest(deliveries.items, views, deps.progress))
        return PipelineDetail(
            pipeline=pipeline,
            source=require_found(deps.source).as_of(now),
            stream_cluster=require_found(deps.stream_cluster).as_of(now),
            connect_cluster=deps.view.on(workers, now),
            config=public_config(self.connector.config(pipeline, deps).config),
            deliveries=deliveries.with_items(tuple(observed)),
        )

    def destinations(self, pipeline_id: str, *, limit: int, after: str | None) -> Page[Delivery]:
        """Its deliveries, newest first; raises NotFound."""
        page = self._page(pipeline_id, limit=limit, after=after)
        if not page.items:
            self.connector.store.get(pipeline_id)
        stores = self.connector.resources, self.connector.monitoring
        return page.with_items(latest_deliveries(page.items, self.observation_reader, *stores))

    def readiness(
        self, context: RequestContext, source_id: str, pipeline_id: str | None, *, fresh: bool = True
    ) -> ReadinessReport:
        """Whether a source is ready, in general or for one of its pipelines; without `fresh`, half a minute ago.

        Raises NotFound, REFERENCE_NOT_FOUND, ServerBusy while others ask the source, RateLimited.
        """
        source = self.connector.resources.sources.get(source_id)
        pipeline = self.connector.store.find(pipeline_id) if pipeline_id else None
        if pipeline_id and (pipeline is None or pipeline.source_id != source_id):
            raise Invalid(
                "This source has no pipeline with this id. GET /api/v1/pipelines lists the pipelines.",
                code="REFERENCE_NOT_FOUND",
            )
        deployed = pipeline is not None and pipeline.desired_state is not DesiredState.DRAFT
        server = self.connector.captures.known_server(pipeline) if pipeline and deployed else None
        stream = self.connector.resources.streams.get(pipeline.stream_cluster_id) if pipeline else None
        of_pipeline = (pipeline.id, pipeline.revision, server) if pipeline else ()
        question = LiveQuestion[ReadinessReport](
            server=source.address.identity[:2],
            subject=("readiness", source.id, source.version, *of_pipeline),
            answer=ReadinessReport,
            counts=READINESS_COUNTS,
        )

        def check() -> ReadinessReport:
            if pipeline and stream:
                return self.connector.readiness(context, source, pipeline, stream, deployed=deployed)
            return self.connector.database_checks.readiness(context, source, None, deployed=False)

        return self.live_reads.ask(context, question, check, fresh=fresh).value

    def deploy(self, context: RequestContext, pipeline_id: str, *, accept_data_loss: bool = False) -> Pipeline:
        """Create its connector and start it.

        A pipeline that is deployed already does not change, unless its source was changed since, or somebody has
        changed the connector's config in Connect: then the connector gets its config again, running or paused as it is.
        A connector that is missing is created at once.
        """
        pipeline, deps = self._read(pipeline_id)
        parameters = {ACCEPT_DATA_LOSS: True} if accept_data_loss else {}
        if needs_config(self.connector, pipeline, deps):
            return self._execute(context, pipeline, deps, OperationKind.UPDATE_CONFIG, parameters) or pipeline
        kind = OperationKind.DEPLOY
        if pipeline.desired_state is not DesiredState.DRAFT and not pipeline.open_operation:
            observed = self._seen_now(context, pipeline, deps)
            if observed.observation is None or observed.observation.state is not ObservedState.NOT_DEPLOYED:
                return self.explained(observed, deps)
            kind = kind if pipeline.desired_state is DesiredState.RUNNING else OperationKind.RECREATE
        deployed = self._execute(context, pipeline, deps, kind, parameters) or pipeline
        if pipeline.desired_state is DesiredState.DRAFT and not deployed.open_operation:
            self.connector.captures.remember_beginning(deployed, require_found(deps.source), context.deadline)
        return deployed

    def pause(self, context: RequestContext, pipeline_id: str) -> Pipeline:
        """Stop what reaches Kafka. The source keeps its log meanwhile."""
        return self.control(context, pipeline_id, OperationKind.PAUSE)

    def resume(self, context: RequestContext, pipeline_id: str, *, accept_data_loss: bool = False) -> Pipeline:
        """Continue from where it was paused. Raises Conflict when changes were lost since, unless that is accepted."""
        return self.control(context, pipeline_id, OperationKind.RESUME, accept_data_loss=accept_data_loss)

    def restart(self, context: RequestContext, pipeline_id: str, *, accept_data_loss: bool = False) -> Pipeline:
        """Restart the connector and all of its tasks. Raises Conflict as `resume` does."""
        return self.control(context, pipeline_id, OperationKind.RESTART, accept_data_loss=accept_data_loss)

    def _observed(self, pipeline: Pipeline) -> Pipeline:
        return self.observation_reader.latest([pipeline])[0]

    def _page(self, pipeline_id: str, *, limit: int, after: str | None) -> Page[Delivery]:
        return self.deliveries.list_in("pipeline_id", pipeline_id, limit=limit, after=after, by_size=True)

    def _draft(self, context: RequestContext, data: PipelineInput) -> tuple[Pipeline, PipelineDependencies]:
        """The pipeline that the input describes, and what it refers to. Raises REFERENCE_NOT_FOUND, Invalid."""
        deps = self.connector.load_references(data.source_id, data.stream_cluster_id, data.connect_cluster_id)
        _require_references(deps)
        now, source = self.lifecycle.clock(), require_found(deps.source)
        provider = capture_provider(source.address.provider)
        own = provider.own_options(data.capture.provider_options, source.options)
        if refused := check_properties(data.capture.properties, provider.allowed_properties):
            raise properties_error(
                refused, provider.allowed_properties, provider.refused_properties, provider.property_options
            )
        pipeline = Pipeline(
            id=context.fresh_id(),
            name=data.name,
            labels=data.labels,
            source_id=data.source_id,
            provider=source.address.provider,
            stream_cluster_id=data.stream_cluster_id,
            connect_cluster_id=data.connect_cluster_id,
            capture=replace(data.capture, provider_options=own),
            created_at=now,
            updated_at=now,
        )
        return pipeline, deps


def _require_references(deps: PipelineDependencies) -> None:
    for referred, noun, location in (
        (deps.source, "source", "source_id"),
        (deps.stream_cluster, "stream cluster", "stream_cluster_id"),
        (deps.connect_cluster, "Connect cluster", "connect_cluster_id"),
    ):
        if referred is None:
            raise reference_not_found(noun, "body", location)
    if require_found(deps.connect_cluster).stream_cluster_id != require_found(deps.stream_cluster).id:
        message = (
            "The Connect cluster belongs to another stream cluster. Give the stream_cluster_id that the Connect "
            "cluster shows."
        )
        raise Invalid.at("body", "stream_cluster_id", type_="other_stream_cluster", message=message)
