"""What people see of a connector's progress."""

from dataclasses import dataclass
from datetime import datetime

NO_PROVIDER = "No metrics provider is installed, so throughput and lag are not known."


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """`throughput` in records a second, `lag` in records; `notice` says why something is null.

    `moved_at` is when the connector was last found to have moved, null when it has not since the first measurement.
    """

    throughput: float | None = None
    lag: int | None = None
    notice: str | None = NO_PROVIDER
    measured: bool = False
    moved_at: datetime | None = None
