"""What sources and destinations have in common: they are created, changed and deleted, and no server is contacted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

from chalicelib.domain.access import RequestContext
from chalicelib.domain.credentials import Secrets
from chalicelib.domain.database import DatabaseAddress
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.services.registry import Registry
from chalicelib.stores.documents import Documents

S = TypeVar("S", bound=RegisteredSystem)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemInput:
    """The fields of a source or a destination that people set."""

    name: str
    description: str | None
    environment: str | None
    address: DatabaseAddress
    secrets: Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemService(Generic[S]):
    """Create, read, change and delete the systems of one kind. Each kind adds its own rules for a changed address."""

    ADDRESS_LOCKED: ClassVar[bool] = False
    """Whether the address may not change to another database while something refers to the system."""

    kind: Callable[..., S]
    rows: Documents[S]
    registry: Registry
    clock: Clock

    def create(self, context: RequestContext, spec: SystemInput) -> S:
        """Register a system."""
        now, system_id = self.clock(), context.fresh_id()
        return self.registry.create(
            context,
            self.rows,
            system_id,
            lambda credentials: self.kind(
                id=system_id, credentials=credentials, created_at=now, updated_at=now, **_fields(spec)
            ),
            secrets=spec.secrets,
        )

    def get(self, system_id: str) -> S:
        """The system; raises NotFound."""
        return self.rows.get(system_id)

    def list(self, *, limit: int, after: str | None) -> Page[S]:
        """The systems of this kind, newest first."""
        return self.rows.list(limit=limit, after=after)

    def update(self, context: RequestContext, system_id: str, spec: SystemInput) -> S:
        """Replace everything but secrets that are left blank. What was found at another endpoint is reset.

        Raises VersionMismatch, Conflict NAME_CONFLICT, and RESOURCE_IN_USE where the address is locked.
        """
        before = self.rows.get(system_id)
        moved = before.address.identity != spec.address.identity
        after = self.registry.update(
            context,
            self.rows,
            before,
            lambda credentials: replace(
                before,
                credentials=credentials,
                version=before.version + 1,
                updated_at=self.clock(),
                **_fields(spec),
                **before.invalidated_by(Endpoint(spec.address, credentials)),
            ),
            spec.secrets,
            unused=moved and self.ADDRESS_LOCKED,
        )
        if moved:
            self.on_address_changed(before)
        return after

    def delete(self, context: RequestContext, system_id: str) -> None:
        """Delete the system. Raises Conflict RESOURCE_IN_USE while something refers to it."""
        system = self.rows.get(system_id)
        self.registry.delete(context, self.rows, system)
        self.on_address_changed(system)

    def on_address_changed(self, system: S) -> None:
        """Remove what is stored about the former database. The default is that nothing is."""


def _fields(spec: SystemInput) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "environment": spec.environment,
        "address": spec.address,
    }
