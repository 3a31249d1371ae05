"""Destinations: registered systems to write to. Registering one claims no delivery and touches no server."""

from dataclasses import dataclass, replace

from chalicelib.domain.access import Call
from chalicelib.domain.database import DatabaseAddress
from chalicelib.domain.destination import Destination
from chalicelib.domain.health import Health
from chalicelib.errors import Conflict
from chalicelib.kit.clock import Clock
from chalicelib.kit.pages import Page
from chalicelib.services.credentials import Secrets
from chalicelib.services.registry import Registry
from chalicelib.stores.destinations import Destinations


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationInput:
    """What people say about a destination."""

    name: str
    description: str | None
    environment: str | None
    address: DatabaseAddress
    secrets: Secrets


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationService:
    """Create, read, change and delete destinations."""

    rows: Destinations
    registry: Registry
    clock: Clock

    def create(self, call: Call, given: DestinationInput) -> Destination:
        """Register a database to deliver to."""
        now, destination_id = self.clock(), call.fresh_id()
        return self.registry.create(
            call,
            self.rows,
            destination_id,
            lambda credentials: Destination(
                id=destination_id,
                name=given.name,
                description=given.description,
                environment=given.environment,
                address=given.address,
                credentials=credentials,
                created_at=now,
                updated_at=now,
            ),
            secrets=given.secrets,
        )

    def get(self, destination_id: str) -> Destination:
        """The destination; raises NotFound."""
        return self.rows.get(destination_id)

    def list(self, *, limit: int, after: str | None) -> Page[Destination]:
        """Destinations, newest first."""
        return self.rows.list(limit=limit, after=after)

    def update(self, call: Call, destination_id: str, given: DestinationInput) -> Destination:
        """Replace everything but secrets that are left blank.

        Raises Conflict RESOURCE_IN_USE when it would point somewhere else while deliveries write to it: their
        connectors and their claims on target tables belong to the old place.
        """
        before = self.rows.get(destination_id)
        moved = before.address.place != given.address.place
        if moved and self.rows.references(destination_id):
            raise Conflict(
                "Deliveries write to this destination. Delete them before you point it at another database.",
                code="RESOURCE_IN_USE",
            )
        known = {"health": Health(), "last_test": None, "last_tested_at": None} if moved else {}
        return self.registry.update(
            call,
            self.rows,
            before,
            lambda credentials: replace(
                before,
                name=given.name,
                description=given.description,
                environment=given.environment,
                address=given.address,
                credentials=credentials,
                version=before.version + 1,
                updated_at=self.clock(),
                **known,  # type: ignore[arg-type]
            ),
            given.secrets,
        )

    def delete(self, call: Call, destination_id: str) -> None:
        """Forget the destination. Raises Conflict RESOURCE_IN_USE while it has deliveries."""
        destination = self.rows.get(destination_id)
        self.registry.delete(call, self.rows, destination)
