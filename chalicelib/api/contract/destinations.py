"""Destinations."""

from chalicelib.api.contract.common import Timestamp
from chalicelib.api.contract.systems import LookOutput, SystemBody, SystemOutput, system_fields
from chalicelib.domain.destination import Destination


class DestinationBody(SystemBody):
    """A system to register for delivery."""


class DestinationOutput(LookOutput, SystemOutput):
    """A registered destination. It claims no delivery."""

    deliveries: int
    version: int
    created_at: Timestamp
    updated_at: Timestamp

    @classmethod
    def of(cls, destination: Destination) -> "DestinationOutput":
        """The destination as it is shown."""
        return cls(**system_fields(destination), deliveries=destination.deliveries)
