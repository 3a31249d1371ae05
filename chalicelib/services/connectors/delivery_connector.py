"""Deliveries, as the operations on connectors see them."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.delivery import Delivery, DeliveryWarning
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.delivery_checks import check_mappings
from chalicelib.domain.names import unique_key
from chalicelib.domain.operation import Operation, OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.providers.registry import target_provider
from chalicelib.errors import Conflict, Invalid
from chalicelib.kit.bounded import Bounded
from chalicelib.kit.clock import Deadline
from chalicelib.services.client_factory import ClientFactory
from chalicelib.services.connectors.owner import require_found
from chalicelib.services.connectors.validation import ConnectorValidation
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.stores.claims import Claims, Targets, target_key, with_tables
from chalicelib.stores.clusters import ConnectClusters, StreamClusters
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.dependencies import DeliveryDependencies, DependencyLoader
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.rows import Key, expect
from chalicelib.stores.source_tables import SourceTables
from chalicelib.stores.transaction import Transaction

_DRAFT = TypeAdapter(Delivery)
_MAPPINGS = TypeAdapter(tuple[TopicMapping, ...])
_TOPICS_SECONDS = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryConnector:
    """A delivery's sink connector: its config, what must hold for it, what its operations mean for its row."""

    rows: Deliveries
    together: DependencyLoader[Delivery, DeliveryDependencies]
    destinations: Destinations
    pipelines: Pipelines
    tables: SourceTables
    streams: StreamClusters
    connects: ConnectClusters
    claims: Claims
    targets: Targets
    clients: ClientFactory
    database_checks: DatabaseChecks
    plugins: ConnectorValidation
    _examined: Bounded[str, tuple[Key, ...]] = field(default_factory=lambda: Bounded(1000))
    _places: Bounded[str, tuple[object, ...]] = field(default_factory=lambda: Bounded(1000))
    """What `examine` last read for a pipeline, and where a destination last was: by id, for guesses."""

    def expect_draft(self, destination_id: str, pipeline_id: str, mappings: Sequence[TopicMapping]) -> None:
        """Say that this request is going to `examine` and `hold` such a delivery, as far as we have met its parts."""
        expect(*self._examined.get(pipeline_id, ()))
        if place := self._places.get(destination_id):
            expect(self.targets.key(target_key(*place, mappings[0].schema_name)))

    def expect_examination(self, pipeline: Pipeline) -> None:
        """Say that this request is going to `examine` a delivery of this pipeline."""
        tables = self.tables.keys(pipeline.source_id, pipeline.capture.tables)
        keys = self._examined[pipeline.id] = (self.streams.key(pipeline.stream_cluster_id), *tables)
        expect(*keys)

    def deps(self, resource: Delivery) -> DeliveryDependencies:
        """Its destination, pipeline and workers."""
        return self.together.around(self.together.ties(resource))

    def check(self, context: RequestContext, resource: Delivery, deps: DeliveryDependencies) -> None:
        """Topics, right Kafka, schema and keys, target, plug-in, config: what the preview shows, as errors.

        Raises VALIDATION_FAILED for another Kafka, TOPIC_NOT_FOUND, TOPIC_NOT_IN_PIPELINE, KEY_REQUIRED,
        TYPE_UNSUPPORTED, TARGET_NOT_READY, PLUGIN_MISSING, CONNECTOR_CONFIG_INVALID, and whatever reaching Kafka,
        Connect and the target raises.
        """
        cluster, built = require_found(deps.connect_cluster), self.config(resource, deps)
        self.plugins.require(context, cluster, built.connector_class)
        self.examine(context, resource, deps)
        self.plugins.require_valid(context, cluster, resource.connector_name, built)

    def examine(
        self, context: RequestContext, delivery: Delivery, deps: DeliveryDependencies
    ) -> tuple[DeliveryWarning, ...]:
        """Look at topics, discovered tables and target; raise what forbids it, return what is worth saying."""
        destination, pipeline = require_found(deps.destination), require_found(deps.pipeline)
        self.expect_examination(pipeline)
        stream = self.streams.get(pipeline.stream_cluster_id)
        with closing(self.clients.kafka(stream)) as kafka:
            topics = kafka.topics(Deadline.after(context.deadline.remaining(_TOPICS_SECONDS)))
        self.plugins.require_same_kafka(context, stream, require_found(deps.connect_cluster))
        known = self.tables.find(pipeline.source_id, pipeline.capture.tables)
        provider = target_provider(destination.address.provider)
        verdict = check_mappings(pipeline, known, delivery.mappings, delivery.options, topics, provider)
        verdict.require()
        facts = self.database_checks.target_facts(
            context, destination, [mapping.target for mapping in delivery.mappings]
        )
        by_topic = {pipeline.capture.topic(table.name): table for table in known.values()}
        mapped = [(mapping, by_topic[mapping.topic]) for mapping in delivery.mappings]
        target = provider.judge_target(mapped, delivery.options, facts)
        target.require()
        return (*verdict.warnings, *target.warnings)

    def config(self, resource: Delivery, deps: DeliveryDependencies) -> BuiltConfig:
        """The sink connector's config, with references."""
        destination = require_found(deps.destination)
        return target_provider(destination.address.provider).build_config(resource, destination)

    def load(self, operation: Operation) -> Delivery | None:
        """The delivery as it is stored, or as the deploy that is making it has drafted it."""
        stored = self.rows.find(operation.resource_id)
        if stored is None and operation.kind is OperationKind.DEPLOY and not operation.step.settled:
            return _DRAFT.validate_python(operation.parameters["delivery"])
        return stored

    def with_pending_change(self, operation: Operation, resource: Delivery) -> Delivery:
        """The delivery with the operation's new mappings."""
        if operation.kind is not OperationKind.UPDATE_MAPPINGS:
            return resource
        return replace(resource, mappings=_MAPPINGS.validate_python(operation.parameters["mappings"]))

    def created(self, transaction: Transaction, resource: Delivery, operation: Operation) -> Delivery:
        """The association exists from now on."""
        self.rows.put_new(transaction, resource)
        self.claims.release(transaction, _draft_key(resource.id), operation.id)
        return resource

    def changed(self, transaction: Transaction, before: Delivery, after: Delivery, deps: DeliveryDependencies) -> None:
        """Tables that are no longer written are free again."""
        if before.mappings != after.mappings:
            self.hold(transaction, before, deps, after.mappings)

    def on_failed(
        self, transaction: Transaction, operation: Operation, resource: Delivery, deps: DeliveryDependencies
    ) -> None:
        """A deploy that came to nothing gives back everything; new mappings that were refused are let go."""
        if operation.kind is OperationKind.DEPLOY:
            self.claims.release(transaction, _draft_key(resource.id), operation.id)
            self._let_go(transaction, resource, deps)
        elif operation.kind is OperationKind.UPDATE_MAPPINGS:
            self.hold(transaction, self.with_pending_change(operation, resource), deps, resource.mappings)

    def removed(self, transaction: Transaction, resource: Delivery, deps: DeliveryDependencies) -> None:
        """The association goes; what was written stays in the target."""
        self.rows.remove(transaction, resource)
        self._let_go(transaction, resource, deps)

    def parent_id(self, resource: Delivery) -> str | None:
        """Its destination."""
        return resource.destination_id

    def deletion_details(self, resource: Delivery) -> Mapping[str, Any]:
        """The target's data outlives the delivery."""
        return {"kept": {"tables": [str(mapping.target) for mapping in resource.mappings]}}

    def being_deployed(self, delivery_id: str) -> str | None:
        """The operation that is making a delivery of this id, which has no row before its connector is there."""
        return self.claims.find(_draft_key(delivery_id))

    def taken(
        self, transaction: Transaction, delivery: Delivery, deps: DeliveryDependencies, operation: Operation
    ) -> None:
        """What a deploy takes before anything outside is touched: its id and name, target tables, its references."""
        self.claims.take(transaction, _draft_key(delivery.id), operation.id, label="draft")
        self.claims.take(transaction, name_key(delivery), delivery.id, label="name")
        self.hold(transaction, delivery, deps, delivery.mappings)
        self.pipelines.refer(transaction, delivery.pipeline_id, +1)
        # The claims and the config are those of the place where the destination was when it was read.
        revision = require_found(deps.destination).revision
        self.destinations.refer(transaction, delivery.destination_id, +1, revision=revision)
        self.connects.refer(transaction, delivery.connect_cluster_id, +1)

    def hold(
        self, transaction: Transaction, delivery: Delivery, deps: DeliveryDependencies, mappings: Sequence[TopicMapping]
    ) -> None:
        """Hold exactly these target tables, in the schemas of these and of the delivery's own mappings.

        Raises Conflict TARGET_TABLE_CONFLICT when another delivery writes one.
        """
        place = self._places[delivery.destination_id] = require_found(deps.destination).address.place
        keys = {one.schema_name: target_key(*place, one.schema_name) for one in (*delivery.mappings, *mappings)}
        expect(*map(self.targets.key, keys.values()))
        for schema, key in keys.items():
            wanted = [mapping.table_name for mapping in mappings if mapping.schema_name == schema]
            self._hold(transaction, key, wanted, delivery.id)

    def _hold(self, transaction: Transaction, key: str, wanted: Sequence[str], delivery_id: str) -> None:
        holders, version = self.targets.holders(key)
        if any(holders.get(table, delivery_id) != delivery_id for table in wanted):
            raise Conflict(
                "Another delivery writes to one of these target tables. Two writers would undo each other's rows.",
                code="TARGET_TABLE_CONFLICT",
            )
        self.targets.replace(transaction, key, with_tables(holders, wanted, delivery_id), expected_version=version)

    def _let_go(self, transaction: Transaction, delivery: Delivery, deps: DeliveryDependencies) -> None:
        self.claims.release(transaction, name_key(delivery), delivery.id)
        self.hold(transaction, delivery, deps, ())
        self.pipelines.refer(transaction, delivery.pipeline_id, -1)
        self.destinations.refer(transaction, delivery.destination_id, -1)
        self.connects.refer(transaction, delivery.connect_cluster_id, -1)


def name_key(delivery: Delivery) -> str:
    """The claim on a delivery's name."""
    return f"name/delivery/{unique_key(delivery.name)}"


def _draft_key(delivery_id: str) -> str:
    """The claim on the id of a delivery that is being deployed; its holder is the operation."""
    return f"draft/delivery/{delivery_id}"


def draft_view(delivery: Delivery) -> Mapping[str, Any]:
    """A drafted delivery as an operation's parameter."""
    return {"delivery": _DRAFT.dump_python(delivery, mode="json")}


def mappings_view(mappings: tuple[TopicMapping, ...]) -> Mapping[str, Any]:
    """New mappings as an operation's parameter."""
    return {"mappings": _MAPPINGS.dump_python(mappings, mode="json")}


def missing(what: str) -> Invalid:
    """The answer to a reference that leads nowhere."""
    return Invalid(f"The {what} that this refers to does not exist.", code="REFERENCE_NOT_FOUND")
