"""Databases as sources, destinations and connections carry them."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from chalicelib.api.contract.addressed import AddressedInput, ConnectedInput
from chalicelib.api.contract.common import Input, Integer, Output, SecretText, secrets_of
from chalicelib.api.contract.registered import PasswordCredentials
from chalicelib.domain.addresses import DatabaseAddress
from chalicelib.domain.connection_checks import CheckStatus
from chalicelib.domain.database import DatabaseProvider, SslMode, default_ssl_mode
from chalicelib.domain.providers.registry import database_defaults
from chalicelib.kit.masking import Secret
from chalicelib.secrets.certificates import single_certificate

Host = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=253, pattern=r"^[A-Za-z0-9._:\[\]-]+$")
]
DatabaseName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64, pattern="^[^\\x00-\\x1f\\x7f-\\x9f\u2028\u2029?&%#/\\\\]+$"),
]
"""It becomes part of URLs that drivers in other programs parse."""
Identifier = Annotated[
    str, StringConstraints(min_length=1, max_length=64, pattern="^[^\\x00-\\x1f\\x7f-\\x9f\u2028\u2029]+$")
]
"""No control character, and nothing else that ends a line for some readers."""


_DEFAULT_PORTS = ", ".join(
    f"{default.port} for {default.title}" for default in map(database_defaults, DatabaseProvider)
)


class DatabaseConfig(Input):
    """The address of a database and the user."""

    model_config = ConfigDict(from_attributes=True)

    host: Host
    port: Integer | None = Field(default=None, ge=1, le=65535, description=f"{_DEFAULT_PORTS} when left out.")
    database_name: DatabaseName
    username: Identifier
    ssl_mode: SslMode = Field(default=SslMode.REQUIRE, description="When left out: require, prefer on loopback hosts.")
    connection_timeout_seconds: Integer = Field(default=10, ge=1, le=30)

    def to_address(self, provider: DatabaseProvider) -> DatabaseAddress:
        """The address, with the default port of the provider and the default mode of the host where none is set."""
        fields = self.model_dump()
        fields["port"] = self.port or database_defaults(provider).port
        # An explicit `require` counts on a loopback host as well.
        if "ssl_mode" not in self.model_fields_set:
            fields["ssl_mode"] = default_ssl_mode(self.host)
        return DatabaseAddress(provider=provider, **fields)


class DatabaseCredentials(PasswordCredentials):
    """The secrets of a database connection. They are written and never shown."""

    ca_certificate: SecretText | None = Field(default=None, description="PEM with exactly one certificate.")

    def to_secrets(self) -> Mapping[str, Secret | None]:
        """The secrets by name; None keeps what is stored. Raises Invalid for a certificate that is not one."""
        secrets = dict(secrets_of(self))
        if certificate := secrets.get("ca_certificate"):
            secrets["ca_certificate"] = single_certificate(certificate)
        return secrets


DatabaseInput = AddressedInput[DatabaseProvider, DatabaseConfig, DatabaseCredentials]
ConnectedDatabaseInput = ConnectedInput[DatabaseProvider, DatabaseConfig, DatabaseCredentials]


class TestCheckOutput(Output):
    """One step of a test."""

    __test__ = False

    name: str
    status: CheckStatus
    code: str | None
    message: str


class LastTest(Output):
    """The outcome of the last connection test."""

    success: bool
    checks: list[TestCheckOutput]


class TestOutput(LastTest):
    """How a connection test went. A database that refuses is an outcome, not an error."""

    __test__ = False

    server_version: str | None
    latency_ms: int | None
