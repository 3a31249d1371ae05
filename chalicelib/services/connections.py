"""Connections: addresses with credentials that sources and destinations share.

A change of a connection writes the copies of all that use it in one transaction: no crash leaves one behind
(`infra/decisions/032-connections.md`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from chalicelib.domain.access import RequestContext
from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.connection import Capability, Connection, ConnectionReference
from chalicelib.domain.connection_checks import TestResult
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.plans.of_registered import of_move, of_update
from chalicelib.domain.plans.plan import Consequence
from chalicelib.domain.search import EVERYTHING, Search
from chalicelib.domain.source import Source
from chalicelib.domain.usage import in_use, used_by
from chalicelib.errors import Conflict, WriteConflict
from chalicelib.kit.pages import Page
from chalicelib.services.connectors.outdated import OutdatedConnector, OutdatedConnectors
from chalicelib.services.registered import RegisteredInput, RegisteredService, retried
from chalicelib.services.system_checks import SystemChecks
from chalicelib.services.systems import Edit, SystemService, referred_connection
from chalicelib.stores.connections import Connections
from chalicelib.stores.documents import batch_find
from chalicelib.stores.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionInput(RegisteredInput):
    """What people say about a connection."""

    description: str | None
    capabilities: tuple[Capability, ...]
    address: SystemAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionChange:
    """A changed connection, and the connectors that have its former address or secrets; None: that is not known."""

    connection: Connection
    outdated_connectors: Sequence[OutdatedConnector] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """A stored change of a connection, and the changes of its users with the service of each."""

    before: Connection
    after: Connection
    edits: Sequence[tuple[SystemService[Any], Edit[Any]]]
    outdated: Sequence[OutdatedConnector] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionService(RegisteredService[Connection]):
    """Create, read, change, delete and test connections. `users` are the services of what may use one, by type."""

    kind: type[Connection] = Connection
    store: Connections
    users: Mapping[str, SystemService[Any]]
    system_checks: SystemChecks
    connectors: OutdatedConnectors

    def filtered(
        self, capability: Capability | None, *, limit: int, after: str | None, search: Search = EVERYTHING
    ) -> Page[Connection]:
        """Those of a search that have this capability, newest first; None: any."""
        return self.store.filtered(capability, limit=limit, after=after, search=search)

    def create(self, context: RequestContext, data: ConnectionInput) -> Connection:
        """Register a connection. Contacts no server. Raises Conflict NAME_CONFLICT."""
        transaction = Transaction()
        return self.registry.create(transaction, context, self.store, self._built(transaction, context, data))

    def update(self, context: RequestContext, connection_id: str, data: ConnectionInput) -> ConnectionChange:
        """Replace everything but blank secrets, also in all sources and destinations that use it.

        Raises NotFound, VersionMismatch, Invalid, Conflict NAME_CONFLICT; RESOURCE_IN_USE for a capability that is
        needed, and for another place while deliveries write to this one; STATE_CONFLICT for another provider while it
        is used; StoreBusy.
        """
        change = self._update(context, connection_id, data)
        for service, edit in change.edits:
            service.after_edit(context, edit)
        return ConnectionChange(connection=change.after, outdated_connectors=change.outdated)

    @retried
    def delete(self, context: RequestContext, entity_id: str) -> None:
        """Remove a connection that nothing uses. Raises NotFound, VersionMismatch, Conflict RESOURCE_IN_USE."""
        connection = self._current(context, entity_id)
        if connection.used_by:
            raise in_use(self.store.noun, connection.used_by)
        self.registry.delete(context, self.store, connection)

    def test(self, context: RequestContext, connection_id: str) -> TestResult:
        """Test the connection, bounded and read-only, and store the outcome. Raises NotFound."""
        return self.system_checks.test(context, self.store, connection_id)

    def test_unsaved(
        self, context: RequestContext, tested: OpenedEndpoint[SystemAddress] | ConnectionReference
    ) -> TestResult:
        """The same, and nothing is stored. Raises Invalid for a reference to an unknown connection."""
        if isinstance(tested, ConnectionReference):
            connection = referred_connection(self.store, tested)
            tested = self.system_checks.clients.open(connection.endpoint)
        return self.system_checks.test_endpoint(context, tested)

    @retried
    def _update(self, context: RequestContext, connection_id: str, data: ConnectionInput) -> _Change:
        before, transaction = self._current(context, connection_id), Transaction()
        edited = self._edited(transaction, before, data)
        after = replace(edited, **before.invalidated_by(edited.endpoint))
        _require_allowed(before, after)
        edits = self._edit_users(transaction, before, after)
        outdated = self.connectors.after_change(*((service.store.noun, edit.after) for service, edit in edits))
        consequences = [*of_update(outdated), *chain.from_iterable(_moved(edit) for _, edit in edits)]
        after = self.registry.write_update(transaction, context, self.store, before, after, consequences=consequences)
        for service, edit in edits:
            conditions: Any = {"unused": edit.unused, "references": edit.references}
            self.registry.write_update(transaction, context, service.store, edit.before, edit.after, **conditions)
        if transaction.is_too_large:
            raise Conflict(
                "The sources of this connection have too many pipelines to move all of them at once. "
                "Register the new address as another connection, and let one source after another use it."
            )
        try:
            transaction.commit()
        except WriteConflict as conflict:
            if conflict.label == "name":
                raise self.registry.name_conflict(self.store, after) from conflict
            raise
        return _Change(before=before, after=after, edits=edits, outdated=outdated)

    def _edit_users(
        self, transaction: Transaction, before: Connection, after: Connection
    ) -> Sequence[tuple[SystemService[Any], Edit[Any]]]:
        """The changes of all that use it, when there is something to copy. Raises Conflict RESOURCE_IN_USE."""
        if before.endpoint == after.endpoint or not before.used_by:
            return []
        services = [self.users[user.type] for user in before.used_by]
        found = batch_find(*((service.store, user.id) for service, user in zip(services, before.used_by, strict=True)))
        # One that has left meanwhile has written the connection, so that this change begins anew.
        edits = [
            (service, service.edit(transaction, system, service.with_copies_of(system, after)))
            for service, system in zip(services, found, strict=True)
            if system is not None
        ]
        self._require_unused([(service, edit) for service, edit in edits if edit.unused])
        return edits

    def _require_unused(self, locked: Sequence[tuple[SystemService[Any], Edit[Any]]]) -> None:
        """Raise Conflict for users that keep their place while something refers to them, and have that."""
        used = [(service.store, edit.before) for service, edit in locked if service.store.references(edit.before.id)]
        if used:
            named = [
                self.registry.usage.of(store.noun, system.id) or [used_by(store.noun, system)] for store, system in used
            ]
            message = (
                "Deliveries write to destinations that use this connection, so its address must stay. "
                "Register the new address as another connection."
            )
            raise in_use(self.store.noun, list(chain.from_iterable(named)), message)


def _moved(edit: Edit[Any]) -> Iterable[Consequence]:
    return of_move(edit.before) if edit.moved and isinstance(edit.before, Source) else ()


def _require_allowed(before: Connection, after: Connection) -> None:
    """Raise Conflict for what its users do not allow."""
    if before.used_by and before.address.provider is not after.address.provider:
        raise Conflict("A connection that is in use keeps its provider. Register another connection instead.")
    if users := before.users_that_need(set(before.capabilities) - set(after.capabilities)):
        message = "This capability is needed by what uses the connection. Let that use another connection first."
        raise in_use(Connections.noun, users, message)
