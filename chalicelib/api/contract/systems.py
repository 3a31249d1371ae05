"""What sources and destinations share."""

from typing import Any, Generic, TypeVar

from pydantic import AliasPath, Field

from chalicelib.api.contract.common import Input, Line, Lines, Name, Timestamp
from chalicelib.api.contract.databases import LastTest
from chalicelib.api.contract.labels import LABELS, Labels
from chalicelib.api.contract.registered import RegisteredOutput
from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.connection import ConnectionReference
from chalicelib.domain.credentials import Secrets
from chalicelib.services.systems import SystemInput

Provider = TypeVar("Provider")
Config = TypeVar("Config")


class SystemFields(Input):
    """What people say about a system beside its address. A model has the fields of its last base first, so that these
    precede the address.
    """

    name: Name
    description: Lines | None = None
    environment: Line | None = Field(default=None, max_length=64)
    labels: Labels = LABELS

    def system_input(self, address: SystemAddress | ConnectionReference, secrets: Secrets) -> SystemInput:
        """The input of the service, for the system at this address or at that of a connection."""
        return SystemInput(**self.system_fields(), address=address, secrets=secrets)

    def system_fields(self) -> dict[str, Any]:
        return self.model_dump(include=set(SystemFields.model_fields))


class SystemOutput(RegisteredOutput, Generic[Provider, Config]):
    """A registered system with the outcome of its last connection test. `Config` is its address on the wire."""

    description: str | None
    environment: str | None
    provider: Provider = Field(validation_alias=AliasPath("address", "provider"))
    connection_id: str | None
    config: Config = Field(validation_alias="address")
    last_tested_at: Timestamp | None
    last_test: LastTest | None
    last_health_check_at: Timestamp | None = Field(validation_alias=AliasPath("health", "checked_at"))
