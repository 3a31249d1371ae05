"""What clients can do with pipelines and deliveries alike: list, observe, control and delete them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from chalicelib.domain.access import RequestContext
from chalicelib.domain.delivery import DeliveryWarning
from chalicelib.domain.operation import OperationKind
from chalicelib.kit.pages import Page
from chalicelib.services.connectors.lifecycle import Lifecycle
from chalicelib.services.connectors.observations import ObservationReader
from chalicelib.services.connectors.operation_run import NO_PARAMETERS
from chalicelib.services.connectors.owner import ConnectorOwner, R, require_deployed, require_found, with_notice
from chalicelib.services.connectors.validation import Validation
from chalicelib.services.registry import expect_version


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorPreview:
    """What would be created. Nothing of it is stored. Only deliveries have warnings."""

    connector_name: str
    config: Mapping[str, str]
    topics: Sequence[str]
    validation: Validation
    warnings: tuple[DeliveryWarning, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorService(Generic[R]):
    """The operations that do not depend on the kind of resource."""

    OUTDATED: ClassVar[str]
    """The notice for a resource whose connector has an outdated config."""

    connector: ConnectorOwner[R]
    lifecycle: Lifecycle
    observation_reader: ObservationReader

    def list(self, *, limit: int, after: str | None) -> Page[R]:
        """Newest first, each with its latest observation."""
        page = self.connector.store.list(limit=limit, after=after)
        return Page(items=self.observation_reader.latest(page.items), next_key=page.next_key)

    def status(self, context: RequestContext, resource_id: str) -> R:
        """The resource with an observation made now. `UNKNOWN`, with the reason, when Connect cannot be read."""
        resource, deps = self._read(resource_id)
        seen = self.observation_reader.now(context, resource, require_found(deps.connect_cluster))
        return with_notice(self.connector, self.with_findings(seen, deps), deps, self.OUTDATED)

    def with_findings(self, resource: R, deps: Any) -> R:
        """The resource, its observation with what else is known about its connector than Connect says."""
        return resource

    def control(
        self, context: RequestContext, resource_id: str, kind: OperationKind, of: str | None = None, **parameters: Any
    ) -> R:
        """Pause, resume, restart, or restart one task (`task`). `of` is the id of the destination of a delivery."""
        resource, deps = self._read(resource_id, of)
        require_deployed(resource)
        return self._execute(context, resource, deps, kind, parameters) or resource

    def delete(self, context: RequestContext, resource_id: str, *, of: str | None = None) -> R | None:
        """Delete the connector, then the resource. Slot, publication and what was written are not deleted.

        None when it is done; the resource with its open operation when Connect did not answer. Raises Conflict
        RESOURCE_IN_USE for a pipeline that has deliveries.
        """
        resource, deps = self._read(resource_id, of)
        expect_version(context, resource.version)
        return self._execute(context, resource, deps, OperationKind.DELETE)

    def _read(self, resource_id: str, of: str | None = None) -> tuple[R, Any]:
        """The resource and its dependencies; raises NotFound."""
        resource = self.connector.store.get(resource_id)
        return resource, self.connector.load_dependencies(resource)

    def _latest(self, resource: R, deps: Any) -> R:
        """The resource with its latest observation, from the dependencies that were loaded with it."""
        seen = self.observation_reader.latest([resource], {resource.connect_cluster_id: deps.view})[0]
        return self.with_findings(seen, deps)

    def _execute(
        self,
        context: RequestContext,
        resource: R,
        deps: Any,
        kind: OperationKind,
        parameters: Mapping[str, Any] = NO_PARAMETERS,
    ) -> R | None:
        return self.lifecycle.execute(context, self.connector, resource, deps, kind, parameters=parameters)
