"""What sources and destinations have in common: registering, changing and deleting them contacts no server.

One that points at a connection has copies of the connection's address and credentials, so that whoever reads it needs
no connection. The connection names it in the same transaction (`infra/decisions/032-connections.md`).
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.connection import Connection, ConnectionReference
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.registered import ConnectedSystem
from chalicelib.domain.usage import used_by
from chalicelib.errors import NotFound
from chalicelib.services.registered import RegisteredInput, RegisteredService, retried
from chalicelib.services.registry import reference_not_found
from chalicelib.services.system_checks import SystemChecks
from chalicelib.stores.connections import Connections
from chalicelib.stores.transaction import Transaction

S = TypeVar("S", bound=ConnectedSystem[Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemInput(RegisteredInput):
    """What people say about a source or a destination. With a reference to a connection there are no secrets."""

    description: str | None
    environment: str | None
    address: SystemAddress | ConnectionReference


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(Generic[S]):
    """A change of a system. `untested`: what tests have found no longer holds. `unused` and `references` are the
    conditions under which it may be stored: see `Registry.write_update`.
    """

    before: S
    after: S
    untested: bool
    unused: bool
    references: int | None

    @property
    def moved(self) -> bool:
        """Whether it is another place now."""
        return bool(self.before.address.identity != self.after.address.identity)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemService(RegisteredService[S]):
    """Create, read, change, delete and test the systems of one kind."""

    ADDRESS_LOCKED: ClassVar[bool] = False
    """Whether a system that something refers to must keep its place (the identity of its address)."""

    connections: Connections
    system_checks: SystemChecks

    def create(self, context: RequestContext, data: SystemInput) -> S:
        """Register a system. Raises Conflict NAME_CONFLICT; Invalid or Conflict when it cannot use its connection."""

        @retried
        def create() -> S:
            transaction = Transaction()
            system = self.completed(self._new(transaction, context, data))
            return self.registry.create(transaction, context, self.store, system)

        return create()

    def update(self, context: RequestContext, system_id: str, data: SystemInput) -> S:
        """Replace everything but blank secrets. Results of checks of another address or account are removed, and a
        monitor looks at once.

        Raises NotFound, VersionMismatch, Conflict NAME_CONFLICT, and RESOURCE_IN_USE for a locked address; Invalid or
        Conflict when it cannot use its connection.
        """

        @retried
        def update() -> Edit[S]:
            before, transaction = self._current(context, system_id), Transaction()
            edit = self.edit(transaction, before, self.completed(self._replaced(transaction, before, data)))
            conditions: Any = {"unused": edit.unused, "references": edit.references}
            conditions["consequences"] = self.consequences(before, edit.after)
            stored = self.registry.update(transaction, context, self.store, before, edit.after, **conditions)
            return replace(edit, after=stored)

        edit = update()
        self.after_edit(context, edit)
        return edit.after.as_of(self.clock())

    def edit(self, transaction: Transaction, before: S, edited: S) -> Edit[S]:
        """The change to the edited system, and in the transaction what it means elsewhere."""
        outdated = before.invalidated_by(edited.endpoint)
        after = replace(edited, **outdated)
        moved = before.address.identity != after.address.identity
        another_kind = before.address.provider is not after.address.provider
        return Edit(
            before=before,
            after=after,
            untested=bool(outdated),
            unused=another_kind or (moved and self.ADDRESS_LOCKED),
            references=self.on_address_changing(transaction, before, after) if moved else None,
        )

    def after_edit(self, context: RequestContext, edit: Edit[S]) -> None:
        """Do what follows once a change is stored."""
        if edit.moved:
            self.on_moved(context, edit.before)
        if edit.untested:  # what was wrong may be over: its alert must not wait for the schedule
            self.system_checks.request_look(self.store.noun, edit.before.id)

    def with_copies_of(self, system: S, connection: Connection) -> S:
        """The next version of a system that uses this connection, after a change of the connection."""
        return replace(system, version=system.version + 1, updated_at=self.clock(), **_copies(connection))

    def delete(self, context: RequestContext, entity_id: str) -> None:
        """Remove a system that nothing refers to. Raises NotFound, VersionMismatch, Conflict RESOURCE_IN_USE."""

        @retried
        def delete() -> None:
            system = self._current(context, entity_id)
            self.registry.delete(context, self.store, system, also=self._write_deletion)

        try:
            delete()
        except NotFound:
            # An earlier deletion may have ended before all that is stored elsewhere was removed.
            self.on_deleted(context, entity_id)
            raise
        self.on_deleted(context, entity_id)

    def test(self, context: RequestContext, system_id: str) -> TestResult:
        """Test the connection, bounded and read-only, and store the outcome. Raises NotFound."""
        return self.system_checks.test(context, self.store, system_id)

    def completed(self, system: S) -> S:
        """The system as it is stored: with what follows from its provider. Raises Invalid for what does not fit it."""
        return system

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

    def _new(self, transaction: Transaction, context: RequestContext, data: SystemInput) -> S:
        """A new system. Its secrets, or its name in its connection, are part of the transaction."""
        if not isinstance(data.address, ConnectionReference):
            return self._built(transaction, context, data)
        connection, now = self._usable(data.address), self.clock()
        fields = data.entity_fields() | _copies(connection)
        system = self.kind(id=context.fresh_id(), created_at=now, updated_at=now, **fields)
        self._join(transaction, connection, system)
        return system

    def _replaced(self, transaction: Transaction, before: S, data: SystemInput) -> S:
        """The next version of the system. Its secrets and the users of connections change in the transaction."""
        address = data.address
        if isinstance(address, ConnectionReference):
            return self._with_connection(transaction, before, data, address)
        if before.connection_id:
            return self._with_own_address(transaction, before, data, address)
        return self._edited(transaction, before, data)

    def _with_connection(
        self, transaction: Transaction, before: S, data: SystemInput, reference: ConnectionReference
    ) -> S:
        connection = self._usable(reference)
        if before.connection_id != connection.id:
            self._leave(transaction, before)
        fields: Any = data.entity_fields() | _copies(connection)
        after = replace(before, version=before.version + 1, updated_at=self.clock(), **fields)
        self._join(transaction, connection, after)
        return after

    def _with_own_address(self, transaction: Transaction, before: S, data: SystemInput, address: SystemAddress) -> S:
        """Raises Invalid when its own secrets are not given: those of the connection stay there."""
        before.endpoint.require_own_secrets(address, data.secrets)
        self._leave(transaction, before)
        version, vault = before.version + 1, self.registry.vault
        credentials = vault.seal_new(transaction, self.store.noun, before.id, data.secrets, version=version)
        own: Any = {"connection_id": None, "credentials": credentials}
        Endpoint(address, credentials).require_needed_secrets()
        return replace(before, version=version, updated_at=self.clock(), **data.entity_fields(), **own)

    def _usable(self, reference: ConnectionReference) -> Connection:
        connection = referred_connection(self.connections, reference)
        connection.require_capability(self.store.noun)
        return connection

    def _join(self, transaction: Transaction, connection: Connection, system: S) -> None:
        """Name the system among the users of its connection, unless it is there already."""
        joined = connection.with_user(used_by(self.store.noun, system))
        if joined != connection:
            self.connections.save(transaction, joined)

    def _leave(self, transaction: Transaction, system: S) -> None:
        """Remove it from its connection, or remove its own secrets."""
        if system.connection_id is None:
            self.registry.vault.remove(transaction, system.credentials)
        elif connection := self.connections.find(system.connection_id):
            self.connections.save(transaction, connection.without_user(system.id))

    def _write_deletion(self, transaction: Transaction, system: S) -> None:
        self.on_deleting(transaction, system.id)
        if system.connection_id:
            self._leave(transaction, system)


def referred_connection(connections: Connections, reference: ConnectionReference) -> Connection:
    """The connection that a request names. Raises Invalid for an unknown one, and for another provider's."""
    connection = connections.find(reference.id)
    if connection is None:
        raise reference_not_found("connection", "body", "connection_id")
    connection.require_provider(reference.provider)
    return connection


def _copies(connection: Connection) -> dict[str, Any]:
    return {"connection_id": connection.id, "address": connection.address, "credentials": connection.credentials}
