"""What the operations on connectors need of a resource that owns one: a pipeline or a delivery."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, NamedTuple, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connector_config import BuiltConfig
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState
from chalicelib.domain.operation import Operation, OperationKind
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.release import ReleaseResult
from chalicelib.errors import Conflict, NotFound
from chalicelib.services.connectors.dependencies import ConnectorDependencies
from chalicelib.stores.connector_documents import ConnectorDocuments
from chalicelib.stores.connectors.group import ConnectorStores
from chalicelib.stores.monitoring.group import MonitoringStores
from chalicelib.stores.resources import ResourceStores
from chalicelib.stores.transaction import Transaction

RELEASE, DELETE_TOPICS = "release", "delete_topics"
"""The parameters of a deletion that also releases what only this resource uses in its source, or deletes the topics
that its connector keeps for itself.
"""

BEGINS_ANEW = "begins_anew"
"""The parameter of an operation after which a connector goes on without its offset, and with another config."""

R = TypeVar("R", Pipeline, Delivery)
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorOwner(ABC, Generic[R]):
    """One kind of resource that owns a connector. `deps` is always what its own `load_dependencies` returned."""

    store: ConnectorDocuments[R]
    resources: ResourceStores
    connectors: ConnectorStores
    monitoring: MonitoringStores

    @abstractmethod
    def load_dependencies(self, resource: R) -> ConnectorDependencies:
        """What the resource refers to, as stored now."""

    @abstractmethod
    def check(self, context: RequestContext, resource: R, deps: Any) -> None:
        """Everything that must hold before the connector is created or gets another config. Raises what does not."""

    def check_before(
        self, context: RequestContext, kind: OperationKind, resource: R, deps: Any, parameters: Mapping[str, Any]
    ) -> None:
        """What must hold before an operation of this kind begins. Raises what does not."""

    def decided(
        self, context: RequestContext, kind: OperationKind, resource: R, deps: Any, parameters: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """The parameters of an operation with what is decided when it begins. T1 stores them."""
        return parameters

    def go_on(self, context: RequestContext, operation: Operation, resource: R, deps: Any) -> Callable[[], bool] | None:
        """E1 of an operation with which a person accepts lost changes: lets the connector go on after them, and returns
        whether it was stopped for that. It may be repeated. None for every other operation.
        """
        return None

    def prepare(self, context: RequestContext, operation: Operation, resource: R, deps: Any) -> None:
        """Make what a connector needs before it exists. It may be repeated. Raises what prevents it."""

    def check_start(self, context: RequestContext, resource: R, deps: Any) -> None:
        """What must hold before Headgate starts the connector, without anybody having asked for it. Raises Conflict."""

    def start(self, context: RequestContext, resource: R, deps: Any, act: Callable[[], object], *, wait: float) -> bool:
        """Let tasks of the connector start by `act`. False when that has to wait longer than so many seconds, because
        of connectors beside it: then nothing was done.
        """
        act()
        return True

    @abstractmethod
    def consequences(
        self, kind: OperationKind, resource: R, deps: Any, parameters: Mapping[str, Any], now: datetime
    ) -> Sequence[Consequence]:
        """What follows from an operation of this kind that begins now, from what is known already."""

    def beginning(self, context: RequestContext, kind: OperationKind, resource: R, deps: Any) -> R:
        """The resource with what is decided when an operation of this kind begins. T1 stores it."""
        return resource

    @abstractmethod
    def config(self, resource: R, deps: Any) -> BuiltConfig:
        """The connector's config with references, and the credentials that it refers to."""

    def load(self, operation: Operation) -> R | None:
        """The resource of an operation, as stored, or as the operation drafted it."""
        return self.store.find(operation.resource_id)

    def with_pending_change(self, operation: Operation, resource: R) -> R:
        """The resource as it will be when the operation has succeeded, as far as its config depends on it."""
        return resource

    def on_requested(self, transaction: Transaction, operation: Operation, resource: R, deps: Any) -> None:
        """T1: take what the operation needs besides the resource's own row."""

    def on_deployed(self, transaction: Transaction, resource: R, operation: Operation) -> R:
        """T2 of a deploy: write the resource."""
        return self.store.save(transaction, resource)

    def on_changed(self, transaction: Transaction, before: R, after: R, deps: Any) -> None:
        """T2 of every other change: write what it means besides the resource's own row."""

    def on_failed(self, transaction: Transaction, operation: Operation, resource: R, deps: Any) -> None:
        """T2 of a failure: give back what `on_requested` took."""

    @abstractmethod
    def on_deleted(self, transaction: Transaction, resource: R, deps: Any) -> None:
        """T2 of a deletion: remove the row, its name, its claims and its references."""

    def on_forgotten(self, transaction: Transaction, operation: Operation | None, resource: R, deps: Any) -> None:
        """Remove everything of the resource, and what its open operation took. See `forget.py`."""
        self.on_deleted(transaction, resource, deps)

    def parent_id(self, resource: R) -> str | None:
        """The resource whose audit trail it belongs to as well."""
        return None

    def release(self, context: RequestContext, operation: Operation, resource: R, deps: Any) -> ReleaseResult | None:
        """After E1 of a deletion: release what it was asked to release besides the connector; None: nothing.

        It may be repeated. What cannot be released is no failure of the deletion. Raises StoreUnavailable.
        """
        return None

    @abstractmethod
    def deletion_details(self, resource: R, released: ReleaseResult | None) -> Mapping[str, Any]:
        """What the audit record of its deletion says besides the resource: everything that is not deleted."""


