"""What sources and destinations have in common: registering, changing and deleting them contacts no server."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.errors import NotFound
from chalicelib.kit.pages import Page
from chalicelib.services.registered import RegisteredInput, RegisteredService
from chalicelib.services.system_checks import SystemChecks
from chalicelib.stores.transaction import Transaction

S = TypeVar("S", bound=RegisteredSystem[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemInput(RegisteredInput):
    """What people say about a source or a destination."""

    description: str | None
    environment: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemService(RegisteredService[S]):
    """Create, read, change, delete and test the systems of one kind."""

    ADDRESS_LOCKED: ClassVar[bool] = False
    """Whether a system that something refers to must keep its place (the identity of its address)."""

    system_checks: SystemChecks

    def get(self, entity_id: str) -> S:
        """The system; its health is not known when its monitor has not looked for too long. Raises NotFound."""
        return self._as_of_now(self.store.get(entity_id))

    def list(self, *, limit: int, after: str | None) -> Page[S]:
        """The same of all of this kind, newest first."""
        return self.store.list(limit=limit, after=after, by_size=True).map(self._as_of_now)

    def _as_of_now(self, system: S) -> S:
        return replace(system, health=system.health.as_of(self.clock()))

    def create(self, context: RequestContext, data: SystemInput) -> S:
        """Register a system. Raises Conflict NAME_CONFLICT."""
        transaction = Transaction()
        return self.registry.create(transaction, context, self.store, self._built(transaction, context, data))

    def update(self, context: RequestContext, system_id: str, data: SystemInput) -> S:
        """Replace everything but blank secrets. Results of checks of another address or account are removed, and a
        monitor looks at once.

        Raises NotFound, VersionMismatch, Conflict NAME_CONFLICT, and RESOURCE_IN_USE for a locked address.
        """
        before, transaction = self._current(context, system_id), Transaction()
        edited = self._edited(transaction, before, data)
        outdated = before.invalidated_by(edited.endpoint)
        after = replace(edited, **outdated)
        moved = before.address.identity != after.address.identity
        unused = moved and self.ADDRESS_LOCKED
        references = self.on_address_changing(transaction, before, after) if moved else None
        stored = self.registry.update(
            transaction, context, self.store, before, after, unused=unused, references=references
        )
        if moved:
            self.on_moved(context, before)
        if outdated:  # what was wrong may be over: its alert must not wait for the schedule
            self.system_checks.request_look(self.store.noun, system_id)
        return self._as_of_now(stored)

    def delete(self, context: RequestContext, entity_id: str) -> None:
        """Remove a system that nothing refers to. Raises NotFound, VersionMismatch, Conflict RESOURCE_IN_USE."""
        try:
            self.registry.delete(context, self.store, self._current(context, entity_id), also=self.on_deleting)
        except NotFound:
            # An earlier deletion may have ended before all that is stored elsewhere was removed.
            self.on_deleted(context, entity_id)
            raise
        self.on_deleted(context, entity_id)

    def test(self, context: RequestContext, system_id: str) -> TestResult:
        """Test the connection, bounded and read-only, and store the outcome. Raises NotFound."""
        return self.system_checks.test(context, self.store, system_id)

    def on_address_changing(self, transaction: Transaction, before: S, after: S) -> int | None:
        """Write what the new address means elsewhere, in the transaction that stores it.

        Returns how many must refer to the system then; None for any number.
        """
        return None

    def on_moved(self, context: RequestContext, before: S) -> None:
        """Remove what is stored elsewhere about the place at the system's former address."""

    def on_deleting(self, transaction: Transaction, system_id: str) -> None:
        """Write what the deletion means elsewhere, in its transaction."""

    def on_deleted(self, context: RequestContext, system_id: str) -> None:
        """Remove whatever else is stored about the system."""
