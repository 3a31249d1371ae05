"""Destinations: registered systems to write to. Registering one creates no delivery."""

from dataclasses import dataclass
from typing import ClassVar

from chalicelib.domain.destination import Destination
from chalicelib.services.systems import SystemService


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationService(SystemService[Destination]):
    """Create, read, change, delete and test destinations."""

    # The sink connectors of its deliveries and their claims on targets belong to this address.
    ADDRESS_LOCKED: ClassVar[bool] = True

    kind: type[Destination] = Destination
