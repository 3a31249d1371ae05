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

    UNTRIED: ClassVar[Mapping[str, Any]] = {"health": Health(), "last_tested_at": None, "last_test": None}
    """What its fields say before anybody tried to sign in as it says."""
    NOTHING_KNOWN: ClassVar[Mapping[str, Any]] = UNTRIED
    """What its fields say before anybody looked at the place that its address names."""

    description: str | None
    environment: str | None
    address: DatabaseAddress
    last_tested_at: datetime | None = None
    last_test: TestResult | None = None

    def invalidated_by(self, address: DatabaseAddress, credentials: Credentials) -> Mapping[str, Any]:
        """What its fields say once it is reached there and so: less is known the more has changed."""
        if address.place != self.address.place:
            return self.NOTHING_KNOWN
        return {} if (address, credentials) == (self.address, self.credentials) else self.UNTRIED
