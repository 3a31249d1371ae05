"""What sources and destinations share."""

from pydantic import AliasPath, Field

from chalicelib.api.contract.common import Input, Line, Lines, Name, Timestamp
from chalicelib.api.contract.databases import DatabaseConfig, DatabaseInput, LastTest
from chalicelib.api.contract.registered import RegisteredOutput
from chalicelib.domain.database import DatabaseProvider
from chalicelib.services.systems import SystemInput


class Labels(Input):
    """What people call a system. A model has the fields of its last base first, so that these precede the address."""

    name: Name
    description: Lines | None = None
    environment: Line | None = Field(default=None, max_length=64)


class SystemBody(DatabaseInput, Labels):
    """A system to register."""

    def to_input(self) -> SystemInput:
        """The input of the service."""
        labels = self.model_dump(include=set(Labels.model_fields))
        return SystemInput(**labels, address=self.address(), secrets=self.secrets())


class SystemOutput(RegisteredOutput):
    """A registered system with the outcome of its last connection test."""

    description: str | None
    environment: str | None
    provider: DatabaseProvider = Field(validation_alias=AliasPath("address", "provider"))
    connection_id: str | None = None
    config: DatabaseConfig = Field(validation_alias="address")
    last_tested_at: Timestamp | None
    last_test: LastTest | None
    last_health_check_at: Timestamp | None = Field(validation_alias=AliasPath("health", "checked_at"))
