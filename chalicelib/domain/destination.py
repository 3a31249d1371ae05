"""A system registered to be written to. No delivery exists because of it."""

from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseAddress, TestResult
from chalicelib.domain.health import Health


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """A destination. `deliveries` counts those that write to it, those being deployed included."""

    id: str
    name: str
    description: str | None
    environment: str | None
    address: DatabaseAddress
    credentials: Credentials
    health: Health = field(default_factory=Health)
    last_tested_at: datetime | None = None
    last_test: TestResult | None = None
    deliveries: int = 0
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime
