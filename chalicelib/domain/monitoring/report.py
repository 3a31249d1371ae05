"""What a monitor reports: everything that is wrong where it looks, again and again.

So a lost report loses nothing: the next one says the same. What a report no longer contains has recovered.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from chalicelib.domain.monitoring.condition import Condition
from chalicelib.domain.monitoring.consequences import by_consequence

REPORT_SECONDS = 12.0
"""What recording one report may take: it has a time limit of its own, so that it takes no time from a monitor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorReport:
    """Everything that is wrong at one origin at one time. `at` is when the look began, and names the monitor's cycle.

    Origins are `connect_cluster/<id>`, `source/<id>`, `destination/<id>` and `operations`. `looked_at` are the ids of
    the resources that could be looked at; None: all. `repeated`: nobody looks at this origin, so that what was found
    before stands, but for what `looked_at` names. `tasks` are the tasks that exist, by connector, where the monitor has
    seen them. `idle` are the ids of the resources on which nothing depends that should run: see `by_consequence`.
    `correlation_id` is that of the look: what the report opens has it, too.
    """

    origin: str
    at: datetime
    conditions: tuple[Condition, ...] = ()
    looked_at: frozenset[str] | None = None
    repeated: bool = False
    tasks: Mapping[str, frozenset[int]] = field(default_factory=dict)
    idle: frozenset[str] = frozenset()
    correlation_id: str | None = None

    def judged(self, condition: Condition) -> Condition:
        """The condition with the severity that follows from what depends on its resource."""
        return by_consequence(condition, self.idle)

    def has_looked_at(self, resource_id: str) -> bool:
        """Whether what is not named about this resource has recovered."""
        return not self.repeated if self.looked_at is None else resource_id in self.looked_at
