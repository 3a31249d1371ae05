"""What sources and destinations share.

A model has the fields of its last base first: said is a name, then where the system is, then what belongs to the kind.
"""

from typing import Any

from pydantic import Field

from chalicelib.api.contract.common import CredentialsOutput, FailureOutput, Input, Line, Lines, Name, Output, Timestamp
from chalicelib.api.contract.databases import DatabaseConfig, DatabaseInput, LastTest
from chalicelib.api.contract.registered import registered_fields
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.provider import DatabaseProvider
from chalicelib.domain.registered import RegisteredSystem
from chalicelib.services.systems import SystemInput


class Labels(Input):
    """How people tell systems apart."""

    name: Name
    description: Lines | None = None
    environment: Line | None = Field(default=None, max_length=64)


class SystemBody(DatabaseInput, Labels):
    """A system to register."""

    def given(self) -> SystemInput:
        """What the service is told."""
        return SystemInput(
            name=self.name,
            description=self.description,
            environment=self.environment,
            address=self.address(),
            secrets=self.secrets(),
        )


class SystemOutput(Output):
    """A registered system, as people described it."""

    id: str
    name: str
    description: str | None
    environment: str | None
    provider: DatabaseProvider
    connection_id: str | None = None
    config: DatabaseConfig
    credentials: CredentialsOutput


class LookOutput(Output):
    """What the last look at a system told."""

    status: HealthStatus
    last_error: FailureOutput | None
    last_tested_at: Timestamp | None
    last_test: LastTest | None
    last_health_check_at: Timestamp | None


def system_fields(system: RegisteredSystem) -> dict[str, Any]:
    """The fields that every system shows in the same way."""
    return registered_fields(system) | {
        "description": system.description,
        "environment": system.environment,
        "provider": system.address.provider,
        "config": DatabaseConfig.of(system.address),
        "last_tested_at": system.last_tested_at,
        "last_test": LastTest.of(system.last_test),
        "last_health_check_at": system.health.checked_at,
    }
