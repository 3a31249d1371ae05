"""Deliveries: previewed, deployed, steered, observed, given other mappings, deleted. Target data is left alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import Call
from chalicelib.domain.connector_config import config_hash, public_config
from chalicelib.domain.delivery import Delivery, DeliveryOptions
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.delivery_rules import DeliveryWarning
from chalicelib.domain.destination import Destination
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import OperationKind
from chalicelib.domain.sink_config import build_sink_config
from chalicelib.errors import Conflict, HeadgateError, Invalid, NotFound, WriteConflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.services.delivery_family import DeliveryFamily, draft_view, mappings_view, missing
from chalicelib.services.lifecycle import Lifecycle
from chalicelib.services.managed import require_deployed
from chalicelib.services.observing import Observing
from chalicelib.services.plugins import Validation
from chalicelib.services.registry import expect_version
from chalicelib.stores.clusters import ConnectClusters
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.transaction import Transaction

BOUND = 500
_BEGIN_ATTEMPTS = 4


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
class SteeredDelivery:
    """What became of one delivery when all of a destination were steered."""

    delivery: Delivery
    error: HeadgateError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryService:
    """Everything that people do with deliveries, by themselves or through their destination."""

    rows: Deliveries
    destinations: Destinations
    pipelines: Pipelines
    connects: ConnectClusters
    family: DeliveryFamily
    lifecycle: Lifecycle
    observing: Observing
    clock: Clock

    def preview(self, call: Call, destination_id: str, given: DeliveryInput) -> DeliveryPreview:
        """Check topics, schema, keys, target, plug-in and config. Stores nothing, shows no secret."""
        delivery, destination = self._draft(call, destination_id, given)
        config = build_sink_config(delivery, destination)
        cluster = self.connects.get(delivery.connect_cluster_id)
        plugins = self.family.plugins
        plugins.require(call, cluster, config["connector.class"])
        warnings = self.family.examine(call, delivery, destination)
        self.family.hold(Transaction(), delivery, delivery.mappings)  # never committed: only asks who writes there
        return DeliveryPreview(
            connector_name=delivery.connector_name,
            config=public_config(config),
            topics=delivery.topics,
            validation=plugins.validate(call, cluster, delivery.connector_name, config, destination.credentials),
            warnings=warnings,
        )

    def deploy(self, call: Call, destination_id: str, given: DeliveryInput) -> Delivery:
        """Create the sink connector, then the delivery, and let it run. With `open_operation` it is not settled yet."""
        if call.request_key and (stored := self.rows.find(call.request_key)):
            return self.observing.latest([stored])[0]
        delivery, destination = self._draft(call, destination_id, given)
        delivery = replace(delivery, config_hash=config_hash(build_sink_config(delivery, destination)))
        for attempt in range(_BEGIN_ATTEMPTS):
            try:
                done = self.lifecycle.execute(
                    call,
                    self.family,
                    delivery,
                    OperationKind.DEPLOY,
                    parameters=draft_view(delivery),
                    also=lambda transaction: self.family.taken(transaction, delivery),
                    draft=True,
                )
                return done or delivery
            except WriteConflict as conflict:
                if conflict.label != "targets.version" or attempt == _BEGIN_ATTEMPTS - 1:
                    raise _begin_error(conflict.label) from conflict
        raise _begin_error("targets.version")

    def get(self, delivery_id: str) -> Delivery:
        """The delivery with its latest observation; raises NotFound."""
        return self.observing.latest([self.rows.get(delivery_id)])[0]

    def get_of(self, destination_id: str, delivery_id: str) -> Delivery:
        """The same, if it belongs to the destination."""
        delivery = self.rows.get(delivery_id)
        if delivery.destination_id != destination_id:
            raise NotFound("This destination has no delivery with this id.")
        return delivery

    def list(self, *, limit: int, after: str | None) -> Page[Delivery]:
        """Deliveries, newest first."""
        page = self.rows.list(limit=limit, after=after)
        return Page(items=self.observing.latest(page.items), next_key=page.next_key)

    def list_of(self, destination_id: str, *, limit: int = BOUND, after: str | None = None) -> Page[Delivery]:
        """A destination's deliveries, newest first; raises NotFound."""
        self.destinations.get(destination_id)
        page = self.rows.list_in("destination_id", destination_id, limit=limit, after=after)
        return Page(items=self.observing.latest(page.items), next_key=page.next_key)

    def status(self, call: Call, delivery_id: str) -> Delivery:
        """The delivery with an observation made now."""
        return self.observing.now(call, self.rows.get(delivery_id))

    def status_of(self, call: Call, destination_id: str) -> tuple[Delivery, ...]:
        """All of a destination's deliveries, each observed by itself now."""
        return tuple(self.observing.now(call, delivery) for delivery in self.list_of(destination_id).items)

    def steer(self, call: Call, delivery_id: str, kind: OperationKind, **parameters: Any) -> Delivery:
        """Pause, resume, restart, or restart one task (`task`)."""
        delivery = self.rows.get(delivery_id)
        require_deployed(delivery)
        return self.lifecycle.execute(call, self.family, delivery, kind, parameters=parameters) or delivery

    def steer_of(
        self, call: Call, destination_id: str, kind: OperationKind, delivery_id: str | None
    ) -> tuple[SteeredDelivery, ...]:
        """Steer one or all of a destination's deliveries; one that fails does not stop the others."""
        if delivery_id is not None:
            self.get_of(destination_id, delivery_id)
            return (SteeredDelivery(delivery=self.steer(call, delivery_id, kind)),)
        return tuple(self._steer_one(call, delivery, kind) for delivery in self.list_of(destination_id).items)

    def update_mappings(self, call: Call, delivery_id: str, mappings: tuple[TopicMapping, ...]) -> Delivery:
        """Write other tables from now on. Offsets are kept and nothing is filled in for the past."""
        delivery = self.rows.get(delivery_id)
        expect_version(call, delivery.version)
        if mappings == delivery.mappings and not delivery.open_operation:
            self.family.check(call, delivery, self.family.config(delivery)[0])
            return self.observing.latest([delivery])[0]
        schemas = {mapping.schema_name for mapping in mappings}
        if schemas != {delivery.mappings[0].schema_name}:
            raise Invalid.at(
                "body",
                "mappings",
                type_="other_schema",
                message="All mappings of a delivery share one target schema. Deploy another delivery for another one.",
            )
        both = (*delivery.mappings, *mappings)
        done = self.lifecycle.execute(
            call,
            self.family,
            delivery,
            OperationKind.UPDATE_MAPPINGS,
            parameters=mappings_view(mappings),
            also=lambda transaction: self.family.hold(transaction, delivery, both),
        )
        return done or delivery

    def delete(self, call: Call, delivery_id: str) -> Delivery | None:
        """Delete the connector, then the delivery. What was written stays in the target. None when it is done."""
        delivery = self.rows.get(delivery_id)
        expect_version(call, delivery.version)
        return self.lifecycle.execute(call, self.family, delivery, OperationKind.DELETE)

    def _steer_one(self, call: Call, delivery: Delivery, kind: OperationKind) -> SteeredDelivery:
        try:
            steered = self.steer(call, delivery.id, kind)
        except HeadgateError as error:
            return SteeredDelivery(delivery=delivery, error=error)
        return SteeredDelivery(delivery=steered, error=_unsettled() if steered.open_operation else None)

    def _draft(self, call: Call, destination_id: str, given: DeliveryInput) -> tuple[Delivery, Destination]:
        destination = self.destinations.get(destination_id)
        pipeline = self.pipelines.find(given.pipeline_id)
        if pipeline is None:
            raise missing("pipeline")
        cluster = self.connects.find(given.connect_cluster_id or pipeline.connect_cluster_id)
        if cluster is None:
            raise missing("Connect cluster")
        if cluster.stream_cluster_id != pipeline.stream_cluster_id:
            raise Invalid.at(
                "body",
                "connect_cluster_id",
                type_="other_stream_cluster",
                message="This Connect cluster belongs to another stream cluster than the pipeline's topics.",
            )
        now = self.clock()
        delivery = Delivery(
            id=call.fresh_id(),
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
        return delivery, destination


def _unsettled() -> HeadgateError:
    return Conflict(
        "Kafka Connect has not said yet whether it did this. Headgate finds out and finishes it by itself.",
        code="OPERATION_IN_PROGRESS",
    )


def _begin_error(label: str) -> HeadgateError:
    match label:
        case "name":
            return Conflict("Another delivery has this name.", code="NAME_CONFLICT")
        case "pipeline.missing" | "destination.missing" | "connect_cluster.missing":
            noun = label.removesuffix(".missing").replace("_", " ")
            return missing(noun)
        case _:
            return Conflict("Another change at the same moment was faster. Repeat this.", code="OPERATION_IN_PROGRESS")
