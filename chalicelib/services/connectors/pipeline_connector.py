"""Pipelines as owners of source connectors. A pipeline claims everything when it is created."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from chalicelib.domain.access import SYSTEM, RequestContext
from chalicelib.domain.cluster import StreamCluster
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.monitoring.source_state import LASTING, SourceState
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import Operation, OperationKind
from chalicelib.domain.pipeline import Pipeline, claimed_thing, prefix_claim
from chalicelib.domain.plans.of_connectors import CaptureKnowledge, of_pipeline, of_warning
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.providers.registry import capture_provider
from chalicelib.domain.readiness import ReadinessReport, joined
from chalicelib.domain.release import ReleaseResult, ReleaseState
from chalicelib.domain.source import Source
from chalicelib.domain.table import SourceTable, TableName
from chalicelib.errors import Conflict, HeadgateError, Invalid, StoreUnavailable, Unavailable, fault
from chalicelib.kit.clock import Deadline
from chalicelib.kit.similar import nearest
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.capture_checks import ACCEPT_DATA_LOSS, CaptureChecks
from chalicelib.services.connectors.dependencies import PipelineDependencies
from chalicelib.services.connectors.known_progress import ProgressRow, known_progress, progress_rows
from chalicelib.services.connectors.known_targets import target_keys
from chalicelib.services.connectors.owner import BEGINS_ANEW, DELETE_TOPICS, RELEASE, ConnectorOwner, require_found
from chalicelib.services.connectors.required_topics import RequiredTopics
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.services.registry import Links, Registry
from chalicelib.stores.documents import batch_results, require_readable
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.transaction import Transaction

_CONTINUES = frozenset(
    {
        *(OperationKind.RESUME, OperationKind.RESTART, OperationKind.RESTART_TASK),
        *(OperationKind.UPDATE_CONFIG, OperationKind.DEPLOY, OperationKind.RECREATE),
    }
)
"""What lets a capture that ran before go on. A draft never ran."""

_READS_ON = frozenset({OperationKind.RESUME})
"""What does not end a session in which a connector reads its source."""

_MAX_COMPARED, _MAX_KNOWN = 5, 2_000
"""Tables that discovery did not see, and those that it saw: comparing names takes time."""
_RELEASE_SECONDS = 8.0
"""A deleted Debezium connector lets go of its source within five seconds, unless it is in a long transaction."""

_SETTLE_SECONDS = 5.0
"""What the request needs after the release."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineConnector(ConnectorOwner[Pipeline]):
    """A pipeline's source connector: its config, its checks, and what its operations write besides the row."""

    store: Pipelines
    registry: Registry
    database_checks: DatabaseChecks
    validation: ConnectorValidation
    captures: CaptureChecks
    topics: RequiredTopics
    clients: ClientFactory

    def load_dependencies(self, resource: Pipeline, deliveries: Sequence[Delivery] = ()) -> PipelineDependencies:
        """What it refers to, and its progress, with that of its `deliveries`: one call."""
        ids = resource.source_id, resource.stream_cluster_id, resource.connect_cluster_id
        return self.load_references(*ids, progress_rows([resource, *deliveries]), deliveries)

    def load_references(
        self,
        source_id: str,
        stream_cluster_id: str,
        connect_cluster_id: str,
        rows: Sequence[ProgressRow] = (),
        deliveries: Sequence[Delivery] = (),
    ) -> PipelineDependencies:
        """What a pipeline with these references depends on, with these rows of progress, and what is known about the
        destinations of these deliveries: one call.
        """
        targets = target_keys(deliveries, self.resources.destinations, self.monitoring.target_losses)
        loaded = batch_results(
            (self.resources.sources, source_id),
            (self.resources.streams, stream_cluster_id),
            (self.resources.connects, connect_cluster_id),
            (self.connectors.observations, connect_cluster_id),
            (self.captures.store, source_id),
            *((self.monitoring.progress, row) for row in rows),
            *targets.keys,
        )
        source, stream, cluster = map(require_readable, loaded[:3])
        view, state, *others = loaded[3:]
        return PipelineDependencies(
            source=source,
            stream_cluster=stream,
            connect_cluster=cluster,
            view=view,
            source_state=state,
            progress=known_progress(rows, others[: len(rows)]),
            targets=targets.known(others[len(rows) :]),
        )

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
        self._check_ready(context, source, resource, deps)
        deployed = resource.desired_state is not DesiredState.DRAFT
        self.validation.require_valid(context, cluster, resource.connector_name, built, deployed=deployed)

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
        connect = self.clients.connect(require_found(deps.connect_cluster))
        if parameters.get(ACCEPT_DATA_LOSS):
            self.captures.require_movable(resource, connect, context.deadline)
            return
        self._require_topics(context, resource, deps)
        state = require_readable(deps.source_state)
        if context.actor == SYSTEM and state is not None and state.unreachable:
            return  # a tick does not wait for a source that the last look could not reach
        source, reads_on = require_found(deps.source), kind in _READS_ON
        self.captures.require_continuous(context, resource, source, connect, reads_on=reads_on)
        if kind is OperationKind.RESUME and context.actor == SYSTEM:
            self.check_start(context, resource, deps)

    def _require_topics(self, context: RequestContext, resource: Pipeline, deps: PipelineDependencies) -> None:
        """Raise Conflict when a topic is missing without which the connector cannot start again."""
        stream = require_found(deps.stream_cluster)
        failures = self.topics.judge(resource, stream, context.deadline, deployed=True).failures
        if failures:
            raise Conflict(f"{failures[0].name}: {failures[0].recommended_action}", code="DATA_LOSS")

    def prepare(
        self, context: RequestContext, operation: Operation, resource: Pipeline, deps: PipelineDependencies
    ) -> None:
        """Make the topics that the connector of a draft needs, or one that begins anew. Those of one that ran before
        are never made again: empty they would be of no use.
        """
        if resource.desired_state is DesiredState.DRAFT or operation.parameters.get(BEGINS_ANEW):
            self.topics.make(resource, require_found(deps.stream_cluster), context.deadline)

    def check_start(self, context: RequestContext, resource: Pipeline, deps: PipelineDependencies) -> None:
        """Its offset is still there: a person decides about a new snapshot. Raises Conflict."""
        if resource.desired_state is not DesiredState.RUNNING:
            return
        connect = self.clients.connect(require_found(deps.connect_cluster))
        self.captures.require_offset(context, resource, require_readable(deps.source_state), connect)

    def go_on(
        self, context: RequestContext, operation: Operation, resource: Pipeline, deps: PipelineDependencies
    ) -> Callable[[], bool] | None:
        ran = operation.kind in _CONTINUES and resource.desired_state is not DesiredState.DRAFT
        if not ran or not operation.parameters.get(ACCEPT_DATA_LOSS):
            return None
        source, connect = require_found(deps.source), self.clients.connect(require_found(deps.connect_cluster))
        is_lost = bool(operation.parameters.get(BEGINS_ANEW))
        return lambda: self.captures.go_on(resource, source, connect, context.deadline, is_lost=is_lost)

    def decided(
        self,
        context: RequestContext,
        kind: OperationKind,
        resource: Pipeline,
        deps: PipelineDependencies,
        parameters: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        """With whether the connector begins anew, which decides its config."""
        ran = kind in _CONTINUES and resource.desired_state is not DesiredState.DRAFT
        if not ran or not parameters.get(ACCEPT_DATA_LOSS):
            return parameters
        source, connect = require_found(deps.source), self.clients.connect(require_found(deps.connect_cluster))
        topics = self.topics.judge(resource, require_found(deps.stream_cluster), context.deadline, deployed=True)
        lost = {"reads_on": kind in _READS_ON, "lacks_topics": bool(topics.failures)}
        return {
            **parameters,
            BEGINS_ANEW: self.captures.begins_anew(resource, source, connect, context.deadline, **lost),
        }

    def consequences(
        self,
        kind: OperationKind,
        resource: Pipeline,
        deps: PipelineDependencies,
        parameters: Mapping[str, Any],
        now: datetime,
    ) -> Sequence[Consequence]:
        provider = capture_provider(resource.provider)
        state = deps.source_state if isinstance(deps.source_state, SourceState) else None
        loss = next((one for one in state.findings(resource.id, now) if one.code in LASTING), None) if state else None
        known = CaptureKnowledge(
            pipeline=resource,
            log=state.log(resource.id, now) if state else None,
            paused_notice=provider.paused_notice,
            source_release=provider.source_release(resource),
            kept=provider.kept_in_source(resource),
            own_topics=provider.internal_topics(resource),
            loss=loss.message if loss else None,
            accepts_loss=bool(parameters.get(ACCEPT_DATA_LOSS)),
            releases=bool(parameters.get(RELEASE)),
            deletes_topics=bool(parameters.get(DELETE_TOPICS)),
        )
        if kind is not OperationKind.DEPLOY or resource.desired_state is not DesiredState.DRAFT:
            return of_pipeline(kind, known)
        source = require_found(deps.source)
        tables = list(self.resources.tables.find(source, resource.capture.captured_tables).values())
        known = replace(known, tables=tables, snapshot_notice=provider.snapshot_notice(resource, source))
        return (*of_pipeline(kind, known), *map(of_warning, provider.preview_warnings(resource, tables)))

    def with_pending_change(self, operation: Operation, resource: Pipeline) -> Pipeline:
        begins_anew = operation.parameters.get(BEGINS_ANEW)
        return capture_provider(resource.provider).going_on(resource) if begins_anew else resource

    def beginning(
        self, context: RequestContext, kind: OperationKind, resource: Pipeline, deps: PipelineDependencies
    ) -> Pipeline:
        """Before the connector exists for the first time it can be seen what of the source is not ours. Afterwards only
        the record of it tells, also after a deploy that died and left something there.
        """
        if kind is not OperationKind.DEPLOY or resource.desired_state is not DesiredState.DRAFT:
            return resource
        return self.captures.beginning(context, resource, require_found(deps.source))

    def discovered_tables(self, pipeline: Pipeline, source: Source) -> dict[TableName, SourceTable]:
        """All tables that the pipeline captures, as discovered; its options fit them.

        Raises TABLE_NOT_DISCOVERED, naming those that were not discovered, and Invalid.
        """
        capture = pipeline.capture
        tables = self.resources.tables.find(source, capture.captured_tables)
        missing = [position for position, table in enumerate(capture.tables) if table not in tables]
        if missing or len(tables) < len(capture.captured_tables):
            near = self._near_tables(source, [capture.tables[position] for position in missing[:_MAX_COMPARED]])
            heartbeat_table = capture.options.heartbeat_table not in {None, *tables}
            raise _undiscovered(missing, near, heartbeat_table=heartbeat_table)
        capture_provider(pipeline.provider).check_options(capture, tables)
        return tables

    def _near_tables(self, source: Source, names: Sequence[TableName]) -> Sequence[str | None]:
        """The discovered table that each of these was probably meant for."""
        known = [str(table.name) for table in self.resources.tables.list(source.id)[:_MAX_KNOWN]]
        return [nearest(str(name), known) for name in names]

    def config(self, resource: Pipeline, deps: PipelineDependencies) -> BuiltConfig:
        provider = capture_provider(resource.provider)
        return provider.build_config(resource, require_found(deps.source), require_found(deps.stream_cluster))

    def on_requested(
        self, transaction: Transaction, operation: Operation, resource: Pipeline, deps: PipelineDependencies
    ) -> None:
        """A deploy lets Connect read the secrets that the connector refers to, until indexes show the pipeline."""
        if operation.kind is OperationKind.DEPLOY:
            for credentials in self.config(resource, deps).credentials:
                self.registry.vault.grant(transaction, credentials, resource.connect_cluster_id)

    def on_deleted(self, transaction: Transaction, resource: Pipeline, deps: PipelineDependencies) -> None:
        self.store.remove(transaction, resource)
        self.registry.release_name(transaction, self.store, resource)
        self.registry.unlink(transaction, resource.id, self.links(resource))

    def claims(self, context: RequestContext, pipeline: Pipeline, deps: PipelineDependencies) -> tuple[str, ...]:
        """The keys of what no other pipeline may use: its topic prefix in Kafka, and what its provider claims.

        The prefix is claimed for the registered stream cluster, too: where Kafka's own id is not known yet, it may be
        when the next pipeline is created.
        """
        stream, cluster = require_found(deps.stream_cluster), require_found(deps.connect_cluster)
        places = (stream.id, self.validation.kafka_cluster_id(context, stream, cluster))
        prefixes = [prefix_claim(place, pipeline.capture.topic_prefix) for place in places if place]
        provider = capture_provider(pipeline.provider)
        return (*prefixes, *provider.unique_claims(pipeline, require_found(deps.source)))

    def links(self, pipeline: Pipeline) -> Links:
        return Links(
            references=[
                (self.resources.sources, pipeline.source_id),
                (self.resources.streams, pipeline.stream_cluster_id),
                (self.resources.connects, pipeline.connect_cluster_id),
            ],
            claims={key: claimed_thing(key) for key in pipeline.claims},
            codes=capture_provider(pipeline.provider).claim_codes,
        )

    def release(
        self, context: RequestContext, operation: Operation, resource: Pipeline, deps: PipelineDependencies
    ) -> ReleaseResult | None:
        if operation.kind is not OperationKind.DELETE:
            return None
        is_draft = resource.desired_state is DesiredState.DRAFT
        # What a deploy that failed has made in Kafka is of no use to anybody.
        if operation.parameters.get(DELETE_TOPICS) or (is_draft and resource.made_in_source is not None):
            deleted = self.topics.delete(resource, require_found(deps.stream_cluster), context.deadline)
            if deleted is not None:
                return deleted
        # A draft has nothing in its source: its connector never ran.
        release = capture_provider(resource.provider).source_release(resource)
        if not operation.parameters.get(RELEASE) or release is None or is_draft:
            return None
        if not release.is_own:
            return ReleaseResult(state=ReleaseState.ADOPTED)
        seconds = min(_RELEASE_SECONDS, max(1.0, context.deadline.remaining() - _SETTLE_SECONDS))
        try:
            database = self.clients.database(require_found(deps.source).endpoint)
            return ReleaseResult(state=database.release(release, Deadline.after(seconds)))
        except StoreUnavailable:
            raise
        except HeadgateError as error:
            return ReleaseResult(state=ReleaseState.UNKNOWN, error=error.message)

    def deletion_details(self, resource: Pipeline, released: ReleaseResult | None) -> Mapping[str, Any]:
        details = capture_provider(resource.provider).deletion_details(resource, released)
        return {**details, "kept": {**details["kept"], "topics": list(resource.capture.topics)}}

    def readiness(
        self,
        context: RequestContext,
        source: Source,
        pipeline: Pipeline,
        stream: StreamCluster,
        *,
        deployed: bool,
    ) -> ReadinessReport:
        """Whether the source, and the topics that the connector needs, are ready for a pipeline."""
        server = self.captures.known_server(pipeline) if deployed else None
        report = self.database_checks.readiness(context, source, pipeline, deployed=deployed, server=server)
        return joined(report, self.topics.judge(pipeline, stream, context.deadline, deployed=deployed))

    def _check_ready(
        self, context: RequestContext, source: Source, pipeline: Pipeline, deps: PipelineDependencies
    ) -> None:
        deployed = pipeline.desired_state is not DesiredState.DRAFT
        readiness = self.readiness(context, source, pipeline, require_found(deps.stream_cluster), deployed=deployed)
        if pipeline.open_operation and not deployed and pipeline.made_in_source is None and not readiness.failures:
            unread = Unavailable("The source could not be read when the deploy began.", code="SOURCE_UNAVAILABLE")
            provider = capture_provider(pipeline.provider)
            readiness = provider.unreachable_readiness(unread, readiness.checked_at)
        failures = readiness.failures
        if failures:
            raise Invalid(
                f"The source is not ready: {failures[0].name}. {failures[0].recommended_action}",
                code="SOURCE_NOT_READY",
                details={"checks": [asdict(check) for check in failures]},
            )


def _undiscovered(
    positions: Sequence[int], near: Sequence[str | None] = (), *, heartbeat_table: bool = False
) -> Invalid:
    meant = dict(zip(positions, near, strict=False))
    faults = [_not_discovered("tables", at, meant=meant.get(at)) for at in positions]
    if heartbeat_table:
        faults.append(_not_discovered("options", "heartbeat_table"))
    return Invalid.of(faults, code="TABLE_NOT_DISCOVERED")


def _not_discovered(*field: str | int, meant: str | None = None) -> dict[str, Any]:
    message = "A table is not among those that discovery saw. Run discovery, or correct its name."
    if meant:
        message = f"A table is not among those that discovery saw. Did you mean {meant}? Else run discovery."
    return fault("body", *field, type_="not_discovered", message=message, did_you_mean=meant)
