"""Numbers of what is registered."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredCounts:
    """How many resources there were `at` that time: type -> state -> number. The state is the health of systems, and
    the desired state of pipelines and deliveries.

    `max_log_bytes` is the most that a source keeps of its log for one pipeline; None where no look could read it.
    """

    at: datetime
    by_type: Mapping[str, Mapping[str, int]]
    max_log_bytes: int | None = None

    def of(self, resource_type: str) -> Mapping[str, int]:
        return self.by_type.get(resource_type, {})

    @property
    def total(self) -> int:
        return sum(sum(numbers.values()) for numbers in self.by_type.values())
