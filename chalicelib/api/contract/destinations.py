"""Destinations."""

from chalicelib.api.contract.databases import ConnectedInput, DatabaseConfig
from chalicelib.api.contract.systems import Labels, SystemOutput
from chalicelib.domain.database import DatabaseProvider
from chalicelib.services.systems import SystemInput


class DestinationBody(ConnectedInput, Labels):
    """A system to register for delivery."""

    def to_input(self) -> SystemInput:
        return self.system_input(self.address(), self.secrets())


class DestinationOutput(SystemOutput[DatabaseProvider, DatabaseConfig]):
    """A registered destination."""

    deliveries: int
