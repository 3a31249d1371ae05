"""A system registered to be written to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from chalicelib.domain.addresses import SystemAddress
from chalicelib.domain.registered import ConnectedSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination(ConnectedSystem[SystemAddress]):
    """A destination. `deliveries` counts those that write to it, those being deployed included.

    `server_identity` is the same for every destination on one server, whatever its host; null until it was read.
    """

    UNDISCOVERED: ClassVar[Mapping[str, Any]] = {**ConnectedSystem.UNTESTED, "server_identity": None}

    deliveries: int = 0
    server_identity: str | None = None
