"""Destinations."""

from pydantic import Field

from chalicelib.api.contract.common import (
    CredentialsOutput,
    FailureOutput,
    Input,
    Line,
    Moment,
    Name,
    NotYet,
    Output,
    secrets_of,
)
from chalicelib.api.contract.databases import DatabaseConfig, DatabaseCredentials, LastTest
from chalicelib.domain.destination import Destination
from chalicelib.domain.health import HealthStatus
from chalicelib.domain.provider import DatabaseProvider
from chalicelib.services.destinations import DestinationInput


class DestinationBody(Input):
    """A system to register for delivery."""

    name: Name
    description: Line | None = None
    environment: Line | None = Field(default=None, max_length=64)
    provider: DatabaseProvider
    connection_id: NotYet = None
    config: DatabaseConfig
    credentials: DatabaseCredentials = DatabaseCredentials()

    def given(self) -> DestinationInput:
        """What the service is told."""
        return DestinationInput(
            name=self.name,
            description=self.description,
            environment=self.environment,
            address=self.config.address(self.provider),
            secrets=secrets_of(self.credentials),
        )


class DestinationOutput(Output):
    """A registered destination. It claims no delivery."""

    id: str
    name: str
    description: str | None
    environment: str | None
    provider: DatabaseProvider
    connection_id: str | None = None
    config: DatabaseConfig
    credentials: CredentialsOutput
    status: HealthStatus
    last_error: FailureOutput | None
    last_tested_at: Moment | None
    last_test: LastTest | None
    last_health_check_at: Moment | None
    deliveries: int
    version: int
    created_at: Moment
    updated_at: Moment

    @classmethod
    def of(cls, destination: Destination) -> "DestinationOutput":
        """The destination as it is shown."""
        return cls(
            id=destination.id,
            name=destination.name,
            description=destination.description,
            environment=destination.environment,
            provider=destination.address.provider,
            config=DatabaseConfig.of(destination.address),
            credentials=CredentialsOutput.of(destination.credentials),
            status=destination.health.status,
            last_error=FailureOutput.of(destination.health.last_error),
            last_tested_at=destination.last_tested_at,
            last_test=LastTest.of(destination.last_test),
            last_health_check_at=destination.health.checked_at,
            deliveries=destination.deliveries,
            version=destination.version,
            created_at=destination.created_at,
            updated_at=destination.updated_at,
        )
