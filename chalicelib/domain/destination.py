"""A system registered to be written to."""

from dataclasses import dataclass

from chalicelib.domain.registered import RegisteredSystem


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination(RegisteredSystem):
    """A destination. `deliveries` counts those that write to it, those being deployed included."""

    deliveries: int = 0
