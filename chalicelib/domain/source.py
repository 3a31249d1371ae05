"""A database registered for capture."""

from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.credentials import Credentials
from chalicelib.domain.database import DatabaseAddress, TestResult
from chalicelib.domain.health import Health


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A source. `tables` and `cdc_ready_tables` are null until discovery has run for the current address."""

    id: str
    name: str
    description: str | None
    environment: str | None
    address: DatabaseAddress
    credentials: Credentials
    health: Health = field(default_factory=Health)
    last_tested_at: datetime | None = None
    last_test: TestResult | None = None
    last_discovery_at: datetime | None = None
    tables: int | None = None
    cdc_ready_tables: int | None = None
    version: int = 1
    revision: int = 1
    created_at: datetime
    updated_at: datetime
