"""What people register: the facts that clusters, sources and destinations have in common."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseAddress, TestResult
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

    RESET_BY_NEW_ACCESS: ClassVar[Mapping[str, Any]] = {"health": Health(), "last_tested_at": None, "last_test": None}
    """Its fields before the first connection test with this address and these credentials."""
    RESET_BY_NEW_PLACE: ClassVar[Mapping[str, Any]] = RESET_BY_NEW_ACCESS
    """Its fields before anything was read from the database that its address names."""

    description: str | None
    environment: str | None
    address: DatabaseAddress
    last_tested_at: datetime | None = None
    last_test: TestResult | None = None

    def invalidated_by(self, address: DatabaseAddress, credentials: Credentials) -> Mapping[str, Any]:
        """The fields to reset when its address or credentials become these."""
        if address.place != self.address.place:
            return self.RESET_BY_NEW_PLACE
        return {} if (address, credentials) == (self.address, self.credentials) else self.RESET_BY_NEW_ACCESS
