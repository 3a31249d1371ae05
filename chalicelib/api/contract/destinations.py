"""Destinations."""

from chalicelib.api.contract.systems import SystemBody, SystemOutput


class DestinationBody(SystemBody):
    """A system to register for delivery."""


class DestinationOutput(SystemOutput):
    """A registered destination."""

    deliveries: int
