"""Destinations: registered systems to write to. Registering one claims no delivery."""

from dataclasses import dataclass
from typing import ClassVar

from chalicelib.domain.destination import Destination
from chalicelib.services.systems import SystemService


@dataclass(frozen=True, slots=True, kw_only=True)
class DestinationService(SystemService[Destination]):
    """Create, read, change and delete destinations. One that deliveries write to stays where it is."""

    # Their connectors and their claims on target tables belong to the place where it is.
    ADDRESS_LOCKED: ClassVar[bool] = True

    kind: type[Destination] = Destination