class Notices(NamedTuple):
    """What is said when a connector has an outdated config, and when it has outdated secrets."""

    config: str
    secrets: str


def outdated(owner: ConnectorOwner[R], resource: R, deps: ConnectorDependencies) -> bool:
    """Whether the connector would get another config today than it got, because what it is made of has changed.

    Not for a draft, which has no config yet, nor during an operation, which may write one.
    """
    return any(_changes(owner, resource, deps))


def _changes(owner: ConnectorOwner[R], resource: R, deps: ConnectorDependencies) -> tuple[bool, bool]:
    """Whether the lines of its config have changed, and whether the secrets that it refers to were rotated."""
    if resource.desired_state is DesiredState.DRAFT or resource.open_operation:
        return False, False
    built, digest = owner.config(resource, deps), resource.secrets_digest
    return built.lines_changed(resource.config_hash, digest), built.secrets_changed(digest)


def needs_config(owner: ConnectorOwner[R], resource: R, deps: ConnectorDependencies) -> bool:
    """Whether the connector has to get its config again: it is outdated, or somebody else has changed it, or made it
    (then it is refused).
    """
    memory = deps.view.memory.of(resource.connector_name)
    changed = memory.conflict or (memory.drift is not None and memory.drift.confirmed)
    return outdated(owner, resource, deps) or (changed and not resource.open_operation)


def with_notice(owner: ConnectorOwner[R], resource: R, deps: ConnectorDependencies, notices: Notices) -> R:
    """The resource with the notices among its reasons when its config or its secrets are outdated."""
    if resource.observation is None:
        return resource
    lines_changed, secrets_changed = _changes(owner, resource, deps)
    reasons = resource.observation.reasons
    reasons += (notices.config,) * lines_changed + (notices.secrets,) * secrets_changed
    return replace(resource, observation=replace(resource.observation, reasons=reasons))


def require_deployed(resource: Pipeline | Delivery) -> None:
    """Raise STATE_CONFLICT for a draft: it has no connector to control."""
    if resource.desired_state is DesiredState.DRAFT and not resource.open_operation:
        raise Conflict("This is a draft and has no connector yet. Deploy it first.")


def require_found(referred: T | None) -> T:
    """A reference, which may be missing when it and the resource are deleted during a request. Raises NotFound."""
    if referred is None:
        raise NotFound("This was deleted meanwhile.")
    return referred
