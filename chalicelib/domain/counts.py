"""Numbers of what is registered."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredCounts:
    """How many resources there were `at` that time: type -> state -> number. The state is the health of systems, and
    the desired state of pipelines and deliveries.
    """

    at: datetime
    by_type: Mapping[str, Mapping[str, int]]

    def of(self, resource_type: str) -> Mapping[str, int]:
        return self.by_type.get(resource_type, {})

    @property
    def total(self) -> int:
        return sum(sum(numbers.values()) for numbers in self.by_type.values())
