"""What sources and destinations have in common: registering, changing and deleting them contacts no database."""

from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseAddress, TestResult
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.services.database_checks import DatabaseChecks
from chalicelib.services.registry import RegisteredInput, RegisteredService

S = TypeVar("S", bound=RegisteredSystem)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemInput(RegisteredInput):
    """What people say about a source or a destination."""

    description: str | None
    environment: str | None
    address: DatabaseAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemService(RegisteredService[S]):
    """Create, read, change, delete and test the systems of one kind."""

    ADDRESS_LOCKED: ClassVar[bool] = False
    """Whether a system that something refers to must keep its address (host, port and database)."""

    database_checks: DatabaseChecks

    def create(self, context: RequestContext, data: SystemInput) -> S:
        """Register a system. Raises Conflict NAME_CONFLICT."""
        return self._create(context, self._built(context, data), data.secrets)

    def update(self, context: RequestContext, system_id: str, data: SystemInput) -> S:
        """Replace everything but secrets that are left blank. Results of looks at another address or account go.

        Raises NotFound, VersionMismatch, Conflict NAME_CONFLICT, and RESOURCE_IN_USE for a locked address.
        """
        before = self.store.get(system_id)

        def after(credentials: Credentials) -> S:
            invalidated = before.invalidated_by(data.address, credentials)
            return replace(self._edited(before, data), credentials=credentials, **invalidated)

        moved = before.address.identity != data.address.identity
        locked = moved and self.ADDRESS_LOCKED
        stored = self.registry.update(context, self.store, before, after, data.secrets, unused=locked)
        if moved:
            self.on_address_changed(before)
        return stored

    def delete(self, context: RequestContext, entity_id: str) -> None:
        """Remove a system that nothing refers to. Raises NotFound, VersionMismatch, Conflict RESOURCE_IN_USE."""
        system = self.store.get(entity_id)
        self.registry.delete(context, self.store, system)
        self.on_address_changed(system)

    def test(self, context: RequestContext, system_id: str) -> TestResult:
        """Test the connection, bounded and read-only, and store the outcome. Raises NotFound."""
        return self.database_checks.test(context, self.store, system_id)

    def on_address_changed(self, system: S) -> None:
        """Remove what is stored elsewhere about the database at the system's former address."""
