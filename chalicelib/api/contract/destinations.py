"""Destinations."""

from chalicelib.api.contract.databases import DatabaseConfig, DatabaseInput
from chalicelib.api.contract.systems import Labels, SystemOutput
from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.database import DatabaseProvider
from chalicelib.domain.endpoint import OpenedEndpoint
from chalicelib.services.systems import SystemInput


class DestinationBody(DatabaseInput, Labels):
    """A system to register for delivery."""

    def to_input(self) -> SystemInput:
        return self.system_input(self.address(), self.secrets())


class DestinationOutput(SystemOutput[DatabaseProvider, DatabaseConfig]):
    """A registered destination."""

    deliveries: int


class ConnectionTestInput(DatabaseInput):
    """A connection to test without registering it."""

    def endpoint(self) -> OpenedEndpoint[SystemAddress]:
        """The system with the secrets of this request."""
        return OpenedEndpoint.unsaved(self.address(), self.secrets())
