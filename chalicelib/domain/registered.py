"""What people register: the facts that clusters, sources and destinations have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseAddress, TestResult
from chalicelib.domain.endpoint import Endpoint
from chalicelib.domain.health import Health


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """Anything registered. `version` counts what people change, `revision` every write of the row."""

    id: str
    name: str
    credentials: Credentials
    health: Health = field(default_factory=Health)
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredSystem(Registered):
    """A system that data comes from or goes to."""

    UNTRIED: ClassVar[Mapping[str, Any]] = {"health": Health(), "last_tested_at": None, "last_test": None}
    """Its fields before the connection was first tested."""
    NOTHING_KNOWN: ClassVar[Mapping[str, Any]] = UNTRIED
    """Its fields when nothing is known about the database."""

    description: str | None
    environment: str | None
    address: DatabaseAddress
    last_tested_at: datetime | None = None
    last_test: TestResult | None = None

    @property
    def endpoint(self) -> Endpoint[DatabaseAddress]:
        """The database and the credentials for it."""
        return Endpoint(self.address, self.credentials)

    def invalidated_by(self, endpoint: Endpoint[DatabaseAddress]) -> Mapping[str, Any]:
        """The fields that have to be reset when its endpoint becomes this one, with their values."""
        if endpoint.address.identity != self.address.identity:
            return self.NOTHING_KNOWN
        return {} if endpoint == self.endpoint else self.UNTRIED
