"""Deliveries: previewed, deployed, controlled, observed, changed, deleted. What was written stays in the target."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import public_config
from chalicelib.domain.connector_row import ObservedRow
from chalicelib.domain.delivery import Delivery, MappingInput, Writing
from chalicelib.domain.observation import DesiredState, ObservedState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.plans.dry_run import current_plan, obstacle, part_of_dry_run
from chalicelib.domain.providers.registry import target_provider
from chalicelib.domain.search import ConnectorSearch
from chalicelib.domain.usage import used_by
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, TimedOut, WriteConflict
from chalicelib.kit.clock import Deadline
from chalicelib.kit.pages import Page
from chalicelib.kit.randomness import jitter
from chalicelib.services.connectors.delivery_connector import DeliveryConnector, draft_parameters, writing_parameters
from chalicelib.services.connectors.dependencies import DeliveryDependencies
from chalicelib.services.connectors.known_targets import target_keys
from chalicelib.services.connectors.latest_deliveries import latest_deliveries, latest_delivery_rows
from chalicelib.services.connectors.observations import Views
from chalicelib.services.connectors.operation_run import changes_nothing
from chalicelib.services.connectors.owner import Notices, needs_config, require_found, with_notice
from chalicelib.services.connectors.service import ConnectorPreview, ConnectorService
from chalicelib.services.registry import name_conflict, reference_not_found
from chalicelib.stores.documents import batch_find_readable, batch_results
from chalicelib.stores.monitoring.findings import FaultyIds

BOUND = 500
_DEPLOY_ATTEMPTS = 8

_LEAST_SECONDS = 6.0
"""No operation is begun with less: it would end without an outcome, and stay open for half a minute."""

_CONTENDED = ("targets.version", "destination.missing")
"""Labels of writes that are refused when another delivery to the same place, or a change of the destination, was
faster. The next draft raises NotFound for a destination that was deleted.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryInput:
    """What a client says about a delivery. Without a Connect cluster it runs on its pipeline's.

    `options` are the fields that not every kind of destination takes, as far as they were given.
    """

    pipeline_id: str
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    connect_cluster_id: str | None
    mappings: tuple[MappingInput, ...]
    options: Mapping[str, Any]
    tasks_max: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
    """What a destination-wide pause, resume or restart did to one delivery."""

    delivery: Delivery
    error: HeadgateError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryService(ConnectorService[Delivery]):
    """Everything that a client can do with deliveries, directly or through their destination (`of`)."""

    OUTDATED: ClassVar[Notices] = Notices(
        config=(
            "Its destination was changed, or Headgate was updated, after its connector got its config. Send its "
            "mappings again (PUT .../mappings) to give the connector the new one."
        ),
        secrets=(
            "The stored credentials of its destination are newer than those that its connector has. Send its mappings "
            "again (PUT .../mappings) to give the connector the new ones."
        ),
    )
    OWN_END: ClassVar[str] = "destination_id"
    connector: DeliveryConnector

    def belongs_to(self, search: ConnectorSearch, deadline: Deadline) -> Callable[[Any], bool] | None:
        if search.source_id is None:
            return None
        pipelines = self.connector.resources.pipelines
        captured = pipelines.values_in("source_id", search.source_id, "id", deadline)
        return lambda delivery: delivery.pipeline_id in captured

    def with_findings(self, resource: Delivery, deps: DeliveryDependencies) -> Delivery:
        return deps.targets.explain(resource)

    def observed(self, resources: Sequence[Delivery]) -> tuple[Delivery, ...]:
        stores = self.connector.resources, self.connector.monitoring
        return latest_deliveries(resources, self.observation_reader, *stores)

    def observed_rows(self, rows: Sequence[Any], views: Views, faulty: FaultyIds) -> Sequence[ObservedRow]:
        stores = self.connector.resources, self.connector.monitoring
        return latest_delivery_rows(rows, self.observation_reader, *stores, views)

    def _with_targets(self, deliveries: Sequence[Delivery]) -> tuple[Delivery, ...]:
        """The deliveries with what is wrong at their destinations: one read."""
        targets = target_keys(
            deliveries, self.connector.resources.destinations, self.connector.monitoring.target_losses
        )
        known = targets.known(batch_results(*targets.keys) if deliveries else ())
        return tuple(map(known.explain, deliveries))

    def preview(self, context: RequestContext, destination_id: str, data: DeliveryInput) -> ConnectorPreview:
        """Check topics, schema, keys, target, plug-in and config. Stores nothing, shows no secret."""
        delivery, deps = self._draft(context, destination_id, data)
        cluster, built = require_found(deps.connect_cluster), self.connector.config(delivery, deps)
        validation = self.connector.checks.validation
        validation.require(context, cluster, built.connector_class)
        findings = self.connector.checks.look(context, delivery, deps)
        self.connector.target_claims.require_free(delivery, findings.destination)
        validation.grant(cluster, built)
        return ConnectorPreview(
            connector_name=delivery.connector_name,
            config=public_config(built.config),
            topics=delivery.topics,
            validation=validation.validate(context, cluster, delivery.connector_name, built),
            warnings=(*findings.warnings, *self.connector.start_warnings(delivery, deps)),
            target_ddl=findings.target_ddl,
            setup=findings.setup,
        )

    def deploy(self, context: RequestContext, destination_id: str, data: DeliveryInput) -> Delivery:
        """Create the sink connector, then the delivery, and start it. With `open_operation` it is not settled yet."""
        if context.request_key and (stored := self.connector.store.find(context.request_key)):
            return self.observed([stored])[0]
        for attempt in range(1, _DEPLOY_ATTEMPTS + 1):
            delivery, deps = self._draft(context, destination_id, data)
            deps = self._identified(context, deps)
            parameters, kind = draft_parameters(delivery), OperationKind.DEPLOY
            try:
                deployed = self.lifecycle.execute(
                    context, self.connector, delivery, deps, kind, parameters=parameters, draft=True
                )
            except WriteConflict as conflict:
                if conflict.label not in _CONTENDED or attempt == _DEPLOY_ATTEMPTS:
                    raise self._deploy_error(delivery, conflict.label) from conflict
                self.lifecycle.sleep(jitter(0.02, attempt - 1))
            else:
                return deployed or delivery
        raise _overtaken()

    def get(self, delivery_id: str) -> Delivery:
        """The delivery with its latest observation; raises NotFound."""
        delivery, deps = self._read(delivery_id)
        return with_notice(self.connector, self._latest(delivery, deps), deps, self.OUTDATED)

    def list_of(
        self, destination_id: str, *, limit: int = BOUND, after: str | None = None, by_size: bool = False
    ) -> Page[Delivery]:
        """A destination's deliveries, newest first; raises NotFound. See `Documents.list_in`."""
        page = self.connector.store.list_in("destination_id", destination_id, limit=limit, after=after, by_size=by_size)
        if not page.items:
            self.connector.resources.destinations.get(destination_id)
        return page.with_items(self.observed(page.items))

    def status_of(self, context: RequestContext, destination_id: str, *, fresh: bool = True) -> Page[Delivery]:
        """All of a destination's deliveries, newest first, each with an observation made now; without `fresh`, some
        seconds ago. Raises NotFound, ServerBusy while others ask Connect, RateLimited.
        """
        page, connects = self._listed(destination_id), self.connector.resources.connects
        ids = sorted({delivery.connect_cluster_id for delivery in page.items})
        clusters = batch_results(*((connects, cluster_id) for cluster_id in ids)) if ids else []
        by_id = {cluster_id: require_found(cluster) for cluster_id, cluster in zip(ids, clusters, strict=True)}
        observed = self.observation_reader.all_recent(context, page.items, by_id, fresh=fresh)
        return page.with_items(self._with_targets(observed))

    def control_all(
        self, context: RequestContext, destination_id: str, kind: OperationKind, delivery_id: str | None
    ) -> tuple[DeliveryOutcome, ...]:
        """Pause, resume or restart one or all of a destination's deliveries; a failure does not stop the others.

        Those that are as desired already are left alone, and those for which there is no time have an error that says
        so. The others come first when this is repeated: those that were changed longest ago.
        """
        if delivery_id is not None:
            return (_outcome(self.control(context, delivery_id, kind, of=destination_id)),)
        deliveries = self._all_of(destination_id)
        outcomes = {
            delivery.id: self._control_one(context, delivery, kind) for delivery in sorted(deliveries, key=_last_tried)
        }
        return tuple(outcomes[delivery.id] for delivery in deliveries)

    def update_mappings(
        self, context: RequestContext, delivery_id: str, mappings: tuple[MappingInput, ...], *, of: str | None = None
    ) -> Delivery:
        """Write to other targets from now on. Offsets are kept and nothing is backfilled.

        The same mappings again change nothing, unless the destination was changed since, or somebody has changed the
        connector's config in Connect: then the connector gets its config again. One that is missing is created at once.
        """
        delivery, deps = self._read(delivery_id, of)
        context.expect_version(delivery.version)
        destination = require_found(deps.destination)
        provider = target_provider(destination.address.provider)
        writing = provider.remapped(delivery.writing, mappings, destination.address)
        return self._rewrite(context, delivery, deps, writing)

    def renew(self, context: RequestContext, delivery_id: str) -> Delivery:
        """Give the connector its config again, as far as it is another one by now; the mappings stay."""
        delivery, deps = self._read(delivery_id)
        return self._rewrite(context, delivery, deps, delivery.writing)

    def _rewrite(
        self, context: RequestContext, delivery: Delivery, deps: DeliveryDependencies, writing: Writing
    ) -> Delivery:
        same = writing == delivery.writing and not delivery.open_operation
        if same and not needs_config(self.connector, delivery, deps):
            observed = self.observation_reader.now(context, delivery, require_found(deps.connect_cluster)).observation
            if observed is None or observed.state is not ObservedState.NOT_DEPLOYED:
                self.connector.check(context, delivery, deps)
                return self._latest(delivery, deps)
        parameters, deps = writing_parameters(writing), self._identified(context, deps)
        return self._execute(context, delivery, deps, OperationKind.UPDATE_MAPPINGS, parameters) or delivery

    def _listed(self, destination_id: str) -> Page[Delivery]:
        """Every delivery of a destination as the index has it, on one page. Raises NotFound."""
        listed = page = self._page(destination_id, None)
        while page.next_key is not None:
            page = self._page(destination_id, page.next_key)
            listed = Page((*listed.items, *page.items), (*listed.keys, *page.keys))
        if not listed.items:
            self.connector.resources.destinations.get(destination_id)
        return listed

    def _page(self, destination_id: str, after: str | None) -> Page[Delivery]:
        return self.connector.store.list_in("destination_id", destination_id, limit=BOUND, after=after)

    def _all_of(self, destination_id: str) -> tuple[Delivery, ...]:
        """Every delivery of a destination as stored now, with its latest observation. Raises NotFound."""
        listed = self._listed(destination_id).items
        # An index may lag behind, and what is desired decides who is left alone.
        stored = batch_find_readable(*((self.connector.store, delivery.id) for delivery in listed))
        return self.observed([delivery for delivery in stored if delivery])

    def _control_one(self, context: RequestContext, delivery: Delivery, kind: OperationKind) -> DeliveryOutcome:
        outcomes = [DeliveryOutcome(delivery=delivery)]  # what a dry run leaves it at
        with part_of_dry_run(used_by(self.connector.store.noun, delivery), "deliveries"):
            outcomes.append(self._controlled(context, delivery, kind))
        return outcomes[-1]

    def _controlled(self, context: RequestContext, delivery: Delivery, kind: OperationKind) -> DeliveryOutcome:
        if changes_nothing(kind, delivery):
            return DeliveryOutcome(delivery=delivery)
        if context.deadline.remaining() < _LEAST_SECONDS:
            return DeliveryOutcome(delivery=delivery, error=obstacle(_no_time_left()))
        try:
            return _outcome(self.control(context, delivery.id, kind))
        except HeadgateError as error:
            if current_plan():
                raise  # the dry run of this one notes it
            if not isinstance(error, Conflict) or error.code == "STATE_CONFLICT":
                with suppress(HeadgateError):
                    delivery = self.status(context, delivery.id, fresh=False)
            return DeliveryOutcome(delivery=delivery, error=error)

    def _deploy_error(self, delivery: Delivery, label: str) -> HeadgateError:
        match label:
            case "draft":
                message = "The first request with this key is not settled yet. Wait a moment and repeat."
                return Conflict(message, code="OPERATION_IN_PROGRESS")
            case "name":
                return name_conflict(self.connector.store.noun, self.connector.name_holder(delivery))
            case "pipeline.missing" | "connect_cluster.missing":
                return reference_not_found(label.removesuffix(".missing").replace("_", " "))
            case _:
                return _overtaken()

    def _draft(
        self, context: RequestContext, destination_id: str, data: DeliveryInput
    ) -> tuple[Delivery, DeliveryDependencies]:
        """The delivery that the input describes, and what it refers to. Raises NotFound, Invalid."""
        cluster_id = data.connect_cluster_id or self._cluster_of_pipeline(data.pipeline_id)
        deps = self.connector.load_references(destination_id, data.pipeline_id, cluster_id)
        if deps.destination is None:
            raise NotFound("There is no destination with this id.")
        if deps.pipeline is None:
            raise reference_not_found("pipeline", "body", "pipeline_id")
        if deps.connect_cluster is None:
            raise reference_not_found("Connect cluster", "body", "connect_cluster_id")
        if deps.connect_cluster.stream_cluster_id != deps.pipeline.stream_cluster_id:
            message = (
                "This Connect cluster belongs to another stream cluster than the pipeline's topics. Leave "
                "connect_cluster_id out for the pipeline's own, or choose one of that stream cluster."
            )
            raise Invalid.at("body", "connect_cluster_id", type_="other_stream_cluster", message=message)
        address, now = deps.destination.address, self.lifecycle.clock()
        delivery = Delivery(
            id=context.fresh_id(),
            name=data.name,
            labels=data.labels,
            destination_id=destination_id,
            pipeline_id=data.pipeline_id,
            connect_cluster_id=cluster_id,
            writing=target_provider(address.provider).writing(data.mappings, data.options, address),
            tasks_max=data.tasks_max,
            desired_state=DesiredState.DRAFT,
            version=0,
            created_at=now,
            updated_at=now,
        )
        return self.connector.checks.completed(context, delivery, deps), deps

    def _identified(self, context: RequestContext, deps: DeliveryDependencies) -> DeliveryDependencies:
        """The same with the identity of the destination's server, by which targets are claimed."""
        return replace(deps, destination=self.connector.checks.identify(context, require_found(deps.destination)))

    def _cluster_of_pipeline(self, pipeline_id: str) -> str:
        """The id of the Connect cluster that a pipeline runs on; empty when there is no such pipeline."""
        pipeline = self.connector.resources.pipelines.find(pipeline_id)
        return pipeline.connect_cluster_id if pipeline else ""

    def _read(self, resource_id: str, of: str | None = None) -> tuple[Delivery, DeliveryDependencies]:
        store = self.connector.store
        # Its deploy may be settled between the first two reads: then the third one finds it.
        delivery = store.find(resource_id) or self._drafted(resource_id) or store.get(resource_id)
        if of not in (None, delivery.destination_id):
            raise NotFound("This destination has no delivery with this id.")
        return delivery, self.connector.load_dependencies(delivery)

    def _drafted(self, delivery_id: str) -> Delivery | None:
        """A delivery that has no row yet because its deploy is still open."""
        operation_id = self.connector.deploying_operation(delivery_id)
        operation = self.lifecycle.stores.operations.find(operation_id) if operation_id else None
        if operation is None or operation.step.settled or (drafted := self.connector.load(operation)) is None:
            return None
        return replace(drafted, open_operation=operation.opened)


def _last_tried(delivery: Delivery) -> datetime:
    return max(delivery.updated_at, delivery.last_error.at if delivery.last_error else delivery.updated_at)


def _no_time_left() -> TimedOut:
    return TimedOut("There was no time left for this one, and nothing was changed. Call again: it comes first then.")


def _outcome(delivery: Delivery) -> DeliveryOutcome:
    if not delivery.open_operation:
        return DeliveryOutcome(delivery=delivery)
    message = "Kafka Connect has not confirmed this yet. Headgate finds out and finishes it."
    return DeliveryOutcome(delivery=delivery, error=Conflict(message, code="OPERATION_IN_PROGRESS"))


def _overtaken() -> Conflict:
    return Conflict("Another change at the same moment was faster. Repeat this.", code="OPERATION_IN_PROGRESS")
