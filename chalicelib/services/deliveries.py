"""Deliveries: previewed, deployed, steered, observed, given other mappings, deleted. Target data is left alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import public_config
from chalicelib.domain.delivery import Delivery, DeliveryOptions, DeliveryWarning
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.jitter import jitter
from chalicelib.kit.pages import Page
from chalicelib.services.connectors.delivery_connector import DeliveryConnector, draft_view, mappings_view, missing
from chalicelib.services.connectors.lifecycle import Also, Lifecycle, OperationRequest
from chalicelib.services.connectors.observations import ObservationReader
from chalicelib.services.connectors.owner import needs_config, require_deployed, require_found, with_notice
from chalicelib.services.connectors.validation import Validation
from chalicelib.services.registry import expect_version
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.dependencies import DeliveryDependencies, DependencyLoader, PipelineDependencies
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.transaction import Transaction

BOUND = 500
_BEGIN_ATTEMPTS = 8
_WORTH_ANOTHER_TRY = ("targets.version", "destination.missing")
"""Writes that are refused when another delivery to the same schema, or a change of the destination, was faster.

A destination that is really gone is missed by the next draft.
"""

OUTDATED = (
    "Its destination was changed since its connector was given a config. Send its mappings again (PUT .../mappings) to "
    "give it the new one."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryInput:
    """What people say about a delivery. Without a Connect cluster it runs beside its pipeline."""

    pipeline_id: str
    name: str
    connect_cluster_id: str | None
    mappings: tuple[TopicMapping, ...]
    options: DeliveryOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPreview:
    """What would be created. Nothing of it is stored."""

    connector_name: str
    config: Mapping[str, str]
    topics: Sequence[str]
    validation: Validation
    warnings: tuple[DeliveryWarning, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
    """What became of one delivery when all of a destination were steered."""

    delivery: Delivery
    error: HeadgateError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryService:
    """Everything that people do with deliveries, by themselves or through their destination."""

    rows: Deliveries
    together: DependencyLoader[Delivery, DeliveryDependencies]
    pipelines_among: DependencyLoader[Pipeline, PipelineDependencies]
    destinations: Destinations
    connects: ConnectClusters
    owner: DeliveryConnector
    lifecycle: Lifecycle
    observation_reader: ObservationReader
    clock: Clock

    def expect_draft(self, destination_id: str, given: DeliveryInput) -> None:
        """Say that this request is going to preview or deploy it. What we have not met is read when it is asked for."""
        self.together.expect_around((destination_id, given.pipeline_id, self._workers(given)))
        self.owner.expect_draft(destination_id, given.pipeline_id, given.mappings)

    def preview(self, context: RequestContext, destination_id: str, given: DeliveryInput) -> DeliveryPreview:
        """Check topics, schema, keys, target, plug-in and config. Stores nothing, shows no secret."""
        delivery, deps = self._draft(context, destination_id, given)
        cluster, built = require_found(deps.connect_cluster), self.owner.config(delivery, deps)
        plugins = self.owner.plugins
        plugins.require(context, cluster, built.connector_class)
        warnings = self.owner.examine(context, delivery, deps)
        # Never committed: only asks who writes there.
        self.owner.hold(Transaction(), delivery, deps, delivery.mappings)
        return DeliveryPreview(
            connector_name=delivery.connector_name,
            config=public_config(built.config),
            topics=delivery.topics,
            validation=plugins.validate(context, cluster, delivery.connector_name, built),
            warnings=warnings,
        )

    def deploy(self, context: RequestContext, destination_id: str, given: DeliveryInput) -> Delivery:
        """Create the sink connector, then the delivery, and let it run. With `open_operation` it is not settled yet."""
        if context.request_key and (stored := self.rows.find(context.request_key)):
            return self.observation_reader.latest([stored])[0]
        for attempt in range(_BEGIN_ATTEMPTS):
            delivery, deps = self._draft(context, destination_id, given)
            try:
                return self._deploy(context, delivery, deps)
            except WriteConflict as conflict:
                if conflict.label not in _WORTH_ANOTHER_TRY or attempt == _BEGIN_ATTEMPTS - 1:
                    raise _begin_error(conflict.label) from conflict
            self.lifecycle.sleep(jitter(0.02, attempt))
        raise _begin_error("targets.version")

    def get(self, delivery_id: str) -> Delivery:
        """The delivery with its latest observation; raises NotFound."""
        delivery, deps = self._read(delivery_id)
        seen = self.observation_reader.latest([delivery], {delivery.connect_cluster_id: deps.view})[0]
        return with_notice(self.owner, seen, deps, OUTDATED)

    def list(self, *, limit: int, after: str | None) -> Page[Delivery]:
        """Deliveries, newest first."""
        page = self.rows.list(limit=limit, after=after)
        return Page(items=self.observation_reader.latest(page.items), next_key=page.next_key)

    def list_of(self, destination_id: str, *, limit: int = BOUND, after: str | None = None) -> Page[Delivery]:
        """A destination's deliveries, newest first; raises NotFound."""
        self.destinations.get(destination_id)
        page = self.rows.list_in("destination_id", destination_id, limit=limit, after=after)
        return Page(items=self.observation_reader.latest(page.items), next_key=page.next_key)

    def status(self, context: RequestContext, delivery_id: str) -> Delivery:
        """The delivery with an observation made now."""
        delivery, deps = self._read(delivery_id)
        seen = self.observation_reader.now(context, delivery, require_found(deps.connect_cluster))
        return with_notice(self.owner, seen, deps, OUTDATED)

    def status_of(self, context: RequestContext, destination_id: str) -> tuple[Delivery, ...]:
        """All of a destination's deliveries, each observed by itself now."""
        deliveries = self.list_of(destination_id).items
        clusters = {one: self.connects.get(one) for one in {delivery.connect_cluster_id for delivery in deliveries}}
        return tuple(self.observation_reader.now(context, one, clusters[one.connect_cluster_id]) for one in deliveries)

    def control(
        self,
        context: RequestContext,
        delivery_id: str,
        kind: OperationKind,
        *,
        of: str | None = None,
        **parameters: Any,
    ) -> Delivery:
        """Pause, resume, restart, or restart one task (`task`). `of` names the destination that it must belong to."""
        delivery, deps = self._read(delivery_id, of)
        require_deployed(delivery)
        return self._execute(context, delivery, deps, kind, **parameters) or delivery

    def control_all(
        self, context: RequestContext, destination_id: str, kind: OperationKind, delivery_id: str | None
    ) -> tuple[DeliveryOutcome, ...]:
        """Steer one or all of a destination's deliveries; one that fails does not stop the others."""
        if delivery_id is not None:
            return (_steered(self.control(context, delivery_id, kind, of=destination_id)),)
        return tuple(self._steer_one(context, delivery, kind) for delivery in self.list_of(destination_id).items)

    def update_mappings(
        self, context: RequestContext, delivery_id: str, mappings: tuple[TopicMapping, ...], *, of: str | None = None
    ) -> Delivery:
        """Write other tables from now on. Offsets are kept and nothing is filled in for the past.

        The same mappings again change nothing, unless the destination was changed since, or somebody has changed the
        connector's config: then the connector gets its config again.
        """
        delivery, deps = self._read(delivery_id, of)
        expect_version(context, delivery.version)
        same = mappings == delivery.mappings and not delivery.open_operation
        if same and not needs_config(self.owner, delivery, deps):
            self.owner.check(context, delivery, deps)
            return self.observation_reader.latest([delivery], {delivery.connect_cluster_id: deps.view})[0]
        self.owner.expect_examination(require_found(deps.pipeline))
        both = (*delivery.mappings, *mappings)
        done = self._execute(
            context,
            delivery,
            deps,
            OperationKind.UPDATE_MAPPINGS,
            also=lambda transaction, _: self.owner.hold(transaction, delivery, deps, both),
            **mappings_view(mappings),
        )
        return done or delivery

    def delete(self, context: RequestContext, delivery_id: str, *, of: str | None = None) -> Delivery | None:
        """Delete the connector, then the delivery. What was written stays in the target. None when it is done."""
        delivery, deps = self._read(delivery_id, of)
        expect_version(context, delivery.version)
        return self._execute(context, delivery, deps, OperationKind.DELETE)

    def _execute(
        self,
        context: RequestContext,
        delivery: Delivery,
        deps: DeliveryDependencies,
        kind: OperationKind,
        *,
        also: Also | None = None,
        **parameters: Any,
    ) -> Delivery | None:
        order = OperationRequest(
            context=context,
            owner=self.owner,
            resource=delivery,
            deps=deps,
            kind=kind,
            parameters=parameters,
            also=also,
        )
        return self.lifecycle.execute(order)

    def _deploy(self, context: RequestContext, delivery: Delivery, deps: DeliveryDependencies) -> Delivery:
        self.together.meet(delivery)
        order = OperationRequest(
            context=context,
            owner=self.owner,
            resource=delivery,
            deps=deps,
            kind=OperationKind.DEPLOY,
            parameters=draft_view(delivery),
            also=lambda transaction, operation: self.owner.taken(transaction, delivery, deps, operation),
            draft=True,
        )
        return self.lifecycle.execute(order) or delivery

    def _steer_one(self, context: RequestContext, delivery: Delivery, kind: OperationKind) -> DeliveryOutcome:
        try:
            steered = self.control(context, delivery.id, kind)
        except HeadgateError as error:
            return DeliveryOutcome(delivery=self._seen(context, delivery), error=error)
        return _steered(steered)

    def _seen(self, context: RequestContext, delivery: Delivery) -> Delivery:
        """The delivery as it is now, if that can be told."""
        try:
            return self.status(context, delivery.id)
        except HeadgateError:
            return delivery

    def _draft(
        self, context: RequestContext, destination_id: str, given: DeliveryInput
    ) -> tuple[Delivery, DeliveryDependencies]:
        deps = self._setting(destination_id, given)
        pipeline, cluster = deps.pipeline, deps.connect_cluster
        if deps.destination is None:
            raise NotFound("There is no destination with this id.")
        if pipeline is None:
            raise missing("pipeline")
        if cluster is None:
            raise missing("Connect cluster")
        if cluster.stream_cluster_id != pipeline.stream_cluster_id:
            raise Invalid.at(
                "body",
                "connect_cluster_id",
                type_="other_stream_cluster",
                message="This Connect cluster belongs to another stream cluster than the pipeline's topics.",
            )
        self.owner.expect_examination(pipeline)
        now = self.clock()
        delivery = Delivery(
            id=context.fresh_id(),
            name=given.name,
            destination_id=destination_id,
            pipeline_id=given.pipeline_id,
            connect_cluster_id=cluster.id,
            mappings=given.mappings,
            options=given.options,
            desired_state=DesiredState.DRAFT,
            version=0,
            created_at=now,
            updated_at=now,
        )
        return delivery, deps

    def _setting(self, destination_id: str, given: DeliveryInput) -> DeliveryDependencies:
        """What the input names. Where it names no workers, they are its pipeline's."""
        workers = self._workers(given)
        deps = self.together.around((destination_id, given.pipeline_id, workers))
        if deps.pipeline:
            self.pipelines_among.meet(deps.pipeline)
        if workers or deps.pipeline is None:
            return deps
        return replace(deps, connect_cluster=self.connects.find(deps.pipeline.connect_cluster_id))

    def _workers(self, given: DeliveryInput) -> str:
        """The Connect cluster's id; empty when it is the pipeline's and this process has not met that."""
        beside = self.pipelines_among.known(given.pipeline_id)
        return given.connect_cluster_id or (beside[-1] if beside else "")

    def _read(self, delivery_id: str, of: str | None = None) -> tuple[Delivery, DeliveryDependencies]:
        """A delivery, of that destination if one is named, and what it stands among; raises NotFound."""
        delivery, deps = self._stored_or_drafted(delivery_id)
        if of not in (None, delivery.destination_id):
            raise NotFound("This destination has no delivery with this id.")
        return delivery, deps

    def _stored_or_drafted(self, delivery_id: str) -> tuple[Delivery, DeliveryDependencies]:
        try:
            return self.together.read(delivery_id)
        except NotFound:
            if drafted := self._drafted(delivery_id):
                return drafted, self.owner.deps(drafted)
            return self.together.read(delivery_id)  # its deploy may have been settled between these looks

    def _drafted(self, delivery_id: str) -> Delivery | None:
        """A delivery that has no row yet, because its deploy is still open."""
        operation_id = self.owner.being_deployed(delivery_id)
        operation = self.lifecycle.operations.find(operation_id) if operation_id else None
        if operation is None or operation.step.settled or (drafted := self.owner.load(operation)) is None:
            return None
        return replace(drafted, open_operation=operation.opened)


def _steered(delivery: Delivery) -> DeliveryOutcome:
    return DeliveryOutcome(delivery=delivery, error=_unsettled() if delivery.open_operation else None)


def _unsettled() -> HeadgateError:
    return Conflict(
        "Kafka Connect has not said yet whether it did this. Headgate finds out and finishes it by itself.",
        code="OPERATION_IN_PROGRESS",
    )


def _begin_error(label: str) -> HeadgateError:
    """Why a deploy could not begin, by the write that was refused."""
    match label:
        case "draft":
            return Conflict(
                "The first request with this key is not settled yet. Wait a moment and repeat.",
                code="OPERATION_IN_PROGRESS",
            )
        case "name":
            return Conflict("Another delivery has this name.", code="NAME_CONFLICT")
        case "pipeline.missing" | "connect_cluster.missing":
            return missing(label.removesuffix(".missing").replace("_", " "))
        case _:
            return Conflict("Another change at the same moment was faster. Repeat this.", code="OPERATION_IN_PROGRESS")
