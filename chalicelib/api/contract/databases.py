"""Database connections as sources and destinations carry them."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from chalicelib.api.contract.common import Input, NotYet, Output, SecretText, StrictInt, secrets_of
from chalicelib.api.contract.registered import PasswordCredentials
from chalicelib.domain.database import CheckStatus, DatabaseAddress, SslMode, TestResult
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.domain.provider import DEFAULT_PORTS, DatabaseProvider
from chalicelib.kit.masking import Secret

Host = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=253, pattern=r"^[A-Za-z0-9._:\[\]-]+$")
]
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=63, pattern=r"^[^\x00-\x1f\x7f]+$")]


class DatabaseConfig(Input):
    """Where a database is and as whom to go there."""

    host: Host
    port: StrictInt | None = Field(default=None, ge=1, le=65535, description="5432 for PostgreSQL when left out.")
    database_name: Identifier
    username: Identifier
    ssl_mode: SslMode = SslMode.PREFER
    connection_timeout_seconds: StrictInt = Field(default=10, ge=1, le=30)

    def address(self, provider: DatabaseProvider) -> DatabaseAddress:
        """The address that the service works with."""
        fields = self.model_dump()
        return DatabaseAddress(provider=provider, **fields | {"port": self.port or DEFAULT_PORTS[provider]})

    @classmethod
    def of(cls, address: DatabaseAddress) -> "DatabaseConfig":
        """The address as it is shown."""
        return cls(
            host=address.host,
            port=address.port,
            database_name=address.database_name,
            username=address.username,
            ssl_mode=address.ssl_mode,
            connection_timeout_seconds=address.connection_timeout_seconds,
        )


class DatabaseCredentials(PasswordCredentials):
    """The secrets of a database connection. They are written and never shown."""

    ca_certificate: SecretText | None = None


class DatabaseInput(Input):
    """A database to go to."""

    provider: DatabaseProvider
    connection_id: NotYet = None
    config: DatabaseConfig
    credentials: DatabaseCredentials | None = None

    def address(self) -> DatabaseAddress:
        """Where to go."""
        return self.config.address(self.provider)

    def secrets(self) -> Mapping[str, Secret | None]:
        """With which secrets."""
        return secrets_of(self.credentials)


class ConnectionTestInput(DatabaseInput):
    """A connection to test without registering it."""

    def endpoint(self) -> OpenedEndpoint[DatabaseAddress]:
        """The database with the secrets of this request."""
        return OpenedEndpoint.unsaved(self.address(), self.secrets())


class TestCheckOutput(Output):
    """One step of a test."""

    __test__ = False

    name: str
    status: CheckStatus
    code: str | None
    message: str


class TestOutput(Output):
    """How a connection test went. A database that refuses is an outcome, not an error."""

    __test__ = False

    success: bool
    checks: list[TestCheckOutput]
    server_version: str | None
    latency_ms: int | None

    @classmethod
    def of(cls, result: TestResult) -> "TestOutput":
        """The result as it is shown."""
        checks = [
            TestCheckOutput(name=check.name, status=check.status, code=check.code, message=check.message)
            for check in result.checks
        ]
        return cls(
            success=result.success, checks=checks, server_version=result.server_version, latency_ms=result.latency_ms
        )


class LastTest(Output):
    """The outcome of the last test of something registered."""

    success: bool
    checks: list[TestCheckOutput]

    @classmethod
    def of(cls, result: TestResult | None) -> "LastTest | None":
        """The outcome, if there was a test."""
        return cls(success=result.success, checks=TestOutput.of(result).checks) if result else None
