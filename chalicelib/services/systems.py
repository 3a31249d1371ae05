"""What sources and destinations have in common: registered, changed and forgotten, and no server is touched by it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.database import DatabaseAddress, TestResult
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.services.credentials import Secrets
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.services.registry import Registry
from chalicelib.stores.documents import Documents

S = TypeVar("S", bound=RegisteredSystem)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemInput:
    """What people say about a source or a destination."""

    name: str
    description: str | None
    environment: str | None
    address: DatabaseAddress
    secrets: Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemService(Generic[S]):
    """Create, read, change and delete the systems of one kind. Each kind adds its own rules for leaving a place."""

    ADDRESS_LOCKED: ClassVar[bool] = False
    """Whether what refers to a system keeps it from being pointed at another place."""

    kind: Callable[..., S]
    rows: Documents[S]
    registry: Registry
    database_checks: DatabaseChecks
    clock: Clock

    def create(self, context: RequestContext, given: SystemInput) -> S:
        """Register a system."""
        now, system_id = self.clock(), context.fresh_id()
        return self.registry.create(
            context,
            self.rows,
            system_id,
            lambda credentials: self.kind(
                id=system_id, credentials=credentials, created_at=now, updated_at=now, **_fields(given)
            ),
            secrets=given.secrets,
        )

    def get(self, system_id: str) -> S:
        """The system; raises NotFound."""
        return self.rows.get(system_id)

    def list(self, *, limit: int, after: str | None) -> Page[S]:
        """Those of this kind, newest first."""
        return self.rows.list(limit=limit, after=after)

    def update(self, context: RequestContext, system_id: str, given: SystemInput) -> S:
        """Replace everything but secrets that are left blank. What was known of another place or account is void.

        Raises VersionMismatch, Conflict NAME_CONFLICT, and RESOURCE_IN_USE for one that stays while it is used.
        """
        before = self.rows.get(system_id)
        moved = before.address.place != given.address.place
        after = self.registry.update(
            context,
            self.rows,
            before,
            lambda credentials: replace(
                before,
                credentials=credentials,
                version=before.version + 1,
                updated_at=self.clock(),
                **_fields(given),
                **before.invalidated_by(given.address, credentials),
            ),
            given.secrets,
            unused=moved and self.ADDRESS_LOCKED,
        )
        if moved:
            self.on_address_changed(before)
        return after

    def test(self, context: RequestContext, system_id: str) -> TestResult:
        """Test the connection and store the outcome beside the system. Raises NotFound."""
        return self.database_checks.test(context, self.rows, system_id)

    def delete(self, context: RequestContext, system_id: str) -> None:
        """Forget the system. Raises Conflict RESOURCE_IN_USE while something refers to it."""
        system = self.rows.get(system_id)
        self.registry.delete(context, self.rows, system)
        self.on_address_changed(system)

    def on_address_changed(self, system: S) -> None:
        """Remove what is stored beside the row about the place that it named. By itself nothing is."""


def _fields(given: SystemInput) -> dict[str, Any]:
    return {
        "name": given.name,
        "description": given.description,
        "environment": given.environment,
        "address": given.address,
    }
