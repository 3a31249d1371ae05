"""Deliveries as owners of sink connectors. What was written stays in the target."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.delivery import Mapping as TopicMapping
from chalicelib.domain.names import unique_key
from chalicelib.domain.operation import Operation, OperationKind
from chalicelib.domain.providers.registry import target_provider
from chalicelib.kit.adapters import adapter
from chalicelib.services.connectors.delivery_checks import DatabaseDeliveryChecks
from chalicelib.services.connectors.dependencies import DeliveryDependencies
from chalicelib.services.connectors.known_progress import known_progress, progress_asked
from chalicelib.services.connectors.owner import ConnectorOwner, require_found
from chalicelib.services.connectors.target_claims import TargetClaims
from chalicelib.stores.claims import Claims
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.destinations import Destinations
from chalicelib.stores.documents import find_together
from chalicelib.stores.pipelines import Pipelines
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryConnector(ConnectorOwner[Delivery]):
    """A delivery's sink connector: its config, its checks, and what its operations write besides the row."""

    store: Deliveries
    destinations: Destinations
    pipelines: Pipelines
    claims: Claims
    target_claims: TargetClaims
    checks: DatabaseDeliveryChecks

    def load_dependencies(self, resource: Delivery) -> DeliveryDependencies:
        asked = progress_asked([resource])
        destination, pipeline, cluster, view, *parts = find_together(
            (self.destinations, resource.destination_id),
            (self.pipelines, resource.pipeline_id),
            (self.connects, resource.connect_cluster_id),
            (self.observations, resource.connect_cluster_id),
            *((self.progress, one) for one in asked),
        )
        return DeliveryDependencies(destination, pipeline, cluster, view, known_progress(asked, parts))

    def check(self, context: RequestContext, resource: Delivery, deps: DeliveryDependencies) -> None:
        self.checks.require(context, resource, deps, self.config(resource, deps))

    def config(self, resource: Delivery, deps: DeliveryDependencies) -> BuiltConfig:
        destination = require_found(deps.destination)
        return target_provider(destination.address.provider).build_config(resource, destination)

    def load(self, operation: Operation) -> Delivery | None:
        """The delivery as stored, or as the open deploy has drafted it."""
        stored = self.store.find(operation.resource_id)
        if stored is None and operation.kind is OperationKind.DEPLOY and not operation.step.settled:
            drafted: Delivery = adapter(Delivery).validate_python(operation.parameters["delivery"])
            return drafted
        return stored

    def with_pending_change(self, operation: Operation, resource: Delivery) -> Delivery:
        if operation.kind is not OperationKind.UPDATE_MAPPINGS:
            return resource
        mappings = adapter(tuple[TopicMapping, ...]).validate_python(operation.parameters["mappings"])
        return replace(resource, mappings=mappings)

    def on_requested(
        self, transaction: Transaction, operation: Operation, resource: Delivery, deps: DeliveryDependencies
    ) -> None:
        """Claim target tables; for a deploy also id, name and references. Raises Conflict TARGET_TABLE_CONFLICT."""
        destination = require_found(deps.destination)
        if operation.kind is OperationKind.UPDATE_MAPPINGS:
            both = (*resource.mappings, *self.with_pending_change(operation, resource).mappings)
            self.target_claims.claim(transaction, resource, destination, both)
        elif operation.kind is OperationKind.DEPLOY:
            self.claims.take(transaction, _draft_key(resource.id), operation.id, label="draft")
            self.claims.take(transaction, _name_key(resource), resource.id, label="name")
            self.target_claims.claim(transaction, resource, destination, resource.mappings)
            self.pipelines.refer(transaction, resource.pipeline_id, +1)
            # The claims and the config are those of the address that the destination had when it was read.
            self.destinations.refer(transaction, resource.destination_id, +1, revision=destination.revision)
            self.connects.refer(transaction, resource.connect_cluster_id, +1)

    def on_deployed(self, transaction: Transaction, resource: Delivery, operation: Operation) -> Delivery:
        self.claims.release(transaction, _draft_key(resource.id), operation.id)
        return self.store.put_new(transaction, resource)

    def on_changed(
        self, transaction: Transaction, before: Delivery, after: Delivery, deps: DeliveryDependencies
    ) -> None:
        """Release the tables that are no longer written."""
        if before.mappings != after.mappings:
            self.target_claims.keep(transaction, before, require_found(deps.destination), after.mappings)

    def on_failed(
        self, transaction: Transaction, operation: Operation, resource: Delivery, deps: DeliveryDependencies
    ) -> None:
        if operation.kind is OperationKind.DEPLOY:
            self.claims.release(transaction, _draft_key(resource.id), operation.id)
            self._release_all(transaction, resource, deps)
        elif operation.kind is OperationKind.UPDATE_MAPPINGS:
            refused, destination = self.with_pending_change(operation, resource), require_found(deps.destination)
            self.target_claims.keep(transaction, refused, destination, resource.mappings)

    def on_deleted(self, transaction: Transaction, resource: Delivery, deps: DeliveryDependencies) -> None:
        self.store.remove(transaction, resource)
        self._release_all(transaction, resource, deps)

    def on_forgotten(
        self, transaction: Transaction, operation: Operation | None, resource: Delivery, deps: DeliveryDependencies
    ) -> None:
        """A delivery that is being deployed has no row; one with pending mappings also claims their tables."""
        if operation and operation.kind is OperationKind.DEPLOY:
            self.on_failed(transaction, operation, resource, deps)
            return
        pending = self.with_pending_change(operation, resource).mappings if operation else ()
        self.on_deleted(transaction, replace(resource, mappings=(*resource.mappings, *pending)), deps)

    def parent_id(self, resource: Delivery) -> str | None:
        return resource.destination_id

    def deletion_details(self, resource: Delivery, cleaned_up: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"kept": {"tables": [str(mapping.target) for mapping in resource.mappings]}}

    def deploying_operation(self, delivery_id: str) -> str | None:
        """The id of the open deploy of this delivery: it has no row before its connector exists."""
        return self.claims.find(_draft_key(delivery_id))

    def _release_all(self, transaction: Transaction, delivery: Delivery, deps: DeliveryDependencies) -> None:
        self.claims.release(transaction, _name_key(delivery), delivery.id)
        self.target_claims.release(transaction, delivery, require_found(deps.destination))
        self.pipelines.refer(transaction, delivery.pipeline_id, -1)
        self.destinations.refer(transaction, delivery.destination_id, -1)
        self.connects.refer(transaction, delivery.connect_cluster_id, -1)


def draft_parameters(delivery: Delivery) -> Mapping[str, Any]:
    """A drafted delivery as parameters of the operation that deploys it."""
    return {"delivery": adapter(Delivery).dump_python(delivery, mode="json")}


def mappings_parameters(mappings: tuple[TopicMapping, ...]) -> Mapping[str, Any]:
    """New mappings as parameters of the operation that sets them."""
    return {"mappings": adapter(tuple[TopicMapping, ...]).dump_python(mappings, mode="json")}


def _name_key(delivery: Delivery) -> str:
    return f"name/delivery/{unique_key(delivery.name)}"


def _draft_key(delivery_id: str) -> str:
    """The claim on the id of a delivery that is being deployed; its holder is the operation."""
    return f"draft/delivery/{delivery_id}"
