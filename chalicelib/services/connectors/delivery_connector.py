"""Deliveries as owners of sink connectors. What was written stays in the target."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import BuiltConfig, ConfigWarning
from chalicelib.domain.connectors.sink_starts import dialect_warnings
from chalicelib.domain.delivery import Delivery, Writing
from chalicelib.domain.names import unique_key
from chalicelib.domain.operation import Operation, OperationKind
from chalicelib.domain.plans.of_connectors import DeliveryKnowledge, of_delivery
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.providers.registry import target_provider
from chalicelib.domain.release import ReleaseResult
from chalicelib.domain.usage import UsedBy, used_by
from chalicelib.kit.adapters import adapter
from chalicelib.services.connectors.delivery_checks import DeliveryChecks
from chalicelib.services.connectors.dependencies import DeliveryDependencies
from chalicelib.services.connectors.known_progress import ProgressRow, known_progress, progress_rows
from chalicelib.services.connectors.owner import ConnectorOwner, require_found
from chalicelib.services.connectors.sink_starts import SinkStarter
from chalicelib.services.connectors.target_claims import TargetClaims
from chalicelib.services.credentials import CredentialVault
from chalicelib.stores.deliveries import Deliveries
from chalicelib.stores.documents import batch_results, require_readable
from chalicelib.stores.transaction import Transaction
from chalicelib.stores.unreadable import read_row


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryConnector(ConnectorOwner[Delivery]):
    """A delivery's sink connector: its config, its checks, and what its operations write besides the row."""

    store: Deliveries
    target_claims: TargetClaims
    checks: DeliveryChecks
    starter: SinkStarter
    vault: CredentialVault

    def load_dependencies(self, resource: Delivery) -> DeliveryDependencies:
        ids = resource.destination_id, resource.pipeline_id, resource.connect_cluster_id
        return self.load_references(*ids, progress_rows([resource]))

    def load_references(
        self, destination_id: str, pipeline_id: str, connect_cluster_id: str, rows: Sequence[ProgressRow] = ()
    ) -> DeliveryDependencies:
        """What a delivery with these references depends on, with these rows of progress: one call."""
        losses, *needed = batch_results(
            (self.monitoring.target_losses, destination_id),
            (self.resources.destinations, destination_id),
            (self.resources.pipelines, pipeline_id),
            (self.resources.connects, connect_cluster_id),
            (self.connectors.observations, connect_cluster_id),
            *((self.monitoring.progress, row) for row in rows),
        )
        destination, pipeline, cluster, view, *parts = map(require_readable, needed)
        return DeliveryDependencies(
            destination=destination,
            target_losses=losses,
            pipeline=pipeline,
            connect_cluster=cluster,
            view=view,
            progress=known_progress(rows, parts),
        )

    def check(self, context: RequestContext, resource: Delivery, deps: DeliveryDependencies) -> None:
        self.checks.require(context, resource, deps, self.config(resource, deps))

    def start(
        self, context: RequestContext, resource: Delivery, deps: Any, act: Callable[[], object], *, wait: float
    ) -> bool:
        destination = require_found(deps.destination)
        dialect = target_provider(destination.address.provider).dialect
        if dialect is None:
            act()
            return True
        deadline = context.deadline
        return self.starter.start(resource, destination, dialect, act, deadline.within(wait), deadline)

    def start_warnings(self, delivery: Delivery, deps: DeliveryDependencies) -> tuple[ConfigWarning, ...]:
        """What sinks beside it may do to the tables that it makes."""
        dialect = target_provider(require_found(deps.destination).address.provider).dialect
        if dialect is None:
            return ()
        others = self.starter.others(delivery.connect_cluster_id, dialect)
        return tuple(dialect_warnings(delivery.table_writing, others))

    def config(self, resource: Delivery, deps: DeliveryDependencies) -> BuiltConfig:
        destination = require_found(deps.destination)
        provider = target_provider(destination.address.provider)
        return provider.build_config(resource, resource.writing, destination.endpoint)

    def consequences(
        self,
        kind: OperationKind,
        resource: Delivery,
        deps: DeliveryDependencies,
        parameters: Mapping[str, Any],
        now: datetime,
    ) -> Sequence[Consequence]:
        measured = deps.progress.measured(resource, now).metrics
        writing = adapter(Writing).validate_python(parameters["writing"]) if "writing" in parameters else None
        known = DeliveryKnowledge(delivery=resource, lag=measured.lag if measured else None, writing=writing)
        return of_delivery(kind, known)

    def load(self, operation: Operation) -> Delivery | None:
        """The delivery as stored, or as the open deploy has drafted it."""
        stored = self.store.find(operation.resource_id)
        if stored is None and operation.kind is OperationKind.DEPLOY and not operation.step.settled:
            drafted: Delivery = _of_operation(operation, Delivery, "delivery")
            return drafted
        return stored

    def with_pending_change(self, operation: Operation, resource: Delivery) -> Delivery:
        if operation.kind is not OperationKind.UPDATE_MAPPINGS:
            return resource
        return replace(resource, writing=_of_operation(operation, Writing, "writing"))

    def on_requested(
        self, transaction: Transaction, operation: Operation, resource: Delivery, deps: DeliveryDependencies
    ) -> None:
        """Claim targets; for a deploy also id, name and references. Raises Conflict TARGET_TABLE_CONFLICT."""
        destination = require_found(deps.destination)
        if operation.kind is OperationKind.UPDATE_MAPPINGS:
            changed = self.with_pending_change(operation, resource)
            self.target_claims.claim(transaction, resource, destination, resource.writing, changed.writing)
        elif operation.kind is OperationKind.DEPLOY:
            self.resources.claims.take(transaction, _draft_key(resource.id), operation.id, label="draft")
            self.resources.claims.take(transaction, _name_key(resource), resource.id, label="name")
            self.target_claims.claim(transaction, resource, destination, resource.writing)
            self.resources.pipelines.change_references(transaction, resource.pipeline_id, +1)
            # The claims and the config are those of the address that the destination had when it was read.
            self.resources.destinations.change_references(
                transaction, resource.destination_id, +1, revision=destination.revision
            )
            self.resources.connects.change_references(transaction, resource.connect_cluster_id, +1)
            # No index shows the delivery before it is deployed.
            self.vault.grant(transaction, destination.credentials, resource.connect_cluster_id)

    def on_deployed(self, transaction: Transaction, resource: Delivery, operation: Operation) -> Delivery:
        self.resources.claims.release(transaction, _draft_key(resource.id), operation.id)
        return self.store.put_new(transaction, resource)

    def on_changed(
        self, transaction: Transaction, before: Delivery, after: Delivery, deps: DeliveryDependencies
    ) -> None:
        if before.writing != after.writing:
            self.target_claims.keep(transaction, before, require_found(deps.destination), after.writing)

    def on_failed(
        self, transaction: Transaction, operation: Operation, resource: Delivery, deps: DeliveryDependencies
    ) -> None:
        if operation.kind is OperationKind.DEPLOY:
            self.resources.claims.release(transaction, _draft_key(resource.id), operation.id)
            self._release_all(transaction, resource, deps)
        elif operation.kind is OperationKind.UPDATE_MAPPINGS:
            refused, destination = self.with_pending_change(operation, resource), require_found(deps.destination)
            self.target_claims.keep(transaction, refused, destination, resource.writing)

    def on_deleted(self, transaction: Transaction, resource: Delivery, deps: DeliveryDependencies) -> None:
        self.store.remove(transaction, resource)
        self._release_all(transaction, resource, deps)

    def on_forgotten(
        self, transaction: Transaction, operation: Operation | None, resource: Delivery, deps: DeliveryDependencies
    ) -> None:
        """A delivery that is being deployed has no row; one with pending mappings also claims their targets."""
        if operation and operation.kind is OperationKind.DEPLOY:
            self.on_failed(transaction, operation, resource, deps)
            return
        pending = [self.with_pending_change(operation, resource).writing] if operation else []
        self.store.remove(transaction, resource)
        self._release_all(transaction, resource, deps, *pending)

    def parent_id(self, resource: Delivery) -> str | None:
        return resource.destination_id

    def deletion_details(self, resource: Delivery, released: ReleaseResult | None) -> Mapping[str, Any]:
        return {"kept": resource.writing.kept}

    def deploying_operation(self, delivery_id: str) -> str | None:
        """The id of the open deploy of this delivery: it has no row before its connector exists."""
        return self.resources.claims.find(_draft_key(delivery_id))

    def name_holder(self, delivery: Delivery) -> UsedBy | None:
        """The delivery that has this one's name; None when it is not deployed yet, or gone again."""
        holder = self.resources.claims.find(_name_key(delivery))
        found = self.store.find_readable(holder) if holder else None
        return used_by(self.store.noun, found) if found else None

    def _release_all(
        self, transaction: Transaction, delivery: Delivery, deps: DeliveryDependencies, *pending: Writing
    ) -> None:
        self.resources.claims.release(transaction, _name_key(delivery), delivery.id)
        self.target_claims.release(transaction, delivery, require_found(deps.destination), *pending)
        self.resources.pipelines.change_references(transaction, delivery.pipeline_id, -1)
        self.resources.destinations.change_references(transaction, delivery.destination_id, -1)
        self.resources.connects.change_references(transaction, delivery.connect_cluster_id, -1)


def draft_parameters(delivery: Delivery) -> Mapping[str, Any]:
    return {"delivery": adapter(Delivery).dump_python(delivery, mode="json")}


def writing_parameters(writing: Writing) -> Mapping[str, Any]:
    """What is written from now on as parameters of the operation that sets it."""
    return {"writing": adapter(Writing).dump_python(writing, mode="json")}


def _of_operation(operation: Operation, kind: Any, name: str) -> Any:
    """A parameter of a stored operation, of this kind. Raises UnreadableRow."""
    return read_row("operation", operation.id, lambda: adapter(kind).validate_python(operation.parameters[name]))


def _name_key(delivery: Delivery) -> str:
    return f"name/delivery/{unique_key(delivery.name)}"


def _draft_key(delivery_id: str) -> str:
    """The claim on the id of a delivery that is being deployed; its holder is the operation."""
    return f"draft/delivery/{delivery_id}"
