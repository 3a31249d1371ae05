"""What pipelines and deliveries have in common for the operations on their connectors."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.cluster import ConnectCluster
from chalicelib.domain.connector_config import BuiltConfig, config_hash
from chalicelib.domain.delivery import Delivery
from chalicelib.domain.observation import DesiredState, Observation
from chalicelib.domain.operation import Operation
from chalicelib.domain.pipeline import Pipeline
from chalicelib.domain.reconcile.snapshot import ClusterView
from chalicelib.errors import Conflict, NotFound
from chalicelib.stores.documents import Documents
from chalicelib.stores.transaction import Transaction

R = TypeVar("R", Pipeline, Delivery)
T = TypeVar("T")


class ConnectorDependencies(Protocol):
    """What a resource stands among. What else is in it, only its own family knows."""

    @property
    def connect_cluster(self) -> ConnectCluster | None:
        """The workers that it runs on."""
        ...

    @property
    def view(self) -> ClusterView:
        """What was last seen of those workers."""
        ...


class ConnectorOwner(Protocol[R]):
    """One of the two families of resources that own a connector. A `deps` is always one that it made itself."""

    @property
    def rows(self) -> Documents[R]:
        """Where they are stored."""
        ...

    def deps(self, resource: R) -> ConnectorDependencies:
        """What the resource stands among, as stored now."""
        ...

    def check(self, context: RequestContext, resource: R, deps: Any) -> None:
        """Everything that must hold before the connector is created or reconfigured. Raises what is wrong."""
        ...

    def config(self, resource: R, deps: Any) -> BuiltConfig:
        """The connector's config with references, and the credentials that it refers to."""
        ...

    def load(self, operation: Operation) -> R | None:
        """The resource that an operation is about, as stored, or as the operation drafted it."""
        ...

    def with_pending_change(self, operation: Operation, resource: R) -> R:
        """The resource as it will be when the operation has succeeded, as far as its config depends on it."""
        ...

    def created(self, transaction: Transaction, resource: R, operation: Operation) -> R:
        """Write what a finished deploy means for the resource's row."""
        ...

    def changed(self, transaction: Transaction, before: R, after: R, deps: Any) -> None:
        """Write what a finished change means beside the resource's row."""
        ...

    def on_failed(self, transaction: Transaction, operation: Operation, resource: R, deps: Any) -> None:
        """Give back what the beginning of an operation had taken, when it comes to nothing."""
        ...

    def removed(self, transaction: Transaction, resource: R, deps: Any) -> None:
        """Write what a finished deletion means: the row, its name, its claims, its references."""
        ...

    def parent_id(self, resource: R) -> str | None:
        """Whose audit trail it belongs to as well."""
        ...

    def deletion_details(self, resource: R) -> Mapping[str, Any]:
        """What its deletion's audit record says beside the resource itself."""
        ...


def outdated(owner: ConnectorOwner[R], resource: R, deps: ConnectorDependencies) -> bool:
    """Whether the connector was given another config than it would be given now, because what that is made of changed.

    A draft has none yet, and what an open operation gives is not known before it is settled.
    """
    if resource.desired_state is DesiredState.DRAFT or resource.open_operation:
        return False
    return config_hash(owner.config(resource, deps).config) != resource.config_hash


def needs_config(owner: ConnectorOwner[R], resource: R, deps: ConnectorDependencies) -> bool:
    """Whether the connector is to be given its config again: it is outdated, or somebody else has changed it."""
    drift = deps.view.snapshot.drifted.get(resource.connector_name)
    return outdated(owner, resource, deps) or bool(drift and drift.confirmed and not resource.open_operation)


def with_notice(owner: ConnectorOwner[R], resource: R, deps: ConnectorDependencies, sentence: str) -> R:
    """The resource as it is shown: with the sentence among its reasons when it is outdated."""
    if not outdated(owner, resource, deps):
        return resource
    return replace(resource, observation=_adding(resource.observation, sentence))


def _adding(seen: Observation | None, sentence: str) -> Observation | None:
    return replace(seen, reasons=(*seen.reasons, sentence)) if seen else None


def require_deployed(resource: Pipeline | Delivery) -> None:
    """Raise STATE_CONFLICT for a draft: there is no connector to steer."""
    if resource.desired_state is DesiredState.DRAFT and not resource.open_operation:
        raise Conflict("This is a draft and has no connector yet. Deploy it first.")


def require_found(referred: T | None) -> T:
    """What a resource refers to cannot go before it does; but both may go while somebody reads. Raises NotFound."""
    if referred is None:
        raise NotFound("This was deleted meanwhile.")
    return referred
